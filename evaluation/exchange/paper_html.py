"""The comparison with the paper as one HTML file: no script, nothing loaded, light and dark, any width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from evaluation.domain.paper.comparing import Compared, Status, tally
from evaluation.exchange.paper_report import DEFINITIONS, Report, is_long, said, shown

STYLE = """
:root { color-scheme: light dark; --ground: #fff; --soft: #f3f5f7; --line: #c8ced6; --ink: #1b2027;
  --quiet: #555f6b; --good: #17663a; --bad: #a51d24; --bad-ground: #fdeceb; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14181d; --soft: #1d232a; --line: #3b444f; --ink: #e7ebf0; --quiet: #a4aeba;
    --good: #74d19b; --bad: #ff9d97; --bad-ground: #3a1d1f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.2; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; background: var(--ground); }
summary { padding: .6rem .8rem; cursor: pointer; background: var(--soft); border-radius: .4rem; }
summary b { margin-right: .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
caption { text-align: left; padding: .5rem .8rem; color: var(--quiet); }
th, td { padding: .3rem .8rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
thead th { border-top: 0; color: var(--quiet); font-weight: 600; }
tbody th { font-weight: 400; }
thead th, td span { overflow-wrap: normal; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.equal { color: var(--good); }
.differs { color: var(--bad); font-weight: 700; }
tr:has(.differs) { background: var(--bad-ground); }
.quiet { color: var(--quiet); }
.verdict { padding: .8rem; border: 1px solid var(--line); border-left: .4rem solid var(--good); }
.verdict.failed { border-left-color: var(--bad); background: var(--bad-ground); }
code { font-size: .85em; overflow-wrap: anywhere; }
tbody th code { overflow-wrap: break-word; }
@media (max-width: 44rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, th, td { display: block; }
  caption { display: block; }
  tr { padding: .5rem .8rem; border-top: 1px solid var(--line); }
  th, td { border: 0; padding: .1rem 0; }
  td { display: flex; justify-content: space-between; gap: 1rem; }
  td::before { content: attr(data-label); color: var(--quiet); }
  td:empty { display: none; }
  .number { white-space: normal; }
  tbody th code { overflow-wrap: anywhere; }
}
@media print { details { break-inside: avoid; } }
"""
NUMBERS = ("Paper", "Expected", "Ours", "Tolerance")
HEADS = ("Number", *NUMBERS, "Status", "Reason")
NUMBER = ' class="number"'


def pieces(report: Report) -> Iterator[str]:
    """The file, piece by piece. Tables with a difference, and short ones, are open."""
    title = "The paper's numbers, counted again"
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    )
    yield _verdict(report)
    yield f'<p>{escape(DEFINITIONS)}</p>\n<p class="quiet">{escape(report.effort)}.</p>\n'
    yield "<h2>Tables and figures</h2>\n"
    for table, rows in report.tables():
        yield from _table(table, rows)
    yield from _skipped(report)
    yield from _files(report)
    yield "</main>\n</body>\n</html>\n"


def _verdict(report: Report) -> str:
    differing = report.differing
    counts = escape(said(tally(report.rows)))
    if not differing:
        return f'<p class="verdict">{len(report.rows)} numbers: {counts}. Nothing differs.</p>\n'
    names = "".join(f"<li><code>{escape(row.name)}</code></li>" for row in differing)
    return (
        f'<div class="verdict failed"><p>{len(report.rows)} numbers: {counts}. These differ beyond the '
        f"tolerance:</p><ul>{names}</ul></div>\n"
    )


def _table(table: str, rows: Sequence[Compared]) -> Iterator[str]:
    counts = tally(rows)
    is_open = counts[Status.DIFFERS] > 0 or not is_long(rows)
    yield (
        f"<details{' open' * is_open}><summary><b>{escape(table)}</b> {escape(said(counts))}</summary>\n"
        f"<table><caption>{escape(table)}: {len(rows)} numbers</caption>\n<thead><tr>"
    )
    yield "".join(f'<th scope="col"{NUMBER * (head in NUMBERS)}>{head}</th>' for head in HEADS)
    yield "</tr></thead>\n<tbody>\n"
    yield from map(_row, rows)
    yield "</tbody></table></details>\n"


def _row(row: Compared) -> str:
    tolerance = "" if row.tolerance is None else f"{row.tolerance:g}"
    numbers = (shown(row.paper, percent=row.percent), shown(row.expected), shown(row.ours), tolerance)
    cells = "".join(
        f'<td class="number" data-label="{head}">{escape(text)}</td>'
        for head, text in zip(NUMBERS, numbers, strict=True)
    )
    kind = row.status.replace(" ", "-")
    return (
        f'<tr><th scope="row"><code>{_breakable(row.name)}</code></th>{cells}'
        f'<td data-label="Status"><span class="{kind}">{escape(row.status)}</span></td>'
        f'<td class="quiet" data-label="Reason">{escape(row.reason)}</td></tr>\n'
    )


def _breakable(name: str) -> str:
    """A name that may be broken behind its dots and underscores."""
    return escape(name).replace(".", ".<wbr>").replace("_", "_<wbr>")


def _skipped(report: Report) -> Iterator[str]:
    yield "<h2>Lines that could not be read and were skipped</h2>\n"
    if not report.problems:
        yield "<p>None.</p>\n"
        return
    yield "<ul>\n"
    yield from (f"<li>{escape(str(problem))}</li>\n" for problem in report.problems)
    yield "</ul>\n"


def _files(report: Report) -> Iterator[str]:
    yield (
        f"<h2>Files</h2>\n<details><summary>{len(report.files)} files with their SHA-256 digests</summary>\n"
        '<table><thead><tr><th scope="col">File</th><th scope="col">Bytes</th><th scope="col">SHA-256</th>'
        "</tr></thead>\n<tbody>\n"
    )
    for one in report.files:
        yield (
            f'<tr><th scope="row">{escape(one.name)}</th>'
            f'<td class="number" data-label="Bytes">{one.size}</td>'
            f'<td data-label="SHA-256"><code>{one.sha256}</code></td></tr>\n'
        )
    yield "</tbody></table></details>\n"
