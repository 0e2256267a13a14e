"""The keys of the review page: what each does, what a person may change, and what must not clash."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Bound(NamedTuple):
    """An action and the key that does it now; an empty key: none. `fixed` ones cannot be changed."""

    action: str
    key: str
    words: str
    fixed: bool

    @property
    def cap(self) -> str:
        """The key as it is written on a key cap."""
        return CAPS.get(self.key, self.key)


CAPS = {
    "ArrowDown": "↓",
    "ArrowUp": "↑",
    "ArrowLeft": "←",
    "ArrowRight": "→",
    "1-5": "1 – 5",
    "Shift+1-5": "Shift+1 – 5",
}


@dataclass(frozen=True)
class Clash:
    """Why a changed key cannot be taken: of which action, and what to do."""

    action: str
    message: str


# Single keys, which a person may change. A capital letter is written with Shift: "Shift+A".
CHANGEABLE: Mapping[str, tuple[str, str]] = {
    "accept": ("a", "accept the suggestion, go on"),
    "guess_2": ("q", "take guess 2"),
    "guess_3": ("w", "take guess 3"),
    "no_evidence": ("x", "no evidence in the text, go on"),
    "unsure": ("u", "unsure, go on"),
    "edit": ("e", "edit the value; Enter goes on, Esc leaves"),
    "quote": ("v", "quote the selected text as evidence"),
    "next_row": ("j", "next attribute"),
    "previous_row": ("k", "previous attribute"),
    "accept_all": ("Shift+A", "accept all suggestions not judged yet"),
    "nothing_else": ("n", "every row without a suggestion: no evidence"),
    "skip": ("s", "skip this comment, with a reason"),
    "flag": ("f", "flag for the adjudicator"),
    "guidelines": ("h", "guidelines"),
    "more": ("m", "more by this author"),
    "thread": ("t", "open or fold the whole thread"),
    "search": ("/", "search comments"),
    "help": ("?", "both scales and these keys"),
}
FIXED = (
    Bound("next_row", "ArrowDown", "next attribute", True),
    Bound("previous_row", "ArrowUp", "previous attribute", True),
    Bound("edit", "Enter", "edit the value", True),
    Bound("hardness", "1-5", "hardness", True),
    Bound("certainty", "Shift+1-5", "certainty", True),
    Bound("submit", "Ctrl+Enter", "submit, next", True),
    Bound("save", "Ctrl+S", "save the draft now", True),
    Bound("undo", "Ctrl+Z", "undo, ten deep; then reopen what was submitted last", True),
    Bound("redo", "Ctrl+Shift+Z", "redo", True),
    Bound("earlier", "ArrowLeft", "the one you answered before", True),
    Bound("later", "ArrowRight", "the one you answered after", True),
)
RESERVED = frozenset("123456789 ")
"""Digits mark the scales and choose reasons; the space bar scrolls and presses buttons."""


def bound(changes: Mapping[str, str]) -> list[Bound]:
    """All actions with their keys, a person's `changes` (action -> key) applied; unknown ones are ignored."""
    own = [
        Bound(action, changes.get(action, key), words, False) for action, (key, words) in CHANGEABLE.items()
    ]
    return [*own, *FIXED]


def normal(typed: str) -> str:
    """A key as typed into a field, in the form in which it is kept: “A” and “shift a” are “Shift+A”."""
    words = typed.strip()
    head, sign = words[:-1].strip().rstrip("+").strip().casefold(), words[-1:]
    if head == "shift" and sign.isalpha():
        return f"Shift+{sign.upper()}"
    if not head and sign.isalpha() and sign != sign.lower():
        return f"Shift+{sign}"
    return words


def problems(changes: Mapping[str, str]) -> list[Clash]:
    """What is wrong with `changes`: unknown actions, keys that are no single key, reserved or taken ones."""
    found = [Clash(action, "There is no such action.") for action in changes if action not in CHANGEABLE]
    taken: dict[str, str] = {}
    for one in bound(changes):
        if one.fixed or not one.key:
            continue
        sign = one.key.removeprefix("Shift+")
        if len(sign) != 1 or not sign.isprintable():
            found.append(
                Clash(one.action, f"“{one.key[:20]}” is not a single key: write one letter or sign.")
            )
        elif sign in RESERVED:
            name = "The space bar" if sign == " " else f"“{sign}”"
            found.append(Clash(one.action, f"{name} does something else on this page: choose another."))
        elif one.key in taken:
            other = CHANGEABLE[taken[one.key]][1]
            found.append(Clash(one.action, f"“{one.key}” is also the key for “{other}”: change one of both."))
        else:
            taken[one.key] = one.action
    return found
