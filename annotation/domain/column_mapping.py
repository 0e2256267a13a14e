"""What the columns of a foreign table stand for: fields of ours, a proposal from the names, its check.

A mapping is plain JSON: field of ours -> name of a column, or {"constant": value}. What is not in it stands
for nothing here, and is kept beside the comment as it came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz import fuzz

from simulation.domain.attributes import CATALOGUE

CONSTANT = "constant"
LONGEST_CONSTANT = 100
ALIKE = 85.0
"""Names of columns from this likeness (0 to 100) on are proposed although no synonym is known."""
PARTS = ("1", "2", "3", "hardness", "certainty")
"""What columns there may be in the guesses for one attribute: three values, best first, and two scales."""


@dataclass(frozen=True)
class Field:
    """One field of ours. `synonyms`: other names under which it is met, as `plain` writes them."""

    name: str
    label: str
    help: str = ""
    synonyms: tuple[str, ...] = ()
    constant: bool = False
    """Whether one value may stand for all rows."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with a mapping; `field` is "" where it is more than one field's."""

    field: str
    message: str


BASE = (
    Field(
        "text",
        "Text",
        "What the comment says.",
        ("body", "comment", "content", "message", "comment_text", "post", "post_text", "selftext", "tweet"),
    ),
    Field(
        "username",
        "User name",
        "The name under which the author writes; without it the author's id stands for it.",
        ("user_name", "user", "screen_name", "nick", "nickname", "handle", "author_name", "name"),
        constant=True,
    ),
    Field(
        "author",
        "Author's id",
        "",
        ("author_id", "user_id", "userid", "person_id", "persona", "pers", "poster"),
        constant=True,
    ),
    Field(
        "external_id",
        "Comment's id",
        "Without it the row's number and the file's digest make one: the same file gives the same ids.",
        ("id", "comment_id", "commentid", "post_id", "message_id", "tweet_id", "uuid", "uid", "key"),
    ),
    Field(
        "thread_id",
        "Thread's id",
        "A column, or one name for all rows.",
        (
            "thread",
            "conversation_id",
            "conversation",
            "submission_id",
            "link_id",
            "topic_id",
            "discussion_id",
        ),
        constant=True,
    ),
    Field(
        "parent_id",
        "Id of the comment it replies to",
        "Empty for the first comment of a thread.",
        (
            "parent",
            "reply_to",
            "in_reply_to",
            "in_reply_to_id",
            "replying_to",
            "parent_comment_id",
            "reply_to_id",
        ),
    ),
    Field(
        "created_at",
        "Time of writing",
        "",
        ("created", "created_utc", "date", "datetime", "timestamp", "time", "posted_at", "published_at"),
    ),
    Field(
        "source",
        "Real or synthetic",
        "The word real or synthetic.",
        ("origin", "real_or_synthetic"),
        constant=True,
    ),
    Field("profile", "Profile", "An object with the author's attributes, or such JSON as text."),
    Field(
        "guesses", "Guesses", "A list of guesses in the plain layout, or such JSON as text.", ("suggestions",)
    ),
    Field("profile.style", "Writing style", "", ("style", "writing_style")),
)
ALSO = {
    "sex": ("gender",),
    "city_country": ("location", "residence", "city", "place", "home"),
    "birth_city_country": ("birthplace", "birth_place", "place_of_birth", "pobp", "born_in"),
    "income_level": ("income_class", "income_bracket"),
    "relationship_status": ("marital_status", "relationship", "married"),
    "occupation": ("job", "profession", "work"),
    "education": ("degree", "schooling"),
}


def fields() -> tuple[Field, ...]:
    """Every field of ours that a column can stand for, in the order of a form."""
    return (*BASE, *_of_profiles(), *_of_guesses())


def _of_profiles() -> Iterable[Field]:
    for key, attribute in CATALOGUE.items():
        names = (key, *ALSO.get(key, ()), plain(attribute.label))
        both = dict.fromkeys(
            [*names, *(f"profile_{name}" for name in names), *(f"author_{name}" for name in names)]
        )
        yield Field(f"profile.{key}", f"{attribute.label} of the author", "", tuple(both))


