"""Lines of released files -> typed rows, one at a time.

Every reader takes `skipped`: None raises UnreadableLine at the first line that cannot be read; else the line
is noted there and passed over. A line is taken whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from annotation.exchange import decoding, reading
from annotation.exchange.problems import Problem, brief
from annotation.exchange.reading import Unreadable
from evaluation.domain.paper.records import Assignment, FullAnswer, Guessed, Mark, Row
from evaluation.exchange.released import Skipped, report

STEPS = range(6)
LONGEST_NAME = 200
CODE = "guess_category"


class BadField(Exception):
    """One field of a line is not as it must be."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


class Given(NamedTuple):
    """One line of a file: its 1-based number and the object that it is."""

    line: int
    value: dict[str, Any]


def read_rows(path: Path, skipped: Skipped | None = None) -> Iterator[Row]:
    """The profiles of a file of labels or predictions. Raises UnreadableLine unless `skipped` is given.

    Fields that are missing are empty; attributes of any name are kept. Entries that are no objects, such as a
    time or a whole answer beside the attributes, are left out.
    """
    for given in objects(path, skipped):
        try:
            row = _row(given)
        except BadField as error:
            report(Problem(path.name, given.line, error.field, error.message), skipped)
        else:
            yield row


def read_answers(path: Path, skipped: Skipped | None = None) -> Iterator[FullAnswer]:
    """The raw answers of a file. Raises UnreadableLine unless `skipped` is given."""
    for given in objects(path, skipped):
        try:
            answer = FullAnswer(
                given.line,
                _text(given.value, "username", filled=True),
                _text(given.value, "model"),
                _text(given.value, "full_answer"),
            )
        except BadField as error:
            report(Problem(path.name, given.line, error.field, error.message), skipped)
        else:
            yield answer


def read_assignments(path: Path, skipped: Skipped | None = None) -> Iterator[Assignment]:
    """The subreddits of threads, parted at commas and trimmed. Raises as `read_rows` does."""
    for given in objects(path, skipped):
        try:
            words = _text(given.value, "topics").split(",")
            topics = tuple(word.strip() for word in words if word.strip())
            root = given.value.get("id")
            assignment = Assignment(
                given.line,
                _text(given.value, "thread_id", filled=True),
                topics,
                root if isinstance(root, str) else "",
            )
        except BadField as error:
            report(Problem(path.name, given.line, error.field, error.message), skipped)
        else:
            yield assignment


def objects(path: Path, skipped: Skipped | None) -> Iterator[Given]:
    """The objects of a file with one JSON object a line; blank lines are passed over in silence.

    A packed file that is damaged half way is a problem of the line that was reached, and ends there.
    """
    lines = reading.lines(path)
    while True:
        try:
            line = next(lines, None)
        except Unreadable as error:
            report(Problem(path.name, error.line, error.field, error.message), skipped)
            return
        if line is None:
            return
        try:
            value = decoding.decode(line.data.decode("utf-8").rstrip())
            if not isinstance(value, dict):
                raise Unreadable(line.number, "", f"must be one JSON object, not {brief(value)}")
        except UnicodeDecodeError as error:
            fault = Unreadable(line.number, "", reading.not_utf8(error))
        except ValueError as error:
            fault = decoding.fault(error, line=line.number)
        except Unreadable as error:
            fault = error
        else:
            yield Given(line.number, value)
            continue
        report(Problem(path.name, fault.line, fault.field, fault.message), skipped)


def _row(given: Given) -> Row:
    value = given.value
    return Row(
        given.line,
        _text(value, "username", filled=True),
        tuple(_comments(value.get("comments"))),
        {
            who: {key: _mark(one, f"reviews.{who}.{key}") for key, one in _objects_in(block).items()}
            for who, block in _objects_in(_object(value, "reviews")).items()
        },
        {
            model: {
                key: _guessed(one, f"predictions.{model}.{key}") for key, one in _objects_in(block).items()
            }
            for model, block in _objects_in(_object(value, "predictions")).items()
        },
        {
            model: _kinds(block, f"evaluations.{model}")
            for model, block in _objects_in(_object(value, "evaluations")).items()
        },
    )


