"""From comment labels to profile labels, by policy; revised and inherited labels."""

import gzip
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as some

from annotation.domain.rollup import Claim
from annotation.domain.rollup import roll_up as roll_up_claims
from evaluation.domain.rollup import (
    CommentLabel,
    Policy,
    ProfileLabel,
    Tag,
    count_by_hardness,
    inherited,
    revised,
    roll_up,
)
from simulation.domain.attributes import CATALOGUE, TARGET_KEYS
from tests.published import FOLDER, needs_published_data

AGE, JOB = CATALOGUE["age"], CATALOGUE["occupation"]


def rolled(policy, *labels, attribute=JOB):
    found = roll_up(attribute, [CommentLabel(*one) for one in labels], policy)
    return found and (found.value, found.hardness, found.certainty, found.source)


def test_the_least_hardness_wins_and_the_first_of_several():
    said = [("tailor", 3, 5), ("weaver", 2, 1), ("dyer", 2, 5), ("", 0, 0)]
    assert rolled(Policy.MINIMUM_HARDNESS, *said) == ("weaver", 2, 1, 1)
    assert rolled(Policy.FIRST_COMMENT_BLOCKS, *said) == ("weaver", 2, 1, 1)


def test_a_prefilled_first_comment_blocks_only_in_the_variant_of_that_name():
    said = [("tailor", 0, 2), ("weaver", 2, 1)]
    assert rolled(Policy.FIRST_COMMENT_BLOCKS, *said) == ("tailor", 0, 2, 0)
    assert rolled(Policy.MINIMUM_HARDNESS, *said) == ("weaver", 2, 1, 1)
    found = roll_up(JOB, [CommentLabel(*one) for one in said], Policy.FIRST_COMMENT_BLOCKS)
    assert not found.counts


def test_a_prefilled_later_comment_blocks_nothing():
    said = [("", 0, 0), ("tailor", 0, 2), ("weaver", 2, 1)]
    for policy in Policy:
        assert rolled(policy, *said) == ("weaver", 2, 1, 2)


def test_a_label_without_a_value_replaces_only_in_variant_b():
    said = [("tailor", 3, 2), ("", 1, 1)]
    assert rolled(Policy.FIRST_COMMENT_BLOCKS, *said) == ("tailor", 3, 2, 0)
    assert rolled(Policy.MINIMUM_HARDNESS, *said) == ("", 1, 1, 1)


def test_the_other_policies():
    said = [
        ("tailor", 2, 3),
        ("weaver", 1, 2),
        ("weaver", 4, 5),
        ("dyer", 3, 5),
        ("Tailor", 4, 1),
        ("dyer", 5, 1),
    ]
    assert rolled(Policy.MOST_CERTAIN, *said) == ("dyer", 3, 5, 3)
    assert rolled(Policy.LATEST, *said) == ("dyer", 5, 1, 5)
    assert rolled(Policy.MOST_FREQUENT, *said) == ("weaver", 1, 2, 1)  # all twice: the easiest
    assert rolled(Policy.MOST_FREQUENT, *said, ("TAILOR", 5, 1)) == ("tailor", 2, 3, 0)


@pytest.mark.parametrize("policy", Policy)
def test_nothing_comes_of_nothing(policy):
    assert rolled(policy) is None
    assert rolled(policy, ("", 0, 0), ("", 0, 3)) is None


LABELS = some.lists(
    some.tuples(some.sampled_from(["", "30", "31", "50", "20-29"]), some.integers(0, 5), some.integers(0, 5)),
    max_size=8,
)


@given(LABELS)
def test_without_a_prefilled_or_empty_label_both_variants_agree_with_the_roll_up_of_the_queues(labels):
    labels = [one for one in labels if one[0] and one[1]]
    ours = rolled(Policy.MINIMUM_HARDNESS, *labels, attribute=AGE)
    assert ours == rolled(Policy.FIRST_COMMENT_BLOCKS, *labels, attribute=AGE)
    theirs = roll_up_claims(AGE, [Claim(value, hardness) for value, hardness, _ in labels])
    assert (ours and (ours[0], ours[3])) == (theirs and (theirs.value, theirs.source))


@given(LABELS, some.sampled_from(list(Policy)))
def test_the_result_is_one_of_the_labels_and_counts_if_any_does(labels, policy):
    found = rolled(policy, *labels, attribute=AGE)
    if found is not None:
        assert labels[found[3]] == found[:3]
    if policy is not Policy.FIRST_COMMENT_BLOCKS:
        assert (found is not None) == any(hardness for _, hardness, _ in labels)
        assert found is None or found[1] > 0


def test_revised_labels():
    label = ProfileLabel("education", "law degree", 2, 4, 7)
    kept = revised(label, 0.5, "College Degree")
    assert (kept.value, kept.hardness, kept.truth_score, kept.category) == (
        "law degree",
        2,
        0.5,
        "College Degree",
    )
    assert kept.as_label().truth_score == 0.5
    gone = revised(label, 0, "College Degree")
    assert (gone.value, gone.hardness, gone.certainty, gone.truth_score) == ("", 0, 0, 0)
    assert gone.category == ""
    assert not gone.counts


