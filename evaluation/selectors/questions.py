"""Questions as people settle them: which comes next, what is left, what was said, and what hangs on it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from evaluation.domain.verdicts import HALF, RIGHT, WRONG, Rung
from evaluation.models import OpenGuess, Opinion, ProfileLabel, Question
from simulation.domain.attributes import CATALOGUE
from simulation.models import Corpus, User

LISTED = 50
SCORE_WORDS: dict[float | None, str] = {
    RIGHT: "right",
    HALF: "less precise",
    WRONG: "wrong",
    None: "could not say",
}


class View(StrEnum):
    """Which questions are handed out."""

    OPEN = "open"
    SECOND = "second"
    DISPUTED = "disputed"
    JUDGED = "judged"


VIEW_WORDS = {
    View.OPEN: "Open",
    View.SECOND: "Second opinions",
    View.DISPUTED: "Disputed",
    View.JUDGED: "Check the judge",
}


@dataclass(frozen=True)
class Shown:
    """A question as it is settled. `others` are what people said, by letter, where they differ; `judge` is
    what the judge said, where it was asked to be shown; `looked` where it was, whether there is something."""

    question: Question
    models: int
    guesses: int
    labels: int
    others: Sequence[tuple[str, str]] = ()
    judge: str = ""
    looked: bool = False


@dataclass(frozen=True)
class Progress:
    """How many questions stand how. `settled` by people, by judges and files together."""

    by_people: int = 0
    by_judge: int = 0
    by_file: int = 0
    open: int = 0
    disputed: int = 0
    second: int = 0
    """Of all: those that want more people."""

    @property
    def total(self) -> int:
        return self.by_people + self.by_judge + self.by_file + self.open + self.disputed

    @property
    def left(self) -> int:
        return self.open + self.disputed

    @property
    def settled(self) -> int:
        return self.total - self.left

    @property
    def segments(self) -> list[dict[str, str | int]]:
        """What the bar shows, one part behind the other: see components/progress.html."""
        parts = [("done", "by people", self.by_people), ("held", "by a judge", self.by_judge)]
        parts.append(("skipped", "by a file", self.by_file))
        found: list[dict[str, str | int]] = []
        start = 0.0
        for css, label, number in parts:
            width = 100 * number / self.total if self.total else 0.0
            found.append(
                {
                    "css": css,
                    "label": label,
                    "number": number,
                    "start": f"{start:.3f}",
                    "width": f"{width:.3f}",
                }
            )
            start += width
        return found


def in_view(corpus: Corpus, person: User, view: View, attribute: str = "") -> QuerySet[Question]:
    """The questions of a view that this person may answer, in the order in which they are handed out.

    Whoever has answered one is not asked again, but for disputes: everybody settles them. The biggest come
    first; what a judge settled comes in an order that has nothing to do with what it is about.
    """
    found = Question.objects.filter(corpus=corpus)
    if attribute:
        found = found.filter(attribute=attribute)
    if view is View.DISPUTED:
        return found.filter(state=Question.DISPUTED).order_by("-waiting", "pk")
    mine = Opinion.objects.filter(question=OuterRef("pk"), person=person).order_by("-pk")
    found = found.alias(taken_back=Subquery(mine.values("withdrawn")[:1]))
    found = found.filter(Q(taken_back=None) | Q(taken_back=True))
    if view is View.JUDGED:
        return found.filter(state=Question.SETTLED, rung=Rung.JUDGE).order_by("key")
    if view is View.SECOND:
        found = found.filter(wants__gt=1, asked_of_people__gte=1).exclude(state=Question.DISPUTED)
        return found.exclude(rung=Rung.PERSON).order_by("-waiting", "pk")
    return found.filter(state=Question.OPEN).order_by("-waiting", "pk")


def following(questions: QuerySet[Question], skipped: Sequence[str]) -> Question | None:
    """The first one that was not skipped; then those that were, the longest ago first."""
    first = questions.exclude(public_id__in=skipped).first()
    if first is not None or not skipped:
        return first
    left = {str(one.public_id): one for one in questions.filter(public_id__in=skipped)}
    return next((left[one] for one in skipped if one in left), None)


def shown(question: Question, *, with_judge: bool = False) -> Shown:
    """A question with what depends on it; what people said only where they differ, without names."""
    guesses = OpenGuess.objects.filter(question=question).aggregate(
        n=Count("pk"), models=Count("verdict__scoring__prediction_run", distinct=True)
    )
    return Shown(
        question,
        models=guesses["models"],
        guesses=guesses["n"],
        labels=ProfileLabel.objects.filter(truth_question=question).count(),
        others=lettered(question) if question.state == Question.DISPUTED else (),
        judge=judge_said(question) if with_judge else "",
        looked=with_judge,
    )


def lettered(question: Question) -> list[tuple[str, str]]:
    """What each person says now, as A, B … in the order of a key that tells nobody who they are."""
    said = standing(question)
    order = sorted(said, key=lambda person: (said[person].score or 0, person))
    return [(_letter(place), SCORE_WORDS[said[person].score]) for place, person in enumerate(order)]


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else str(place + 1)


def standing(question: Question) -> dict[int, Opinion]:
    """Person -> what they say now of a question; nobody who has withdrawn."""
    found: dict[int, Opinion] = {}
    for one in question.opinions.filter(source=Opinion.PERSON).order_by("pk"):
        found[one.person_id or 0] = one
    return {person: one for person, one in found.items() if not one.withdrawn}


def own(question: Question, person: User) -> Opinion | None:
    """What a person says now of a question."""
    last = question.opinions.filter(person=person).order_by("-pk").first()
    return None if last is None or last.withdrawn else last


def judge_said(question: Question) -> str:
    """What the judge said last that could be read, in words; empty where there is nothing."""
    said = question.opinions.filter(source=Opinion.JUDGE, score__isnull=False).order_by("-pk").first()
    if said is None:
        return ""
    model = said.run.plan["models"]["judge"]["model"] if said.run and said.run.plan.get("models") else ""
    return f"The judge{f' ({model})' if model else ''} says {SCORE_WORDS[said.score]}."


def progress(corpus: Corpus, attribute: str = "") -> Progress:
    """One query."""
    found = Question.objects.filter(corpus=corpus)
    if attribute:
        found = found.filter(attribute=attribute)
    settled = Q(state=Question.SETTLED)
    counted = found.aggregate(
        by_people=Count("pk", filter=settled & Q(rung=Rung.PERSON)),
        by_judge=Count("pk", filter=settled & Q(rung=Rung.JUDGE)),
        by_file=Count("pk", filter=settled & Q(rung=Rung.RECORDED)),
        open=Count("pk", filter=Q(state=Question.OPEN)),
        disputed=Count("pk", filter=Q(state=Question.DISPUTED)),
        second=Count(
            "pk",
            filter=Q(wants__gt=1, asked_of_people__gte=1)
            & ~Q(rung=Rung.PERSON)
            & ~Q(state=Question.DISPUTED),
        ),
    )
    return Progress(**counted)


def attributes(corpus: Corpus) -> list[tuple[str, int]]:
    """Attributes that have questions, in the catalogue's order, with how many are open or disputed."""
    rows = Question.objects.filter(corpus=corpus).order_by().values_list("attribute")
    counted = dict(rows.annotate(n=Count("pk", filter=~Q(state=Question.SETTLED))))
    order = {key: place for place, key in enumerate(CATALOGUE)}
    return sorted(counted.items(), key=lambda one: (order.get(one[0], len(order)), one[0]))


