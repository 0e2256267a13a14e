"""A comment in the layout in which SynthPAI is published, with whatever its import kept given back."""

from __future__ import annotations

from typing import Any

from annotation.domain.labels import State
from annotation.exchange.chunks import Item, Pseudonyms
from annotation.exchange.comments import PHRASE, SOURCE, WHEN
from annotation.exchange.guesses import MODEL
from annotation.exchange.problems import NOT_GIVEN
from annotation.exchange.profiles import AGES, profile_json
from annotation.exchange.records import TAGGER
from annotation.exchange.reviews import EMPTY, TIMES
from annotation.models import Annotation, AttributeLabel, Suggestion
from simulation.domain.attributes import TARGET_KEYS
from simulation.models import Comment


def published_row(item: Item, names: Pseudonyms) -> dict[str, Any]:
    """The row of one comment. Annotations over the quota are left out."""
    comment, extra = item.comment, item.comment.extra
    row = {
        "author": extra.get("author", comment.author),
        "username": comment.username,
        "profile": _profile(comment),
        "text": _text(comment),
        "guesses": _guesses(item),
        "reviews": _reviews(item, names),
        "id": comment.external_id,
        "parent_id": extra.get("parent_id", item.parent_id),
        "thread_id": comment.thread.external_id,
        "children": _children(item),
    }
    for key in extra.get(NOT_GIVEN, ()):
        if key in ("author", "profile") or not row[key]:
            del row[key]
    fields = extra.get("fields", {}) | {key: extra[key] for key in (WHEN, SOURCE) if key in extra}
    return row | {key: fields[key] for key in sorted(fields) if key not in row}


def _profile(comment: Comment) -> Any:
    extra, stored = comment.extra, comment.profile
    if "profile" in extra:
        profile = extra["profile"]
    elif stored:
        profile = profile_json(stored.facts, stored.style, stored.username, stored.extra)
    else:
        profile = None
    phrase = extra.get(PHRASE)
    if phrase is None and comment.thread.source != "flat" and comment.parent_id is None:
        phrase = comment.thread.target_phrase or None
    if isinstance(profile, dict) and (phrase is not None or PHRASE in extra):
        return {**profile, PHRASE: phrase}
    return profile


def _text(comment: Comment) -> str:
    """What the source said, white space around it included, until somebody edits the comment here."""
    around = comment.extra.get("around")
    if around and comment.thread.source == "flat" and not comment.original_text:
        return f"{around[0]}{comment.text}{around[1]}"
    return comment.text


def _guesses(item: Item) -> list[dict[str, Any]] | None:
    """The imported suggestions; where there are none, those of the tagging run that came last.

    Suggestions that came with the names of their models go out together, as they came.
    """
    if not item.suggestions:
        return item.comment.extra.get("guesses") if item.comment.thread.source == "flat" else None
    taggers = {suggestion.tagger for suggestion in item.suggestions}
    last = max(item.suggestions, key=lambda suggestion: suggestion.pk)
    if TAGGER not in taggers and (last.run_id is not None or MODEL not in last.extra):
        return [
            _guess(one) for one in item.suggestions if (one.tagger, one.run_id) == (last.tagger, last.run_id)
        ]
    named = [one for one in item.suggestions if one.run_id is None]
    return [_guess(one) for one in named if one.tagger == TAGGER or MODEL in one.extra]


def _guess(suggestion: Suggestion) -> dict[str, Any]:
    extra = suggestion.extra
    written: dict[str, Any] = {
        "feature": suggestion.attribute,
        # One type in the whole column, as published: there ages are text, too.
        "guesses": suggestion.words if suggestion.attribute in AGES else suggestion.guesses,
        "hardness": suggestion.hardness_word,
        "certainty": suggestion.certainty,
        "model_eval": suggestion.model_eval,
    }
    written |= {key: extra[key] for key in sorted(extra) if key != NOT_GIVEN}
    for key in extra.get(NOT_GIVEN, ()):
        del written[key]
    return written


def _reviews(item: Item, names: Pseudonyms) -> dict[str, Any] | None:
    kept = [annotation for annotation in item.annotations if not annotation.over_quota]
    if not kept:
        return item.comment.extra.get("reviews", {})
    reviews = {one.reviewer: _imported(one) for one in kept if one.person_id is None}
    # Someone who met the comment in two queues has two annotations; the later one is their word.
    people = {one.person_id: one for one in sorted(kept, key=lambda one: (one.submitted_at, one.pk))}
    people.pop(None, None)
    written = {names.reviewer(one): _of_person(one) for one in people.values()}
    return reviews | {name: written[name] for name in sorted(written, key=lambda name: (len(name), name))}


def _imported(annotation: Annotation) -> dict[str, Any]:
    extra = annotation.extra
    raw, fields = extra.get("raw", {}), extra.get("fields", {})
    block = {
        label.attribute: raw.get(label.attribute, _label(label, label.value))
        for label in annotation.labels.all()
    }
    block |= {key: extra[key] for key in TIMES if key in extra}
    return block | {key: fields[key] for key in sorted(fields)}


def _of_person(annotation: Annotation) -> dict[str, Any]:
    block: dict[str, Any] = {key: dict(EMPTY) for key in TARGET_KEYS}
    for label in annotation.labels.all():
        value = label.value.lower() if label.state == State.VALUE else ""
        block[label.attribute] = _label(label, value)
    return block | {"timestamp": annotation.submitted_at.timestamp(), "time": annotation.active_ms / 1000}


def _label(label: AttributeLabel, estimate: str) -> dict[str, Any]:
    return {"estimate": estimate, "hardness": label.hardness or 0, "certainty": label.certainty or 0}


def _children(item: Item) -> list[str] | None:
    """The order of the source, then what has been added since."""
    given = item.comment.extra.get("children", [])
    if given is None:
        return item.replies or None
    listed = set(given)
    return [*given, *(reply for reply in item.replies if reply not in listed)]
