"""The small parts that pages of profiles are made of."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def stripe(percent: float, widest: float, aim: float | None = None) -> SafeString:
    """A bar of `percent` where `widest` fills the width, with an upright line at `aim`.

    For a cell of a table whose other cells say both numbers, and so nothing for those who hear the page.
    """
    scale = 100 / widest if widest else 0
    line = ""
    if aim is not None:
        at = f"{min(99.5, max(0.5, aim * scale)):.2f}%"
        shape = '<line class="{}" x1="{}" x2="{}" y1="0" y2="100%"/>'
        # The one beneath is in the colour of the ground: the mark is seen on the bar as beside it.
        line = format_html(shape + shape, "halo", at, at, "limit", at, at)
    width = f"{min(100.0, percent * scale):.2f}"
    return format_html(
        '<svg class="bar" aria-hidden="true"><rect class="done" x="0%" width="{}%" height="100%"/>{}</svg>',
        width,
        line,
    )
