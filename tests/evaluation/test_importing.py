"""Files of labels and guesses on their way in: what becomes of each line, and what is refused."""

from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation.exchange import importing_stores
from evaluation.exchange.importing import Refused, import_labels, import_predictions
from evaluation.models import (
    LabelSet,
    OpenGuess,
    Prediction,
    PredictionRun,
    ProfileLabel,
    Question,
    Scoring,
    Verdict,
)
from evaluation.services import scoring
from evaluation.services.scoring_recorded import take_recorded
from simulation.models import AuditEntry, Profile
from tests.evaluation import importing_samples
from tests.evaluation.importing_samples import GUESSES, LABELS, NAMES, mark, row
from tests.factories.evaluation import PredictionFactory, PredictionRunFactory
from tests.factories.simulation import ProfileFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus(corpus):
    for name in NAMES:
        ProfileFactory(corpus=corpus, username=name)
    return corpus


@pytest.fixture
def write(tmp_path):
    """`write(name, *rows)` is a file with these rows."""
    return partial(importing_samples.write, tmp_path)


@pytest.fixture
def labels(corpus, write):
    """The imported revised labels."""
    import_labels(corpus, write("revised.jsonl", *LABELS))
    return LabelSet.objects.get(name="revised / human_evaluated")


def test_each_reviewer_becomes_a_label_set(corpus, write, researcher):
    path = write("revised.jsonl", *LABELS)
    made = import_labels(corpus, path, by=researcher)
    assert [(one.name, one.outcome, one.rows) for one in made.made] == [
        ("revised / human", "new", 2),
        ("revised / human_evaluated", "new", 3),
    ]
    one = LabelSet.objects.get(name="revised / human_evaluated")
    assert (one.kind, one.file_name, one.labels, one.profiles) == ("imported", "revised.jsonl", 3, 2)
    assert (len(one.digest), one.skipped, one.created_by) == (64, [], researcher)
    assert one.recipe["reviewer"] == "human_evaluated"
    entries = AuditEntry.objects.filter(action="label_set.imported")
    assert set(entries.values_list("object_id", "actor")) == {
        (public_id, researcher.pk) for public_id in LabelSet.objects.values_list("public_id", flat=True)
    }


def test_labels_keep_scales_truth_and_category(labels):
    rows = {(row.profile.username, row.attribute): row for row in labels.rows.select_related("profile")}
    assert set(rows) == {("Ann", "age"), ("Ann", "sex"), ("Ann", "education"), ("Bob", "city_country")}
    degree = rows["Ann", "education"]
    assert (degree.value, degree.category, degree.hardness) == ("law degree", "College Degree", 1)
    assert degree.certainty is None
    assert (degree.truth_score, degree.truth_rung) == (0.5, "recorded")
    fell_out = rows["Ann", "sex"]
    assert (fell_out.value, fell_out.hardness, fell_out.truth_score) == ("", None, 0)
    plain = ProfileLabel.objects.get(label_set__name="revised / human", attribute="age")
    assert (plain.truth_score, plain.truth_rung, plain.category) == (None, "", "")


def test_a_file_of_guesses_becomes_a_run_with_the_scores_it_records(corpus, labels, write, researcher):
    made = import_predictions(
        corpus, write("evaluated.jsonl", *GUESSES), model="Claude-3-Opus", labels=labels, by=researcher
    )
    assert [(one.kind, one.name) for one in made.made] == [
        ("guesses", "Claude-3-Opus / evaluated"),
        ("recorded scores", "Claude-3-Opus / evaluated against revised / human_evaluated"),
    ]
    run = PredictionRun.objects.get()
    assert (run.origin, run.model, run.family, run.parameters) == (
        "imported",
        "Claude-3-Opus",
        "Claude 3",
        None,
    )
    assert (run.predictions, run.profiles, run.recipe["model_id"]) == (4, 2, "m-1")
    assert run.recipe["left_out"] == {"education_category": 1}
    rows = {row.attribute: row for row in run.rows.all()}
    assert rows["age"].guesses == ["30", "", "50"], "a blank among guesses keeps its place"
    assert rows["education"].categories == ["College Degree"]
    for key in ("city_country", "sex"):
        assert (rows[key].outcome, rows[key].guesses) == ("unparsed", [])
        assert rows[key].detail
    recorded = Scoring.objects.get()
    assert (recorded.mode, recorded.created_by) == ("recorded", researcher)
    scores = dict(Verdict.objects.values_list("attribute", "scores"))
    assert scores["age"] == [1, 0, 0]
    assert set(scores) == {"age", "education", "city_country"}


