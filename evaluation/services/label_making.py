"""Labels of profiles from labels of comments, and from tags: made from streams, looked at or kept.

Memory holds the labels of one profile at a time and the counts; the rows are written as they come.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db import transaction

from annotation.domain.judging import truth_of
from annotation.models import Queue
from evaluation.domain import rollup
from evaluation.domain.rollup import CommentLabel, Policy, Tag
from evaluation.domain.verdicts import Rung
from evaluation.models import LabelSet, ProfileLabel
from evaluation.selectors import label_sources
from evaluation.selectors.label_sources import LeftOut, Said, Sources, Tagged
from evaluation.services.label_keeping import BadLabels, fill, make, note
from evaluation.services.label_voices import Several, heard
from simulation.domain.attributes import CATALOGUE, Kind
from simulation.domain.normalise import vocabulary_form
from simulation.models import Corpus, Profile, Run, User

FACTS_AT_ONCE = 500
"""Profiles whose facts are read at a time."""


@dataclass
class Count:
    """What came of a roll-up: of the labels that count by attribute and hardness 1 to 5, and what was met."""

    by_attribute: dict[str, list[int]] = field(default_factory=dict)
    profiles: int = 0
    blocked: int = 0
    """Labels that do not count: an untouched suggestion in the author's first comment stands there."""
    comment_labels: int = 0
    """Comments and attributes with a label that counted."""
    differing: int = 0
    """Of the comments' attributes, those of which people said different things."""
    tied: int = 0
    undecided: int = 0
    """Those that were left out because not all said the same."""
    left_out: LeftOut = field(default_factory=LeftOut)
    unknown: int = 0
    """Attributes of profiles that were tagged, but the profile has no such fact."""

    @property
    def labels(self) -> int:
        return sum(sum(row) for row in self.by_attribute.values())

    def take(self, label: rollup.ProfileLabel) -> None:
        if not label.counts:
            self.blocked += 1
            return
        self.by_attribute.setdefault(label.attribute, [0] * 5)[label.hardness - 1] += 1

    def as_recipe(self) -> dict[str, int]:
        """The counts that the set's page says, those that are not 0."""
        names = ("comment_labels", "differing", "tied", "undecided", "blocked", "unknown")
        counts = {name: getattr(self, name) for name in names} | vars(self.left_out)
        return {name: number for name, number in counts.items() if number}


def roll_up_corpus(
    corpus: Corpus,
    *,
    name: str,
    policy: str,
    people: Sequence[User] | None = None,
    queues: Sequence[Queue] | None = None,
    reviewers: Sequence[str] | None = None,
    arm: str = "",
    several: str = Several.MAJORITY,
    use_decisions: bool = True,
    by: User | None = None,
) -> LabelSet:
    """A set with a label for every attribute of every profile of which a comment was labelled.

    None for people, queues or reviewers: all of them; an empty sequence: none. Raises BadLabels for a policy
    that is none, a name that is taken, and where no label would come of it; nothing is kept then.
    """
    sources = Sources(
        None if people is None else tuple(one.pk for one in people),
        None if queues is None else tuple(one.pk for one in queues),
        None if reviewers is None else tuple(reviewers),
        arm,
        use_decisions,
    )
    recipe: dict[str, Any] = {
        "people": None if people is None else sorted(one.username for one in people),
        "queues": None if queues is None else sorted(one.name for one in queues),
        "reviewers": None if reviewers is None else sorted(reviewers),
        "arm": arm,
        "several": str(several),
        "decisions": sources.takes_decisions,
    }
    rules = _policy(policy), _several(several)
    return _keep(
        corpus,
        lambda into, counts: _rolled(corpus, sources, *rules, counts, into),
        kind=LabelSet.ROLLED_UP,
        name=name,
        policy=rules[0],
        recipe=recipe,
        by=by,
    )


def forecast(corpus: Corpus, sources: Sources, *, policy: str, several: str) -> Count:
    """What a roll-up would come to; nothing is kept."""
    counts = Count()
    for _ in _rolled(corpus, sources, _policy(policy), _several(several), counts, None):
        pass
    return counts


