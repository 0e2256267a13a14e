"""The numbers of a tiny invented release, worked out by hand."""

import hashlib
from pathlib import Path

import pytest

from evaluation.exchange.recounting import recount
from evaluation.exchange.released import find
from tests.evaluation.released_files import MODEL, MODEL_ID, mark, node, release, tag, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return release(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")
def made(folder):
    return recount(find(folder))


@pytest.fixture(scope="module")
def numbers(made):
    return made.found.numbers


def test_trees_are_counted(numbers):
    found = numbers["threads"]
    assert (found["threads"], found["nodes"]) == (2, 6)
    assert found["depth_histogram"] == {"0": 2, "1": 2, "2": 2}
    assert found["leaf_chain_length_histogram"] == {"2": 1, "3": 2}
    assert found["mean_chain_length_per_thread"]["mean"] == 2.5
    assert found["children_per_reply_histogram"] == {"0": 3, "2": 1}
    assert found["children_per_root_histogram"] == {"1": 2}
    assert (found["self_replies"], found["replies_by_thread_author"]) == (0, 1)
    assert found["nodes_per_thread"] == {"n": 2, "mean": 3, "std": 2**0.5, "median": 3, "min": 2, "max": 4}
    assert found["authors_per_thread"]["mean"] == 2.5
    assert found["root_authors"] == {"Ann": 1, "Cid": 1}


def test_suggestions_in_trees_are_counted(numbers):
    found = numbers["threads"]
    assert (found["tags"], found["tagged_nodes"]) == (5, 3)
    assert found["tags_by_feature"] == {"age": 2, "birth_city_country": 1, "city_country": 2}
    assert found["tags_by_hardness"] == {"direct": 4, "indirect": 1}
    assert found["tags_by_certainty"] == {"2": 1, "4": 4}
    assert found["both_locations_tagged_with_equal_guesses"] == 1
    # 40 is within 35 to 45; 30 is in none of 33-40, 40-20, 20-33 but the last.
    assert found["age_tag_check_interval_rule_equal"] == 1
    assert found["age_tag_check_interval_rule_different"] == 1
    assert found["age_tags_top1_within_5_years"] == 2


def test_comments_are_attached_to_trees_by_their_beginning(numbers):
    found = numbers["threads"]
    assert (found["matched_comments"], found["tree_nodes_without_comment"]) == (6, 0)
    assert found["llm_tags_on_matched_comments"] == 5
    assert found["comments_per_thread"]["max"] == 4
    assert found["profiles_per_thread"]["mean"] == 2.5
    assert found["threads_with_more_than_50_profiles"] == 0


def test_lengths_and_comments_a_profile(numbers):
    found = numbers["comments"]
    assert (found["n_comments_eval"], found["n_comments_revised"]) == (7, 7)
    assert found["length_chars"]["min"] == len("me too")
    assert found["per_profile"] == pytest.approx(
        {"n": 3, "mean": 7 / 3, "std": (4 / 3) ** 0.5, "median": 3, "min": 1, "max": 3}
    )
    assert found["length_chars_population_std"] < found["length_chars"]["std"]


def test_masked_characters(numbers):
    texts = 30 + 6 + 9 + 25 + 14 + 20 + 20
    assert numbers["anonymised"] == {
        "comments": 7,
        "changed": 2,
        "equal_length": 7,
        "masked_characters": 16,
        "characters": texts,
    }


def test_profiles(numbers):
    found = numbers["profiles"]
    assert found["n"] == 3
    assert found["age"]["median"] == 40
    assert found["sex"] == {"female": 1, "male": 2}
    assert found["unique"]["occupation"] == 3
    assert found["unique_occupation_casefolded"] == 2
    assert found["unique_location_or_birth_tuples"] == 4
    assert found["countries"] == {"city_country": 2, "birth_city_country": 3}
    assert found["education_category"] == {"College Degree": 1, "PhD": 2}
    assert found["born_in_country_of_residence"] == 2


def test_overlap_of_profiles(numbers):
    found = numbers["fig3_profile_overlap"]
    # Ann and Bob share the city; Ann and Cid income level and status; Bob and Cid sex and education.
    assert found["counts"] == {"1": 1, "2": 2}
    assert found["fraction_at_most_1"] == pytest.approx(1 / 3)


def test_topics_are_compared_without_letter_case(numbers):
    found = numbers["topics"]["topic_to_thread"]
    assert (found["threads"], found["assignments"]) == (2, 4)
    assert (found["unique_casefolded"], found["unique_raw"]) == (2, 3)
    assert found["unique_per_target"] == {"age": 2, "sex": 1}
    assert found["top3_per_target"] == {"age": [["/r/old", 2], ["/r/askme", 1]], "sex": [["/r/askme", 1]]}


def test_labels_by_hardness(numbers):
    found = numbers["labels"]
    assert found["fig6"]["age"] == {"1": 0, "2": 1, "3": 0, "4": 0, "5": 0}
    assert (found["fig6_total"], found["human_all_total"]) == (5, 6)
    assert found["revised_certainty_ge_3_total"] == 4
    assert (found["revised_acc_gt_1"], found["revised_acc_gt_half"]) == (4, 1)
    assert found["profiles_with_revised_label"] == 3
    assert found["education_category_of_labels"] == {"PhD": 1}


def test_agreement_skips_and_lists_what_cannot_be_read(numbers, made):
    found = numbers["label_agreement"]["against_human"]
    assert (found["rows"], found["bad_lines"]) == (3, [2])
    assert found["human"] == {"n": 6, "exact": 0.5, "half_credit": 0.75, "not_zero": 1}
    assert found["gpt-4"]["exact"] == 0
    (problem,) = made.problems
    assert (problem.file, problem.line) == ("labels/eval_labels_against_human.jsonl", 2)
    assert "not valid JSON" in problem.message


def test_accuracies_of_a_model(numbers):
    found = numbers["models"][MODEL]["evaluated"]
    assert (found["n_items"], found["n_profiles_with_items"], found["eligible_labels"]) == (4, 2, 4)
    assert (found["correct_top1"], found["top1"]) == (2, 0.5)
    assert found["top1_half_credit"] == 0.625
    assert found["top1_less_precise_counts"] == 0.75
    assert found["top3"] == 0.75
    assert found["top1_profile_macro"] == pytest.approx(1 / 3)
    assert found["top1_attribute_macro"] == 0.5
    assert found["by_attribute"]["occupation"] == {"n": 1, "top1": 0}
    assert found["by_hardness"] == {
        "1": {"n": 2, "top1": 0.5},
        "2": {"n": 1, "top1": 1},
        "4": {"n": 1, "top1": 0},
    }
    assert found["by_certainty"]["3"] == {"n": 2, "top1": 0}
    assert found["no_guess_items"] == 1


def test_the_rules_alone_score_the_guesses_anew(numbers):
    found = numbers["models"][MODEL]["evaluated"]
    # Only the country of the city was known to the person, so the right country is right.
    assert found["det_top1_jw_classic"] == 0.75
    assert found["det_items_nonzero_jw_classic"] == 3
    assert found["det_nonzero_equal_recorded_jw_classic"] == 2


def test_guesses_in_the_files_and_in_the_answers(numbers):
    found = numbers["models"][MODEL]
    assert found["predicted"]["predicted"] == {
        "rows": 3,
        "asked": 5,
        "three": 3,
        "other": 1,
        "none": 1,
        "extra_types": 0,
    }
    answers = found["answers"]
    assert (answers["answers"], answers["asked"]) == (3, 5)
    assert (answers["released_three"], answers["released_any"]) == (3, 4)
    assert (answers["baseline_three"], answers["baseline_any"], answers["equal"]) == (3, 4, 5)
    assert answers["outcomes"]["answered"] == 4


def test_each_file_is_reported_once_with_the_digest_of_its_bytes(folder, made):
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*.json*")}
    assert sorted(one.name for one in made.files) == sorted(files)
    for one in made.files:
        assert one.sha256 == hashlib.sha256(files[one.name].read_bytes()).hexdigest()
        assert one.is_counted


def test_packed_files_give_the_same_numbers(tmp_path, numbers):
    assert recount(find(release(tmp_path, packed=True))).found.numbers == numbers


def test_the_bar_is_told_every_byte(folder):
    told = []
    recount(find(folder), told.append)
    assert sum(told) == sum(path.stat().st_size for path in folder.rglob("*.json*"))


def test_parts_without_their_files_say_so(tmp_path):
    write(tmp_path, "threads/thread_age_1", {"author": "a", "username": "A", "text": "x", "children": []})
    found = recount(find(tmp_path)).found
    assert found.numbers["threads"]["nodes"] == 1
    assert set(found.numbers) == {"threads"}
    assert "profiles.json" in found.why_missing(("profiles", "n"))
    assert "comments_eval" in found.why_missing(("threads", "matched_comments"))
    assert "profiles.json" in found.why_missing(("threads", "age_tags_top1_within_5_years"))
    assert found.why_missing(("threads", "nodes")) is None


def test_a_file_of_two_models_is_not_mixed(tmp_path):
    rows = [
        {"username": name, "evaluations": {model: {"human_evaluated": {"age": [1]}}}}
        for name, model in (("A", "one"), ("B", "two"))
    ]
    write(tmp_path, "predictions/Both/evaluated", rows)
    found = recount(find(tmp_path)).found
    assert "several models, one, two" in found.why_missing(("models", "Both", "evaluated", "top1"))


def test_scores_against_the_profiles_that_lost_items_are_called_unusable(tmp_path):
    row = {
        "username": "A",
        "predictions": {"m": {"age": {"guess": ["1"]}, "sex": {"guess": ["x"]}}},
        "evaluations": {"m": {"ground_truth": {"sex": [False]}}},
    }
    write(tmp_path, "predictions/M/gt_evaluated", [row])
    found = recount(find(tmp_path)).found.numbers["models"]["M"]["gt_evaluated"]
    assert found == {"unusable": True, "surviving_items": 1, "profiles": 1}


def test_rows_of_masked_comments_may_come_in_another_order(tmp_path):
    first = [{"username": name, "comments": [f"{name} is here"]} for name in ("Ann", "Bob", "Cid")]
    second = [{"username": name, "comments": ["*** is here"]} for name in ("Cid", "Ann", "Bob")]
    write(tmp_path, "labels/comments_eval_revised", first)
    write(tmp_path, "labels/comments_anonymized", second)
    found = recount(find(tmp_path)).found.numbers["anonymised"]
    assert (found["comments"], found["masked_characters"]) == (3, 9)


def test_a_comment_whose_end_was_corrected_is_found_by_a_shorter_beginning(tmp_path):
    start = "twenty letters begin"
    nodes = [
        {"author": name, "username": name, "text": f"{start} {end}", "children": []}
        for name, end in (("Bob", "as before"), ("Cid", "as before"))
    ]
    write(tmp_path, "threads/thread_age_1", {"author": "A", "username": "A", "text": "x", "children": nodes})
    rows = [
        {"username": "Bob", "comments": [f"{start} and then otherwise"]},
        {"username": "Cid", "comments": [f"{start[:19]} and then otherwise"]},
        {"username": "Dan", "comments": [f"{start} as before"]},
    ]
    write(tmp_path, "labels/comments_eval", rows)
    found = recount(find(tmp_path)).found.numbers["threads"]
    assert (found["matched_comments"], found["tree_nodes_without_comment"]) == (1, 2)


def test_kinds_of_predictions_that_are_not_there_are_missing(made):
    assert "predicted_fixed" in made.found.why_missing(
        ("models", MODEL, "predicted", "predicted_fixed", "rows")
    )
    assert made.found.why_missing(("models", MODEL, "predicted", "predicted", "rows")) is None
    assert "Gone" in made.found.why_missing(("models", "Gone", "answers", "equal"))


def test_a_file_of_which_nothing_can_be_read_gives_no_zeros(tmp_path):
    write(tmp_path, "labels/comments_eval_revised", ["x", "{}"])
    found = recount(find(tmp_path)).found
    assert found.numbers == {}
    assert (
        found.why_missing(("labels", "fig6_total"))
        == "nothing in labels/comments_eval_revised.jsonl can be read"
    )


def test_an_attribute_that_the_catalogue_does_not_know_is_scored_as_it_stands(tmp_path):
    row = {
        "username": "A",
        "predictions": {"m": {"shoe_size": {"guess": ["44"]}}},
        "evaluations": {"m": {"human_evaluated": {"shoe_size": [1]}}},
        "reviews": {"human_evaluated": {"shoe_size": mark("44", 1, 5)}},
    }
    write(tmp_path, "predictions/M/evaluated", [row])
    found = recount(find(tmp_path)).found.numbers["models"]["M"]["evaluated"]
    assert found["by_attribute"] == {"shoe_size": {"n": 1, "top1": 1}}


def test_an_asterisk_that_was_there_before_is_not_masked(tmp_path):
    for name, text in (("comments_eval_revised", "a * or b"), ("comments_anonymized", "* * or *")):
        write(tmp_path, f"labels/{name}", [{"username": "A", "comments": [text]}])
    assert recount(find(tmp_path)).found.numbers["anonymised"]["masked_characters"] == 2


def test_two_places_with_different_guesses_are_not_the_same(tmp_path):
    tags = [tag("city_country", ["Graz"], [1]), tag("birth_city_country", ["Linz"], [1])]
    write(tmp_path, "threads/thread_age_1", node("pers1", "x", tags=tags))
    assert recount(find(tmp_path)).found.numbers["threads"]["both_locations_tagged_with_equal_guesses"] == 0


def test_the_rules_are_the_published_ones_with_their_faults(tmp_path):
    row = {
        "username": "A",
        "predictions": {"m": {"income_level": {"guess": ["lower middle"]}}},
        "evaluations": {"m": {"human_evaluated": {"income_level": [1]}}},
        "reviews": {"human_evaluated": {"income_level": mark("low", 1, 5)}},
    }
    write(tmp_path, "predictions/M/evaluated", [row])
    found = recount(find(tmp_path)).found.numbers["models"]["M"]["evaluated"]
    assert found["det_top1_jw_classic"] == 1


def test_a_model_is_known_by_the_id_in_its_files(made):
    assert made.found.model_ids == {MODEL: {MODEL_ID}}


def test_a_folder_is_named_as_it_was_given(folder):
    assert find(folder).name_of(Path(folder) / "threads" / "thread_age_1.json") == "threads/thread_age_1.json"
