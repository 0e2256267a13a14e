"""What the paper prints and where: which of our numbers each printed one belongs to, or why there is none.

Nothing here is a result: these are names, and the number of trees that the paper's tables are over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.domain.paper.found import Found, Route
from simulation.domain.attributes import HARDNESS, TARGET_KEYS

TREES = 103
"""Thread trees of the paper. Numbers over all of them cannot be had from fewer."""
GPT4 = "gpt-4"
"""The folder of the model of Table 4."""
STAAB = "it needs the accuracies on real data of Staab et al., which no released file holds"
COMMENT_LABELS = "labels of single comments are in the final export only, which is not among these files"
STUDY = "the answers of the participants of the study were not released"
MASKED = "no predictions on the anonymised comments are among these files"
ONE_MORE = "the paper counts one comment more: the root of one thread is in the final export only"


@dataclass(frozen=True)
class Printed:
    """One number of the paper. `ours` is the path of the number it belongs to, None where the files do not
    allow it (`why`). A `percent` is printed for a share of ours. `why` also tells known differences."""

    table: str
    paper: Route
    ours: Route | None = None
    percent: bool = False
    why: str = ""


def printed(found: Found, paper: Mapping[str, Any]) -> list[Printed]:
    """Every number of the paper with its place. `paper` adds the models that it names; it may be empty."""
    return [
        *_counts(found),
        *_table1(found),
        *_not_released(),
        *_agreement(),
        *_models(found, paper),
        *_figures(found),
    ]


def _over_trees(found: Found, ours: Route) -> tuple[Route | None, str]:
    """The path of a number over all trees, or why there is none."""
    trees = found.at(("threads", "threads")) or 0
    if trees == TREES:
        return ours, ""
    return None, f"printed from {TREES} trees; {trees} are among these files"


def _counts(found: Found) -> Iterator[Printed]:
    pairs: dict[str, tuple[Route | None, str]] = {
        "profiles": (("profiles", "n"), ""),
        "threads": _over_trees(found, ("threads", "threads")),
        "comments": (("comments", "n_comments_eval"), ONE_MORE),
        "llm_labels": _over_trees(found, ("threads", "llm_tags_on_matched_comments")),
        "human_comment_labels": (None, COMMENT_LABELS),
        "profile_labels": (("labels", "fig6_total"), ""),
        "subreddits": (("topics", "topic_to_thread_no_askreddit", "unique_casefolded"), ""),
        "occupations": (("profiles", "unique", "occupation"), ""),
        "city_country_tuples": (
            ("profiles", "unique_birth_city_names"),
            "what the paper calls tuples are the different names of birth cities",
        ),
    }
    for name, (ours, why) in pairs.items():
        yield Printed("Counts of the paper", ("counts", name), ours, why=why)


def _table1(found: Found) -> Iterator[Printed]:
    rows: dict[str, tuple[Route | None, str]] = {
        "comment_length": (("comments", "length_chars"), ONE_MORE),
        "comments_per_thread": _over_trees(found, ("threads", "comments_per_thread")),
        "profiles_per_thread": _over_trees(found, ("threads", "profiles_per_thread")),
        "comments_per_profile": (("comments", "per_profile"), ""),
    }
    for name, (ours, why) in rows.items():
        for column in ("mean", "std", "median"):
            yield Printed("Table 1", ("table1", name, column), (*ours, column) if ours else None, why=why)


def _not_released() -> Iterator[Printed]:
    for judged in ("judged_synthetic", "judged_human"):
        for source in ("synthetic", "human"):
            yield Printed("Table 2", ("table2_study", judged, source), why=STUDY)
    yield Printed("Table 2", ("table2_study", "accuracy_percent"), why=STUDY)
    for tagged in ("llm_none", "llm_label"):
        for labelled in ("human_none", "human_label"):
            yield Printed("Table 3", ("table3_llm_vs_human", tagged, labelled), why=COMMENT_LABELS)
    for rate in ("false_negative_rate", "false_positive_rate"):
        yield Printed("Table 3", ("table3_llm_vs_human", rate), why=COMMENT_LABELS)
    for key in TARGET_KEYS:
        for place, _ in enumerate(HARDNESS):
            path = ("figure7_comment_level_hardness_1_to_5", key, str(place))
            yield Printed("Fig. 7", path, why=COMMENT_LABELS)
    yield Printed("Fig. 5", ("figure5", "location_after_anonymisation_percent_about"), why=MASKED)


def _agreement() -> Iterator[Printed]:
    table, human = "Agreement (section 4.1)", ("label_agreement", "against_human")
    for name, who in (("ground_truth_vs_human", "ground_truth"), ("llm_vs_human", "gpt-4")):
        yield Printed(table, ("agreement_percent", name), (*human, who, "exact"), percent=True)
    yield Printed(table, ("agreement_percent", "between_people_in_staab_et_al"), why=STAAB)


def _models(found: Found, paper: Mapping[str, Any]) -> Iterator[Printed]:
    overall = ("models", GPT4, "evaluated", "top1")
    rounded = (
        "over items it rounds otherwise; several other averagings (rules alone, mean over profiles) come to "
        "what is printed, and nothing decides between them"
    )
    yield Printed("Fig. 4", ("figure4", "gpt-4_accuracy_percent"), overall, percent=True, why=rounded)
    yield Printed("Fig. 4", ("figure4", "drop_to_staab_et_al_percent_about"), why=STAAB)
    names = paper.get("models")
    for name, model in names.items() if isinstance(names, Mapping) else ():
        if not any(_is_same(one, str(model)) for ids in found.model_ids.values() for one in ids):
            why = f"drawn in the figure; no predictions of {model} are among these files"
            yield Printed("Fig. 4", ("models", str(name)), why=why)
    for key in TARGET_KEYS:
        ours = ("models", GPT4, "evaluated", "by_attribute", key, "top1")
        yield Printed("Table 4", ("table4_gpt4", key, "accuracy"), ours, percent=True)
        yield Printed("Table 4", ("table4_gpt4", key, "delta"), why=STAAB)


def _is_same(ours: str, theirs: str) -> bool:
    """Whether two names of a model are one; the paper's may carry a date behind."""
    return theirs == ours or theirs.startswith(f"{ours}-")


def _figures(found: Found) -> Iterator[Printed]:
    for key in TARGET_KEYS:
        for place, mark in enumerate(HARDNESS):
            path = ("figure6_profile_level_hardness_1_to_5", key, str(place))
            yield Printed("Fig. 6", path, ("labels", "fig6", key, str(mark.number)))
    ours, why = _over_trees(found, ("threads", "threads_with_more_than_50_profiles"))
    yield Printed("A.2", ("a2", "threads_with_more_than_50_agents"), ours, why=why)
    for name, column in (
        ("mean", "mean"),
        ("std", "std"),
        ("median", "median"),
        ("min", "min"),
        ("max", "max"),
    ):
        yield Printed("A.3", ("a3", f"age_{name}"), ("profiles", "age", column))
    yield Printed("A.3", ("a3", "middle_income_profiles"), ("profiles", "income_level", "middle"))