@dataclass(frozen=True)
class Said:
    """A line of the log. `is_hidden`: it waits for a second opinion that the reader may give; its note says
    as much as its score. `hides_standing`: what the question stands at might tell what a hidden line says."""

    opinion: Opinion
    who: str
    what: str
    is_hidden: bool = False
    hides_standing: bool = False

    @property
    def note(self) -> str:
        """What a person has noted, where it may be read."""
        is_shown = self.opinion.source == Opinion.PERSON and not self.is_hidden
        return self.opinion.note if is_shown else ""


@dataclass(frozen=True)
class Log:
    rows: Sequence[Said]
    after: int
    """Key behind which the next page begins; 0: this is the last."""


def logged(corpus: Corpus, asked: Mapping[str, str]) -> QuerySet[Opinion]:
    """Opinions of a corpus, newest first, as `person` (public id), `attribute` and `source` narrow them."""
    found = Opinion.objects.filter(question__corpus=corpus).order_by("-pk")
    if asked.get("person"):
        found = found.filter(person__public_id=asked["person"])
    if asked.get("attribute"):
        found = found.filter(question__attribute=asked["attribute"])
    if asked.get("source"):
        found = found.filter(source=asked["source"])
    return found.select_related("question", "person", "run")


def log(corpus: Corpus, person: User, asked: Mapping[str, str], after: int = 0) -> Log:
    """One page of the log; two queries."""
    found = logged(corpus, asked)
    if after:
        found = found.filter(pk__lt=after)
    page = list(found[: LISTED + 1])
    rows = lines(page[:LISTED], person)
    return Log(rows, page[LISTED - 1].pk if len(page) > LISTED else 0)


