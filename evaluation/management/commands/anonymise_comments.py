"""anonymise_comments: the comments of a corpus are masked, from the command line."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.exchange.reading import is_text, readable
from evaluation.domain.masking import LEAST, Category, Style
from evaluation.domain.masking_rewrite import CERTAIN, ROUNDS, Limits
from evaluation.models import Masking
from evaluation.services import masking, masking_reports, reports
from evaluation.services.masking import BadMasking, mask_corpus
from evaluation.services.masking_maskers import REGISTRY
from evaluation.services.masking_rewriting import (
    ANSWER_CAP,
    RewritingWork,
    Wish,
    follow_rewritings,
    start_rewriting,
)
from simulation.domain.plans import BadPlan, RoleModel
from simulation.domain.run_states import RunState
from simulation.models import Corpus
from simulation.services import terminal

STOPPED, USAGE = 1, 2
REWRITER = "rewriter"


class Command(BaseCommand):
    help = (
        "Masks what may give authors away in every active comment of a corpus, in this process; or has a"
        " model rewrite them (--masker rewriter; workers do it where one is alive). The originals stay. A"
        " masking that was interrupted goes on; the same again masks what is new or edited since, and nothing"
        " else. Exit status: 0 done, 1 stopped (what is masked stays), 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--corpus", required=True, metavar="NAME")
        parser.add_argument("--name", default="", help="of the masking; default: the masker's")
        parser.add_argument("--masker", default="rules", choices=[*REGISTRY, REWRITER])
        parser.add_argument(
            "--style",
            default=Style.STARS.value,
            choices=[one.value for one in Style],
            help="as many * as characters (published), or the category in angle brackets",
        )
        parser.add_argument(
            "--least", type=float, default=LEAST, help=f"confidence from which it is masked ({LEAST})"
        )
        parser.add_argument(
            "--categories",
            default="",
            metavar="A,B",
            help=f"only these of {', '.join(Category)}; default: all",
        )
        model = parser.add_argument_group("rewriter")
        model.add_argument("--provider", metavar="NAME", help="see the page Providers")
        model.add_argument("--model", metavar="NAME", help="default: the provider's")
        model.add_argument("--rounds", type=int, default=ROUNDS, help=f"rewritings at most ({ROUNDS})")
        model.add_argument("--certain", type=int, default=CERTAIN, help=f"what counts, 1 to 5 ({CERTAIN})")
        model.add_argument("--max-calls", type=int, default=1000, help="cap (1000)")
        model.add_argument("--max-tokens", type=int, default=2_000_000, help="cap (2,000,000)")
        model.add_argument("--max-cost", metavar="USD", help="cap in dollars; default: no cap")
        model.add_argument("--here", type=int, metavar="THREADS", help="do it in this process")
        parser.add_argument("--json", action="store_true", help="report in JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        is_rewriter = options["masker"] == REWRITER
        one, is_same = _rewritten(options) if is_rewriter else self._masked(options)
        one.refresh_from_db()
        if one.state != Masking.DONE:
            reason = one.reason or "another worker is at it; see its page"
            raise CommandError(f"The masking is {one.state}: {reason}", returncode=STOPPED)
        reports.make(one.corpus, masking_reports.REPORT, {"masking": one.public_id})
        self._say(one, is_same=is_same, as_json=options["json"])

    def _masked(self, options: dict[str, Any]) -> tuple[Masking, bool]:
        """By a masker, in this process; and whether there was nothing to do."""
        wanted = [one.strip() for one in options["categories"].split(",") if one.strip()]
        told: dict[str, Any] = {"least": options["least"]} | ({"categories": wanted} if wanted else {})
        try:
            one = mask_corpus(
                _corpus(options["corpus"]),
                name=options["name"] or options["masker"],
                masker=options["masker"],
                style=options["style"],
                options=told,
            )
        except BadMasking as error:
            raise CommandError(str(error), returncode=USAGE) from None
        is_same = one.state == Masking.DONE
        masking.carry_out(one.pk)
        return one, is_same

    def _say(self, one: Masking, *, is_same: bool, as_json: bool) -> None:
        report = masking_reports.load(one)
        assert report is not None  # it was made a moment ago
        similarity = report.utility.edit.value
        said: dict[str, Any] = {
            "masking": one.name,
            "id": str(one.public_id),
            "outcome": "nothing to do" if is_same else "done",
            "masker": one.masker,
            "texts": one.texts,
            "changed": one.changed,
            "characters": one.characters,
            "masked_characters": one.masked_characters,
            "edit_similarity": None if similarity is None else round(similarity, 4),
            "compared_texts": report.utility.pairs,
        }
        if as_json:
            said |= {"categories": {found.category: found.spans for found in report.categories}}
            self.stdout.write(json.dumps(said, ensure_ascii=False, indent=1))
            return
        for key, value in said.items():
            self.stdout.write(f"{key:<18} {value}")
        for found in report.categories:
            self.stdout.write(f"  {found.category:<16} {found.spans} spans, {found.characters} characters")


def _corpus(name: str) -> Corpus:
    """The corpus of this name. Raises CommandError (status 2) that lists what there is."""
    corpora = Corpus.objects.filter(trashed_at=None)
    found = corpora.filter(name=name.strip()).first() if is_text(name) else None
    if found is None:
        there = ", ".join(corpora.values_list("name", flat=True)) or "none"
        raise CommandError(f"There is no corpus {readable(name)!r}; there are: {there}.", returncode=USAGE)
    return found


def _rewritten(options: dict[str, Any]) -> tuple[Masking, bool]:
    """By a model, to the end of its run. Raises CommandError."""
    if not options["provider"]:
        raise CommandError("A rewriter needs --provider.", returncode=USAGE)
    corpus, provider = terminal.corpus_and_provider(options)
    role = RoleModel(options["model"] or provider.default_model, 0.0, max_tokens=ANSWER_CAP)
    try:
        wish = Wish(
            name=options["name"] or REWRITER,
            provider=provider,
            rewriter=role,
            adversary=role,
            limits=Limits(rounds=options["rounds"], certain=options["certain"]),
            max_calls=options["max_calls"],
            max_tokens=options["max_tokens"],
            max_cost=terminal.money("--max-cost", options["max_cost"]),
        )
        one = start_rewriting(corpus, wish, by=None)
    except (BadPlan, ValueError) as error:
        raise CommandError(str(error), returncode=USAGE) from None
    assert one.run is not None  # it was started here
    ended = terminal.see_through(one.run, RewritingWork(), options, unit="comments")
    follow_rewritings()
    if ended.state != RunState.DONE:
        said = f"The run is {ended.state}: {ended.reason or 'see its page'}"
        raise CommandError(said, returncode=STOPPED)
    return one, False
