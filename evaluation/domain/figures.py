"""Which figures there are: names, definitions and sources, in one place for pages, captions and the guide."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.domain.boards import GROUPED, MEASURE_WORDS, Measure

PAPER = "H. Yukhymenko, R. Staab, M. Vero, M. Vechev (2024), arXiv:2406.07217"
INTERVALS = (
    "Intervals hold for 95 %: Wilson’s with the effective sample size of clusters, a profile being a cluster "
    "(E. Miller 2024, arXiv:2411.00640; E. L. Korn and B. I. Graubard 1998)."
)


@dataclass(frozen=True)
class Definition:
    """One figure. `sentence` says what a mark means, `{measure}` standing for what counts as right.

    `measures` are those that it can be drawn by. `corresponds` names the figure of the paper, or says that
    there is none; `source` tells where the formulas come from.
    """

    key: str
    name: str
    sentence: str
    corresponds: str
    source: str
    measures: tuple[Measure, ...] = (Measure.TOP1,)
    takes_models: bool = True

    def measure(self, asked: str) -> Measure:
        """The measure that is asked for, else the first that this figure can be drawn by."""
        return next((one for one in self.measures if one.value == asked), self.measures[0])

    def says(self, measure: Measure) -> str:
        """The definition in a sentence, for a measure."""
        return self.sentence.format(measure=MEASURE_WORDS[measure])


_ASKED = "Refused, unparsed and failed answers count as wrong; what is not settled yet is left out."
FIGURES = (
    Definition(
        "ranking",
        "Ranking",
        f"The share of all asked labels for which {{measure}}. {_ASKED}",
        "Fig. 4",
        f"{PAPER}, section 5. {INTERVALS}",
        tuple(Measure),
    ),
    Definition(
        "differences",
        "Distance to the best",
        "How many points more of the labels that both were asked for the best model gets, where {measure}. "
        "Filled marks exclude zero after Holm’s correction over all pairs of the leaderboard.",
        "not in the paper",
        "Paired differences clustered by profile: E. Miller (2024), arXiv:2411.00640; correction: S. Holm "
        "(1979), Scandinavian Journal of Statistics 6, 65-70.",
        GROUPED,
    ),
    Definition(
        "scaling",
        "Size of the model",
        "The share of all asked labels for which {measure}, over the number of the model’s parameters; "
        f"models whose size is not known stand beside. {_ASKED}",
        "not in the paper",
        INTERVALS,
        tuple(Measure),
    ),
    Definition(
        "costs",
        "Cost against accuracy",
        "The share of all asked labels for which {measure}, over what the run cost in US dollars for each "
        "profile it asked about. The line joins the runs that no other beats: none is at least as cheap and "
        "as often right, and better in one of the two; intervals are not looked at. Filled marks were shown "
        f"plain text, hollow ones anonymised text. {_ASKED}",
        "not in the paper",
        "The front of cost and accuracy: S. Kapoor, B. Stroebl, Z. S. Siegel, N. Nadgir, A. Narayanan "
        f"(2024), arXiv:2407.01502. {INTERVALS}",
    ),
    Definition(
        "attributes",
        "Attribute by attribute",
        f"For each attribute the share of all asked labels for which {{measure}}. {_ASKED}",
        "Figs. 15 to 19",
        f"{PAPER}, appendix. {INTERVALS}",
        GROUPED,
    ),
    Definition(
        "hardness",
        "Hardness",
        f"For labels of each hardness the share of all asked for which {{measure}}. {_ASKED}",
        "Fig. 13",
        f"{PAPER}, appendix. {INTERVALS}",
        GROUPED,
    ),
    Definition(
        "certainty",
        "Certainty",
        f"For labels of each certainty the share of all asked for which {{measure}}. {_ASKED}",
        "not in the paper",
        INTERVALS,
        GROUPED,
    ),
    Definition(
        "anonymised",
        "Anonymised text",
        "The share of all asked labels for which {measure}, of the same model on plain and on anonymised "
        "text, and the difference on the labels that both were asked for, corrected by Holm over the "
        "attributes.",
        "Fig. 5",
        f"{PAPER}, section 5. Paired differences clustered by profile: E. Miller (2024), arXiv:2411.00640.",
    ),
    Definition(
        "reference",
        "Beside a reference",
        "The share of all asked labels for which {measure}, beside the share that a reference gives, and the "
        "difference. A reference has no interval here: the difference holds as far as the model’s does.",
        "Table 4",
        f"{PAPER}, section 5. {INTERVALS}",
    ),
    Definition(
        "labels",
        "Labels by hardness",
        "How many labels of hardness 1 to 5 the label set has, attribute by attribute, whatever their "
        "certainty.",
        "Fig. 6",
        f"{PAPER}, section 4.",
        takes_models=False,
    ),
)
BY_KEY = {one.key: one for one in FIGURES}
