"""The command on the published data: twelve models, and the counts that the paper's files give."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Count, Q

from evaluation.exchange.importing_folder import SCORED_AGAINST, SCORED_KINDS
from evaluation.models import LabelSet, PredictionRun, Scoring
from simulation.models import Corpus
from tests.published import FOLDER, needs_published_data

pytestmark = [pytest.mark.published, needs_published_data, pytest.mark.django_db]
AGAINST_HUMAN = "eval_labels_against_human"


@pytest.fixture
def expected():
    return json.loads((FOLDER / "expected.json").read_text())


@pytest.fixture
def imported(db):
    """Everything, once; the report as JSON."""
    out = StringIO()
    call_command(
        "import_results",
        str(FOLDER),
        corpus="paper",
        create=True,
        skip_unreadable=True,
        json=True,
        stdout=out,
    )
    return json.loads(out.getvalue())


def top_one(scoring):
    """Scored labels, and how many of them have a right first guess."""
    scored = ~Q(outcome="not_asked")
    return scoring.rows.aggregate(
        n=Count("pk", filter=scored), right=Count("pk", filter=scored & Q(scores__0=1))
    )


def test_all_models_with_the_published_numbers(imported, expected):
    models = expected["models"]
    assert set(PredictionRun.objects.filter(recipe__has_key="kind").values_list("model", flat=True)) == set(
        models
    )
    found = {
        one.prediction_run.name: top_one(one)
        for one in Scoring.objects.filter(label_set__name=SCORED_AGAINST).select_related("prediction_run")
    }
    wanted = {
        f"{model} / {kind}": {"n": numbers["n_items"], "right": numbers["correct_top1"]}
        for model, kinds in models.items()
        for kind, numbers in kinds.items()
        if kind in SCORED_KINDS
    }
    assert found == wanted
    assert wanted["gpt-4 / evaluated"] == {"n": 700, "right": 546}
    _check_label_sets(expected)
    _check_agreements(expected)
    _check_skipped(imported)


def _check_label_sets(expected):
    revised = LabelSet.objects.get(name=SCORED_AGAINST)
    assert revised.labels == expected["labels"]["fig6_total"] == 1110
    assert revised.profiles == expected["labels"]["profiles_with_revised_label"] == 294
    scores = revised.rows.filter(hardness__gte=1).values_list("truth_score").annotate(n=Count("pk"))
    assert dict(scores.order_by()) == {1.0: 989, 0.5: 121}
    degrees = revised.rows.filter(attribute="education", hardness__gte=1)
    assert not degrees.filter(category="").exists()
    assert not LabelSet.objects.filter(rows__attribute="education_category").exists()


def _check_agreements(expected):
    """The published 83 % and 76 % (section 4.1)."""
    shares = {}
    for one in Scoring.objects.filter(label_set__name=f"{AGAINST_HUMAN} / human"):
        counted = top_one(one)
        shares[one.prediction_run.model] = counted["right"] / counted["n"]
        assert counted["n"] == 1238
    wanted = expected["label_agreement"]["against_human"]
    assert shares == pytest.approx({who: wanted[who]["exact"] for who in ("gpt-4", "ground_truth")})
    assert {who: round(100 * share) for who, share in shares.items()} == {"gpt-4": 76, "ground_truth": 83}


def _check_skipped(imported):
    skipped = {
        one["file"]: [line["line"] for line in one["skipped"]] for one in imported["files"] if one["skipped"]
    }
    assert skipped == {
        f"labels/{AGAINST_HUMAN}.jsonl.gz": [40, 122, 125],
        "labels/eval_labels_against_gt.jsonl.gz": [40],
        "labels/eval_labels_against_model.jsonl.gz": [40],
    }
    assert [one["line"] for one in LabelSet.objects.get(name=f"{AGAINST_HUMAN} / human").skipped] == [
        40,
        122,
        125,
    ]
    assert [one.split(":")[0] for one in imported["passed_over"]] == ["labels/synth_removed.jsonl.gz"]


def test_without_leave_to_skip_the_interrupted_files_are_refused(tmp_path):
    (tmp_path / "labels").mkdir()
    for path in [*(FOLDER / "labels").glob("eval_labels_*"), FOLDER / "labels" / "comments_eval.jsonl.gz"]:
        (tmp_path / "labels" / path.name).symlink_to(path)
    (tmp_path / "profiles.json.gz").symlink_to(FOLDER / "profiles.json.gz")
    with pytest.raises(CommandError, match=r"eval_labels_against_human.jsonl.gz, line 122") as refused:
        call_command("import_results", str(tmp_path), corpus="paper", create=True, stdout=StringIO())
    assert refused.value.returncode == 2
    assert list(LabelSet.objects.values_list("name", flat=True)) == ["comments_eval / human"]
    assert Corpus.objects.get().profiles.count() == 300
