"""Corpora for releases: hostile texts, a queue that people have answered, and ways to look at the files."""

import itertools
import json
from pathlib import Path

from annotation.domain.labels import Label, Outcome, State
from annotation.exchange.dataset import import_paths
from annotation.models import Annotation, Decision, DecisionEvent, FirstAnswer, Item
from annotation.services import queues
from evaluation.exchange import release_files
from evaluation.models import Release
from simulation.models import Corpus
from tests.annotation.exchange.samples import guess, label, profile, review, row
from tests.factories.adjudication import NONE, UNTOUCHED, answer, value
from tests.factories.simulation import MembershipFactory

HOSTILE = (
    "back\\slash \\n \\. and a line\nfeed",
    '"quotes", commas, \'single\' and {"json": [1]}',
    "emoji 👩‍👩‍👧 and U+2028\u2028here\u2029and \u00a0 nbsp",
    "tab\there\rand return \x01\x02\x1f\x7f",
    '=HYPERLINK("http://example.org";"x")',
    "@SUM(1+1)|x",
    "-2+3 +4",
    "\\.",
)
_numbers = itertools.count()


def write_rows(path: Path, rows) -> Path:
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows), encoding="utf-8")
    return path


def hostile_rows():
    """Comments in one thread, each a reply to the one before, with texts that break carelessly written files;
    some have guesses, some reviews."""
    rows = []
    for number, text in enumerate(HOSTILE):
        rows.append(
            row(
                number,
                f"c{number - 1}" if number else None,
                text=text,
                children=[f"c{number + 1}"] if number + 1 < len(HOSTILE) else [],
                guesses=[guess(), guess("age", guesses=["40", "30", "50"])] if number % 2 else None,
                reviews={} if number % 3 == 0 else {"human": review(sex=label("male", 3, 4))},
            )
        )
    rows[0]["profile"]["guess_feature"] = "age"
    rows[2]["guesses"] = [guess("sex", guesses=['fe"male\\', "m\tale"], model_eval=[0.25, 1e-7])]
    rows[3]["reviews"] = {
        "human": review(sex=label("male", 3, 4), age=label("x", 0, 2)),
        "a1": review(sex=label("female", 2, 2)),
    }
    rows[4]["mood"] = {"b": 1, "a": [None, 2.50]}
    rows[5]["profile"] = profile("Author5", extra="field", age=30.5)
    rows[6]["profile"] = None
    return rows


def hostile_corpus(folder: Path, name: str = "harbour") -> Corpus:
    path = write_rows(folder / f"rows{next(_numbers)}.jsonl", hostile_rows())
    report = import_paths(paths=[path], corpus_name=name)
    assert report.ok, report.problems
    return Corpus.objects.get(name=name)


def imported(folder: Path, name: str) -> Corpus:
    """A release brought into an empty corpus."""
    paths = [folder / "profiles.jsonl", folder / "synthpai.jsonl"]
    report = import_paths(paths=[path for path in paths if path.stat().st_size], corpus_name=name)
    assert report.ok, report.problems
    return Corpus.objects.get(name=name)


def make(corpus: Corpus, folder: Path, *, policy: str = "adjudicated", **fields):
    """Writes the files of a release that is not stored; the manifest."""
    query = fields.pop("query", {})
    check = fields.pop("check", lambda: None)
    release = Release(corpus=corpus, **{"name": "1.0", "policy": policy, "query": query, **fields})
    return release_files.write(release, folder, check=check).content


def lines(folder: Path, table: str):
    text = (folder / f"{table}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def differing(one, other):
    """Names of the files of two manifests that are not the same."""
    return [name for name in one["files"] if one["files"][name] != other["files"].get(name)]


class Reviewed:
    """A corpus of hostile texts with a queue of two people a comment: what became of each is said below."""

    def __init__(self, folder: Path) -> None:
        self.corpus = hostile_corpus(folder)
        self.queue = queues.create(by=None, corpus=self.corpus, name="round 1", people_per_item=2)
        self.items = {
            item.comment.external_id: item
            for item in Item.objects.filter(queue=self.queue).select_related("comment", "queue")
        }
        self.people = [
            MembershipFactory(
                person__username=f"secretname{n}", person__email=f"secret{n}@example.org"
            ).person
            for n in range(3)
        ]
        one, two, three = self.people
        emoji = self.items["c2"].comment
        place = emoji.text.index("and")
        quote = (str(emoji.public_id), place, place + 3, "and")
        # c2: both say the same, each in words of their own, one with evidence.
        answer(one, self.items["c2"], age=value("30", 2, 5, [quote]), occupation=value("nurse", 1, 4))
        answer(two, self.items["c2"], age=value("32", 4, 4), occupation=value("nurse", 2, 2))
        # c4: they differ about sex and an adjudicator decides; one leaves the age untouched.
        answer(one, self.items["c4"], sex=value("male"), age=value("50"))
        answer(two, self.items["c4"], sex=value("female"), age=UNTOUCHED)
        self.decide("c4", "sex", "female", by=three)
        # c5: only one of two has answered so far.
        answer(one, self.items["c5"], age=value("50"), note="ask secretname1 about it")
        # c6: a third answer, over the quota.
        for person in (one, two, three):
            answer(person, self.items["c6"], sex=value("female"), rest=NONE)
        Annotation.objects.filter(item=self.items["c6"], person=three).update(over_quota=True)
        # c7: gold.
        answer(one, self.items["c7"], age=value("77"))
        answer(two, self.items["c7"], age=value("77"))
        Item.objects.filter(pk=self.items["c7"].pk).update(gold=True)
        FirstAnswer.objects.create(
            item=self.items["c2"],
            person=one,
            labels={"age": Label(State.VALUE, Outcome.ADDED, "25", 3, 1).as_json()},
        )

    def decide(self, comment, attribute, words, *, by):
        said = {"state": "value", "value": words, "hardness": 3, "certainty": 5}
        Decision.objects.create(
            item=self.items[comment],
            attribute=attribute,
            reason="slip",
            note="see secret0@example.org",
            by=by,
            **said,
        )
        DecisionEvent.objects.create(
            item=self.items[comment], person=by, attribute=attribute, old=None, new=said
        )
