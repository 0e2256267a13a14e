"""The tables of a release: their columns, of which type each is, what it means.

The one source for the queries that fill them, for the Parquet schema, the card, croissant.json and the docs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from simulation.domain.attributes import CATALOGUE, Kind

VERSION = "1"
"""Of the columns and of what they mean; raised with every change of either."""


class Type(StrEnum):
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TEXTS = "list of texts"
    NUMBERS = "list of numbers"
    QUOTES = "list of quotes"
    """{comment_id, start, end, quote}: places count code points of that comment's text."""


@dataclass(frozen=True)
class Column:
    """`may_be_null`: null where the column does not apply or nothing was said."""

    name: str
    type: Type
    meaning: str
    may_be_null: bool = False


@dataclass(frozen=True)
class Table:
    name: str
    about: str
    """What one row is, and in which order rows stand."""
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.columns)


def _text(name: str, meaning: str) -> Column:
    return Column(name, Type.TEXT, meaning)


def _maybe(name: str, meaning: str, type_: Type = Type.TEXT) -> Column:
    return Column(name, type_, meaning, may_be_null=True)


def _of(name: str, type_: Type, meaning: str) -> Column:
    return Column(name, type_, meaning)


COMMENT_ID = _text("comment_id", "`id` of the comment in `comments`")
ATTRIBUTE = _text("attribute", "key of the attribute, as `city_country`")
HARDNESS = _maybe("hardness", "how hard it is to infer, 1 (stated outright) to 5", Type.INTEGER)
CERTAINTY = _maybe("certainty", "how sure the person or model is, 1 to 5", Type.INTEGER)
STATE = _text(
    "state",
    "`value`; `none`: looked, and nothing can be inferred; `unsure`: looked, and cannot decide",
)
EVIDENCE = _of("evidence", Type.QUOTES, "the words that carry the value; places count code points")

