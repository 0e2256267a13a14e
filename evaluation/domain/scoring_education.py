"""Education in the default mode: by category, given or read from the words."""

from __future__ import annotations

from evaluation.domain.verdicts import RIGHT, WRONG, Label, Verdict, by_rule, left_open
from evaluation.domain.wording import said, without_brackets
from simulation.domain.attributes import Attribute
from simulation.domain.matching import Match, compare
from simulation.domain.normalise import vocabulary_form
from simulation.domain.schooling import LADDER, schooling

_ONE_CLASS = frozenset(("HS Diploma", "In College"))
"""Who is in college holds a high school diploma; the published categories know the two as one as well."""


def score(attribute: Attribute, label: Label, guess: str, category: str) -> Verdict:
    """Equal categories are right, whatever the subject: the question is for the level of education.

    A category that is none of the catalogue's (a single letter in the published files) is not looked at; the
    words decide then. Two different categories are wrong only where both are plain: given, or a word of the
    vocabulary. Where one was read from free words, different ones are left open.
    """
    truth, is_plain = _category(attribute, said(label.value), label.category)
    its, is_also = _category(attribute, guess, category)
    if truth and its and (truth & its or (truth | its) <= _ONE_CLASS):
        both = " and ".join(sorted(truth | its))
        return by_rule(RIGHT, f"the same level of education: {both}")
    if compare(attribute, said(label.value), guess) is Match.SAME:
        return by_rule(RIGHT, "two spellings of the same")
    if truth and its and is_plain and is_also:
        return by_rule(WRONG, f"levels differ: {'/'.join(sorted(truth))}, {'/'.join(sorted(its))}")
    if truth and its:
        return left_open("levels seem to differ, but were read from free words")
    return left_open(f"no level of education in the {'guess' if truth else 'label'}")


def read_category(attribute: Attribute, words: str) -> str:
    """The category that the words name or mean, several with “/” between; empty where rules read none."""
    found, _ = _category(attribute, words, "")
    return "/".join(sorted(found))


def _category(attribute: Attribute, words: str, given: str) -> tuple[frozenset[str], bool]:
    """(the categories meant, whether they were stated and not read from free words)."""
    stated = _stated(attribute, given) or _stated(attribute, words)
    if stated:
        return stated, True
    found = schooling(words).category or schooling(without_brackets(words)).category
    return (frozenset([found]) if found else frozenset()), False


def _stated(attribute: Attribute, text: str) -> frozenset[str]:
    """The categories that `text` is, one or several with “/” between; none where a part is no category."""
    parts = [part.strip() for part in text.split("/")]
    found = [vocabulary_form(attribute, part) for part in parts] if attribute.values else []
    known = [one for one in found if one is not None]
    if not attribute.values:
        known = [word for word in LADDER for part in parts if part.casefold() == word.casefold()]
    return frozenset(known) if len(known) == len(parts) else frozenset()
