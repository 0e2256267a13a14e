"""The thread trees: shape, authors and suggestions (paper, sections 3 and 4.1, appendix A.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from annotation.domain.judging import age_verdicts
from evaluation.domain.paper.records import Node, Tag, Thread
from evaluation.domain.paper.summaries import counts, summary
from simulation.domain.attributes import TARGETS, Kind
from simulation.domain.structure import children_histogram, depth_histogram
from simulation.domain.targets import Written

TOP_AUTHORS = 5
YEARS = 5
"""A guessed age within so many years of the true one is close (paper, section 5)."""
PLACES = tuple(one.key for one in TARGETS if one.kind is Kind.PLACE)
AGES = frozenset(one.key for one in TARGETS if one.kind is Kind.AGE)


class TreeTally:
    """Takes trees one by one and keeps counts only. `profiles` maps an author's key to the facts."""

    AGE_NUMBERS = (
        "age_tag_check_interval_rule_equal",
        "age_tag_check_interval_rule_different",
        "age_tags_top1_within_5_years",
    )
    """Those that need the profiles."""

    def __init__(self, profiles: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._profiles = profiles or {}
        self._depths: Counter[int] = Counter()
        self._chains: Counter[int] = Counter()
        self._mean_chains: Counter[float] = Counter()
        self._replies: Counter[int] = Counter()
        self._root_replies: Counter[int] = Counter()
        self._nodes: Counter[float] = Counter()
        self._authors: Counter[float] = Counter()
        self._roots: Counter[str] = Counter()
        self._odd: Counter[str] = Counter()
        self._tags = _TagTally()

    @property
    def threads(self) -> int:
        return sum(self._nodes.values())

    def take(self, thread: Thread) -> None:
        """Counts one tree. A tree without nodes counts as none."""
        if not thread.nodes:
            return
        written = [Written(node.key, node.parent, _author(node), node.depth) for node in thread.nodes]
        answers = Counter(node.parent for node in thread.nodes)
        root = thread.nodes[0]
        self._depths.update(depth_histogram([written]))
        self._replies.update(children_histogram([written]))
        self._root_replies[answers[root.key]] += 1
        chains = [node.depth + 1 for node in thread.nodes if not answers[node.key]]
        self._chains.update(chains)
        self._mean_chains[sum(chains) / len(chains)] += 1
        self._nodes[len(thread.nodes)] += 1
        self._authors[len({_author(node) for node in thread.nodes})] += 1
        self._roots[root.username or root.author] += 1
        self._take_oddities(thread, root)
        for node in thread.nodes:
            self._tags.take(node, self._profiles.get(node.author))

    def _take_oddities(self, thread: Thread, root: Node) -> None:
        """What Algorithm 1 rules out, or should make rare."""
        author = {node.key: _author(node) for node in thread.nodes}
        seen: set[tuple[str, str]] = set()
        for node in thread.nodes:
            if node.parent is None:
                continue
            who = _author(node)
            self._odd["self_replies"] += who == author[node.parent]
            self._odd["replies_by_thread_author"] += who == _author(root)
            self._odd["same_author_twice_under_one_parent"] += (node.parent, who) in seen
            seen.add((node.parent, who))

    def numbers(self) -> dict[str, Any]:
        """The counts by the names of the expected numbers; those of ages only where profiles are known.

        A chain counts the nodes from the root to a leaf. Of the authors of roots the five with most threads
        are named, the first met first of those with as many.
        """
        found: dict[str, Any] = {
            "threads": self.threads,
            "nodes": sum(self._depths.values()),
            "depth_histogram": counts(self._depths),
            "leaf_chain_length_histogram": counts(self._chains),
            "mean_chain_length_per_thread": summary(self._mean_chains),
            "children_per_reply_histogram": counts(self._replies),
            "children_per_root_histogram": counts(self._root_replies),
            "self_replies": self._odd["self_replies"],
            "replies_by_thread_author": self._odd["replies_by_thread_author"],
            "same_author_twice_under_one_parent": self._odd["same_author_twice_under_one_parent"],
            "nodes_per_thread": summary(self._nodes),
            "authors_per_thread": summary(self._authors),
            "root_authors": counts(Counter(dict(self._roots.most_common(TOP_AUTHORS)))),
        }
        return found | self._tags.numbers(with_ages=bool(self._profiles))


class _TagTally:
    """The suggestions of the nodes."""

    def __init__(self) -> None:
        self._nodes = 0
        self._features: Counter[str] = Counter()
        self._hardness: Counter[str] = Counter()
        self._certainty: Counter[int] = Counter()
        self._same_places = 0
        self._ages = Counter({"equal": 0, "different": 0, "close": 0})

    def take(self, node: Node, profile: Mapping[str, Any] | None) -> None:
        """Counts the tags of one node; `profile` None: nothing is known of its author."""
        self._nodes += bool(node.tags)
        places: dict[str, tuple[str, ...]] = {}
        for tag in node.tags:
            self._features[tag.attribute] += 1
            self._hardness[tag.hardness] += 1
            if tag.certainty is not None:
                self._certainty[tag.certainty] += 1
            if tag.attribute in PLACES:
                places[tag.attribute] = tag.guesses
            if tag.attribute in AGES and profile is not None:
                self._take_age(tag, profile.get(tag.attribute))
        self._same_places += len(places) == len(PLACES) > 1 and len(set(places.values())) == 1

    def _take_age(self, tag: Tag, truth: object) -> None:
        """The published rule: guess i passes where the age lies in [guess i, guess i+1 mod n]."""
        if not isinstance(truth, int):
            return
        ruled = tuple(one.score for one in age_verdicts(tag.guesses, truth))
        self._ages["equal" if ruled == tag.scores else "different"] += 1
        first = tag.guesses[0] if tag.guesses else ""
        self._ages["close"] += first.isdecimal() and abs(int(first) - truth) <= YEARS

    def numbers(self, *, with_ages: bool) -> dict[str, Any]:
        found: dict[str, Any] = {
            "tags": sum(self._features.values()),
            "tagged_nodes": self._nodes,
            "tags_by_feature": counts(self._features),
            "tags_by_hardness": counts(self._hardness),
            "tags_by_certainty": counts(self._certainty),
            "both_locations_tagged_with_equal_guesses": self._same_places,
        }
        if with_ages:
            ages = (self._ages[name] for name in ("equal", "different", "close"))
            found |= zip(TreeTally.AGE_NUMBERS, ages, strict=True)
        return found


def _author(node: Node) -> str:
    return node.author or node.username
