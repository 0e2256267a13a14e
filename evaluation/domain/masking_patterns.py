"""What is told by its form: addresses, telephone numbers, dates, ages, amounts, numbers.

Every expression runs in time linear in the text: what repeats is bounded or consists of signs that the next
part cannot begin with, and a match begins at one place of a run only (the look-behinds).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import NamedTuple

from evaluation.domain.masking import Category, Span

_UNIT = r"(?:one|two|three|four|five|six|seven|eight|nine)"
_TENS = r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
_SAID = (
    rf"(?:{_TENS}(?:[ -]{_UNIT})?|{_UNIT}|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|a (?:few|couple(?: of)?|dozen|hundred)|an?|several|many|some|half an?|dozens of|hundreds of)"
)
_DIGITS = r"\d{1,3}(?:[,.]\d{3}){1,4}(?:\.\d{1,2})?|\d{1,15}(?:[.,]\d{1,4})?"
_MANY = r"(?:\s?(?:k|m|mn|bn|grand|thousand|million|billion|lakh|crore)\b)"
_MONEY = (
    r"(?:dollars?|bucks?|euros?|pounds?|quid|yen|rupees?|pesos?|kron(?:a|or|e|er)|z[lł]oty(?:ch)?"
    r"|(?:swiss )?francs?|rands?|rou?bles?|yuan|naira|shillings?|dirhams?|cents?|usd|eur|gbp|chf|cad|aud"
    r"|inr|nok|sek|dkk|jpy)"
)
_SPAN = (
    r"(?:second|minute|min|hour|hr|day|night|week|weekend|month|year|yr|decade|century|centurie|semester"
    r"|quarter)s?"
)
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|march|mar|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_PART = (
    r"(?:day|night|morning|afternoon|evening|noon|weekend|week|month|year|summer|winter|spring|fall|autumn"
    r"|season)"
)
_NAMED_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_ADDRESS_END = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Place|Pl|Square|Terrace|Way)"
    r"\b\.?"
)


class Pattern(NamedTuple):
    """`holds` has the last word on a match; it sees the matched text."""

    category: Category
    confidence: float
    sign: re.Pattern[str]
    holds: Callable[[str], bool] | None = None


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return len(text) > 3


def _is_phone(text: str) -> bool:
    """7 to 15 digits (ITU-T E.164), and not two years with a hyphen."""
    digits = sum(sign.isdigit() for sign in text)
    return 7 <= digits <= 15 and not re.fullmatch(r"(?:1[89]|20)\d\d\s?[-–]\s?(?:1[89]|20)\d\d", text)


def _p(
    category: Category,
    confidence: float,
    sign: str,
    *,
    case: bool = False,
    holds: Callable[[str], bool] | None = None,
) -> Pattern:
    return Pattern(category, confidence, re.compile(sign, 0 if case else re.IGNORECASE), holds)


PATTERNS: tuple[Pattern, ...] = (
    _p(Category.EMAIL, 0.95, r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24}(?![\w-])"),
    _p(Category.URL, 0.95, r"(?<!\w)(?:https?://|www\.)[^\s<>\"]{0,2000}[^\s<>\".,;:!?)\]'*]"),
    _p(
        Category.URL,
        0.7,
        r"(?<![\w@./-])(?:[a-z0-9-]{1,63}\.){1,4}(?:com|org|net|edu|gov|io|co|uk|de|ch|fr|eu|info|app)(?:/[^\s<>\"]{0,2000})?"
        r"(?![\w@-])",
    ),
    _p(Category.IP, 0.95, r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\d)", holds=_is_address),
    _p(Category.IP, 0.95, r"(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])", holds=_is_address),
    _p(
        Category.PHONE_NUMBER,
        0.8,
        r"(?<![\w.,-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,5}\)[ .-]?)?\d{2,5}(?:[ .-]\d{2,5}){1,4}(?![\w-])",
        holds=_is_phone,
    ),
    _p(Category.PHONE_NUMBER, 0.8, r"(?<!\w)(?:\+|00)\d{7,15}(?!\w)"),
    _p(
        Category.ADDRESS,
        0.8,
        rf"(?<![\w.,])\d{{1,5}}[a-z]?,? (?:[A-ZÀ-Ý][\w'’.-]{{0,30}} ){{1,4}}{_ADDRESS_END}",
        case=True,
    ),
    _p(
        Category.ADDRESS,
        0.7,
        r"(?<!\w)[A-ZÀ-Ý][\w-]{2,30}(?:straße|strasse|gasse|weg|platz|allee) \d{1,4}[a-z]?\b",
        case=True,
    ),
    _p(Category.PERSON, 0.8, r"(?<![\w/])/?u/[\w-]{3,20}"),
    _p(Category.PERSON, 0.7, r"(?<![\w@.])@[A-Za-z_]\w{1,29}(?![\w@.])"),
    _p(
        Category.PERSON,
        0.8,
        r"(?<=[Mm]y name is )[^\W\d_][\w'’-]{1,30}|(?<=[Cc]all me )[A-ZÀ-Ý][\w'’-]{1,30}",
        case=True,
    ),
    _p(
        Category.CURRENCY,
        0.9,
        rf"(?<![\w.,])(?:[A-Z]{{1,3}})?[$€£¥₹₽₩]\s?(?:{_DIGITS}){_MANY}?(?:\s?[-–]\s?[$€£]?(?:{_DIGITS}){_MANY}?)?",
    ),
    _p(Category.CURRENCY, 0.9, rf"(?<![\w.,])(?:{_DIGITS}){_MANY}?\s?(?:[$€£¥₹]|{_MONEY}\b)"),
    _p(Category.CURRENCY, 0.8, rf"(?<!\w){_SAID}(?: hundred| thousand| million| billion| grand)? {_MONEY}\b"),
    _p(
        Category.CURRENCY,
        0.7,
        r"(?<![\w.,])\d{1,4}(?:[.,]\d{1,2})?\s?k\b(?= (?:a|per) (?:year|month)| salary|/(?:yr|year|month))",
    ),
    _p(
        Category.AGE,
        0.9,
        r"(?<![\w.,])\d{1,3}[ -]?(?:years?[ -]old|y/?o|yrs?[ -]old|years? of age)(?:s|er)?\b",
    ),
    _p(Category.AGE, 0.9, rf"(?<!\w){_SAID}[ -]years?[ -]old\b"),
    _p(
        Category.AGE,
        0.85,
        r"(?<!\w)(?:(?:early|mid|late)[ -]{1,2}(?:[2-9]0['’]?s|(?:twen|thir|for|fif|six|seven|eigh)ties)"
        r"|(?:(?<=my )|(?<=her )|(?<=his )|(?<=our )|(?<=their )|(?<=your ))[2-9]0['’]?s)\b",
    ),
    _p(
        Category.AGE,
        0.8,
        r"(?<!\w)(?:age|aged|turn(?:ed|ing|s)?|nearly|almost|over|under|since i was) [1-9]\d\b",
    ),
    _p(
        Category.AGE,
        0.7,
        r"(?<!\w)(?:i['’]?m|i am|i was|at) [1-9]\d\b"
        r"(?![%:.,]\d|\s?(?:%|am\b|pm\b|min|hour|km|mile|day|week|month|year))",
    ),
    _p(Category.AGE, 0.8, r"(?<!\w)(?:[1-9]\d ?[mf]|[mf] ?[1-9]\d)\b(?!\w)"),
    _p(
        Category.DATE_TIME,
        0.9,
        r"(?<![\w.,/-])(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))(?![\w/-])",
    ),
    _p(
        Category.DATE_TIME,
        0.8,
        r"(?<![\w.,:$€£/-])(?:1[89]|20)\d\d(?:\s?[-–]\s?(?:(?:1[89]|20)?\d\d))?(?![\w,:])",
    ),
    _p(Category.DATE_TIME, 0.9, r"(?<=\bthe )(?:(?:early|mid|late)[ -])?(?:1[89]|20)?\d0['’]?s\b"),
    _p(Category.DATE_TIME, 0.8, r"(?<!\w)(?:(?:early|mid|late)[ -])?(?:1[89]|20)?\d0['’]?s\b"),
    _p(Category.DATE_TIME, 0.8, r"(?<![\w.,:])\d{1,2}(?::\d{2}){0,2}\s?(?:[ap]\.?m\b\.?|o['’]?clock)"),
    _p(Category.DATE_TIME, 0.8, r"(?<![\w.,:])(?:[01]?\d|2[0-3]):[0-5]\d(?![\w:])"),
    _p(
        Category.DATE_TIME,
        0.8,
        rf"(?<!\w)(?:the )?(?:every|each|last|next|this|past|these|those|any|all|some|one|other|previous"
        rf"|following|same|early|late|mid) (?:other |single |few |{_UNIT} )?"
        rf"(?:{_DAYS}|{_PART}|{_SPAN}|{_NAMED_MONTH})(?:s|ly)?"
        r"(?:[ -](?:mornings?|nights?|evenings?|afternoons?))?\b",
    ),
    _p(Category.DATE_TIME, 0.8, rf"(?<!\w){_DAYS}s?(?: (?:mornings?|nights?|evenings?|afternoons?))?\b"),
    _p(
        Category.DATE_TIME,
        0.8,
        rf"(?<![\w.,])(?:\d{{1,4}}\+?|{_SAID})[ -](?:more |odd |long |whole |straight )?{_SPAN}"
        r"(?: (?:ago|later|earlier|back))?\b",
    ),
    _p(
        Category.DATE_TIME,
        0.9,
        rf"(?<![\w.,])(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTHS}|{_MONTHS} \d{{1,2}}(?:st|nd|rd|th)?)\b"
        r"(?:,? \d{4})?",
    ),
    _p(
        Category.DATE_TIME,
        0.8,
        rf"(?<=\bin ){_NAMED_MONTH}\b|(?<=\b[Ll]ast ){_NAMED_MONTH}\b|(?<=\b[Ss]ince ){_NAMED_MONTH}\b"
        rf"|(?<=\bby ){_NAMED_MONTH}\b|(?<=\b[Tt]his ){_NAMED_MONTH}\b",
        case=True,
    ),
    _p(
        Category.NUMBER,
        0.7,
        rf"(?<![\w.,])(?:{_DIGITS})(?:(?:st|nd|rd|th|%|k|x|\+)(?!\w)|{_MANY})?(?!\w|\.\w)",
    ),
    _p(Category.NUMBER, 0.7, rf"(?<!\w){_TENS}[ -]{_UNIT}\b"),
)


def found(text: str) -> Iterator[Span]:
    """Every match of every pattern, overlapping ones too."""
    for one in PATTERNS:
        for match in one.sign.finditer(text):
            if match.end() > match.start() and (one.holds is None or one.holds(match[0])):
                yield Span(match.start(), match.end(), one.category, one.confidence)