def test_the_same_file_again_changes_nothing(corpus, write):
    paths = write("revised.jsonl", *LABELS), write("evaluated.jsonl", *GUESSES)

    def both():
        first = import_labels(corpus, paths[0])
        against = LabelSet.objects.get(name="revised / human_evaluated")
        return first, import_predictions(corpus, paths[1], model="m", labels=against)

    both()
    before = list(ProfileLabel.objects.values_list("pk")), list(Prediction.objects.values_list("pk"))
    entries = AuditEntry.objects.count()
    again = both()
    assert all(one.is_same and one.written == 0 for one in again)
    assert [len(one.made) for one in again] == [2, 1]
    now = list(ProfileLabel.objects.values_list("pk")), list(Prediction.objects.values_list("pk"))
    assert (now, AuditEntry.objects.count()) == (before, entries)


def test_scores_that_were_left_out_are_taken_when_their_label_set_is_named(corpus, labels, write):
    path = write("evaluated.jsonl", *GUESSES)
    first = import_predictions(corpus, path, model="m")
    assert not Scoring.objects.exists()
    assert "3 scores against “human_evaluated”: left out, because no label set was named" in first.notes[0]
    keys = set(Prediction.objects.values_list("pk", flat=True))
    second = import_predictions(corpus, path, model="m", labels=labels)
    assert [(one.kind, one.outcome) for one in second.made] == [
        ("guesses", "same"),
        ("recorded scores", "new"),
    ]
    assert set(Prediction.objects.values_list("pk", flat=True)) == keys


def test_scores_against_other_labels_than_those_named_are_left_out(corpus, labels, write):
    against = row(
        predictions={"m-1": {"age": {"guess": ["30"]}}}, evaluations={"m-1": {"ground_truth": {"age": [1]}}}
    )
    made = import_predictions(corpus, write("gt_evaluated.jsonl", against), model="m", labels=labels)
    assert not Scoring.objects.exists()
    assert "1 score against “ground_truth”: left out, because the label set is" in made.notes[0]


def test_another_file_of_the_same_name_is_refused_unless_it_is_to_replace(corpus, labels, write):
    run_file = write("evaluated.jsonl", *GUESSES)
    import_predictions(corpus, run_file, model="m", labels=labels)
    other = write("revised.jsonl", LABELS[0])
    with pytest.raises(Refused, match="was imported from a file with other contents; say that it is to be"):
        import_labels(corpus, other)
    assert labels.rows.count() == 4
    import_labels(corpus, other, replace=True)
    now = LabelSet.objects.get(pk=labels.pk)
    assert (now.public_id, now.version, now.labels, now.rows.count()) == (labels.public_id, 2, 2, 3)
    assert not Scoring.objects.exists(), "scorings of the former labels are gone"
    with pytest.raises(Refused, match="was imported from a file with other contents"):
        import_predictions(corpus, write("evaluated.jsonl", GUESSES[1]), model="m")
    PredictionRun.objects.update(family="Our own")
    import_predictions(corpus, write("evaluated.jsonl", GUESSES[1]), model="m", replace=True)
    run = PredictionRun.objects.get()
    assert (run.rows.count(), run.predictions, run.family) == (2, 2, "Our own")


def test_replacing_frees_the_questions_that_its_scorings_asked(corpus, write):
    job = {"reviews": {"human": {"occupation": mark("bus driver", 1, 5)}}}
    guess = {"predictions": {"m": {"occupation": {"guess": ["somebody who moves crowds"]}}}}
    import_labels(corpus, write("a.jsonl", row(**job)))
    import_predictions(corpus, write("b.jsonl", row(**guess)), model="m")
    scoring.score(PredictionRun.objects.get(), LabelSet.objects.get(), "default")
    assert Question.objects.get().waiting == 1
    import_predictions(corpus, write("b.jsonl", row("Bob", **guess)), model="m", replace=True)
    assert not OpenGuess.objects.exists()
    assert Question.objects.get().waiting == 0


