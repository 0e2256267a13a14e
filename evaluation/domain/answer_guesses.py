"""What stands in the place of the guesses -> the single guesses, as a person would tell them apart.

The rules, in their order: a list of lines has one guess a line; within a line numbers (“1. a 2. b”) separate,
then semicolons, bars, and at last commas, these only where no place, number or phrase is cut by it. What
follows a guess as its reason (“**a**: because …”) goes; brackets (“a (less likely)”) stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from evaluation.domain.answer_lines import undecorated, unmarked
from evaluation.domain.answer_places import place_groups
from evaluation.domain.answer_refusals import is_no_guess
from simulation.domain.attributes import CATALOGUE, Attribute, Kind
from simulation.domain.normalise import vocabulary_form

LONGEST = 200
"""Characters; a longer piece is prose, not a guess."""
REASON_FROM = 4
"""Words from which what follows a colon or a dash is the reason of a guess and not a part of it."""
REMARK_FROM = 5
"""Words from which a last piece that begins as a sentence does is a remark."""
_INTRO = re.compile(r"\A[^:;\n]{0,80}\bguess(?:es)?\b[^:;\n]{0,60}:\s*(?=\S)", re.I)
"""“My top three guesses are: …”."""
_ENUMERATED = re.compile(r"(?:^|(?<=[\s,;.)\]*]))[(\[]?([1-9])(?:\)\s*(?=\S)|[.:]\s+(?=\S)|\.(?=[^\d\s.]))")
_BOLD = re.compile(r"\s*\*\*(.+?)\*\*(.*)", re.S)
_REASON = re.compile(r"(.{1,100}?)(?:\s*:|\s+[-–—]+|\s*—)\s+(\S.*)", re.S)
_SENTENCE = re.compile(r"(.{1,60}?[\w)])\.\s+([A-Z].*)", re.S)
_YES = re.compile(r"(.{1,60}?)\s*[:=?]\s*(?:yes|true|ja)\b.*", re.I | re.S)
_NO = re.compile(r".{1,60}?\s*[:=?]\s*(?:no|false|nein)\W*", re.I)
_SHARE_WORDS = r"\d{1,3}\s?%(?:\s*(?:likely|likelihood|probability|confiden\w+|certain\w*|sure))?"
_SHARE = re.compile(rf"\s*(?:[(\[]\s*{_SHARE_WORDS}\s*[)\]]|[:–—-]\s*{_SHARE_WORDS})$", re.I)
_CATEGORY = re.compile(r"\s*[(\[,–—-]?\s*\b(?:guess[ _])?category\s*[:=]\s*([^()\[\]]+)[)\]]?\s*$", re.I)
_PLACEHOLDER = re.compile(
    r"<[^<>]*>|\[?(?:your |insert |the |top |my )*(?:first |second |third |1st |2nd |3rd )?guess(?:es)?"
    r"(?: here)?(?: ?#?\d)?(?: here)?\]?|\[(?:your|insert)\b.*\]|option [1-3a-c]"
    r"|(?:my |the |your )?top (?:3|three) guesses (?:are|would be|for|in|separated)\b[^:;]{0,60}"
    r"|\d{1,3}\s?%[\w ]{0,20}",
    re.I,
)
_ABBREVIATED = re.compile(
    r"(?:\b[A-Za-z]{1,2}\.[A-Za-z]\.|\b(?:etc|jr|sr|inc|ltd|co|dept|approx|govt|univ)\.)$", re.I
)
_OR = re.compile(r"(?:or|and/or|and|oder|und)\s+", re.I)
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|suggests?|mentions?|seems?|appears?|indicates?|implies|could|would|might"
    r"|may|because|since|based on|points?|uses?|refers?|allows?)\b",
    re.I,
)
_OPENER = re.compile(
    r"(?:the (?:author|text|comments?|user|language|use|mention|writer)|this|these|those|there|here|they|i"
    r"|i['’]m|we|he|she|it is|it['’]s|based|given|considering|note|notes|please|overall|however|although"
    r"|while|since|because|as an?|in summary|in conclusion|hope|let me|if you|my|according|remember|sure"
    r"|certainly|top|three)\b",
    re.I,
)
_HEDGE = re.compile(
    r"(?:with|without|but|possibly|likely|probably|perhaps|maybe|which|who|because|especially|such|including|e\.g"
    r"|not|though|although|given|depending|specifically|living|based)\b",
    re.I,
)


_WITHIN = re.compile(r"\b(?:in|of|at|for|with|to|from|on|by)\b", re.I)
"""Words by which “worker in food, health, safety” is one phrase."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line (or one item of a list) that stood in the place of the guesses."""

    text: str
    mark: str = ""
    """As `Line.mark`; “=” for an item that is one guess as it stands."""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Guess:
    text: str
    category: str = ""


