"""How the rows are that a leaderboard is counted from: whether one is current, and what came since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.domain.report_keys import stamp_of
from evaluation.models import Scoring
from simulation.models import Corpus

VERSIONS = "versions"
"""Beside the board in a report's content: public id of each scoring -> its version when it was counted."""
COUNTED_AS = 3
"""Grows when the same rows are counted in another way, so that old boards are counted anew."""
_FIELDS = (
    *("pk", "version", "label_set__name", "label_set__version", "labels_version"),
    *("prediction_run__public_id", "prediction_run__name", "prediction_run__model", "prediction_run__family"),
    *("prediction_run__parameters", "prediction_run__origin", "prediction_run__text"),
    "prediction_run__counterpart",
)


@dataclass(frozen=True)
class Rows:
    """The scorings of a board: their stamp, and public id -> version of each."""

    stamp: str
    versions: Mapping[str, int]
    stale: int = 0
    """Scorings whose labels have changed since: they are scored anew (`scoring_stale`), then counted."""

    def changes_since(self, versions: Mapping[str, int]) -> int:
        """Changes of verdicts since these versions; 0 where scorings have come or gone since."""
        if set(versions) != set(self.versions):
            return 0
        return sum(max(0, now - versions[key]) for key, now in self.versions.items())


def rows_of(corpus: Corpus, parameters: Mapping[str, Any]) -> Rows:
    """What there is now for the parameters of a board; one query."""
    scorings = Scoring.objects.filter(
        label_set__corpus=corpus, label_set__public_id=parameters["label_set"], mode=parameters["mode"]
    )
    found = list(scorings.order_by("pk").values_list("public_id", *_FIELDS))
    stamp = stamp_of(COUNTED_AS, sorted(parameters.items()), [one[1:] for one in found])
    stale = sum(one[4] != one[5] for one in found) if parameters["mode"] != Scoring.RECORDED else 0
    return Rows(stamp, {str(one[0]): one[2] for one in found}, stale)
