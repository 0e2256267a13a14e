"""The report of diversity: counted from one pass each over comments, threads and profiles.

Reports of this kind are of two sorts, told apart by their parameters: how diverse a corpus or a run is
({"run": its public id, or ""}), and whether a machine tells its comments from others ({"against": …}, see
`diversity_realism`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from evaluation.domain.boards import as_json, from_json
from evaluation.domain.corpus_diversity import (
    ODDITIES,
    QUANTILES,
    Counted,
    Groups,
    Likeness,
    Spread,
)
from evaluation.metrics.diversity import Diversity, DiversityTally, spread
from evaluation.metrics.diversity_groups import table, topic_tables
from evaluation.metrics.diversity_words import KEPT
from evaluation.models import Report
from evaluation.selectors import diversity as selectors
from evaluation.selectors.diversity import Scope
from evaluation.services import diversity_embedding as embedding
from evaluation.services import diversity_realism as realism
from evaluation.services import reports
from evaluation.services.diversity_profiles import ProfileTally, as_groups
from simulation.models import Corpus

VERSION = 1
"""Of what is counted and how: raised with every change of it, it makes older reports out of date."""
SEED = 1
"""Of the samples for likeness and for pairs of profiles."""
UNKNOWN = "not said"


class RunIsGone(Exception):
    """The run of the report was deleted."""


def find(scope: Scope) -> Report | None:
    """The report of a corpus or run, however old, or None. One query."""
    return reports.find(scope.corpus, Report.DIVERSITY, scope.parameters)


def numbers(report: Report | None) -> Counted | None:
    """What a report says; None where nothing was counted yet."""
    if report is None or report.content is None:
        return None
    found: Counted = from_json(report.content, Counted)
    return found


def count(scope: Scope, *, kept: int = KEPT) -> Counted:
    """The numbers, from the rows as they are. Five queries, whatever the size; memory is bounded.

    `kept`: different words and runs of words that are counted exactly.
    """
    tally = DiversityTally(seed=SEED, kept=kept)
    embedded = embedding.EmbeddingTally()
    for thread in selectors.threads(scope):
        tally.take_thread(thread)
        for node in thread.nodes:
            embedded.take(node.text)
    profiles = ProfileTally(seed=SEED)
    for facts in selectors.facts(scope):
        profiles.take(facts)
    targets, topics = _by_target(scope)
    found = tally.diversity()
    shape: dict[str, Any] = found.trees
    return Counted(
        comments=found.texts,
        withdrawn=scope.comments().count() - found.texts,
        threads=found.texts_per_thread.n,
        authors=found.per_author.n,
        profiles=profiles.profiles,
        writing=selectors.writing(scope),
        lengths=_lengths(found, profiles),
        words=found.richness.words,
        types=found.richness.types,
        distinct={str(n): share for n, share in found.richness.distinct.items()},
        mattr=found.richness.mattr,
        window=found.richness.window,
        is_exact=found.richness.is_exact,
        likeness=Likeness(**asdict(found.likeness)),
        seed=SEED,
        depths={str(depth): n for depth, n in found.depths.items()},
        chains=shape.get("leaf_chain_length_histogram", {}),
        replies=shape.get("children_per_reply_histogram", {}),
        root_replies=shape.get("children_per_root_histogram", {}),
        oddities={key: shape.get(key, 0) for key in ODDITIES},
        overlap=profiles.overlap(),
        compared=profiles.compared,
        groups=profiles.groups(),
        targets=targets,
        topics=topics,
        embedded=embedded.embedded(),
    )


def _lengths(found: Diversity, profiles: ProfileTally) -> dict[str, Spread]:
    given = {
        "characters": found.characters,
        "words": found.words,
        "per_author": found.per_author,
        "per_thread": found.texts_per_thread,
        "agents": found.authors_per_thread,
        "age": spread(profiles.ages),
    }
    lengths = {
        key: Spread(
            one.n,
            one.mean,
            one.std,
            one.low,
            one.high,
            {name: one.quantiles[float(name)] for name in QUANTILES if one.n},
        )
        for key, one in given.items()
    }
    mean = found.trees.get("mean_chain_length_per_thread")
    lengths["chain"] = (
        Spread(mean["n"], mean["mean"], mean["std"], mean["min"], mean["max"], {"0.5": mean["median"]})
        if mean
        else Spread()
    )
    return lengths


def _by_target(scope: Scope) -> tuple[Groups, dict[str, Groups]]:
    """Threads by target; topics by target, of targets of which any thread names one."""
    counts: Counter[str] = Counter()

    def counting() -> Iterator[tuple[str, list[str]]]:
        for target, topics in selectors.assigned(scope):
            counts[target] += 1
            yield target or UNKNOWN, topics

    topics = {target: as_groups(one) for target, one in topic_tables(counting()).items() if one.n}
    missing = counts.pop("", 0)
    return as_groups(table(counts, missing)), topics


class DiversityMaker:
    """How reports of diversity are made."""

    def stamp(self, corpus: Corpus, parameters: Mapping[str, Any]) -> str:
        """Four queries for the diversity of a corpus, whatever its size."""
        if realism.AGAINST in parameters:
            return realism.stamp(corpus, parameters)
        run = selectors.run_of(corpus, parameters["run"])
        if parameters["run"] and run is None:
            return reports.stamp_of(VERSION, "gone")
        return reports.stamp_of(VERSION, *selectors.state_of(Scope(corpus, run)), *embedding.called())

    def content(self, corpus: Corpus, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Raises RunIsGone."""
        made: Any
        if realism.AGAINST in parameters:
            made = as_json(realism.measure(corpus, parameters))
            return dict(made)
        run = selectors.run_of(corpus, parameters["run"])
        if parameters["run"] and run is None:
            raise RunIsGone(parameters["run"])
        made = as_json(count(Scope(corpus, run)))
        return dict(made)


reports.MAKERS[Report.DIVERSITY] = DiversityMaker()
