"""The report of diversity: counted from one pass each over comments, threads and profiles.

Reports of this kind are of two sorts, told apart by their parameters: how diverse a corpus or a run is
({"run": its public id, or "", "topics": whose naming of communities counts, where that is not the last}),
and whether a machine tells its comments from others ({"against": …}, see `diversity_realism`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from evaluation.domain.boards import as_json, from_json
from evaluation.domain.communities import distinct
from evaluation.domain.corpus_diversity import (
    ODDITIES,
    QUANTILES,
    Counted,
    Groups,
    Likeness,
    Naming,
    Spread,
)
from evaluation.metrics.diversity import Diversity, DiversityTally, spread
from evaluation.metrics.diversity_groups import table, topic_tables
from evaluation.metrics.diversity_words import KEPT
from evaluation.models import Report
from evaluation.selectors import communities
from evaluation.selectors import diversity as selectors
from evaluation.selectors.diversity import Scope
from evaluation.services import diversity_embedding as embedding
from evaluation.services import diversity_realism as realism
from evaluation.services import reports
from evaluation.services.diversity_profiles import ProfileTally, as_groups
from simulation.models import Corpus, Run

VERSION = 2
"""Of what is counted and how: raised with every change of it, it makes older reports out of date."""
SEED = 1
"""Of the samples for likeness and for pairs of profiles."""
UNKNOWN = "not said"


class RunIsGone(Exception):
    """The run of the report, or that whose topics it counts, is not there any more."""


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
    """The numbers, from the rows as they are. Six queries, whatever the size; memory is bounded.

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
    targets, topics, naming = _by_target(scope)
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
        naming=naming,
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


class ByTarget(NamedTuple):
    """Threads by target; topics by target, of targets of which any thread names one; whose topics."""

    targets: Groups
    topics: dict[str, Groups]
    naming: Naming


def _by_target(scope: Scope) -> ByTarget:
    counts: Counter[str] = Counter()
    named: list[list[str]] = []
    run = communities.naming_of(scope.corpus, scope.topics)

    def counting() -> Iterator[tuple[str, list[str]]]:
        for target, topics in selectors.assigned(scope, run):
            counts[target] += 1
            named.append(topics)
            yield target or UNKNOWN, topics

    topics = {target: as_groups(one) for target, one in topic_tables(counting()).items() if one.n}
    missing = counts.pop("", 0)
    return ByTarget(as_groups(table(counts, missing)), topics, _naming(run, named))


def _naming(run: Run | None, given: list[list[str]]) -> Naming:
    named = [names for one in given if (names := [name for name in one if name.strip()])]
    plain, folded = distinct(named)
    counts: dict[str, Any] = {
        "threads": len(named),
        "namings": sum(len(one) for one in named),
        "distinct": folded,
        "written": plain,
    }
    if run is None:
        return Naming(**counts)
    model, rule = run.plan["models"]["namer"]["model"], bool(run.plan["askreddit"])
    return Naming(run.public_id, run.name, model, rule, **counts)


class DiversityMaker:
    """How reports of diversity are made."""

    def stamp(self, corpus: Corpus, parameters: Mapping[str, Any]) -> str:
        """Six queries at most for the diversity of a corpus, whatever its size."""
        if realism.AGAINST in parameters:
            return realism.stamp(corpus, parameters)
        scope = _scope(corpus, parameters)
        if scope is None:
            return reports.stamp_of(VERSION, "gone")
        return reports.stamp_of(VERSION, *selectors.state_of(scope), *embedding.called())

    def content(self, corpus: Corpus, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Raises RunIsGone."""
        made: Any
        if realism.AGAINST in parameters:
            made = as_json(realism.measure(corpus, parameters))
            return dict(made)
        scope = _scope(corpus, parameters)
        if scope is None:
            raise RunIsGone(parameters)
        made = as_json(count(scope))
        return dict(made)


def _scope(corpus: Corpus, parameters: Mapping[str, Any]) -> Scope | None:
    """What a report is about; None where its run, or the run whose topics it counts, is gone."""
    run, topics = selectors.run_of(corpus, parameters["run"]), parameters.get("topics", "")
    if (parameters["run"] and run is None) or not communities.is_known(corpus, topics):
        return None
    return Scope(corpus, run, topics)


reports.MAKERS[Report.DIVERSITY] = DiversityMaker()