def lines(opinions: Collection[Opinion], person: User) -> list[Said]:
    """Opinions in words, as this person may read them; one query.

    What the first person said is hidden from whoever may give the second opinion, until they have.
    """
    waiting = {one.question_id for one in opinions if wants_more(one.question)}
    mine = set(Opinion.objects.filter(question__in=waiting, person=person).values_list("question", flat=True))
    return [
        Said(
            one,
            who_said(one),
            what_was_said(one),
            is_hidden=one.question_id in waiting - mine and one.source == Opinion.PERSON,
            hides_standing=one.question_id in waiting - mine and one.question.asked_of_people > 0,
        )
        for one in opinions
    ]


def wants_more(question: Question) -> bool:
    """Whether a second opinion was asked for and has not come."""
    return (
        question.wants > 1
        and question.asked_of_people < question.wants
        and question.state != Question.DISPUTED
    )


def who_said(one: Opinion) -> str:
    """The person, the judge's run, or the file."""
    if one.source == Opinion.PERSON:
        return one.person.username if one.person else "a person"
    if one.source == Opinion.JUDGE:
        return f"judge, {one.run.name}" if one.run else "judge"
    return f"file, {one.note}"


def what_was_said(one: Opinion) -> str:
    """The verdict in words."""
    if one.withdrawn:
        return "took it back"
    if one.source == Opinion.FILE and one.score is None:
        return "contradicts itself"
    return SCORE_WORDS[one.score] + (", settling a dispute" if one.resolves else "")


def people(corpus: Corpus) -> list[User]:
    """Who has answered a question of a corpus, by name."""
    said = Opinion.objects.filter(question__corpus=corpus, source=Opinion.PERSON)
    return list(User.objects.filter(pk__in=said.values("person")).order_by("username"))


@dataclass(frozen=True)
class Depending:
    """What hangs on a question: a guess of a model, or a label where `model` is empty."""

    name: str
    model: str
    author: str
    author_id: str
    place: int
    scoring: str = ""
    label_set: str = ""


def depending(question: Question, most: int = LISTED) -> list[Depending]:
    """The first guesses and labels that hang on a question; two queries."""
    guesses = OpenGuess.objects.filter(question=question).order_by("pk")
    rows = guesses.values_list(
        "verdict__scoring__prediction_run__name",
        "verdict__scoring__prediction_run__model",
        "verdict__profile__username",
        "verdict__profile__public_id",
        "place",
        "verdict__scoring__public_id",
    )
    found = [
        Depending(name, model, author, str(key), place + 1, scoring=str(scoring))
        for name, model, author, key, place, scoring in rows[:most]
    ]
    labels = ProfileLabel.objects.filter(truth_question=question).order_by("pk")
    kept = labels.values_list(
        "label_set__name", "profile__username", "profile__public_id", "label_set__public_id"
    )
    found += [
        Depending(name, "", author, str(key), 0, label_set=str(label_set))
        for name, author, key, label_set in kept[:most]
    ]
    return found