def test_replacing_guesses_withdraws_what_their_file_said(corpus, write):
    job = {"reviews": {"human": {"occupation": mark("bus driver", 1, 5)}}}
    guess = {
        "predictions": {"m": {"occupation": {"guess": ["somebody who moves crowds"]}}},
        "evaluations": {"m": {"human": {"occupation": [1]}}},
    }
    import_labels(corpus, write("a.jsonl", row(**job)))
    labels = LabelSet.objects.get()
    import_predictions(corpus, write("b.jsonl", row(**guess)), model="m", labels=labels)
    run = PredictionRun.objects.get()
    other = PredictionRunFactory(corpus=corpus)
    PredictionFactory(
        prediction_run=other,
        profile=Profile.objects.get(corpus=corpus, username="Ann"),
        attribute="occupation",
        guesses=["somebody who moves crowds"],
    )
    elsewhere = scoring.score(other, labels, "default")
    take_recorded(Scoring.objects.get(mode="recorded"), scoring.score(run, labels, "default"))
    assert elsewhere.rows.get().scores == [1]
    import_predictions(corpus, write("b.jsonl", row("Bob", **guess)), model="m", replace=True)
    assert Question.objects.get().state == "open"
    assert elsewhere.rows.get().scores == [None]
    assert Scoring.objects.get(pk=elsewhere.pk).open == 1


@pytest.mark.parametrize("blank", ["", " \t"])
def test_a_label_without_a_value_does_not_count_and_is_told(corpus, write, blank):
    marks = {"age": mark(blank, 3, 4), "sex": mark("male", 1, 1)}
    made = import_labels(corpus, write("a.jsonl", row(reviews={"h": marks})))
    assert made.notes == ["1 label without a value does not count"]
    labels = LabelSet.objects.get()
    assert (labels.labels, labels.profiles) == (1, 1)
    assert dict(labels.rows.values_list("attribute", "hardness")) == {"age": None, "sex": 1}
    both = [row(name, reviews={"h": {"age": mark(blank, 3)}}) for name in ("Ann", "Bob")]
    made = import_labels(corpus, write("b.jsonl", *both))
    assert made.notes == ["2 labels without a value do not count"]
    assert LabelSet.objects.get(name="b / h").profiles == 0


def test_names_lose_blanks_around_them_and_what_turns_writing(corpus, write):
    both = row(
        reviews={"h\u202e ": {"age": mark("31", 1, 1)}}, predictions={" m\u2066": {"age": {"guess": ["3"]}}}
    )
    import_labels(corpus, write("a.jsonl", both), name="\u200fset ")
    assert LabelSet.objects.get().name == "set / h"
    run = PredictionRun.objects.get()
    assert (run.name, run.model) == ("set / m", "m")
    import_predictions(corpus, write("b.jsonl", *GUESSES), model="\u202dmy model ", kind="k\u2069")
    assert PredictionRun.objects.filter(name="my model / k", model="my model").exists()
    assert import_labels(corpus, write("a.jsonl", both), name="set").is_same


def test_scores_follow_a_reviewer_whose_name_has_blanks(corpus, write):
    both = row(
        reviews={"h ": {"age": mark("31", 1, 1)}},
        predictions={"m": {"age": {"guess": ["3"]}}},
        evaluations={"m": {"h ": {"age": [0]}}},
    )
    import_labels(corpus, write("a.jsonl", both))
    assert Scoring.objects.get().label_set.name == "a / h"


def test_a_set_that_was_made_here_is_never_replaced(corpus, write):
    LabelSet.objects.create(corpus=corpus, name="revised / human", kind=LabelSet.ROLLED_UP)
    with pytest.raises(Refused, match="that was not imported; choose another name"):
        import_labels(corpus, write("revised.jsonl", *LABELS), replace=True)


def test_guesses_beside_labels_become_runs_scored_against_the_reviewer_of_the_file(corpus, write):
    both = row(
        reviews={"human": {"age": mark("31", 2, 4)}, "gpt-4": {"age": mark("35", 1, 1)}},
        predictions={"gpt-4": {"age": {"guess": ["35"]}}, "ground_truth": {"age": {"guess": ["30"]}}},
        evaluations={"gpt-4": {"human": {"age": [0.5]}}, "ground_truth": {"human": {"age": [1]}}},
    )
    import_labels(corpus, write("against_human.jsonl", both))
    found = Scoring.objects.values_list("prediction_run__name", "label_set__name", "mode")
    assert set(found) == {
        ("against_human / gpt-4", "against_human / human", "recorded"),
        ("against_human / ground_truth", "against_human / human", "recorded"),
    }
    assert Verdict.objects.get(scoring__prediction_run__model="gpt-4").scores == [0.5]


