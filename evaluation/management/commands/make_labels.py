"""make_labels: a label set from what people labelled or models tagged, from the command line."""

import json
from argparse import ArgumentParser
from typing import Any, TypeVar

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Annotation, Queue
from evaluation.domain.rollup import Policy
from evaluation.models import LabelSet, Scoring
from evaluation.selectors.label_sources import EVERY, KEPT, NOT_REFUSED
from evaluation.selectors.label_words import ARM_WORDS
from evaluation.services import label_sets
from evaluation.services.label_sets import BadLabels, Several
from simulation.models import Corpus, Run, User

USAGE = 2
One = TypeVar("One")


class Command(BaseCommand):
    help = (
        "Makes a label set: labels of comments rolled up to profiles, or labels inherited from tags; on"
        " request compares it with the profiles and makes the revised set. Exit status: 0 done, 2 wrong usage"
        " or nothing to make, with the reason."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--corpus", required=True, metavar="NAME")
        parser.add_argument("--kind", choices=(LabelSet.ROLLED_UP, LabelSet.INHERITED), required=True)
        parser.add_argument("--name", required=True, help="of the set, which nobody may have yet")
        parser.add_argument(
            "--policy", choices=[one.value for one in Policy], default=Policy.MINIMUM_HARDNESS.value
        )
        parser.add_argument("--compare", action="store_true", help="with the profiles")
        parser.add_argument(
            "--rules",
            choices=(Scoring.DEFAULT, Scoring.COMPATIBLE),
            default=Scoring.DEFAULT,
            help="of the comparison",
        )
        parser.add_argument(
            "--revise", action="store_true", help="compare, then make the revised set: NAME, revised"
        )
        parser.add_argument("--json", action="store_true", help="say the counts as JSON")
        people = parser.add_argument_group("rolled_up")
        people.add_argument("--person", action="append", metavar="NAME", help="only of this person; repeat")
        people.add_argument("--queue", action="append", metavar="NAME", help="only of this queue; repeat")
        people.add_argument(
            "--reviewer", action="append", metavar="NAME", help="only of this imported reviewer; repeat"
        )
        people.add_argument("--no-people", action="store_true", help="only imported labels")
        people.add_argument("--no-imported", action="store_true", help="only labels of people here")
        people.add_argument("--arm", choices=list(ARM_WORDS), default="")
        people.add_argument(
            "--several",
            choices=[one.value for one in Several],
            default=Several.MAJORITY.value,
            help="what becomes of several people's labels on one comment",
        )
        people.add_argument("--no-decisions", action="store_true", help="leave decisions aside")
        tags = parser.add_argument_group("inherited")
        tags.add_argument("--tagger", default="", metavar="NAME", help="only tags of this tagger")
        tags.add_argument("--run", metavar="ID", help="only tags of this run")
        tags.add_argument(
            "--tags", choices=(EVERY, NOT_REFUSED, KEPT), default=NOT_REFUSED, help="which of them"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        corpora = Corpus.objects.filter(trashed_at=None)
        corpus = corpora.filter(name=options["corpus"]).first()
        if corpus is None:
            raise _wrong("corpus", options["corpus"], corpora.values_list("name", flat=True))
        try:
            sets = [self._make(corpus, options)]
            if options["compare"] or options["revise"]:
                label_sets.compare_with_profiles(sets[0], mode=options["rules"])
            if options["revise"]:
                sets.append(label_sets.revise(sets[0], name=f"{sets[0].name}, revised"))
        except BadLabels as problem:
            raise CommandError(str(problem), returncode=USAGE) from None
        counts = [_counts(one) for one in sets]
        if options["json"]:
            self.stdout.write(json.dumps(counts, indent=2))
            return
        for one in counts:
            self.stdout.write(
                "{name}: {labels} labels of {profiles} profiles, {open} not settled".format(**one)
            )

    def _make(self, corpus: Corpus, options: dict[str, Any]) -> LabelSet:
        common: dict[str, Any] = {"name": options["name"], "policy": options["policy"]}
        if options["kind"] == LabelSet.INHERITED:
            tags = {"tagger": options["tagger"], "which": options["tags"]}
            return label_sets.inherit(corpus, **common, **tags, run=_run(corpus, options["run"]))
        return label_sets.roll_up_corpus(
            corpus,
            **common,
            people=[] if options["no_people"] else _people(corpus, options["person"]),
            queues=_queues(corpus, options["queue"]),
            reviewers=[] if options["no_imported"] else _reviewers(corpus, options["reviewer"]),
            arm=options["arm"],
            several=options["several"],
            use_decisions=not options["no_decisions"],
        )


def _run(corpus: Corpus, public_id: str | None) -> Run | None:
    if public_id is None:
        return None
    runs = Run.objects.filter(corpus=corpus, kind=Run.TAG)
    found = runs.filter(public_id=public_id).first()
    if found is None:
        raise _wrong("tagging run", public_id, runs.values_list("public_id", flat=True))
    return found


def _people(corpus: Corpus, names: list[str] | None) -> list[User] | None:
    said = Annotation.objects.filter(comment__corpus=corpus, person__isnull=False)
    known = {one.username: one for one in User.objects.filter(pk__in=said.values("person"))}
    return _known("person", names, known)


def _queues(corpus: Corpus, names: list[str] | None) -> list[Queue] | None:
    known = {one.name: one for one in Queue.objects.filter(corpus=corpus, trashed_at=None)}
    return _known("queue", names, known)


def _reviewers(corpus: Corpus, names: list[str] | None) -> list[str] | None:
    said = Annotation.objects.filter(comment__corpus=corpus).exclude(reviewer="").order_by()
    return _known("reviewer", names, {one: one for one in said.values_list("reviewer", flat=True).distinct()})


def _known(what: str, names: list[str] | None, known: dict[str, One]) -> list[One] | None:
    if names is None:
        return None
    for name in names:
        if name not in known:
            raise _wrong(what, name, known)
    return [known[name] for name in names]


def _wrong(what: str, name: str, known: Any) -> CommandError:
    return CommandError(
        f"There is no {what} {name!r}; there are: {', '.join(known) or 'none'}.", returncode=USAGE
    )


def _counts(label_set: LabelSet) -> dict[str, Any]:
    waiting = label_set.rows.filter(truth_score=None, truth_question__isnull=False).count()
    return {
        "id": label_set.public_id,
        "name": label_set.name,
        "kind": label_set.kind,
        "labels": label_set.labels,
        "profiles": label_set.profiles,
        "open": waiting,
    }
