"""The command import_results on an invented folder: what it makes, prints and returns."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import LabelSet, PredictionRun, Scoring
from simulation.models import Corpus, Profile
from tests.evaluation import released_files
from tests.factories.simulation import CorpusFactory, ProfileFactory

pytestmark = pytest.mark.django_db
EVALUATED = f"{released_files.MODEL} / evaluated"


@pytest.fixture
def run(tmp_path):
    """`run(…)` is the exit status, what was printed, and the last word."""

    def called(folder=tmp_path, **options):
        out = StringIO()
        try:
            call_command("import_results", str(folder), stdout=out, corpus="harbour", **options)
        except CommandError as error:
            return error.returncode, out.getvalue(), str(error)
        return 0, out.getvalue(), ""

    return called


@pytest.fixture
def folder(tmp_path):
    """The invented release, with a file of comments among the labels."""
    released_files.release(tmp_path)
    comment = {"id": 1, "username": "Ann", "text": "me too", "reviews": {}}
    released_files.write(tmp_path, "labels/synth_removed", [comment])
    return tmp_path


def test_a_folder_becomes_a_corpus_with_sets_runs_and_scorings(run, folder):
    status, out, last = run(create=True, skip_unreadable=True, score="compatible")
    assert (status, last) == (0, "")
    corpus = Corpus.objects.get(name="harbour")
    assert corpus.profiles.count() == 3
    assert set(LabelSet.objects.values_list("name", flat=True)) == {
        "comments_eval / human",
        "comments_eval_revised / human",
        "comments_eval_revised / human_evaluated",
    }
    assert set(PredictionRun.objects.values_list("name", flat=True)) == {EVALUATED, "Tiny / predicted"}
    made = Scoring.objects.values_list("prediction_run__name", "label_set__name", "mode")
    assert set(made) == {
        (EVALUATED, "comments_eval_revised / human_evaluated", "recorded"),
        (EVALUATED, "comments_eval_revised / human_evaluated", "compatible"),
    }
    assert "labels/synth_removed.jsonl: its lines are comments, not profiles" in out
    assert "labels/comments_anonymized.jsonl: there is no label in it" in out
    assert "rows a second" in out
    assert EVALUATED in out


def test_a_second_run_changes_nothing(run, folder):
    run(create=True, skip_unreadable=True)
    before = list(PredictionRun.objects.values_list("pk", "created_at"))
    status, out, _ = run(create=True, skip_unreadable=True, json=True)
    report = json.loads(out)
    assert status == 0
    assert {made["outcome"] for file in report["files"] for made in file["made"]} == {"same"}
    assert (report["rows"], report["profiles"]) == (0, 0)
    assert list(PredictionRun.objects.values_list("pk", "created_at")) == before


def test_a_file_with_a_bad_line_is_refused_and_the_others_are_imported(run, folder):
    path = folder / "predictions" / released_files.MODEL / "evaluated.jsonl"
    path.write_text(f'{path.read_text()}{{"username": "cut o\n')
    status, _, last = run(create=True)
    assert status == 2
    assert "predictions/Tiny/evaluated.jsonl, line 4: not valid JSON at column" in last
    assert "--skip-unreadable" in last
    assert not PredictionRun.objects.filter(name=EVALUATED).exists()
    assert PredictionRun.objects.filter(name="Tiny / predicted").exists()
    assert LabelSet.objects.count() == 3
    status, out, _ = run(skip_unreadable=True)
    assert status == 0
    assert "predictions/Tiny/evaluated.jsonl: skipped 1 line: 4" in out
    assert PredictionRun.objects.get(name=EVALUATED).skipped[0]["line"] == 4
    assert Scoring.objects.get().mode == "recorded"


def test_a_changed_file_is_only_replaced_when_asked(run, folder):
    run(create=True, skip_unreadable=True)
    path = folder / "predictions" / released_files.MODEL / "predicted.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    status, _, last = run(skip_unreadable=True)
    assert status == 2
    assert "was imported from a file with other contents" in last
    assert run(skip_unreadable=True, replace=True)[0] == 0
    assert PredictionRun.objects.get(name="Tiny / predicted").profiles == 2


def test_only_the_named_models_are_imported(run, folder):
    released_files.write(folder, "predictions/Other/evaluated", released_files.predictions(scored=True))
    assert run(create=True, skip_unreadable=True, models=" Other ,")[0] == 0
    assert set(PredictionRun.objects.values_list("model", flat=True)) == {"Other"}
    status, _, last = run(models="Nobody,Other")
    assert status == 2
    assert "there are no predictions of Nobody; the folder has Other, Tiny" in last


def test_a_corpus_that_has_profiles_keeps_them_as_they_are(run, folder):
    corpus = CorpusFactory(name="harbour")
    for name in ("Ann", "Bob", "Cid"):
        ProfileFactory(corpus=corpus, username=name, facts={"age": 99})
    assert run(skip_unreadable=True)[0] == 0
    assert set(Profile.objects.values_list("facts__age", flat=True)) == {99}
    assert PredictionRun.objects.count() == 2


@pytest.mark.parametrize(
    ("prepare", "options", "words"),
    [
        (lambda folder: None, {}, "There is no corpus 'harbour'. Name one that is there, or add --create."),
        (lambda folder: (folder / "profiles.json").unlink(), {"create": True}, "has no profiles.json"),
        (lambda folder: (folder / "profiles.json").write_text("{"), {"create": True}, "profiles.json"),
        (lambda folder: CorpusFactory(name="harbour", trashed_at="2026-01-01T00:00Z"), {}, "in the trash"),
    ],
    ids=["no corpus", "no profiles", "bad profiles", "trash"],
)
def test_what_cannot_begin_says_why(run, folder, prepare, options, words):
    prepare(folder)
    status, _, last = run(**options)
    assert status == 2
    assert words in last
    assert not LabelSet.objects.exists()


def test_a_folder_without_results_is_refused(run, tmp_path):
    assert "there is no such folder" in run(tmp_path / "gone")[2]
    released_files.write(tmp_path, "profiles", released_files.PROFILES)
    status, _, last = run(create=True)
    assert status == 2
    assert "holds neither labels/*.jsonl nor predictions/<model>/*.jsonl" in last
    assert not Corpus.objects.exists()
