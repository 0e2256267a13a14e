"""The sheet that figures are drawn on: pixels from the upper left, kept as SVG.

Equal input gives equal bytes: no date, no random ids, one drawing at a time (matplotlib's settings are one
for all threads). Text stays text, in the reader's fonts. Nothing is in `style` attributes, so that a strict
content security policy takes nothing away, and nothing refers to another file.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from evaluation.plots.themes import FONTS, THEMES, Theme
from evaluation.plots.wordwise import plain, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTHS = {"wide": 720, "narrow": 320}
"""Pixels for which each layout is meant."""
VERSION = "1"
"""Grows with every change of how anything is drawn: kept figures are then drawn anew."""
_SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "synthpai-studio",
    "svg.fonttype": "none",
    "text.parse_math": False,
}
_DRAWING = Lock()
_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_SIZE = re.compile(r"([\d.]+)px")


@dataclass(frozen=True)
class Look:
    """How a figure is shown. `name` and `description` are read to who does not see it; `title` and
    `caption` are drawn, over and under it. Raises KeyError for a theme or width that is not known."""

    theme: str = "light"
    width: str = "wide"
    name: str = ""
    description: str = ""
    title: str = ""
    caption: str = ""

    @property
    def colours(self) -> Theme:
        """The palette."""
        return THEMES[self.theme]

    @property
    def pixels(self) -> int:
        """Width of the sheet."""
        return WIDTHS[self.width]

    @property
    def is_narrow(self) -> bool:
        """Whether names stand over their lines rather than before them."""
        return self.width == "narrow"

    @property
    def size(self) -> float:
        """Font size of what is read, in pixels."""
        return 13.0 if self.is_narrow else 12.5

    @property
    def small(self) -> float:
        """Font size of axes and notes, in pixels."""
        return 12.0 if self.is_narrow else 11.5


@dataclass
class Sheet:
    """What a figure is painted on. Coordinates are pixels, y downwards."""

    look: Look
    height: float
    top: float
    """Where the figure begins, under its title."""
    figure: Figure
    _order: int = field(default=0)

    @property
    def width(self) -> float:
        return float(self.look.pixels)

    @property
    def theme(self) -> Theme:
        return self.look.colours

    def line(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        colour: str,
        *,
        width: float = 1.0,
        dashes: tuple[float, float] | None = None,
    ) -> None:
        """A line through points, in their order."""
        line = self._line(xs, ys)
        line.set(color=colour, linewidth=width, solid_capstyle="butt", solid_joinstyle="round")
        if dashes:
            line.set_linestyle((0, dashes))

    def dot(
        self, x: float, y: float, colour: str, *, marker: str = "o", size: float = 7.0, hollow: bool = False
    ) -> None:
        """A marker; a hollow one shows the ground within its outline."""
        line = self._line([x], [y])
        line.set(linestyle="none", marker=marker, markersize=size)
        line.set_markerfacecolor(self.theme.ground if hollow else colour)
        line.set_markeredgecolor(colour if hollow else self.theme.ground)
        line.set_markeredgewidth(1.6 if hollow else 1.0)

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """A filled rectangle with a hair line of ground around it."""
        self.line([x, x + width], [y + height / 2] * 2, colour, width=height)

    def write(
        self,
        x: float,
        y: float,
        words: str,
        *,
        colour: str = "",
        size: float = 0.0,
        bold: bool = False,
        side: str = "left",
    ) -> None:
        """One line of text whose middle is at height y; `side` (left, center, right) of it is at x."""
        size = size or self.look.size
        self._order += 1
        self.figure.text(
            x,
            self.height - y - 0.35 * size,
            plain(words) or " ",
            transform=None,
            color=colour or self.theme.ink,
            fontsize=size,
            fontweight="bold" if bold else "normal",
            ha=side,
            va="baseline",
            zorder=self._order,
            parse_math=False,
        )

    def _line(self, xs: Sequence[float], ys: Sequence[float]):  # type: ignore[no-untyped-def]
        from matplotlib.lines import Line2D  # noqa: PLC0415 - heavy

        self._order += 1
        line = Line2D(list(xs), [self.height - y for y in ys], transform=None, zorder=self._order)
        self.figure.add_artist(line)
        return line


def drawn(look: Look, height: float, paint: Callable[[Sheet], None]) -> bytes:
    """The SVG of what `paint` draws on a sheet of this height, to which title and caption are added.

    matplotlib is loaded here, at the first figure: it costs half a second and 40 MB, which whoever never
    looks at a figure does not pay.
    """
    import matplotlib as mpl  # noqa: PLC0415 - heavy
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415 - heavy
    from matplotlib.figure import Figure  # noqa: PLC0415 - heavy

    inner = look.pixels - 16.0
    title = wrapped(look.title, inner, look.size + 2)
    caption = wrapped(look.caption, inner, look.small)
    top = 12 + 20.0 * len(title) if title else 0.0
    below = 8 + 16.0 * len(caption) if caption else 0.0
    whole = round(top + height + below)
    out = io.BytesIO()
    with _DRAWING, warnings.catch_warnings(), mpl.rc_context(_SETTINGS):
        # A name may have signs that no installed font has: the reader's fonts are asked, not ours.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing", category=UserWarning)
        warnings.filterwarnings(
            "ignore", message=r"Matplotlib currently does not support", category=UserWarning
        )
        figure = Figure(figsize=(look.pixels / 72, whole / 72), dpi=72, facecolor=look.colours.ground)
        FigureCanvasSVG(figure)
        sheet = Sheet(look, whole, top, figure)
        for place, line in enumerate(title):
            sheet.write(8, 18 + 20 * place, line, size=look.size + 2, bold=True)
        paint(sheet)
        for place, line in enumerate(caption):
            y = top + height + 8 + 16 * place
            sheet.write(8, y, line, size=look.small, colour=look.colours.ink_2)
        figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return _cleaned(out.getvalue(), look, whole)


def _cleaned(svg: bytes, look: Look, height: int) -> bytes:
    """matplotlib's SVG without style, metadata, surplus ids and document type; with a name."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    root = ElementTree.fromstring(svg)  # noqa: S314 - what was just drawn
    used = {one.get(f"{{{_LINK}}}href", "")[1:] for one in root.iter(f"{{{_SVG}}}use")}
    for parent in list(root.iter()):
        for child in list(parent):
            name = child.tag.rpartition("}")[2]
            if name in ("metadata", "style") or (name == "defs" and not child.findall("*/[@id]")):
                parent.remove(child)
    for one in root.iter():
        if one.get("id", "") not in used:
            one.attrib.pop("id", None)
        if one.get("transform", "").startswith("rotate(-0 "):
            del one.attrib["transform"]
        for name, value in _styled(one.attrib.pop("style", "")).items():
            one.set(name, value)
    root.attrib.clear()
    named = plain(look.name or look.title) or "Figure"
    root.attrib |= {
        "width": str(look.pixels),
        "height": str(height),
        "viewBox": f"0 0 {look.pixels} {height}",
        "role": "img",
        "aria-labelledby": "figure-name figure-description" if look.description else "figure-name",
        "font-family": FONTS,
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
    }
    said = [("title", "figure-name", named)]
    said += [("desc", "figure-description", plain(look.description))] if look.description else []
    for place, (tag, known_as, words) in enumerate(said):
        element = ElementTree.Element(f"{{{_SVG}}}{tag}", {"id": known_as})
        element.text = words
        root.insert(place, element)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="utf-8") + b"\n"


def _styled(style: str) -> dict[str, str]:
    """The declarations of a style attribute as attributes of their own; the font's family is the root's."""
    found: dict[str, str] = {}
    for declaration in filter(None, (one.strip() for one in style.split(";"))):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name == "font":
            size = _SIZE.search(value)
            found["font-size"] = size[1] if size else "12"
            if value.startswith(("700", "bold")):
                found["font-weight"] = "600"
        elif name == "font-size":
            found["font-size"] = value.removesuffix("px")
        elif name != "font-family":
            found[name] = value
    return found
