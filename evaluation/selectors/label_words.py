"""Label sets in words: what a policy does, and how a set was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation.domain.rollup import Policy
from evaluation.models import LabelSet
from evaluation.selectors.label_sources import EVERY, KEPT, NOT_REFUSED

POLICY_WORDS = {
    Policy.MINIMUM_HARDNESS: "the easiest label of the author’s comments, the first of several that are "
    "equally easy. The published rule, variant B.",
    Policy.FIRST_COMMENT_BLOCKS: "as above, but a suggestion that nobody touched in the author’s first "
    "comment stands in the way of all later labels. The published rule, variant A; to reproduce it only.",
    Policy.MOST_CERTAIN: "the label of the highest certainty; of several the easiest, then the first.",
    Policy.LATEST: "the label of the author’s last labelled comment.",
    Policy.MOST_FREQUENT: "the value that most comments gave, by its easiest label; of equally frequent "
    "ones the easiest.",
}
WHICH_WORDS = {
    EVERY: "every tag",
    NOT_REFUSED: "every tag but those that a check against the profile did not keep",
    KEPT: "only tags that a check against the profile has kept",
}
ARM_WORDS = {
    "assisted": "answered beside the suggestions",
    "blind": "answered once before seeing the suggestions",
    "unassisted": "answered without suggestions",
}
SEVERAL_SHORT = {
    "majority": "the value that most gave",
    "first": "the label given first",
    "all agree": "only where all agree",
}
MODE_WORDS = {"default": "default rules", "compatible": "published rules"}
COUNT_WORDS = {
    "comment_labels": "{} labels of comments counted.",
    "differing": "Of {} of them people had said different things.",
    "tied": "{} of these were tied: the easiest label decided.",
    "undecided": "{} were left out because not all agreed.",
    "blocked": "{} attributes of profiles are blocked by an untouched suggestion in the first comment.",
    "unknown": "{} tagged attributes are not known of their profile.",
    "no_profile": "{} values are about comments whose author has no profile: they count nowhere.",
    "withdrawn": "{} values are about withdrawn comments: they count nowhere.",
}


def made_how(label_set: LabelSet) -> list[tuple[str, str]]:
    """Pairs of a name and words that say how the set was made, from its fields and its recipe."""
    recipe = dict(label_set.recipe)
    found = [("Kind", label_set.get_kind_display())]
    if label_set.policy:
        words = POLICY_WORDS.get(Policy(label_set.policy), "") if label_set.policy in set(Policy) else ""
        found.append(("Policy", f"{label_set.policy}: {words}" if words else label_set.policy))
    lines = {
        LabelSet.ROLLED_UP: _of_people,
        LabelSet.INHERITED: _of_tags,
        LabelSet.REVISED: _of_source,
    }
    known = lines.get(label_set.kind)
    if known:
        found += known(recipe)
    else:
        found += [
            (key.replace("_", " ").capitalize(), _said(value))
            for key, value in sorted(recipe.items())
            if isinstance(value, str | int | list) and value and key not in ("compared", "counts")
        ]
    if label_set.file_name:
        found.append(("File", label_set.file_name))
    if mode := label_set.recipe.get("compared"):
        found.append(("Compared", f"with the profiles, by {MODE_WORDS.get(mode, mode)}"))
    return found


def counted(label_set: LabelSet) -> list[str]:
    """Sentences about what was met when the set was made."""
    counts = label_set.recipe.get("counts")
    if not isinstance(counts, dict):
        return []
    words = COUNT_WORDS
    if label_set.kind == LabelSet.INHERITED:
        words = words | {"comment_labels": "{} tags of comments counted."}
    return [said.format(f"{counts[key]:,}") for key, said in words.items() if counts.get(key)]


def _of_people(recipe: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "People", _chosen(recipe.get("people"), "everybody", "nobody")
    if recipe.get("people") != []:
        yield "Queues", _chosen(recipe.get("queues"), "all", "none")
    yield "Imported", _chosen(recipe.get("reviewers"), "all reviewers of imported files", "none")
    if arm := recipe.get("arm"):
        yield "Only", ARM_WORDS.get(arm, arm)
    several = recipe.get("several", "")
    yield "Several labels", f"{SEVERAL_SHORT.get(several, several)} is the comment’s"
    yield "Decisions", "stand in place of the labels" if recipe.get("decisions") else "not looked at"


def _of_tags(recipe: dict[str, Any]) -> Iterator[tuple[str, str]]:
    tagger, run = recipe.get("tagger", ""), recipe.get("run", "")
    yield "Tags", f"of the run {run}" if run else f"of {tagger}" if tagger else "of every tagger"
    yield "Which", WHICH_WORDS.get(recipe.get("which", ""), "")
    yield "Values", "the profiles’ own; nobody has labelled them"


def _of_source(recipe: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Revised from", str(recipe.get("source", ""))
    yield "Kept", "labels that are right or less precise against the profile"


def _chosen(names: Sequence[str] | None, every: str, none: str) -> str:
    if names is None:
        return every
    return ", ".join(names) or none


def _said(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
