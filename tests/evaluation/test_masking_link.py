"""Imported guesses on masked texts: linked to their masking by command, page and afterwards; old recipes."""

import json
from importlib import import_module
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse

from evaluation import tasks
from evaluation.exchange.importing import Refused, import_predictions
from evaluation.models import Masking, PredictionRun, Report, ResultImport
from evaluation.selectors import boards, masking_table
from evaluation.services import reports, scoring
from evaluation.services.result_imports import BadDescription, describe
from simulation.models import Corpus
from simulation.selectors import workers
from tests.evaluation import released_files
from tests.factories.evaluation import LabelSetFactory, PredictionRunFactory, ProfileLabelFactory
from tests.factories.simulation import CorpusFactory, ProfileFactory

pytestmark = pytest.mark.django_db
GUESSES = {"username": "Ann", "predictions": {"m-1": {"age": {"guess": ["30"]}}}}


@pytest.fixture(autouse=True)
def quiet(settings, tmp_path, monkeypatch):
    settings.MEDIA_ROOT = tmp_path / "media"
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    monkeypatch.setattr(tasks.run_result_import, "delay_on_commit", lambda pk: None)


def masking_of(corpus, name="quiet", **more):
    return Masking.objects.create(corpus=corpus, name=name, masker="rules", **{"state": Masking.DONE, **more})


@pytest.fixture
def masking(corpus):
    ProfileFactory(corpus=corpus, username="Ann")
    return masking_of(corpus)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "evaluated.jsonl"
    path.write_text(json.dumps(GUESSES))
    return path


def test_guesses_on_masked_texts_stand_beside_those_on_plain_ones(corpus, masking, file):
    import_predictions(corpus, file, model="m")
    plain = PredictionRun.objects.get()
    assert (plain.text, plain.masking) == ("plain", None)
    file.write_text(file.read_text() + "\n")
    import_predictions(corpus, file, model="m", masking=masking)
    run = PredictionRun.objects.exclude(pk=plain.pk).get()
    assert (run.name, run.model, run.text) == ("m / evaluated / quiet", "m", "anonymised")
    assert (run.masking, run.counterpart) == (masking, plain)
    again = import_predictions(corpus, file, model="m", masking=masking)
    assert (again.is_same, PredictionRun.objects.count()) == (True, 2)
    file.write_text(json.dumps(GUESSES) + " \n")
    other = PredictionRunFactory(corpus=corpus)
    run.counterpart = other
    run.save()
    plain.delete()
    import_predictions(corpus, file, model="m", masking=masking, replace=True)
    run.refresh_from_db()
    assert (run.masking, run.counterpart) == (masking, other), "as people said"


def test_a_masking_of_another_corpus_is_refused(corpus, masking, file):
    other = masking_of(CorpusFactory(), "elsewhere")
    with pytest.raises(Refused) as raised:
        import_predictions(corpus, file, model="m", masking=other)
    assert raised.value.problems[0].field == "masking"
    assert "belongs to another corpus" in raised.value.problems[0].message
    assert PredictionRun.objects.count() == 0


def test_the_command_takes_a_masking_by_name(tmp_path):
    released_files.release(tmp_path)
    common = {"corpus": "harbour", "skip_unreadable": True}
    call_command("import_results", str(tmp_path), **common, create=True, stdout=StringIO())
    corpus = Corpus.objects.get(name="harbour")
    masking_of(corpus, "unfinished", state=Masking.RUNNING)
    masking = masking_of(corpus)
    for name in ("none", "unfinished"):
        with pytest.raises(
            CommandError, match=f"no masking '{name}' that is done in harbour; .* quiet"
        ) as no:
            call_command("import_results", str(tmp_path), **common, masking=name)
        assert no.value.returncode == 2
    out = StringIO()
    call_command("import_results", str(tmp_path), **common, masking="quiet", score="compatible", stdout=out)
    made = PredictionRun.objects.get(name=f"{released_files.MODEL} / evaluated / quiet")
    assert (made.masking, made.text) == (masking, "anonymised")
    assert made.counterpart.name == f"{released_files.MODEL} / evaluated"
    assert made.scorings.filter(mode="compatible").exists(), "the run on masked texts is what is scored"


def send(browser, corpus, **given):
    upload = SimpleUploadedFile("evaluated.jsonl", json.dumps(GUESSES).encode())
    sent = {"kind": "predictions", "model": "m", "file": upload, **given}
    return browser.post(reverse("results_import", args=[corpus.public_id]), sent)


def test_the_import_page_offers_maskings_of_the_corpus(client_of, researcher, corpus, masking):
    browser = client_of(researcher)
    hidden = [masking_of(CorpusFactory(), "elsewhere"), masking_of(corpus, "half", state=Masking.RUNNING)]
    page = browser.get(reverse("results_import", args=[corpus.public_id])).content.decode()
    assert f'value="{masking.public_id}"' in page
    for one in hidden:
        assert f'value="{one.public_id}"' not in page
        assert send(browser, corpus, masking=one.public_id).status_code == 422
    refused = send(browser, corpus, masking=masking.public_id, kind="labels")
    assert refused.status_code == 422
    assert list(refused.context["form"].errors) == ["masking"]
    assert send(browser, corpus, masking=masking.public_id).status_code == 302
    tasks.run_result_import(ResultImport.objects.get().pk)
    run = PredictionRun.objects.get()
    assert (run.masking, run.text) == (masking, "anonymised")
    page = browser.get(reverse("prediction_run", args=[run.public_id])).content.decode()
    assert reverse("masking", args=[masking.public_id]) in page


