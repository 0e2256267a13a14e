"""The small parts that every page is made of."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from simulation.domain.attributes import CATALOGUE, CERTAINTY, HARDNESS

register = template.Library()

SCALES = {"hardness": HARDNESS, "certainty": CERTAINTY}

STATE_ICONS = {
    "untouched": "spark",
    "confirmed": "tick",
    "corrected": "pencil",
    "added": "plus",
    "rejected": "ban",
    "none": "empty",
    "unsure": "ask",
    "pending": "ring",
    "imported": "doc",
    "ok": "tick",
    "warn": "warn",
    "danger": "warn",
}
STATE_WORDS = {
    "untouched": "Suggested",
    "confirmed": "Confirmed",
    "corrected": "Corrected",
    "added": "Added",
    "rejected": "Rejected",
    "none": "No evidence",
    "unsure": "Unsure",
    "pending": "Not reviewed",
    "imported": "Imported",
}


@register.simple_tag
@lru_cache(maxsize=256)
def icon(name: str) -> SafeString:
    """A line icon of the sprite; decoration only, the word stands beside it."""
    return format_html(
        '<svg class="i" aria-hidden="true"><use href="{}#{}"/></svg>', static("icons.svg"), name
    )


@register.simple_tag
def state_icon(state: str) -> SafeString:
    return icon(STATE_ICONS.get(state, "ring"))


@register.filter
def state_word(state: str) -> str:
    return STATE_WORDS.get(state, state.capitalize())


@register.filter
def initials(name: str) -> str:
    """Two letters for the round mark beside a name: the capitals of CamelCase, else the first two."""
    capitals = [sign for sign in name if sign.isupper()]
    return "".join(capitals[:2]) if len(capitals) > 1 else name[:2].upper()


@register.filter
def lookup(mapping: Any, key: Any) -> Any:
    """`mapping[key]`, or nothing."""
    return mapping.get(key) if mapping else None


@dataclass(frozen=True)
class Segment:
    css: str
    label: str
    number: int
    start: str
    width: str


@register.inclusion_tag("components/progress.html")
def progress(done: int, skipped: int, left: int) -> dict[str, Any]:
    """Done, skipped and left as one bar; the numbers stand below it and add up to the whole."""
    total = done + skipped + left
    share = 100 / total if total else 0
    return {
        "total": total,
        "left": left,
        "segments": [
            Segment("done", "done", done, "0", f"{done * share:.3f}"),
            Segment("skipped", "skipped", skipped, f"{done * share:.3f}", f"{skipped * share:.3f}"),
        ],
    }


@register.inclusion_tag("components/scale.html")
def scale(attribute: str, kind: str, chosen: str) -> dict[str, Any]:
    """Five joined radios for `hardness` or `certainty` of an attribute, each with its word."""
    marks = [(str(mark.number), mark.word) for mark in SCALES[kind]]
    return {"name": f"{attribute}-{kind}", "label": kind.capitalize(), "marks": marks, "chosen": chosen}


@register.filter
def mark_word(number: Any, kind: str) -> str:
    """The number of a scale with its word: “3 quite certain”."""
    return next(
        (f"{mark.number} {mark.word}" for mark in SCALES[kind] if str(mark.number) == str(number)), "–"
    )


@register.filter
def exact(text: str) -> SafeString:
    """A text of which the page keeps every sign, so that places in it can be counted in the browser.

    Escaped as always; a carriage return is written as a reference, since parsers turn a plain one into a
    line feed.
    """
    return SafeString(escape(text).replace("\r", "&#13;"))


@register.filter
def attribute_label(key: str) -> str:
    known = CATALOGUE.get(key)
    return known.label if known else key