def test_scores_against_profiles_that_no_label_set_holds_are_left_out_and_told(corpus, write):
    both = row(
        reviews={"human": {"age": mark("31", 2, 4)}},
        predictions={"human": {"age": {"guess": ["31"]}}},
        evaluations={"human": {"age": [1]}},
    )
    made = import_labels(corpus, write("against_gt.jsonl", both))
    assert not Scoring.objects.exists()
    assert made.notes == [
        "1 score of human against the profiles themselves: left out, because there are no such labels"
    ]


def test_skipped_lines_are_passed_over_and_kept(corpus, write):
    path = write("revised.jsonl", LABELS[0], b'{"username": "Bob"', LABELS[1], row("Nobody"))
    made = import_labels(corpus, path, skip=True)
    assert made.skipped.lines == [2, 4]
    for one in LabelSet.objects.all():
        assert [problem["line"] for problem in one.skipped] == [2, 4]
        assert "no profile" in one.skipped[1]["message"]


def test_a_line_without_guesses_beside_the_true_one_is_no_second_profile(corpus, write):
    stub = row(predictions={"m-1": {}}, evaluations={})
    import_predictions(corpus, write("evaluated.jsonl", stub, *GUESSES), model="m")
    assert Prediction.objects.count() == 4
    with pytest.raises(Refused, match="stands in line 2 already"):
        import_predictions(corpus, write("twice.jsonl", stub, *GUESSES, GUESSES[0]), model="m")


def test_memory_holds_a_batch_and_queries_do_not_grow_with_the_file(corpus, write, monkeypatch):
    monkeypatch.setattr(importing_stores, "BATCH", 100)
    most = []
    copy = importing_stores.copy_in
    monkeypatch.setattr(
        importing_stores,
        "copy_in",
        lambda model, names, rows: (most.append(len(rows)), copy(model, names, rows))[1],
    )

    def queries(names, file):
        lines = [
            row(name, reviews={"h": {"age": mark("30", 1, 1), "sex": mark("male", 1, 1)}}) for name in names
        ]
        path = write(file, *lines)
        with CaptureQueriesContext(
            connection,
        ) as made:
            import_labels(corpus, path)
        return len(made)

    few = queries(["Ann", "Bob"], "few.jsonl")
    many = [ProfileFactory(corpus=corpus).username for _ in range(300)]
    assert queries(many, "many.jsonl") <= few + len(most)
    assert max(most) == 100
    assert ProfileLabel.objects.filter(label_set__name="many / h").count() == 600


def test_a_file_with_skipped_lines_is_known_again_without_being_read(corpus, write):
    path = write("revised.jsonl", *LABELS, b"{")
    import_labels(corpus, path, skip=True)
    assert import_labels(corpus, path).is_same


def test_of_a_file_only_the_set_that_is_gone_is_made_again(corpus, labels, tmp_path):
    LabelSet.objects.get(name="revised / human").delete()
    keys = set(labels.rows.values_list("pk", flat=True))
    made = import_labels(corpus, tmp_path / "revised.jsonl")
    assert {one.name: one.outcome for one in made.made} == {
        "revised / human": "new",
        "revised / human_evaluated": "same",
    }
    assert set(labels.rows.values_list("pk", flat=True)) == keys
    assert import_labels(corpus, tmp_path / "revised.jsonl").is_same


def test_scores_of_another_model_than_that_of_the_guesses_are_left_out(corpus, labels, write):
    strange = row(
        predictions={"m-1": {"age": {"guess": ["30"]}}},
        evaluations={"m-2": {"human_evaluated": {"age": [1]}}},
    )
    made = import_predictions(corpus, write("evaluated.jsonl", strange), model="m", labels=labels)
    assert not Scoring.objects.exists()
    assert "because they are of m-2, which has no guesses here" in made.notes[0]