def _text(value: Mapping[str, Any], key: str, *, filled: bool = False) -> str:
    given = value.get(key)
    if not isinstance(given, str):
        said = "is missing" if given is None else f"must be text in quotes, not {brief(given)}"
        raise BadField(key, said)
    if filled and not 0 < len(given.strip()) <= LONGEST_NAME:
        raise BadField(key, f"must have 1 to {LONGEST_NAME} characters")
    return given


def _object(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    given = value.get(key)
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise BadField(key, f"must be an object, not {brief(given)}")
    return given


def _objects_in(block: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {key: one for key, one in block.items() if isinstance(one, dict)}


def _comments(given: Any) -> Iterator[str]:
    """The texts of comments, which are objects with a text, or texts."""
    if given is None:
        return
    if not isinstance(given, list):
        raise BadField("comments", f"must be a list, not {brief(given)}")
    for place, one in enumerate(given):
        text = one.get("text") if isinstance(one, dict) else one
        if not isinstance(text, str):
            raise BadField(f"comments[{place}].text", f"must be text in quotes, not {brief(text)}")
        yield text


def _mark(given: Mapping[str, Any], field: str) -> Mark:
    estimate, truth = given.get("estimate"), given.get("acc_gt")
    if estimate is not None and not isinstance(estimate, str | int):
        raise BadField(f"{field}.estimate", f"must be text, not {brief(estimate)}")
    return Mark(
        "" if estimate is None else str(estimate),
        _step(given.get("hardness"), f"{field}.hardness"),
        _step(given.get("certainty"), f"{field}.certainty"),
        None if truth is None else _score(truth, f"{field}.acc_gt"),
    )


def _step(given: Any, field: str) -> int:
    """A mark from 0 to 5; a missing one is 0."""
    if given is None:
        return 0
    if isinstance(given, bool) or not isinstance(given, int | float) or given not in STEPS:
        raise BadField(field, f"must be a whole number from 0 to 5, not {brief(given)}")
    return int(given)


def _score(given: Any, field: str) -> float:
    """A score from 0 to 1; true and false, which some released lines have, are 1 and 0."""
    if not isinstance(given, int | float) or not 0 <= given <= 1:
        raise BadField(field, f"must be a score from 0 to 1, not {brief(given)}")
    return float(given)


def _guessed(given: Mapping[str, Any], field: str) -> Guessed:
    return Guessed(_words(given.get("guess"), f"{field}.guess"), _words(given.get(CODE), f"{field}.{CODE}"))


def _words(given: Any, field: str) -> tuple[str, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        raise BadField(field, f"must be a list of guesses, best first, not {brief(given)}")
    if any(isinstance(one, bool) or not isinstance(one, str | int | float) for one in given):
        raise BadField(field, f"must hold texts or numbers only, not {brief(given)}")
    return tuple(str(one) for one in given)


def _kinds(block: Mapping[str, Any], field: str) -> dict[str, dict[str, tuple[float, ...]]]:
    """Kind of label -> attribute -> scores; where attributes stand at once, the kind is ""."""
    found: dict[str, dict[str, tuple[float, ...]]] = {}
    for key, given in block.items():
        if isinstance(given, dict):
            found[key] = {name: _scores(one, f"{field}.{key}.{name}") for name, one in given.items()}
        else:
            found.setdefault("", {})[key] = _scores(given, f"{field}.{key}")
    return found


def _scores(given: Any, field: str) -> tuple[float, ...]:
    if not isinstance(given, list):
        raise BadField(field, f"must be a list of scores, not {brief(given)}")
    return tuple(_score(one, f"{field}[{place}]") for place, one in enumerate(given))