def test_inherited_labels_carry_the_truth_and_the_hardness_of_a_tag():
    tags = [Tag("complicated", 5), Tag("indirect", 2), Tag("Indirekt", 4), Tag("odd", 5)]
    found = inherited(JOB, "tailor", tags)
    assert found == ProfileLabel("occupation", "tailor", 2, 2, 1, 1.0)
    assert inherited(JOB, "tailor", tags, policy=Policy.MOST_CERTAIN).source == 0
    assert inherited(JOB, "tailor", [Tag("odd", 5)]) is None
    assert inherited(JOB, "tailor", [Tag("odd", 5)], policy=Policy.FIRST_COMMENT_BLOCKS) is None
    assert inherited(JOB, " ", tags) is None
    assert inherited(JOB, "tailor", []) is None


def test_counts_by_hardness_leave_out_what_is_no_label():
    labels = [ProfileLabel("age", "30", hardness, 3) for hardness in (0, 1, 3, 3, 5)]
    assert count_by_hardness(labels) == {"age": (1, 0, 2, 0, 1)}


# --- the published data ------------------------------------------------------------------------------------


def rows(name):
    with gzip.open(FOLDER / "labels" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {row["username"]: row for row in map(json.loads, lines)}


def read(key, record):
    return ProfileLabel(key, record["estimate"], record["hardness"], record["certainty"])


def by_profile(name):
    return {
        (user, key): read(key, row["reviews"]["human"][key])
        for user, row in rows(name).items()
        for key in TARGET_KEYS
    }


@needs_published_data
def test_the_published_variants_differ_in_one_label_which_a_prefilled_comment_blocks():
    first_blocks, least_hardness = by_profile("comments_eval"), by_profile("comments_label_eval")
    assert first_blocks.keys() == least_hardness.keys()
    apart = [key for key, label in least_hardness.items() if first_blocks[key] != label]
    assert len(apart) == 1
    blocked, other = first_blocks[apart[0]], least_hardness[apart[0]]
    said = [CommentLabel(one.value, one.hardness, one.certainty) for one in (blocked, other)]
    for policy, label in ((Policy.FIRST_COMMENT_BLOCKS, blocked), (Policy.MINIMUM_HARDNESS, other)):
        found = roll_up(JOB, said, policy)
        assert (found.value, found.hardness, found.certainty) == (
            label.value,
            label.hardness,
            label.certainty,
        )


@needs_published_data
def test_the_published_counts_of_labels():
    expected = json.loads((FOLDER / "expected.json").read_text())["labels"]
    labels = by_profile("comments_label_eval")
    assert sum(one.counts for one in labels.values()) == expected["human_all_total"] == 1255
    counts = count_by_hardness(labels.values())
    assert {key: list(row) for key, row in counts.items()} == expected["human_all"]


@needs_published_data
def test_revising_gives_the_published_revised_labels_and_counts():
    expected = json.loads((FOLDER / "expected.json").read_text())["labels"]
    labels = by_profile("comments_label_eval")
    ours, categories = {}, Counter()
    for user, row in rows("comments_eval_revised").items():
        published = row["reviews"]["human_evaluated"]
        for key in TARGET_KEYS:
            category = published.get("education_category") if key == "education" else None
            made = revised(labels[user, key], published[key]["acc_gt"], (category or {}).get("estimate", ""))
            their = read(key, published[key])
            assert (made.value, made.hardness, made.certainty) == (
                their.value,
                their.hardness,
                their.certainty,
            )
            ours[user, key] = made
            if made.category:
                categories[made.category] += 1
    kept = {key: one for key, one in ours.items() if one.counts}
    assert len(kept) == expected["fig6_total"] == 1110
    assert {key: list(row) for key, row in count_by_hardness(kept.values()).items()} == expected["fig6"]
    sure = [one for one in kept.values() if one.certainty >= 3]
    assert len(sure) == 700
    assert {key: list(row) for key, row in count_by_hardness(sure).items()} == expected[
        "revised_certainty_ge_3"
    ]
    assert Counter(one.truth_score for one in kept.values()) == {1: 989, 0.5: 121}
    assert len({user for user, _ in kept}) == expected["profiles_with_revised_label"]
    assert categories == expected["education_category_of_labels"]


@needs_published_data
def test_labels_are_inherited_from_the_tags_of_the_published_threads():
    with gzip.open(FOLDER / "profiles.json.gz", "rt", encoding="utf-8") as file:
        facts = json.load(file)
    tags = {}
    for path in sorted((FOLDER / "threads").glob("*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            nodes = [json.load(file)]
        while nodes:
            node = nodes.pop()
            nodes += node["children"]
            for one in node["guesses"] or ():
                tags.setdefault((node["author"], one["feature"]), []).append(
                    Tag(one["hardness"], one["certainty"])
                )
    made = {
        (author, key): inherited(CATALOGUE[key], str(facts[author][key]), found)
        for (author, key), found in tags.items()
        if key in TARGET_KEYS
    }
    assert made
    for (author, key), label in made.items():
        assert label.value == str(facts[author][key])
        assert label.hardness == min(
            {"direct": 1, "indirect": 2, "complicated": 4}[one.hardness_word] for one in tags[author, key]
        )
        assert label.truth_score == 1
