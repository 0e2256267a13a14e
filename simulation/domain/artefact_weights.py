"""How much one word speaks for gibberish or for language."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from simulation.domain.artefact_letters import is_known, plausibility
from simulation.domain.artefact_rules_signs import script_of
from simulation.domain.artefact_shapes import shape

_SPLIT = re.compile(r"[-–—/.,!?:;…&+*()\"“”'’‘]+")
FREE = shape("words", "free", flags=re.I)
_EMOTICON = shape("words", "emoticons")
_NUMBERED = shape("words", "numbered", flags=re.I)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|&[a-z]+;")
"""The rule for markup speaks of it."""
_CASED = shape("words", "cased")
CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_VOWELS = set("aeiouyàáâãäåæèéêëìíîïòóôõöøœùúûüýÿāēīōūıąęåő")
VOWELLESS = shape("words", "vowelless", flags=re.I)
_PIECES = {
    "ing",
    "tion",
    "ment",
    "ness",
    "sion",
    "ity",
    "ism",
    "ous",
    "ize",
    "ation",
    "ings",
    "tions",
    "ments",
}
"""Endings that stand alone only where a generator stutters."""
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "poiuytrewq", "lkjhgfdsa", "mnbvcxz", "qazwsxedc")
_KEYS = {row[place : place + 4] for row in _ROWS for place in range(len(row) - 3)} - {
    "poiu",
    "rewq",
    "tyui",
    "oiuy",
}
LONGEST = 26
"""Letters of a word; German has some this long."""
LONG = 20
"""Letters from which an unknown word is a long one; two of them end no English text."""
TOKEN = 120
"""Signs of a run without blanks that are looked at; what is longer is judged by its beginning."""
_HARDLY, _NOT = -4.9, -5.8
"""`plausibility` below which letters hardly, or do not, follow each other in words."""
_INNER = re.compile(r"[\w)\]}][_^~{}\[\]|\\<>=#$%@`§¤¬¦±×÷]+[\w({\[]")


@lru_cache(maxsize=50_000)
def weights(token: str) -> tuple[float, bool]:
    """(weight, is a known word) of a run of signs between blanks.

    Above 0 speaks for gibberish: about 0.5 an unknown word that could be one, 1.5 one that hardly could, 2.5
    and more what no one types. Below 0 speaks for language.
    """
    token = token[:TOKEN]
    if _EMOTICON.fullmatch(token) or FREE.fullmatch(token) or _TAG.search(token):
        return 0.0, False
    weight = 0.0
    if _INNER.search(token) and not re.fullmatch(r"\W*\w+(?:[=~%@_]\w+)\W*", token):
        weight += 2.0
    parts = [part for part in _SPLIT.split(token.strip("*_~`^<>[]{}|\\=")) if part]
    if not parts:
        junk = sum(not sign.isalnum() and sign.isascii() for sign in token)
        return (1.5 if junk > 1 else 0.3), False
    each = [_part(part) for part in parts]
    worst = max(one for one, _ in each)
    mean = sum(one for one, _ in each) / len(each)
    weight += worst if worst > 1 else mean
    return min(weight, 6.0), all(known for _, known in each) and weight <= 0


def _part(part: str) -> tuple[float, bool]:
    word = part.strip("_^~{}[]|\\<>=#$%@`§")
    if not any(sign.isalpha() for sign in word):
        return (0.0, False) if word.isdecimal() or not word else (0.3, False)
    if not word.isascii() and any(script_of(sign) not in ("", "Latin") for sign in word):
        return 0.0, False  # the rule for scripts speaks of it
    if any(sign.isdigit() for sign in word):
        if _NUMBERED.fullmatch(word):
            return 0.0, False
        return (2.5 if sum(map(str.isdigit, word)) < len(word) - 1 else 1.5), False
    small = word.lower()
    if word.isupper() and len(word) <= 6 and len(word) > 1:
        return 0.0 if not is_known(small) else -0.8, is_known(small)
    if is_known(small):
        odd_case = 0.0 if word in (small, small.capitalize(), small.upper()) else 0.8
        return odd_case or (-0.6 if len(small) < 3 else -1.0), not odd_case
    return _unknown(word, small), False


@lru_cache(maxsize=20_000)
def _unknown(word: str, small: str) -> float:
    """The weight of a word that is not on the list, by its capitals, letters and length."""
    if VOWELLESS.fullmatch(small):
        return 0.0
    if small in _PIECES:
        return 1.3
    weight = (0.15 if word[0].isupper() else 0.45) + _capitals(word)
    if len(small) < 4:
        return weight
    likely = plausibility(small)
    if word.isascii():  # accents speak of a language, not of none
        weight += 2.2 if likely < _NOT else 1.1 if likely < _HARDLY else 0.0
    if _without_vowel(small) > (3 if len(small) == _without_vowel(small) else 4):
        weight += 1.5
    if LONG <= len(small) <= LONGEST and word.isascii():
        weight += 0.8
    if len(small) > LONGEST or any(small[place : place + 4] in _KEYS for place in range(len(small) - 3)):
        weight += 2.5
    return weight


def _capitals(word: str) -> float:
    inside = any(one.islower() and other.isupper() for one, other in pairwise(word))
    if not inside or _CASED.fullmatch(word):
        return 0.0
    humps = CAMEL.findall(word)
    if len(humps) > 2 or word[0].islower():
        return 2.5
    return 0.0 if len(humps) == 2 and all(is_known(hump.lower()) for hump in humps) else 1.0


def _without_vowel(small: str) -> int:
    """The longest run of letters without a vowel."""
    run = longest = 0
    for sign in small:
        run = 0 if sign in _VOWELS or not sign.isalpha() else run + 1
        longest = max(longest, run)
    return longest