def _of_guesses() -> Iterable[Field]:
    for key, attribute in CATALOGUE.items():
        for part in PARTS:
            said = f"guess {part}" if part.isdecimal() else part
            names = (
                f"guess_{key}_{part}",
                f"{key}_guess_{part}",
                f"{key}_{part}",
                f"suggestion_{key}_{part}",
            )
            yield Field(f"guess.{key}.{part}", f"{attribute.label}: {said}", "", names)


def plain(name: str) -> str:
    """A column's name in lower case with single underscores: `Author ID` and `authorId` are `author_id`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[\W_]+", "_", apart).strip("_").casefold()


@dataclass(frozen=True)
class Proposal:
    """`sure` says that the names alone decide: every needed field has our own name, or that of an export."""

    mapping: Mapping[str, Any]
    sure: bool


SURE = {"text": ("text",), "thread_id": ("thread_id",), "external_id": ("external_id", "id", "comment_id")}


def propose(columns: Sequence[str], *, thread: str) -> Proposal:
    """What the columns probably stand for. `thread` names the only thread where no column does."""
    free = {plain(column): column for column in reversed(columns)}
    found: dict[str, Any] = {}
    known = fields()
    for names in (lambda one: (plain(one.name),), lambda one: one.synonyms):
        for one in known:
            name = next((name for name in names(one) if name in free), None)
            if one.name not in found and name is not None:
                found[one.name] = free.pop(name)
    for one in BASE:
        if one.name not in found and (name := _likest(one, free)):
            found[one.name] = free.pop(name)
    sure = all(plain(str(found.get(name, ""))) in names for name, names in SURE.items()) and any(
        plain(str(found.get(name, ""))) == name for name in ("username", "author")
    )
    found.setdefault("thread_id", {CONSTANT: thread[:LONGEST_CONSTANT]})
    return Proposal({one.name: found[one.name] for one in known if one.name in found}, sure)


def _likest(field: Field, free: Iterable[str]) -> str | None:
    names = (plain(field.name), *field.synonyms)
    scored = [(max(fuzz.ratio(name, column) for name in names), column) for column in free if len(column) > 3]
    best = max(scored, default=(0.0, ""))
    return best[1] if best[0] >= ALIKE else None


def faults(mapping: Any, columns: Sequence[str]) -> list[Fault]:
    """What keeps a mapping from being used with a table of these columns; nothing where it can be."""
    if not isinstance(mapping, dict):
        return [Fault("", "a mapping is an object: field of ours -> column, or {“constant”: value}")]
    found = []
    known = {one.name: one for one in fields()}
    there = set(columns)
    for name, given in mapping.items():
        field = known.get(name)
        if field is None:
            found.append(Fault(str(name), f"is no field of ours; there are {', '.join(list(known)[:9])}, …"))
        elif isinstance(given, str):
            if given not in there:
                shown = ", ".join(columns[:20])
                found.append(Fault(name, f"the file has no column “{given}”; it has {shown}"))
        else:
            found += _of_constant(field, given)
    if "text" not in mapping:
        found.append(Fault("text", "say which column holds the text of a comment"))
    if not {"username", "author"} & mapping.keys():
        found.append(Fault("username", "say which column names the author, by user name or by id"))
    if "thread_id" not in mapping:
        found.append(Fault("thread_id", "say which column names the thread, or give one name for all rows"))
    return found


def _of_constant(field: Field, given: Any) -> list[Fault]:
    if not isinstance(given, dict) or given.keys() != {CONSTANT}:
        return [Fault(field.name, "must be the name of a column, or {“constant”: value}")]
    value = given[CONSTANT]
    if not field.constant:
        return [Fault(field.name, "is another one in every row: it needs a column")]
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_CONSTANT:
        return [
            Fault(field.name, f"the value for all rows must be text of 1 to {LONGEST_CONSTANT} characters")
        ]
    if "\0" in value:
        return [Fault(field.name, "holds a NUL character; remove it")]
    return []
