"""Comparisons and checks of tags as CSV, with the very numbers of their pages."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.exchange.tables import Row, Table
from annotation.metrics.shares import Share
from annotation.selectors import tag_checks
from annotation.selectors.tag_checks import Tagger, Tally
from annotation.selectors.tag_compare import Comparison
from simulation.domain.attributes import HARDNESS_WORDS
from simulation.domain.money import dollars
from simulation.models import Corpus, Run


def compared(found: Comparison, *, sees_truth: bool) -> Table:
    """One row for each attribute and run; agreement is with the first run, whose own cells stay empty."""
    columns = (
        *("attribute", "run", "run_name", "model", "prompt", "common_comments", "tagged", "tagged_alone"),
        *("tagged_by_first_too", "same_first_guess", "less_precise", "agreement_percent"),
        *(
            "mean_certainty",
            *(f"hardness_{word}" for word in HARDNESS_WORDS),
            "tokens_per_1000",
            "usd_per_1000",
        ),
        *(("checked", "kept", "kept_percent", "kept_low", "kept_high") if sees_truth else ()),
    )
    rows: list[Row] = []
    for attribute, cells in found.rows:
        for place, cell in enumerate(cells):
            one = cell.column
            row = [attribute, one.letter, one.run.name, one.model, one.variant, found.common]
            row += [cell.tagged, cell.alone]
            agreement = (cell.both, cell.same, cell.less_precise, cell.agreement.percent)
            row += agreement if place else (None,) * 4
            row += [cell.certainty, *(cell.hardness[word] for word in HARDNESS_WORDS), one.tokens_per_1000]
            row += [None if one.cost_per_1000 is None else dollars(one.cost_per_1000)]
            row += [cell.checked, cell.kept, *_share(cell.kept_share)] if sees_truth else []
            rows.append(row)
    return Table(columns, rows)


TALLY = (
    *("checked", "right", "less_precise", "wrong", "right_percent", "right_low", "right_high"),
    *("kept", "kept_percent", "kept_low", "kept_high"),
)


def checked(found: list[Tagger]) -> Table:
    """A row for all tags of a run, one for each attribute and one for each hardness."""
    rows: list[Row] = []
    for one in found:
        model = one.run.plan["models"]["tagger"]["model"] if one.run else one.name
        head = (one.run.public_id if one.run else "", one.name, model)
        rows.append((*head, "", "", *_tally(one.all)))
        rows += [(*head, key, "", *_tally(tally)) for key, tally in one.by_attribute]
        rows += [(*head, "", word, *_tally(tally)) for word, tally in one.by_hardness]
    return Table(("run", "run_name", "model", "attribute", "hardness", *TALLY), rows)


def not_kept(corpus: Corpus, *, by: Run | None = None, of: str = "", attribute: str = "") -> Table:
    """Every tag that was not kept, with the truth."""
    columns = ("comment", "author", "attribute", "truth", "guesses", "verdicts", "hardness", "certainty")
    rows = _wrong(corpus, by, of, attribute)
    return Table((*columns, "tagger", "run", "decided_by", "checked_by", "text"), list(rows))


def _wrong(corpus: Corpus, by: Run | None, of: str, attribute: str) -> Iterator[Row]:
    after = 0
    while True:
        page = tag_checks.not_kept(corpus, by=by, of=of, attribute=attribute, after=after)
        for one in page.rows:
            tag, comment = one.suggestion, one.suggestion.comment
            yield (
                *(comment.external_id, comment.username, tag.attribute, one.truth),
                *(
                    "; ".join(tag.words),
                    "; ".join(one.check.verdicts),
                    tag.hardness,
                    tag.certainty,
                    tag.tagger,
                ),
                *(tag.run.public_id if tag.run else "", one.check.decided_by, one.check.run.public_id),
                comment.text,
            )
        if not (after := page.after):
            return


def _tally(tally: Tally) -> Row:
    counts = (tally.n, tally.right, tally.less_precise, tally.wrong, *_share(tally.right_share), tally.kept)
    return (*counts, *_share(tally.kept_share))


def _share(share: Share) -> Row:
    return (share.percent, share.low, share.high)