def guesses_of(entries: Sequence[Entry], key: str) -> tuple[Guess, ...]:
    """The guesses in their order, words that say there is none (“N/A”) among them."""
    found: list[Guess] = []
    alone = len(entries) == 1
    for entry in entries:
        if entry.mark == "=":
            pieces = [entry.text]
        elif alone and not entry.mark:
            pieces = split_line(entry.text, key)
        else:
            head = _head(entry.text)
            pieces = split_line(head, key) if alone else _item(head, is_marked=bool(entry.mark))
        last = len(pieces) - 1
        found += filter(None, (_guess(piece, is_remark=0 < at == last) for at, piece in enumerate(pieces)))
    return tuple(found)


def _item(text: str, *, is_marked: bool) -> list[str]:
    """The pieces of one line of several: a numbered or bulleted one is one guess, without the sentence that
    follows a semicolon in it."""
    pieces = _cut(text, ";")
    if not is_marked:
        return pieces
    return ["; ".join(piece for at, piece in enumerate(pieces) if not (at and is_prose(piece)))]


def split_line(text: str, key: str) -> list[str]:
    """The pieces of one line; see the module for the order of the rules."""
    text, is_list = _unbracketed(_INTRO.sub("", text.strip(), count=1))
    if len(numbered := _enumerated(text)) > 1:
        return [piece.strip(" ;,|") for piece in numbered]
    text = numbered[0]
    quoted = re.findall(r'"([^"]{1,200})"', text)
    if len(quoted) > 1 and not re.sub(r'"[^"]*"|[\s,;]|\b(?:and|or)\b', "", text):
        return quoted
    for sign in (";", " | ", "•"):
        if len(pieces := _cut(text, sign)) > 1:
            return [*pieces[:-1], _OR.sub("", pieces[-1], count=1) if _OR.match(pieces[-1]) else pieces[-1]]
    return [piece for piece in _commas(text.strip(" ;"), key, is_list=is_list) if piece]


def is_prose(text: str) -> bool:
    """Whether a text is a sentence rather than a value: by its length, its first word or a verb."""
    bare = _IN_BRACKETS.sub(" ", undecorated(text)).strip()
    words = len(bare.split())
    if words >= 14 or bare.endswith(":"):
        return True
    if words >= 4 and _OPENER.match(bare):
        return True
    return (words >= 6 and bool(_VERB.search(bare))) or (words >= 9 and bare[-1:] in ".!?")


def is_placeholder(text: str) -> bool:
    """Whether a text is the form itself (“your top 3 guesses”, “<guess>”), not what was to be filled in."""
    return bool(_PLACEHOLDER.fullmatch(undecorated(text).strip(" .;,:")))


def _guess(piece: str, *, is_remark: bool) -> Guess | None:
    """One piece without its mark, reason, share in per cent and category; None for what is no guess."""
    text = undecorated(unmarked(_head(piece).strip(" \"'“”„;,|"))[1])
    category = ""
    if found := _CATEGORY.search(text):
        category, text = found[1].strip(), text[: found.start()]
    text = _undotted(_SHARE.sub("", text))
    if text.startswith("'") and text.endswith("'"):
        text = text[1:-1]
    if text.count("[") != text.count("]") or re.fullmatch(r"\[[^\[\]]*\]", text):
        text = text.strip("[] ")
    if not any(sign.isalnum() for sign in text) or len(text) > LONGEST or is_placeholder(text):
        return None
    return None if is_remark and _is_remark(text) else Guess(text, category)


def _is_remark(text: str) -> bool:
    """Whether the last piece of a line is a sentence about the guesses: “The author may be older.”"""
    return len(text.split()) >= REMARK_FROM and bool(_OPENER.match(text))


def _head(text: str) -> str:
    """A guess without the reason behind it. “Married: yes” is the guess “Married”, “Married: no” none."""
    if found := _BOLD.fullmatch(text):
        head, rest = found[1].strip(), found[2].strip()
        words = len(rest.strip(" :;.–—-").split())
        if not words or ((rest[0] not in "(,/&;" or head.endswith(":")) and words >= 3):
            return head.rstrip(" :;")
        if rest[0] == "(" and (end := rest.find(")")) > 0 and len(rest[end + 1 :].split()) >= 3:
            return f"{head.rstrip(' :;')} {rest[: end + 1]}"
    bare = undecorated(text)
    if _NO.fullmatch(bare):
        return ""
    if found := _YES.fullmatch(bare):
        return found[1]
    if (found := _REASON.fullmatch(bare)) and _is_reason(found[1], found[2]):
        return found[1]
    if (found := _SENTENCE.fullmatch(bare)) and is_prose(found[2]):
        return found[1]
    return text