def test_a_masking_that_went_meanwhile_is_said(client_of, researcher, corpus, masking):
    send(client_of(researcher), corpus, masking=masking.public_id)
    masking.delete()
    one = ResultImport.objects.get()
    tasks.run_result_import(one.pk)
    one.refresh_from_db()
    assert (one.state, one.problems[0]["field"]) == (ResultImport.INVALID, "masking")
    assert PredictionRun.objects.count() == 0


def test_it_is_chosen_later_on_the_page_of_a_run(client_of, researcher, corpus, masking):
    browser = client_of(researcher)
    run = PredictionRunFactory(corpus=corpus, text="anonymised", model="m")
    where = reverse("prediction_run", args=[run.public_id])
    sent = {"model": "m", "text": "anonymised", "masking": masking.public_id}
    assert browser.post(where, sent).status_code == 302
    run.refresh_from_db()
    assert run.masking == masking
    assert f'value="{masking.public_id}" selected' in browser.get(where).content.decode()
    wrong = browser.post(where, {**sent, "text": "plain"})
    assert (wrong.status_code, list(wrong.context["form"].errors)) == (422, ["masking"])
    elsewhere = masking_of(CorpusFactory(), "elsewhere")
    assert browser.post(where, {**sent, "masking": elsewhere.public_id}).status_code == 422
    with pytest.raises(BadDescription, match="of this corpus"):
        describe(run, by=researcher, model="m", text="anonymised", masking=elsewhere)


def test_what_a_run_was_shown_that_was_asked_here_stays(client_of, researcher, corpus, masking):
    other = masking_of(corpus, "other")
    run = PredictionRunFactory(
        corpus=corpus, text="anonymised", model="m", masking=masking, origin=PredictionRun.ASKED
    )
    where = reverse("prediction_run", args=[run.public_id])
    sent = {"model": "m two", "text": "anonymised", "masking": other.public_id}
    assert client_of(researcher).post(where, sent).status_code == 302
    run.refresh_from_db()
    assert (run.model, run.masking) == ("m two", masking)
    with pytest.raises(BadDescription, match="stays"):
        describe(run, by=researcher, model="m", text="anonymised", masking=other)


def test_runs_that_named_their_masking_in_the_recipe_are_pointed_to_it(corpus, masking):
    statement = import_module("evaluation.migrations.0005_releases_never_change").POINT
    elsewhere = masking_of(CorpusFactory(), "elsewhere")
    other = masking_of(corpus, "other")
    runs = {
        "named": PredictionRunFactory(corpus=corpus, recipe={"masking": str(masking.public_id)}),
        "elsewhere": PredictionRunFactory(corpus=corpus, recipe={"masking": str(elsewhere.public_id)}),
        "gone": PredictionRunFactory(corpus=corpus, recipe={"masking": "nothing"}),
        "plain": PredictionRunFactory(corpus=corpus, recipe={}),
        "told": PredictionRunFactory(
            corpus=corpus, masking=other, recipe={"masking": str(masking.public_id)}
        ),
    }
    for _ in range(2):
        with connection.cursor() as cursor:
            cursor.execute(statement)
        for run in runs.values():
            run.refresh_from_db()
        found = {name: run.masking for name, run in runs.items()}
        expected = {"named": masking, "elsewhere": None, "gone": None, "plain": None, "told": other}
        assert found == expected


def test_imported_guesses_stand_beside_their_masking_on_the_page_of_maskings(
    client_of, researcher, corpus, masking, file
):
    author = corpus.profiles.get()
    labels = LabelSetFactory(corpus=corpus)
    ProfileLabelFactory(
        label_set=labels, profile=author, attribute="age", value="30", hardness=2, certainty=4
    )
    import_predictions(corpus, file, model="m")
    file.write_text(json.dumps(GUESSES).replace("30", "70"))
    import_predictions(corpus, file, model="m", masking=masking)
    for run in PredictionRun.objects.all():
        scoring.score(run, labels, "default")
    choice = boards.choose(corpus, {"labels": labels.public_id})
    reports.make(corpus, Report.BOARD, choice.parameters)
    asked = masking_table.asked(corpus, boards.load(corpus, choice).board, [masking])
    assert [(one.masking, one.all.model) for one in asked] == [(masking, "m")]
    page = client_of(researcher).get(
        reverse("maskings", args=[corpus.public_id]), {"labels": labels.public_id}
    )
    assert [one.masking for one in page.context["asked"]] == [masking]


def test_a_board_that_was_not_counted_names_nothing(corpus, masking):
    assert masking_table.asked(corpus, None, [masking]) == []
