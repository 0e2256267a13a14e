"""Label sets of the published data.

Labels of single comments are not among the released files that can be read here, save in nine rows of the
flat layout. So the published labels of profiles stand for labels of one comment an author.
"""

import gzip
import json
from collections import Counter

import pytest
from django.utils import timezone

from annotation.exchange.dataset import import_paths
from annotation.models import Annotation, AttributeLabel
from evaluation.domain.rollup import Policy
from evaluation.models import LabelSet, ProfileLabel
from evaluation.selectors import label_sets as selected
from evaluation.services import label_sets
from simulation.domain.attributes import TARGET_KEYS, hardness_of_word
from simulation.models import Comment, Corpus, Profile, Thread
from tests.published import FOLDER, needs_published_data

pytestmark = [pytest.mark.django_db, pytest.mark.published, needs_published_data]
EXPECTED = "expected.json"


def rows(name):
    with gzip.open(FOLDER / "labels" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {row["username"]: row for row in map(json.loads, lines)}


def expected():
    return json.loads((FOLDER / EXPECTED).read_text())["labels"]


def counts(label_set):
    return {key: list(row) for key, row in selected.numbers(label_set).counts.items()}


@pytest.fixture
def released(db):
    """The 300 profiles, each with an empty first comment and a second one."""
    import_paths(paths=[FOLDER / "profiles.json.gz"], corpus_name="harbour")
    corpus = Corpus.objects.get(name="harbour")
    thread = Thread.objects.create(corpus=corpus, external_id="t", source="tree")
    Comment.objects.bulk_create(
        Comment(
            corpus=corpus,
            thread=thread,
            profile=profile,
            username=profile.username,
            external_id=f"{place} {profile.username}",
            text="words",
            sequence=place,
        )
        for profile in Profile.objects.all()
        for place in (0, 1)
    )
    return corpus


def said_by_people(corpus, name, place, authors=None):
    """The labels of a published file of profiles as labels of the comments at `place`."""
    reviews = rows(name)
    for comment in Comment.objects.filter(corpus=corpus, sequence=place):
        if authors and comment.username not in authors:
            continue
        given = reviews[comment.username]["reviews"]["human"]
        annotation = Annotation.objects.create(comment=comment, reviewer="human", submitted_at=timezone.now())
        AttributeLabel.objects.bulk_create(
            AttributeLabel(
                annotation=annotation,
                attribute=key,
                state="value" if given[key]["hardness"] else "untouched",
                outcome="imported",
                value=given[key]["estimate"],
                hardness=given[key]["hardness"] or None,
                certainty=given[key]["certainty"] or None,
            )
            for key in TARGET_KEYS
            if given[key]["estimate"]
        )


def test_both_published_variants_come_out_of_the_labels_of_comments(released):
    said_by_people(released, "comments_label_eval", 1)
    apart = "SeaSerpentShadow"
    said_by_people(released, "comments_eval", 0, {apart})
    least = label_sets.roll_up_corpus(released, name="B", policy=Policy.MINIMUM_HARDNESS)
    first = label_sets.roll_up_corpus(released, name="A", policy=Policy.FIRST_COMMENT_BLOCKS)
    assert least.labels == expected()["human_all_total"] == 1255
    assert counts(least) == expected()["human_all"]
    assert first.labels == 1254
    ours, theirs = (
        {
            (row.profile.username, row.attribute): (row.value, row.hardness, row.certainty)
            for row in one.rows.select_related("profile")
        }
        for one in (first, least)
    )
    different = {key for key in ours | theirs if ours.get(key) != theirs.get(key)}
    assert different == {(apart, "occupation")}
    published = rows("comments_eval")[apart]["reviews"]["human"]["occupation"]
    assert ours[apart, "occupation"] == (published["estimate"], None, published["certainty"] or None)


def test_the_recorded_scores_give_the_published_revised_labels(released):
    revised = rows("comments_eval_revised")
    labels = rows("comments_label_eval")
    made = LabelSet.objects.create(corpus=released, name="human", kind=LabelSet.IMPORTED)
    ProfileLabel.objects.bulk_create(
        ProfileLabel(
            label_set=made,
            profile=profile,
            attribute=key,
            value=one["estimate"],
            hardness=one["hardness"] or None,
            certainty=one["certainty"] or None,
            truth_score=revised[profile.username]["reviews"]["human_evaluated"][key]["acc_gt"],
            truth_rung="recorded",
        )
        for profile in Profile.objects.filter(corpus=released)
        for key in TARGET_KEYS
        if (one := labels[profile.username]["reviews"]["human"][key])
    )
    assert label_sets.compare_with_profiles(made).kept == 1255
    found = label_sets.revise(made, name="human_evaluated")
    assert (found.labels, found.profiles) == (expected()["fig6_total"], 294) == (1110, 294)
    assert counts(found) == expected()["fig6"]
    assert Counter(found.rows.values_list("truth_score", flat=True)) == {1: 989, 0.5: 121}


def test_what_rules_say_of_the_published_labels_is_what_the_published_scores_say(released):
    """Where both have an answer. They differ on purpose: see the modules of the default rules."""
    said_by_people(released, "comments_label_eval", 1)
    made = label_sets.roll_up_corpus(released, name="B", policy=Policy.MINIMUM_HARDNESS)
    assert label_sets.compare_with_profiles(made).unknown == 0
    revised = rows("comments_eval_revised")
    pairs = Counter()
    for row in made.rows.select_related("profile"):
        recorded = revised[row.profile.username]["reviews"]["human_evaluated"][row.attribute]["acc_gt"]
        if row.truth_score is not None:
            pairs[recorded, row.truth_score] += 1
    same = sum(n for (recorded, ours), n in pairs.items() if recorded == ours)
    assert same / pairs.total() > 0.95


def test_labels_are_inherited_from_the_tags_of_the_published_threads():
    import_paths(paths=[FOLDER], corpus_name="harbour")
    with gzip.open(FOLDER / "profiles.json.gz", "rt", encoding="utf-8") as file:
        facts = json.load(file)
    easiest = {}
    for path in sorted((FOLDER / "threads").glob("*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            nodes = [json.load(file)]
        while nodes:
            node = nodes.pop()
            nodes += node["children"]
            for one in node["guesses"] or ():
                if one["feature"] in TARGET_KEYS:
                    key = (node["author"], one["feature"])
                    easiest[key] = min(easiest.get(key, 9), hardness_of_word(one["hardness"]))
    made = label_sets.inherit(Corpus.objects.get(name="harbour"), name="inherited")
    found = {
        (row.profile.external_id, row.attribute): (row.value, row.hardness)
        for row in made.rows.select_related("profile")
    }
    assert found == {key: (str(facts[key[0]][key[1]]), marks) for key, marks in easiest.items()}
    assert made.labels == len(easiest) > 1000


def test_the_sample_of_the_flat_layout_gives_its_two_labels():
    import_paths(paths=[FOLDER / "synthpai_sample.jsonl.gz"], corpus_name="harbour")
    corpus = Corpus.objects.get(name="harbour")
    with gzip.open(FOLDER / "synthpai_sample.jsonl.gz", "rt", encoding="utf-8") as lines:
        given = {
            (row["username"], key): (one["estimate"], one["hardness"], one["certainty"])
            for row in map(json.loads, lines)
            for key, one in row["reviews"]["human"].items()
            if isinstance(one, dict) and one["hardness"]
        }
    for policy in (Policy.MINIMUM_HARDNESS, Policy.FIRST_COMMENT_BLOCKS):
        made = label_sets.roll_up_corpus(corpus, name=policy, policy=policy)
        assert {
            (row.profile.username, row.attribute): (row.value, row.hardness, row.certainty)
            for row in made.rows.filter(hardness__isnull=False).select_related("profile")
        } == given
        assert made.labels == len(given) == 2
