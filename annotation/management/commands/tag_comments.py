"""tag_comments: models propose tags for the comments of a corpus, from the command line."""

import json
from argparse import ArgumentParser
from itertools import product
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.domain import tag_forecast
from annotation.management import tagging_options
from annotation.models import Suggestion
from annotation.selectors import tag_parts
from annotation.services import following, tag_prompts
from annotation.services.judging import Judging
from annotation.services.tagging import Choice, Tagging, start_side_by_side
from simulation.domain.money import dollars
from simulation.domain.plans import BadPlan, RoleModel
from simulation.domain.run_states import RunState
from simulation.models import Run
from simulation.services import terminal


class Command(BaseCommand):
    help = (
        "A model proposes what can be inferred from each comment of a corpus, or of a part of it; several"
        " models or prompts side by side. Workers do the work where one is alive, else this process. Exit"
        " status: 0 done, 1 stopped before the end (reason said; what was tagged stays), 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        terminal.add_options(parser, several_models=True)
        tagging_options.add_money(parser)
        parser.add_argument("--name", default="tags", help="of the run")
        parser.add_argument("--all", action="store_true", help="also comments that have suggestions already")
        parser.add_argument(
            "--filter",
            default="",
            metavar="FIELDS",
            help="which comments, as in the address of the comments' page: 'attribute=age&said=suggested'",
        )
        parser.add_argument(
            "--variant",
            action="append",
            metavar="PROMPT",
            help=f"default: {tag_prompts.FULL}; named again: another run beside it",
        )
        parser.add_argument("--judge", metavar="MODEL", help="check the tags against the profiles afterwards")

    def handle(self, *args: Any, **options: Any) -> None:
        started = self._start(options)
        reports = [self._report(self._end(run, options)) for run in started]
        if options["json"]:
            said: Any = reports[0] if len(reports) == 1 else {"group": started[0].group, "runs": reports}
            self.stdout.write(json.dumps(said, ensure_ascii=False, indent=1))
        else:
            for number, report in enumerate(reports):
                self.stdout.write("\n" * bool(number) + _in_lines(report))
        if stopped := [_why(one) for one in reports if not one["done"]]:
            raise CommandError(f"Not all is done: {'; '.join(stopped)}", returncode=terminal.STOPPED)

    def _end(self, run: Run, options: dict[str, Any]) -> tuple[Run, Run | None]:
        """The run and the check that follows it, where one does, both ended or stopped."""
        ended = terminal.see_through(run, Tagging(), options, unit="comments")
        if not options["judge"] or ended.state != RunState.DONE:
            return ended, None
        following.follow_taggings()
        check = Run.objects.filter(follows=ended).first()
        return ended, terminal.see_through(check, Judging(), options, unit="checks") if check else None

    def _report(self, ended: tuple[Run, Run | None]) -> dict[str, Any]:
        run, check = ended
        report = {
            "run": run.public_id,
            "name": run.name,
            "model": run.plan["models"]["tagger"]["model"],
            "variant": run.plan["variant"],
            "state": run.state,
            "reason": run.reason,
            "done": run.state == RunState.DONE and (check is None or check.state == RunState.DONE),
            "comments": run.steps.filter(state="done").count(),
            "unreadable_or_refused": run.steps.filter(state="skipped").count(),
            "suggestions": Suggestion.objects.filter(run=run).count(),
            "calls": run.calls,
            "tokens": run.tokens,
            "cost_usd": float(dollars(run.cost)),
        }
        if check is not None:
            checks = check.suggestion_checks
            report |= {
                "check": check.public_id,
                "check_state": check.state,
                "check_reason": check.reason,
                "checked": checks.count(),
                "kept": checks.filter(kept=True).count(),
                "check_calls": check.calls,
            }
        return report

    def _start(self, options: dict[str, Any]) -> list[Run]:
        corpus, provider = terminal.corpus_and_provider(options)
        asked = tagging_options.read_filter(options["filter"])
        part = tag_parts.part if options["all"] else tag_parts.untagged
        likely = tag_forecast.of_tags(part(corpus, asked).count(), judged=bool(options["judge"]))
        caps = terminal.caps(options, likely)
        models = options["model"] or [provider.default_model]
        variants = options["variant"] or [tag_prompts.FULL]
        try:
            choices = [
                Choice(provider, RoleModel(model, 0.0, max_tokens=1200), variant)
                for model, variant in product(models, variants)
            ]
            judge = RoleModel(options["judge"], 0.0, max_tokens=600) if options["judge"] else None
            return start_side_by_side(
                by=None,
                corpus=corpus,
                name=options["name"],
                choices=choices,
                asked=asked,
                only_untagged=not options["all"],
                judge=judge,
                max_calls=caps.calls,
                max_tokens=caps.tokens,
                parallel=options["parallel"],
                **tagging_options.money(options),
            )
        except (BadPlan, ValueError) as error:
            raise CommandError(str(error), returncode=terminal.USAGE) from None


def _in_lines(report: dict[str, Any]) -> str:
    width = max(map(len, report)) + 1
    return "\n".join(f"{key:<{width}} {value}" for key, value in report.items())


def _why(report: dict[str, Any]) -> str:
    """Which of the run and its check stopped, and why."""
    if report["state"] != RunState.DONE:
        return f"{report['name']} is {report['state']}: {report['reason'] or 'see its page'}"
    reason = report["check_reason"] or "see its page"
    return f"the check of {report['name']} is {report['check_state']}: {reason}"