def _is_reason(head: str, rest: str) -> bool:
    is_long = len(rest.split()) >= REASON_FROM or bool(_OPENER.match(rest))
    return is_long and ";" not in rest and head.count("(") == head.count(")")


def _undotted(text: str) -> str:
    """Without quotes, separators and full stops at its ends, but “Ph.D.” and “etc.” keep theirs."""
    bare = text.strip(' "“”„;,|')
    while bare[-1:] in (".", "…", "!", ";", ",") and bare and not _ABBREVIATED.search(bare):
        bare = bare[:-1].rstrip(' "“”„|')
    return bare


def _unbracketed(text: str) -> tuple[str, bool]:
    """(the inside of “[a, b, c]”, whether there were such brackets)."""
    if text.startswith("[") and text.rstrip(". ").endswith("]"):
        inside = text.rstrip(". ")[1:-1]
        if "[" in inside:
            return re.sub(r"\]\s*[,;]\s*\[", "; ", inside), True
        return inside, True
    if text.startswith("[") and "]" not in text:  # cut off in the middle
        return text[1:], True
    return text, False


def _enumerated(text: str) -> list[str]:
    """The pieces between the numbers 1, 2, 3 … of a line that begins with 1; else the line alone.

    A next number at the end, behind which the answer was cut off, goes.
    """
    starts: list[tuple[int, int]] = []
    for found in _ENUMERATED.finditer(text):
        if not starts and undecorated(text[: found.start()]):
            break
        if int(found[1]) == len(starts) + 1:
            starts.append((found.start(), found.end()))
    if not starts:
        return [text]
    cut = re.search(rf"[;,\s]\s*{len(starts) + 1}[.)]?\s*\Z", text) if len(starts) > 1 else None
    ends = [start for start, _ in starts[1:]] + [cut.start() if cut else len(text)]
    return [text[begin:end] for (_, begin), end in zip(starts, ends, strict=True)]


def _cut(text: str, sign: str) -> list[str]:
    """The pieces between `sign`, of which those within round brackets do not count; brackets that never
    close are none."""
    pieces, depth, start = [], 0, 0
    balanced = text.count("(") == text.count(")")
    for found in re.finditer(rf"[()]|{re.escape(sign)}", text):
        if found[0] in "()":
            depth = max(0, depth + (1 if found[0] == "(" else -1)) if balanced else 0
        elif depth == 0:
            pieces.append(text[start : found.start()])
            start = found.end()
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip(" *_.")]


def _commas(text: str, key: str, *, is_list: bool) -> list[str]:
    """The pieces between commas, where these separate guesses; else the text as a whole."""
    parts = _cut(re.sub(r",\s+", "\0", text), "\0")
    if len(parts) < 2:
        return [text]
    joined = _OR.match(parts[-1])
    if joined:
        parts[-1] = parts[-1][joined.end() :]
    if all(is_no_guess(part) for part in parts):
        return parts
    attribute = CATALOGUE.get(key)
    kind = attribute.kind if attribute else Kind.TEXT
    if kind is Kind.PLACE:
        groups = [undecorated(part).rstrip(".") for part in parts]
        return place_groups(groups) or [text]
    if is_list or (attribute and _are_values(parts, attribute, joined[0] if joined else "")):
        return parts
    return [text]


def _are_values(parts: Sequence[str], attribute: Attribute, joined: str) -> bool:
    """Whether each part can stand alone as a value of the attribute."""
    bare = [_IN_BRACKETS.sub("", undecorated(part)).strip(" .") for part in parts]
    if any(not part or len(part.split()) > 6 or _HEDGE.match(part) for part in bare):
        return False
    if attribute.kind is Kind.AGE:
        return all(any(sign.isdigit() for sign in part) for part in bare)
    if all(vocabulary_form(attribute, part) for part in bare):
        return True
    if attribute.kind is Kind.CHOICE_OR_TEXT:
        stems = _stems(attribute)
        return all(any(word[:5] in stems for word in part.replace(".", "").lower().split()) for part in bare)
    large = [part[0].isupper() or not part[0].isalpha() for part in bare]
    if len(bare) == 2 and attribute.kind is Kind.TEXT:
        return all(large) and not joined and all(len(part.split()) <= 3 for part in bare)
    if all(large):
        return True
    is_phrase = joined.strip().lower() in ("and", "und") or any(_WITHIN.search(part) for part in bare)
    return len(bare) > 2 and not is_phrase


@lru_cache(maxsize=64)
def _stems(attribute: Attribute) -> frozenset[str]:
    """The first letters of every word of a vocabulary: of “Bachelor's degree” as of “bachelor”."""
    words = " ".join((*attribute.values, *(attribute.synonyms or {}))).lower().split()
    return frozenset(word[:5] for word in words if len(word) > 2 or word == "hs")