COMMENTS = Table(
    "comments",
    "A comment; in the order of the corpus, as its comments came in.",
    (
        _text("id", "the comment's own id, the same in every release"),
        _text("thread_id", "the thread it belongs to"),
        _maybe("parent_id", "`id` of the comment it replies to; null at the root of a thread"),
        _text("author", "the author's id, `id` in `profiles`"),
        _text("username", "the name the author writes under"),
        _text("text", "what was written, trimmed"),
        _of("depth", Type.INTEGER, "how many comments of the release stand above it"),
        _text("topic", "what the thread was begun to ask about; empty where nobody said"),
        _maybe("created_at", "when it was written, where a file said so"),
        _maybe("source", "`real` or `synthetic`, where a file said so"),
        _text("state", "`active`; `withdrawn` only where the query asked for withdrawn comments"),
    ),
)
SUGGESTIONS = Table(
    "suggestions",
    "What one tagging model says of one attribute of one comment; in the order of the comments.",
    (
        COMMENT_ID,
        ATTRIBUTE,
        _text("tagger", "who suggests; `imported`: a file that does not name the model"),
        _maybe("run", "the tagging run it comes from, by name; null for what a file brought"),
        _of("guesses", Type.TEXTS, "up to three values, best first"),
        _text("hardness_word", "what the model called the hardness, as `direct`"),
        _maybe("hardness", "the number of that word, 1 to 5; null for another word", Type.INTEGER),
        CERTAINTY,
        _maybe("model_eval", "how guesses compare with the profile: 1, 0.5, 0", Type.NUMBERS),
        _maybe("check_scores", "the same, by the latest check of tags here", Type.NUMBERS),
        _maybe("reasoning", "why, in the model's words, where a file has it"),
        _maybe("prompt", "name of the prompt"),
        _maybe("prompt_digest", "SHA-256 of the prompt's text, or what a file called it"),
        _maybe("model", "the model that was asked for"),
        _maybe("served_model", "the model that answered, by its own account"),
    ),
)
ANNOTATIONS = Table(
    "annotations",
    "What one annotator says of one attribute of one comment; in the order of the comments.",
    (
        COMMENT_ID,
        _text("annotator", "pseudonym `a1`, `a2` …, or the reviewer's key in an imported file"),
        ATTRIBUTE,
        _text("state", "as in `labels`, and `untouched`: not judged; a prefilled value may stand beside it"),
        _text("outcome", "seen from the suggestion: confirmed, corrected, rejected, added, …; `imported`"),
        _text("value", "empty where there is none"),
        HARDNESS,
        CERTAINTY,
        EVIDENCE,
        _of("bulk", Type.BOOLEAN, "set by one act for several rows, not row by row"),
        _maybe("arm", "`assisted`: beside suggestions, `blind`: once before seeing them, `unassisted`"),
        _maybe("queue", "where it was answered; null for imported reviewers"),
        _of("gold", Type.BOOLEAN, "of a comment whose answer was known; never a label"),
        _of("over_quota", Type.BOOLEAN, "one answer more than was wanted; never a label"),
        _maybe("first_state", "of a blind comment: what was said before suggestions were shown"),
        _maybe("first_value", "the same, its value"),
        _maybe("first_hardness", "the same, its hardness", Type.INTEGER),
        _maybe("first_certainty", "the same, its certainty", Type.INTEGER),
        _maybe("seen_tagger", "whose suggestion the annotator saw for this attribute"),
        _maybe("seen_value", "its first guess"),
        _maybe("submitted_at", "when, in UTC; null where a file has no time"),
        _of("active_ms", Type.INTEGER, "milliseconds of work on the whole comment"),
        _maybe("guideline", "version of the guidelines in force", Type.INTEGER),
        _maybe("note", "the annotator's own words on the comment, where the query asked for notes"),
    ),
)
LABELS = Table(
    "labels",
    "The label of one attribute of one comment by the release's policy; in the order of the comments.",
    (
        COMMENT_ID,
        ATTRIBUTE,
        STATE,
        _text("value", "empty where there is none"),
        HARDNESS,
        CERTAINTY,
        EVIDENCE,
        _text("basis", "how it came about: `decided`, `agreed`, `agreeing`, `single` or `inherited`"),
        _of("people", Type.INTEGER, "annotators who judged the attribute, so that it counts"),
        _of("agreeing", Type.INTEGER, "of them, those whose answer is the same as the label"),
        _of("decided", Type.BOOLEAN, "an adjudicator decided"),
        _maybe("reason", "the adjudicator's reason: unanimous, ambiguous, guideline, slip, edge, subjective"),
        _maybe("note", "the adjudicator's own words, where the query asked for notes"),
    ),
)


def _fact(key: str) -> Column:
    attribute = CATALOGUE[key]
    if attribute.kind is Kind.AGE:
        return _maybe(key, f"{attribute.label}: whole years", Type.INTEGER)
    return _maybe(key, attribute.label)


PROFILES = Table(
    "profiles",
    "A synthetic author; by id, shorter ids first.",
    (
        _text("id", "the author's id, `author` in `comments`"),
        _text("username", "the name the author writes under"),
        *(_fact(key) for key in CATALOGUE),
        _text("style", "how the author writes"),
    ),
)
STUDY_ANSWERS = Table(
    "study_answers",
    "One participant's answer to one text of a study of real and synthetic comments. Numbers are the study's"
    " own; nothing leads to a person. No study has been run yet: the table has no rows.",
    (
        _text("study", "name of the study"),
        _of("participant", Type.INTEGER, "number within the study"),
        _of("position", Type.INTEGER, "place of the text in the participant's order, from 1"),
        COMMENT_ID,
        _text("source", "what the text is: `real` or `synthetic`"),
        _text("choice", "what the participant took it for: `real` or `synthetic`"),
        _maybe("confidence", "1 to 4, where it was asked for", Type.INTEGER),
        _of("reasons", Type.TEXTS, "reasons that were ticked"),
        _of("attention", Type.BOOLEAN, "a text that only checks attention"),
        _of("surplus", Type.BOOLEAN, "one answer more than was wanted"),
        _maybe("visible_ms", "milliseconds for which the text was on the screen", Type.INTEGER),
    ),
)
TABLES = (COMMENTS, SUGGESTIONS, ANNOTATIONS, LABELS, PROFILES, STUDY_ANSWERS)
