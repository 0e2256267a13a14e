"""Comments with a schema of our own: one JSON object each, or a table with one row a label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.exchange.chunks import Item, Pseudonyms
from annotation.models import Annotation, AttributeLabel, Decision, Suggestion
from simulation.domain.attributes import CATALOGUE
from simulation.domain.spreadsheets import guarded

COLUMNS = (
    "comment_id",
    "thread_id",
    "parent_id",
    "username",
    "text",
    "reviewer",
    "attribute",
    "state",
    "outcome",
    "value",
    "hardness",
    "certainty",
    "suggestion_1",
    "suggestion_2",
    "suggestion_3",
    "suggestion_hardness_word",
    "suggestion_certainty",
    "submitted_at",
    "over_quota",
    "bulk",
    "arm",
)


def plain_row(item: Item, names: Pseudonyms) -> dict[str, Any]:
    """One comment as an object whose fields are always the same."""
    comment, profile = item.comment, item.comment.profile
    return {
        "id": comment.external_id,
        "thread_id": comment.thread.external_id,
        "parent_id": item.parent_id,
        "author": comment.author,
        "username": comment.username,
        "text": comment.text,
        "depth": comment.depth,
        "state": comment.state,
        "profile": profile and _in_order(profile.facts) | {"style": profile.style},
        "suggestions": [_suggestion(one) for one in item.suggestions],
        "annotations": [_annotation(one, item, names) for one in item.annotations],
        "decisions": [_decision(one, item) for one in item.decisions],
    }


def _in_order(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: facts[key] for key in CATALOGUE if key in facts}


def _suggestion(one: Suggestion) -> dict[str, Any]:
    return {
        "tagger": one.tagger,
        "attribute": one.attribute,
        "guesses": one.guesses,
        "hardness_word": one.hardness_word,
        "hardness": one.hardness,
        "certainty": one.certainty,
        "model_eval": one.model_eval,
    }


def _annotation(one: Annotation, item: Item, names: Pseudonyms) -> dict[str, Any]:
    return {
        "reviewer": names.reviewer(one),
        "submitted_at": one.submitted_at.isoformat(),
        "active_ms": one.active_ms,
        "wall_ms": one.wall_ms,
        "over_quota": one.over_quota,
        "arm": one.arm,
        "note": one.note,
        "labels": {label.attribute: _label(label, item) for label in one.labels.all()},
        "first_answer": _first_answer(one),
    }


def _label(label: AttributeLabel, item: Item) -> dict[str, Any]:
    return {
        "state": label.state,
        "outcome": label.outcome,
        "value": label.value,
        "hardness": label.hardness,
        "certainty": label.certainty,
        "evidence": _evidence(label.evidence, item),
        "bulk": label.bulk,
    }


def _evidence(quotes: list[dict[str, Any]], item: Item) -> list[dict[str, Any]]:
    """Quotes with the comment's id in the source; places count code points."""
    return [{**quote, "comment": item.quoted.get(quote["comment"], "")} for quote in quotes]


def _first_answer(one: Annotation) -> dict[str, Any] | None:
    """What the person said about a blind comment before the suggestions were shown; without evidence."""
    if one.item is None or one.person_id is None:
        return None
    first = next((row for row in one.item.first_answers.all() if row.person_id == one.person_id), None)
    if first is None:
        return None
    names = ("state", "outcome", "value", "hardness", "certainty")
    return {key: {name: said.get(name) for name in names} for key, said in first.labels.items()}


def _decision(one: Decision, item: Item) -> dict[str, Any]:
    return {
        "attribute": one.attribute,
        "state": one.state,
        "value": one.value,
        "hardness": one.hardness,
        "certainty": one.certainty,
        "evidence": _evidence(one.evidence, item),
        "reason": one.reason,
        "bulk": one.bulk,
        "saw_model": one.saw_model,
    }


def table_rows(item: Item, names: Pseudonyms) -> Iterator[list[Any]]:
    """The rows of one comment: one for each label of each annotation, or one without any label."""
    comment = item.comment
    start = [comment.external_id, comment.thread.external_id, item.parent_id, comment.username, comment.text]
    empty = True
    for annotation in item.annotations:
        end = [annotation.submitted_at.isoformat(), int(annotation.over_quota)]
        for label in annotation.labels.all():
            empty = False
            how = [int(label.bulk), annotation.arm]
            yield guarded(
                [*start, names.reviewer(annotation), *_cells(label), *_guessed(label, item), *end, *how]
            )
    if empty:
        yield guarded([*start, *[None] * (len(COLUMNS) - len(start))])


def _cells(label: AttributeLabel) -> list[Any]:
    return [label.attribute, label.state, label.outcome, label.value, label.hardness, label.certainty]


def _guessed(label: AttributeLabel, item: Item) -> list[Any]:
    """What a tagger had suggested: the suggestion that the person saw, else the first for the attribute."""
    others = (one for one in item.suggestions if one.attribute == label.attribute)
    suggestion = label.suggestion or next(others, None)
    if suggestion is None:
        return [None] * 5
    words = [*suggestion.words[:3], None, None, None][:3]
    return [*words, suggestion.hardness_word, suggestion.certainty]
