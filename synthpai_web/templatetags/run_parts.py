"""The small parts that pages of runs are made of."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from simulation.domain.money import dollars
from synthpai_web.templatetags.parts import icon

register = template.Library()


class Look(NamedTuple):
    """A state as shape, word and colour."""

    tone: str
    icon: str
    word: str


RUNS = {
    "queued": Look("pending", "clock", "Queued"),
    "running": Look("ok", "play", "Running"),
    "paused": Look("warn", "pause", "Paused"),
    "halted": Look("danger", "warn", "Halted"),
    "done": Look("ok", "tick", "Done"),
    "failed": Look("danger", "x", "Failed"),
    "cancelled": Look("none", "stop", "Cancelled"),
}
THREADS = {
    "waiting": Look("pending", "ring", "Waiting"),
    "running": Look("ok", "play", "Under way"),
    "stopped": Look("none", "stop", "Broken off"),
    "done": Look("confirmed", "tick", "Done"),
    "partial": Look("warn", "skip", "Partial"),
    "failed": Look("danger", "x", "Failed"),
}
CALLS = {
    "queued": Look("pending", "clock", "waiting"),
    "leased": Look("pending", "clock", "in flight"),
    "done": Look("ok", "tick", "done"),
    "refused": Look("danger", "ban", "refused"),
    "truncated": Look("warn", "warn", "cut off"),
    "invalid": Look("warn", "warn", "unreadable"),
    "failed": Look("danger", "x", "failed"),
}
ATTEMPTS = {
    "sent": Look("pending", "clock", "in flight"),
    "answered": Look("ok", "tick", "answered"),
    "rate_limited": Look("warn", "clock", "rate limit"),
    "transient": Look("warn", "refresh", "passing fault"),
    "quota": Look("danger", "ban", "quota used up"),
    "permanent": Look("danger", "x", "rejected"),
    "lost": Look("warn", "ask", "lost in flight"),
}
STEPS = {
    "skipped": Look("warn", "skip", "skipped"),
    "failed": Look("danger", "x", "failed"),
    "cancelled": Look("none", "stop", "cancelled"),
}
PROFILES = {
    "proposed": Look("pending", "ring", "to be checked"),
    "approved": Look("ok", "tick", "approved"),
    "rejected": Look("danger", "x", "rejected"),
}
LINES = {"info": "clock", "ok": "tick", "warn": "warn", "danger": "ban"}
UNKNOWN = Look("none", "ring", "")
SMALLEST = Decimal("0.0001")
"""Dollars; less is said to be less, never nothing."""


def _badge(look: Look, css: str = "") -> SafeString:
    return format_html(
        '<span class="badge{}" data-state="{}">{}{}</span>', css, look.tone, icon(look.icon), look.word
    )


@register.simple_tag
def run_badge(state: str, size: str = "") -> SafeString:
    return _badge(RUNS.get(state, UNKNOWN), f" {size}" if size else "")


@register.filter
def run_word(state: str) -> str:
    return RUNS.get(state, UNKNOWN).word


@register.simple_tag
def thread_stamp(state: str) -> SafeString:
    """The state of a thread in a narrow column: the icon, and the word for those who do not see it."""
    look = THREADS.get(state, UNKNOWN)
    return format_html(
        '<span class="stamp" title="{}">{}<span class="vh">{}</span></span>',
        look.word,
        icon(look.icon),
        look.word,
    )


@register.filter
def thread_tone(state: str) -> str:
    return THREADS.get(state, UNKNOWN).tone


@register.simple_tag
def thread_badge(state: str) -> SafeString:
    return _badge(THREADS.get(state, UNKNOWN))


@register.simple_tag
def call_badge(state: str) -> SafeString:
    return _badge(CALLS.get(state, UNKNOWN))


@register.simple_tag
def attempt_badge(state: str) -> SafeString:
    return _badge(ATTEMPTS.get(state, UNKNOWN))


@register.simple_tag
def lost_badge(state: str) -> SafeString:
    """The state of a step or call that came to nothing."""
    return _badge(STEPS.get(state) or CALLS.get(state, UNKNOWN))


@register.simple_tag
def profile_badge(state: str) -> SafeString:
    """Whether a person has approved a profile."""
    return _badge(PROFILES.get(state, UNKNOWN))


@register.simple_tag
def line_icon(level: str) -> SafeString:
    return icon(LINES.get(level, "clock"))


@register.filter
def seconds_since(end: datetime | None, begin: datetime | None) -> float | None:
    return max(0.0, (end - begin).total_seconds()) if end and begin else None


@register.filter
def duration(seconds: float | None) -> str:
    """Seconds as people say them: 0.4 s, 19 s, 3 min 20 s, 2 h 5 min."""
    if seconds is None:
        return ""
    if 0 < seconds < 1:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


@register.filter
def short_number(number: int | None) -> str:
    """A large number in three digits: 940, 12.4 k, 1.2 M. The exact one stands beside or behind it."""
    if number is None:
        return ""
    for size, sign in ((1_000_000_000, "G"), (1_000_000, "M"), (10_000, "k")):
        if number >= size:
            unit = 1000 if sign == "k" else size
            value = number / unit
            return f"{value:.0f} {sign}" if value >= 100 else f"{value:.1f} {sign}"
    return f"{number:,}"


@register.filter
def usd(amount: int | None) -> str:
    """Nano-dollars as dollars: $3.18, $1,204.00, and of small sums the first digits that say something."""
    if amount is None:
        return ""
    sign, exact = ("−" if amount < 0 else ""), abs(dollars(amount))
    if 0 < exact < SMALLEST:
        return f"{sign}<${SMALLEST}"
    places = 2 if not exact or exact >= Decimal("0.1") else 3 if exact >= Decimal("0.01") else 4
    return f"{sign}${exact:,.{places}f}"


@register.filter
def per_million(price: Decimal | None) -> str:
    """USD per million tokens, exact: $2.50, $0.075."""
    if price is None:
        return ""
    text = f"{price.normalize():,f}"
    whole, _, rest = text.partition(".")
    return f"${whole}.{rest:0<2}"


@register.simple_tag
def bar(part: int, whole: int, unit: str) -> SafeString:
    """A thin bar; the numbers stand beside it."""
    share = 100 * part / whole if whole else 0
    return format_html(
        '<svg class="bar" role="img" aria-label="{} of {} {}">'
        '<rect class="done" x="0%" width="{}%" height="100%"/></svg>',
        part,
        whole,
        unit,
        f"{share:.2f}",
    )
