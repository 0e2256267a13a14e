"""Guidelines are written in Markdown; this is the one place where they become HTML.

What a lead writes is shown to everybody who works in the queue, so it is not trusted: HTML in it stays text,
images are not loaded, and links lead to http, https and mailto addresses only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

LONGEST = 40_000
"""Characters of one version."""
_ALLOWED = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)


def to_html(text: str) -> str:
    """`text` as HTML that is safe to put into a page. Headings are one level lower than written: the page has
    its own `h1`."""
    return str(_READER.render(text))


def clean(text: str) -> str:
    """The form in which guidelines are kept: lines end with a line feed, nothing stands behind the last."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()


def _leads_somewhere_allowed(url: str) -> bool:
    return bool(_ALLOWED.match(url.strip()))


def _link(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    """A tab of its own: a link in the guidelines must not carry anybody away from unsaved work."""
    tokens[place].attrSet("target", "_blank")
    tokens[place].attrSet("rel", "noopener noreferrer nofollow")
    return renderer.renderToken(tokens, place, options, env)


def _heading(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    tokens[place].tag = f"h{min(6, int(tokens[place].tag[1]) + 1)}"
    return renderer.renderToken(tokens, place, options, env)


def _cell(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    """A column that is set to the right gets our class for that: a style of its own would be refused."""
    if tokens[place].attrs.pop("style", "") == "text-align:right":
        tokens[place].attrSet("class", "r")
    return renderer.renderToken(tokens, place, options, env)


def _table(*_: object) -> str:
    return '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table class="table">\n'


def _table_end(*_: object) -> str:
    return "</table></div>\n"


def _reader() -> MarkdownIt:
    reader = MarkdownIt("js-default", {"html": False, "linkify": False, "typographer": False})
    reader.disable("image")
    reader.validateLink = _leads_somewhere_allowed  # type: ignore[method-assign]
    rules: dict[str, Callable[..., str]] = {
        "link_open": _link,
        "heading_open": _heading,
        "heading_close": _heading,
        "th_open": _cell,
        "td_open": _cell,
        "table_open": _table,
        "table_close": _table_end,
    }
    for kind, rule in rules.items():
        reader.add_render_rule(kind, rule)
    return reader


_READER = _reader()
