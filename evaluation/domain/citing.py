"""How a release is cited: its DOI in one spelling, and the entry for a bibliography."""

from __future__ import annotations

import re
from dataclasses import dataclass

_DOI = re.compile(r"10\.\d{4,9}/[^\s<>\"{}|\\^`]+")
_BEFORE = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
LONGEST_DOI = 200
_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "%": r"\%",
        "#": r"\#",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\n": " ",
        "\r": " ",
    }
)


class BadDoi(ValueError):
    """What is no DOI; the message says what one looks like."""


def doi_of(text: str) -> str:
    """The DOI in `text`, without an address before it; "" for nothing. Raises BadDoi."""
    plain = _BEFORE.sub("", text.strip(), count=1)
    if not plain:
        return ""
    if len(plain) > LONGEST_DOI or not _DOI.fullmatch(plain):
        raise BadDoi(
            f"“{plain[:60]}” is no DOI. One reads 10.5281/zenodo.123456: 10., a number, a slash, a name."
        )
    return plain


@dataclass(frozen=True)
class Cited:
    """What an entry says."""

    title: str
    version: str
    year: int
    digest: str
    """SHA-256 of the release's manifest.json."""
    licence: str = ""
    doi: str = ""
    withdrawn: bool = False


def bibtex(one: Cited) -> str:
    """An entry of BibTeX. Signs that mean something there are written so that they do not."""
    words = f"Release {one.version}. SHA-256 of manifest.json: {one.digest}"
    fields = {
        "title": f"{{{_tex(one.title)}}}",
        "version": _tex(one.version),
        "year": str(one.year),
        "publisher": "SynthPAI Studio",
        "doi": one.doi,
        "note": _tex(words + (". Withdrawn" if one.withdrawn else "")),
        "copyright": _tex(one.licence),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@misc{{{_key(one)},\n" + ",\n".join(lines) + "\n}\n"


def _tex(text: str) -> str:
    return text.translate(_TEX)


def _key(one: Cited) -> str:
    """As `winter-2026-1.0`: letters, digits, hyphen and full stop only."""
    title = re.sub(r"[^a-z0-9]+", "-", one.title.lower()).strip("-")[:40] or "corpus"
    version = re.sub(r"[^A-Za-z0-9.]+", "-", one.version).strip("-") or "release"
    return f"{title}-{one.year}-{version}"
