"""diversity: how varied a corpus or a run is, and whether a machine tells it from other texts."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.models import Report
from evaluation.selectors import communities, realism_figures
from evaluation.selectors import diversity as selectors
from evaluation.selectors import diversity_page as said
from evaluation.selectors.diversity import Scope
from evaluation.selectors.diversity_page import Shown
from evaluation.services import diversity as counting
from evaluation.services import diversity_realism as comparing
from evaluation.services import diversity_texts as texts
from evaluation.services import reports
from simulation.models import Corpus

USAGE, BROKEN = 2, 1


class Command(BaseCommand):
    help = (
        "Counts how varied a corpus is, or one of its runs, and says it beside another corpus; on request "
        "measures how well a machine tells its comments from those of another corpus or from the texts of a "
        "file. The pages show the same reports. Exit status: 0 done, 1 not counted, 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--corpus", required=True, metavar="NAME", help="or its public id")
        parser.add_argument("--run", metavar="ID", help="only what this simulation wrote, and its cast")
        parser.add_argument(
            "--topics",
            metavar="RUN",
            help="whose naming of communities counts: id of a run, or imported; default: the last run",
        )
        parser.add_argument("--beside", metavar="CORPUS", help="name or public id of a corpus beside it")
        parser.add_argument("--json", metavar="FILE", help="write all numbers there as JSON; - says them")
        parser.add_argument(
            "--realism",
            metavar="CORPUS_OR_FILE",
            help="compare with a corpus, or a file: one text a line, or .jsonl with text, author, thread",
        )
        parser.add_argument("--seed", type=int, default=0, help="of the comparison (0)")

    def handle(self, *args: Any, **options: Any) -> None:
        corpus = _corpus(options["corpus"])
        scopes = [Scope(corpus, _run(corpus, options["run"]), _topics(corpus, options["topics"]))]
        if options["beside"]:
            scopes.append(Scope(_corpus(options["beside"])))
        parameters = _against(corpus, options) if options["realism"] else None
        made = [_made(one.corpus, one.parameters) for one in scopes]
        found: dict[str, Any] = {
            "diversity": [
                {"name": scope.name, **(one.content or {})} for scope, one in zip(scopes, made, strict=True)
            ]
        }
        pair = [Shown(scope.name, counting.numbers(one)) for scope, one in zip(scopes, made, strict=True)]
        compared = _compared(corpus, parameters) if parameters else None
        if compared:
            found["realism"] = compared.content
        if options["json"] == "-":
            self.stdout.write(json.dumps(found, indent=2))
            return
        if options["json"]:
            _write(Path(options["json"]), json.dumps(found, indent=2) + "\n")
        self._say(pair)
        if compared:
            self._say_realism(compared)

    def _say(self, pair: list[Shown]) -> None:
        for line in [*said.size(pair), *said.words(pair)]:
            values = [one.text or one.words or "-" for one in line.values]
            self.stdout.write(f"{line.name:<28}" + "  ".join(f"{value:>14}" for value in values))
        for row in said.lengths(pair):
            cells = ", ".join(f"{head} {cell}" for head, cell in row.cells)
            self.stdout.write(f"{row.name:<28}{row.of or ''}{': ' if row.of else ''}n {row.n:,}, {cells}")
        for one in pair:
            if one.counted and one.counted.naming.threads:
                by = one.counted.naming
                self.stdout.write(
                    f"{'Communities':<28}{one.name}: {by.distinct:,} different ({by.written:,} as written), "
                    f"{by.namings:,} namings for {by.threads:,} threads, by {by.name or 'threads themselves'}"
                )

    def _say_realism(self, report: Report) -> None:
        found = comparing.found_in(report)
        assert found is not None  # else it had not been made
        if found.auc is None:
            self.stdout.write(f"Told apart by a machine: not measured. {found.words}")
            return
        self.stdout.write(
            f"Told apart by a machine: AUC {found.auc:.3f} ({found.low:.3f} to {found.high:.3f}), "
            f"{found.ours.drawn:,} and {found.theirs.drawn:,} texts of {found.ours.drawn_authors:,} and "
            f"{found.theirs.drawn_authors:,} authors, {found.folds} folds, seed {found.seed}"
        )
        for line in realism_figures.lines(found):
            area = line.area
            interval = "" if area.low is None or area.high is None else f"{area.low:.3f} to {area.high:.3f}"
            said = "-" if area.auc is None else f"{area.auc:.3f}"
            self.stdout.write(f"{line.name:<28}{said:>7}  {interval or area.words}  n {area.texts:,}")


def _corpus(name: str) -> Corpus:
    corpora = Corpus.objects.filter(trashed_at=None)
    found = corpora.filter(name=name).first() or corpora.filter(public_id=name).first()
    if found is None:
        raise _wrong("corpus", name, list(corpora.order_by("name").values_list("name", flat=True)))
    return found


def _run(corpus: Corpus, public_id: str | None) -> Any:
    if not public_id:
        return None
    found = selectors.run_of(corpus, public_id)
    if found is None:
        raise _wrong("simulation", public_id, [one.public_id for one in selectors.runs_of(corpus)])
    return found


def _topics(corpus: Corpus, key: str | None) -> str:
    if not communities.is_known(corpus, key or ""):
        known = [one.public_id for one in communities.done_runs(corpus)[:20]]
        raise _wrong("finished naming of communities", key or "", [communities.IMPORTED, *known])
    return key or ""


def _against(corpus: Corpus, options: dict[str, Any]) -> dict[str, Any]:
    """A file where there is one of this name, else a corpus."""
    given, path = options["realism"], Path(options["realism"])
    if not path.is_file():
        return comparing.parameters_of(other=_corpus(given), seed=options["seed"])
    try:
        with path.open("rb") as lines:
            received = texts.receive(corpus, lines, path.name)
    except texts.BadTexts as problem:
        raise CommandError(f"{path}: {problem}", returncode=USAGE) from None
    except OSError as problem:
        raise CommandError(f"{path}: cannot be read: {problem.strerror}", returncode=USAGE) from None
    return comparing.parameters_of(received=received, seed=options["seed"])


def _compared(corpus: Corpus, parameters: dict[str, Any]) -> Report:
    """The texts of a file go at once: nobody else waits for them."""
    try:
        return _made(corpus, parameters)
    finally:
        if parameters[comparing.AGAINST] == comparing.TEXTS:
            Report.objects.filter(
                corpus=corpus, kind=Report.DIVERSITY, key=reports.key_of(parameters)
            ).update(asked_at=None)
            texts.forget(corpus, parameters["other"])


def _made(corpus: Corpus, parameters: dict[str, Any]) -> Report:
    report = reports.make(corpus, Report.DIVERSITY, parameters)
    report.refresh_from_db()
    if report.problem:
        raise CommandError(report.problem, returncode=BROKEN)
    return report


def _write(path: Path, words: str) -> None:
    try:
        path.write_text(words, encoding="utf-8")
    except OSError as problem:
        raise CommandError(f"{path}: cannot be written: {problem.strerror}", returncode=USAGE) from None


def _wrong(what: str, name: str, known: list[str]) -> CommandError:
    return CommandError(
        f"There is no {what} {name!r}; there are: {', '.join(known[:50]) or 'none'}.", returncode=USAGE
    )
