"""What a figure is of: the numbers that an address asks for, why there is nothing to see, and the drawing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlencode

from django.db.models import Count

from evaluation.domain.boards import MEASURE_WORDS, Board, Entry, Measure
from evaluation.domain.figures import Definition
from evaluation.models import LabelSet, Reference
from evaluation.plots import anonymised, costs, labels, panels, ranking, reference, scaling
from evaluation.plots.entries import label_of, narrowed, ranked, to_best
from evaluation.plots.sheet import VERSION, Look
from evaluation.plots.themes import THEMES
from evaluation.selectors.boards import Choice, Loaded
from simulation.domain.attributes import HARDNESS
from simulation.models import Corpus

Counts = Mapping[str, Sequence[int]]
SAID = 3
"""Entries that the description of a figure names."""


@dataclass(frozen=True)
class Asked:
    """What an address says beyond its board. `models` are scoring ids, none for all; `model` is the one
    beside a reference."""

    models: tuple[str, ...] = ()
    model: str = ""
    reference: str = ""
    labels: str = ""


@dataclass(frozen=True)
class Subject:
    """One figure with its numbers. `whole` is the board with all models, `board` the one that is drawn;
    `counts` are those of the figure of labels."""

    definition: Definition
    corpus: Corpus
    choice: Choice | None = None
    whole: Board | None = None
    board: Board | None = None
    made_at: datetime | None = None
    models: tuple[str, ...] = ()
    entry: Entry | None = None
    reference: Reference | None = None
    label_set: LabelSet | None = None
    counts: Counts = field(default_factory=dict)

    @property
    def measure(self) -> Measure:
        """The one that it is drawn by: the measure asked for, where this figure knows it."""
        return self.definition.measure(self.choice.measure.value if self.choice else "")

    @property
    def is_other_measure(self) -> bool:
        """Whether another measure was asked for than can be drawn."""
        return bool(self.choice) and self.choice is not None and self.choice.measure != self.measure

    @property
    def query(self) -> str:
        """The address of this very figure, without a question mark."""
        fields: list[tuple[str, str]] = [("models", one) for one in self.models]
        if self.definition.key == "reference":
            fields += [("model", self.entry.scoring)] if self.entry else []
            fields += [("reference", self.reference.public_id)] if self.reference else []
        if self.definition.key == "labels":
            return urlencode({"labels": self.label_set.public_id}) if self.label_set else ""
        return "&".join(filter(None, (self.choice.query if self.choice else "", urlencode(fields))))

    @property
    def words(self) -> str:
        """The definition alone."""
        return self.definition.says(self.measure)

    @property
    def sentence(self) -> str:
        """The definition, with what it is counted over."""
        return f"{self.words} {self.base}".strip()

    @property
    def base(self) -> str:
        """What was counted, with n."""
        if self.definition.key == "labels":
            total = sum(map(sum, self.counts.values()))
            return f"n = {total} labels of “{self.label_set}”." if self.label_set else ""
        board = self.whole
        if board is None:
            return ""
        certain = f" and certainty {board.min_certainty} or more" if board.min_certainty else ""
        return (
            f"n = {board.labels} labels of {board.profiles} profiles: those of “{board.label_set_name}” with "
            f"hardness {board.min_hardness} or more{certain}."
        )

    @property
    def missing(self) -> str:
        """Why there is nothing to draw; empty where there is something."""
        key, board = self.definition.key, self.board
        if key == "labels":
            return "" if self.counts else "There is no label set with labels yet."
        if board is None:
            return "The leaderboard is not counted yet."
        if not board.entries:
            return "No run is scored against these labels by these rules."
        if key == "differences" and not to_best(board, self.measure)[1]:
            return "There are not two scored runs to compare."
        if key == "costs" and not costs.costed(board, self.measure).drawn:
            return (
                "No run here has an accuracy and a known cost above zero: imported results do not say what "
                "they cost, and a scripted model costs nothing, which a logarithmic axis does not have."
            )
        if key == "anonymised" and not board.masked:
            return "No run on anonymised text is scored beside its counterpart on plain text."
        if key == "reference" and self.reference is None:
            return "There is no reference to compare with."
        return ""

    @property
    def left_out(self) -> str:
        """Which runs are not drawn, and why; empty where all are, and for figures that draw all."""
        if self.board is None or self.definition.key != "costs":
            return ""
        return " ".join(costs.costed(self.board, self.measure).words)

    @property
    def rules(self) -> str:
        """Which rules scored, in words."""
        return self.choice.mode_words if self.choice else ""

    def etag(self, look: Look, *, download: bool) -> str:
        """Equal for equal bytes, as far as its numbers are unchanged."""
        parts = (
            *(VERSION, self.definition.key, self.corpus.public_id, self.corpus.name, self.query, look.theme),
            *(look.width, download, self.made_at, self.reference.values if self.reference else ""),
            *(self.reference.name if self.reference else "", dict(self.counts), str(self.label_set)),
        )
        return f'"{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}"'


def subject(
    corpus: Corpus, definition: Definition, choice: Choice | None, loaded: Loaded, asked: Asked
) -> Subject:
    """The figure that is asked for. What an address names and is not there is passed over."""
    if definition.key == "labels":
        chosen = label_set_of(corpus, asked.labels) if asked.labels or not choice else choice.label_set
        return Subject(definition, corpus, label_set=chosen, counts=counts_of(chosen) if chosen else {})
    board = loaded.board
    if board is None or choice is None:
        return Subject(definition, corpus, choice)
    known = tuple(one.scoring for one in board.entries if one.scoring in asked.models)
    models = known if len(known) < len(board.entries) else ()
    found = Subject(
        definition,
        corpus,
        choice,
        board,
        narrowed(board, frozenset(models)) if models else board,
        loaded.made_at,
        models,
    )
    if definition.key != "reference":
        return found
    references = corpus.references.order_by("name", "pk")
    beside = references.filter(public_id=asked.reference).first() if asked.reference else None
    entry = board.entry(asked.model) or next(iter(ranked(board, Measure.TOP1)), None)
    return Subject(
        definition,
        corpus,
        choice,
        board,
        board,
        loaded.made_at,
        entry=entry,
        reference=beside or references.first(),
    )


def label_set_of(corpus: Corpus, public_id: str) -> LabelSet | None:
    """The label set of this public id, else the newest of the corpus, None where it has none."""
    sets = corpus.label_sets.order_by("-pk")
    return (sets.filter(public_id=public_id).first() if public_id else None) or sets.first()


def counts_of(label_set: LabelSet) -> dict[str, list[int]]:
    """Attribute label -> its labels of hardness 1 to 5; most labels first, of as many by name. One query."""
    rows = label_set.rows.filter(hardness__isnull=False).order_by()
    found: dict[str, list[int]] = {}
    for key, hardness, count in rows.values_list("attribute", "hardness").annotate(Count("pk")):
        found.setdefault(label_of(key), [0] * len(HARDNESS))[hardness - 1] += count
    return dict(sorted(found.items(), key=lambda one: (-sum(one[1]), one[0])))


def described(one: Subject) -> str:
    """The sentence by which who does not see a figure is told what it shows."""
    return " ".join(
        filter(None, (one.sentence, _best(one), one.left_out, "The page has the numbers as a table."))
    )


def _best(one: Subject) -> str:
    if one.board is None or one.definition.key in ("anonymised", "reference", "labels"):
        return ""
    shown = []
    for entry in ranked(one.board, one.measure)[:SAID]:
        both = entry.overall.get(one.measure)
        if both and both.asked.value is not None:
            shown.append(f"{entry.name} {100 * both.asked.value:.1f} %")
    return f"First: {', '.join(shown)}." if shown else ""


def look_of(one: Subject, *, theme: str, width: str, download: bool) -> Look:
    """How it is drawn: as asked, or, to be kept, light and wide with title and caption."""
    name = f"{one.definition.name}: {one.corpus.name}"
    if not download:
        return Look(theme if theme in THEMES else "light", width, name, described(one))
    counted = f"Counted {one.made_at:%Y-%m-%d %H:%M} UTC." if one.made_at else ""
    rules = f"Scored by: {one.rules}." if one.rules else ""
    measure = "" if one.definition.key == "labels" else f"Right: {MEASURE_WORDS[one.measure]}."
    parts = (one.sentence, measure if one.is_other_measure else "", rules, counted, one.definition.source)
    return Look("light", "wide", name, described(one), name, " ".join(filter(None, parts)))


def drawing(one: Subject, look: Look) -> bytes:
    """The figure as SVG. Raises ValueError where `missing` says why there is none."""
    if one.missing:
        raise ValueError(one.missing)
    board, key, measure = one.board, one.definition.key, one.measure
    if board is None:
        return labels.draw(one.counts, "Labels of profiles", look)
    if key == "anonymised":
        return anonymised.anonymised(board, look)
    if key == "reference":
        assert one.reference is not None  # else it were missing
        given = one.reference
        return reference.reference(board, look, entry=one.entry, name=given.name, values=given.values)
    draw = {
        "ranking": ranking.ranking,
        "differences": ranking.differences,
        "scaling": scaling.scaling,
        "costs": costs.costs,
        "attributes": panels.attributes,
        "hardness": panels.hardness,
        "certainty": panels.certainty,
    }[key]
    return draw(board, look, measure=measure)