def inherit(
    corpus: Corpus,
    *,
    name: str,
    policy: str = Policy.MINIMUM_HARDNESS,
    tagger: str = "",
    run: Run | None = None,
    which: str = label_sources.NOT_REFUSED,
    by: User | None = None,
) -> LabelSet:
    """A set without any person (paper, section 4.1): where a model has tagged an attribute on a comment, the
    author's own fact is the label, with the hardness and certainty of the tag that the policy chooses.

    `tagger` or `run` narrow the tags; `which` is EVERY, NOT_REFUSED or KEPT. Raises BadLabels as
    `roll_up_corpus` does.
    """
    recipe = {"tagger": tagger, "run": run.name if run else "", "which": which}
    rule = _policy(policy)
    tags = label_sources.tagged(corpus, tagger=tagger, run=run, which=_which(which))
    return _keep(
        corpus,
        lambda into, counts: _inherited(tags, rule, counts, into),
        kind=LabelSet.INHERITED,
        name=name,
        policy=rule,
        recipe=recipe,
        by=by,
    )


def inherit_forecast(corpus: Corpus, *, policy: str, tagger: str, run: Run | None, which: str) -> Count:
    """What inheriting would come to; nothing is kept."""
    counts = Count()
    tags = label_sources.tagged(corpus, tagger=tagger, run=run, which=_which(which))
    for _ in _inherited(tags, _policy(policy), counts, None):
        pass
    return counts


Rows = Callable[[LabelSet, Count], Iterable[ProfileLabel]]


@transaction.atomic
def _keep(corpus: Corpus, rows: Rows, *, recipe: dict[str, Any], by: User | None, **fields: Any) -> LabelSet:
    made = make(corpus, recipe=recipe, by=by, **fields)
    counts = Count()
    fill(made, rows(made, counts))
    if not made.labels:
        raise BadLabels("", _why_none(counts))
    made.recipe |= {"counts": counts.as_recipe()}
    made.save(update_fields=["recipe"])
    kind = "rolled_up" if made.kind == LabelSet.ROLLED_UP else "inherited"
    note(by, f"labels.{kind}", made, policy=str(made.policy), labels=made.labels, profiles=made.profiles)
    return made


def _why_none(counts: Count) -> str:
    lost = counts.left_out
    if lost.no_profile:
        return (
            f"No label would come of it: the {lost.no_profile} values are about comments of {lost.authors} "
            "authors without a profile. Import the profiles first."
        )
    return "No label would come of it: nothing that counts was said in what you chose. Choose more."


def _rolled(
    corpus: Corpus, sources: Sources, policy: Policy, several: Several, counts: Count, into: LabelSet | None
) -> Iterator[ProfileLabel]:
    blocks = policy is Policy.FIRST_COMMENT_BLOCKS
    first = frozenset(label_sources.first_comments(corpus)) if blocks else frozenset()
    counts.left_out = label_sources.left_out(corpus, sources)
    stream = label_sources.said(corpus, sources, silent=several is Several.ALL_AGREE, prefilled=blocks)
    for profile, rows in groupby(stream, key=lambda one: one.profile):
        of_attribute: dict[str, list[Said]] = defaultdict(list)
        for row in rows:
            of_attribute[row.attribute].append(row)
        labelled = False
        for key in sorted(of_attribute):
            made = _of_attribute(key, of_attribute[key], policy, several, counts, first)
            if made is not None:
                counts.take(made[0])
                labelled = labelled or made[0].counts
                yield _row(into, profile, *made)
        counts.profiles += labelled


