"""Label sets are made: rolled up from what people labelled, revised against the profiles, inherited.

The one door to the modules that do it.
"""

from __future__ import annotations

from evaluation.services.label_keeping import BadLabels
from evaluation.services.label_making import Count, forecast, inherit, inherit_forecast, roll_up_corpus
from evaluation.services.label_truth import Compared, compare_with_profiles, revise, truth_settled
from evaluation.services.label_voices import SEVERAL_WORDS, Several

__all__ = [
    "SEVERAL_WORDS",
    "BadLabels",
    "Compared",
    "Count",
    "Several",
    "compare_with_profiles",
    "forecast",
    "inherit",
    "inherit_forecast",
    "revise",
    "roll_up_corpus",
    "truth_settled",
]
