"""The figures of a comparison by machine: its areas as rows, its curves, what both say in words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.domain.corpus_diversity import FEW, Realism
from evaluation.domain.realism_areas import Area
from evaluation.plots.realism import Curve, roc
from evaluation.plots.rows import Axis, Row, draw_rows
from evaluation.plots.scales import shares_around
from evaluation.plots.sheet import Look

NAMES = {"auc": "Areas under the ROC curve", "roc": "ROC curve"}
"""Figures that can be asked for."""
MOST_DRAWN = 30
"""Threads in the figure: of more, half from each end of the ranking."""
MOST_LISTED = 200
"""Threads in the page's table; the file has all."""
NOTHING = "No area was counted."
KEY = (
    "Filled: all texts, and threads by how well they are told apart. Hollow: one fold. Dashed line: "
    "guessing. Bars: 95 % intervals, dashed where fewer than 30 texts."
)


@dataclass(frozen=True)
class Line:
    """A row of the table. `of` is what the row is a part of: all, a fold, a thread."""

    name: str
    of: str
    area: Area


def lines(found: Realism) -> list[Line]:
    """Groupings with their folds, then threads, best told first and those with too few texts last."""
    made = []
    for one in found.groupings:
        drawn = found.ours.drawn, found.ours.drawn_authors
        made.append(Line(one.name, "all", Area(one.name, *drawn, one.auc, one.low, one.high, one.words)))
        made += [Line(f"{one.unit.capitalize()}, fold {fold.name}", "fold", fold) for fold in one.folds]
    return made + [Line(one.name, "thread", one) for one in found.threads]


def listed(found: Realism) -> tuple[list[Line], int]:
    """The lines that the page lists, and how many threads it leaves out."""
    most = MOST_LISTED + sum(1 + len(one.folds) for one in found.groupings)
    made = lines(found)
    return made[:most], max(0, len(made) - most)


def name_of(key: str, found: Realism) -> str:
    """What a figure shows, in a few words."""
    return f"{NAMES[key]}: {found.ours.name} against {found.theirs.name or 'other texts'}"


def drawing(key: str, found: Realism, look: Look) -> bytes:
    """The figure as SVG."""
    if key == "roc":
        return roc(curves(found), look)
    rows = drawn_rows(found)
    ends = [end for row in rows for end in (row.value, row.low, row.high) if end is not None]
    axis = Axis(*shares_around([0.5, *ends]), "Area under the ROC curve", rule=0.5, fraction=True)
    return draw_rows(rows, axis, look, nothing=NOTHING, key=KEY)


def drawn_rows(found: Realism) -> list[Row]:
    """Threads with too few texts are in the table only."""
    made = [one for one in lines(found) if one.of != "thread" or one.area.auc is not None]
    threads = [one for one in made if one.of == "thread"]
    rows = [_row(one) for one in made if one.of != "thread"]
    if len(threads) <= MOST_DRAWN:
        return rows + [_row(one) for one in threads]
    half, between = MOST_DRAWN // 2, len(threads) - MOST_DRAWN
    texts = sum(one.area.texts for one in threads[half:-half])
    gap = Row(f"{between:,} between", None, None, None, "", texts, words="in the table")
    return [*rows, *map(_row, threads[:half]), gap, *map(_row, threads[-half:])]


def _row(one: Line) -> Row:
    area = one.area
    said = "–" if area.auc is None else f"{area.auc:.2f}"
    return Row(
        one.name, area.auc, area.low, area.high, said, area.texts, hollow=one.of == "fold", words=area.words
    )


def curves(found: Realism) -> list[Curve]:
    """Those that were kept."""
    made = []
    for one in found.groupings:
        if one.curve and one.auc is not None:
            interval = "" if one.low is None or one.high is None else f" ({one.low:.2f} to {one.high:.2f})"
            few = ", few" if min(one.ours, one.theirs) < FEW else ""
            numbers = f"n {one.ours:,} and {one.theirs:,}{few}"
            made.append(Curve(f"{one.name} ({numbers}): AUC {one.auc:.2f}{interval}", one.curve))
    return made


def tenths(found: Realism) -> list[tuple[int, list[tuple[str, float | None]]]]:
    """(false alarms in percent, what each grouping finds then in percent), from 0 to 100."""
    made = [(one.name.lower(), one.curve) for one in found.groupings]
    return [(at, [(name, _found_at(curve, at / 100)) for name, curve in made]) for at in range(0, 101, 10)]


def _found_at(curve: Sequence[tuple[float, float]], at: float) -> float | None:
    """The most that is found for so many false alarms, in percent, along the straight line between points."""
    if not curve:
        return None
    place = bisect_right([x for x, _ in curve], at) - 1
    (x, y), (right, up) = curve[place], curve[min(place + 1, len(curve) - 1)]
    return 100 * (y + (up - y) * (at - x) / (right - x) if right > x else y)


def described(key: str, found: Realism) -> str:
    """The figure as a sentence, for who does not see it."""
    if key == "roc":
        parts = [one.name for one in curves(found)]
    else:
        parts = [f"{one.name} {one.said}" for one in drawn_rows(found)]
    return f"{'; '.join(parts)}." if parts else NOTHING