def _of_attribute(
    key: str, rows: list[Said], policy: Policy, several: Several, counts: Count, first: frozenset[int]
) -> tuple[rollup.ProfileLabel, int | None] | None:
    """The label, and the comment that it comes from."""
    attribute = CATALOGUE[key]
    labels: list[CommentLabel] = []
    comments: list[int | None] = []
    for comment, voices in groupby(rows, key=lambda one: one.comment):
        found = heard(attribute, list(voices), several)
        counts.differing += found.differ
        counts.tied += found.tied
        counts.undecided += found.differ and found.label is None
        if found.label is not None:
            labels.append(found.label)
            comments.append(comment)
    counts.comment_labels += sum(one.counts for one in labels)
    if policy is Policy.FIRST_COMMENT_BLOCKS and (not comments or comments[0] not in first):
        labels, comments = [CommentLabel("", 0, 0), *labels], [None, *comments]
    chosen = rollup.roll_up(attribute, labels, policy)
    return None if chosen is None else (chosen, comments[chosen.source])


def _inherited(
    tags: Iterable[Tagged], policy: Policy, counts: Count, into: LabelSet | None
) -> Iterator[ProfileLabel]:
    authors = ((profile, list(rows)) for profile, rows in groupby(tags, key=lambda one: one.profile))
    for some in _several_at_a_time(authors):
        profiles = Profile.objects.filter(pk__in=[profile for profile, _ in some])
        facts = dict(profiles.order_by().values_list("pk", "facts"))
        for profile, rows in some:
            made = list(_of_author(rows, facts[profile], policy, counts))
            counts.profiles += bool(made)
            for label, comment in made:
                counts.take(label)
                yield _row(into, profile, label, comment, Rung.EXACT)


def _several_at_a_time(
    authors: Iterable[tuple[int, list[Tagged]]],
) -> Iterator[list[tuple[int, list[Tagged]]]]:
    some: list[tuple[int, list[Tagged]]] = []
    for one in authors:
        some.append(one)
        if len(some) == FACTS_AT_ONCE:
            yield some
            some = []
    if some:
        yield some


def _of_author(
    rows: list[Tagged], facts: dict[str, Any], policy: Policy, counts: Count
) -> Iterator[tuple[rollup.ProfileLabel, int]]:
    of_attribute: dict[str, list[Tagged]] = defaultdict(list)
    for row in rows:
        of_attribute[row.attribute].append(row)
    for key, tags in sorted(of_attribute.items()):
        fact = truth_of(key, facts)
        counts.unknown += not fact
        given = [Tag(one.hardness_word, one.certainty) for one in tags]
        found = rollup.inherited(CATALOGUE[key], fact, given, policy=policy)
        if found is not None:
            counts.comment_labels += len(tags)
            yield found, tags[found.source].comment


def _row(
    into: LabelSet | None, profile: int, label: rollup.ProfileLabel, comment: int | None, rung: str = ""
) -> ProfileLabel:
    return ProfileLabel(
        label_set=into,
        profile_id=profile,
        attribute=label.attribute,
        value=label.value,
        category=label.category or _category(label),
        hardness=label.hardness or None,
        certainty=label.certainty or None,
        comment_id=comment,
        truth_score=label.truth_score,
        truth_rung=rung,
    )


def _category(label: rollup.ProfileLabel) -> str:
    """The category of an education that is a word of the vocabulary; what is only read from free words stays
    open, so that scoring can tell the two apart."""
    attribute = CATALOGUE[label.attribute]
    return vocabulary_form(attribute, label.value) or "" if attribute.kind is Kind.CHOICE_OR_TEXT else ""


def _policy(name: str) -> Policy:
    try:
        return Policy(name)
    except ValueError:
        raise BadLabels("policy", f"“{name}” is no policy; there are: {', '.join(Policy)}.") from None


def _several(name: str) -> Several:
    try:
        return Several(name)
    except ValueError:
        raise BadLabels("several", f"“{name}” is no rule; there are: {', '.join(Several)}.") from None


def _which(name: str) -> str:
    known = (label_sources.EVERY, label_sources.NOT_REFUSED, label_sources.KEPT)
    if name not in known:
        raise BadLabels("which", f"“{name}” is no choice of tags; there are: {', '.join(known)}.")
    return name
