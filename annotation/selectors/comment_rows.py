"""Comments as a list shows them: an excerpt around what was found, suggestions, states of labels."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.postgres.search import SearchHeadline

from annotation.domain.comment_filter import CommentFilter
from annotation.domain.excerpts import BEGIN, END, Piece, pieces
from annotation.models import AttributeLabel, Suggestion
from annotation.selectors import search
from simulation.domain.attributes import TARGET_KEYS
from simulation.models import Comment

CHIPS = 2


@dataclass(frozen=True)
class Row:
    """One comment as the list shows it. What was said is empty for those who must not see it."""

    comment: Comment
    excerpt: Sequence[Piece]
    tags: Sequence[Suggestion] = ()
    more_tags: int = 0
    states: Sequence[tuple[str, str]] = ()
    """(attribute key, state) of all attributes that are asked for."""
    states_in_words: Sequence[tuple[str, int]] = ()
    people: int = 0
    """People here who have reviewed it."""


def rows(keys: Sequence[int], asked: CommentFilter, *, sees_labels: bool) -> list[Row]:
    """The comments with these keys, in the order of the corpus, with what was said of them; three queries."""
    comments = Comment.objects.filter(pk__in=keys).select_related("thread").order_by("sequence", "pk")
    if asked.text:
        comments = comments.annotate(
            marked=SearchHeadline(
                "text",
                search.words(asked.text),
                config="english",
                start_sel=BEGIN,
                stop_sel=END,
                highlight_all=True,
            )
        )
    found = list(comments)
    tags = _tags(found, asked) if sees_labels else {}
    labels = _labels(found) if sees_labels else {}
    return [
        _row(
            one,
            tags.get(one.pk, []),
            labels.get(one.pk, []) if sees_labels else None,
        )
        for one in found
    ]


def _row(comment: Comment, tags: list[Suggestion], labels: list[tuple[str, str, int, bool]] | None) -> Row:
    excerpt = pieces(getattr(comment, "marked", comment.text))
    if labels is None:
        return Row(comment, excerpt)
    suggested = {tag.attribute for tag in tags}
    states = {key: "untouched" if key in suggested else "pending" for key in TARGET_KEYS}
    for attribute, state, _, _ in labels:
        if attribute in states and state:
            states[attribute] = state
    people = len({annotation for _, _, annotation, here in labels if here})
    counted = sorted(Counter(states.values()).items())
    return Row(
        comment,
        excerpt,
        tags=tags[:CHIPS],
        more_tags=max(0, len(tags) - CHIPS),
        states=list(states.items()),
        states_in_words=counted,
        people=people,
    )


def _tags(comments: Iterable[Comment], asked: CommentFilter) -> dict[int, list[Suggestion]]:
    """Comment key -> the latest suggestion for each attribute, those that are asked for first; one query."""
    rows = Suggestion.objects.filter(comment__in=list(comments)).defer("model_eval", "extra").order_by("pk")
    if asked.tagger:
        rows = rows.filter(tagger=asked.tagger)
    latest: dict[int, dict[str, Suggestion]] = defaultdict(dict)
    for tag in rows:
        latest[tag.comment_id][tag.attribute] = tag
    value = asked.value.casefold()

    def rank(tag: Suggestion) -> tuple[bool, bool, int]:
        said = any(value in word.casefold() for word in tag.words) if value else True
        return (asked.attribute not in ("", tag.attribute), not said, tag.position)

    return {key: sorted(own.values(), key=rank) for key, own in latest.items()}


def _labels(comments: Iterable[Comment]) -> dict[int, list[tuple[str, str, int, bool]]]:
    """Comment key -> (attribute, state as shown, annotation, by a person here) of each label, latest
    annotation last; one query."""
    found = defaultdict(list)
    rows = AttributeLabel.objects.filter(annotation__comment__in=list(comments)).order_by("annotation_id")
    fields = (
        "annotation__comment_id",
        "attribute",
        "state",
        "outcome",
        "annotation_id",
        "annotation__person_id",
    )
    for comment, attribute, state, outcome, annotation, person in rows.values_list(*fields):
        found[comment].append((attribute, _shown(state, outcome), annotation, person is not None))
    return dict(found)


def _shown(state: str, outcome: str) -> str:
    """A state of the design's table; empty where the label says nothing."""
    if outcome == "imported":
        return {"value": "imported", "untouched": ""}.get(state, state)
    return "" if outcome == "untouched" else outcome
