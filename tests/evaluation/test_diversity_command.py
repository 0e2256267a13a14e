"""diversity: the same reports from the command line."""

import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Report
from evaluation.services import reports
from simulation.models import Profile, Thread
from tests.evaluation.diversity_scene import chatter, fill, goats_in, lines
from tests.factories.simulation import CorpusFactory, RunFactory, RunThreadFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media" / "realism"


@pytest.fixture
def goats(corpus):
    return goats_in(corpus)


def said(*given):
    out = StringIO()
    call_command("diversity", "--corpus", *given, stdout=out)
    return out.getvalue()


def test_a_corpus_by_name(goats):
    heard = said(goats.name)
    assert any(line.split() == ["Comments", "5"] for line in heard.splitlines())
    assert "Characters a comment" in heard
    assert Report.objects.get(corpus=goats).content["comments"] == 5


def test_all_numbers_as_json(goats, tmp_path):
    path = tmp_path / "numbers.json"
    assert "Comments" in said(goats.public_id, "--json", str(path))
    found = json.loads(path.read_text())
    assert found["diversity"][0]["name"] == goats.name
    assert found["diversity"][0]["overlap"] == {"1": 2, "3": 1}
    assert json.loads(said(goats.name, "--json", "-")) == found


def test_a_run_and_another_corpus_beside_it(goats):
    run = RunFactory(corpus=goats)
    author = Profile.objects.filter(corpus=goats).first()
    RunThreadFactory(run=run, thread=Thread.objects.get(external_id="odd"), author=author)
    other = CorpusFactory()
    fill(other, 3)
    heard = said(goats.name, "--run", run.public_id, "--beside", other.name)
    assert any(line.split() == ["Comments", "1", "6"] for line in heard.splitlines())


def test_realism_against_a_file_which_is_not_kept(corpus, tmp_path, files):
    chatter(corpus, mark="moreover")
    path = tmp_path / "heard.jsonl"
    path.write_bytes(b"\n".join(lines()))
    heard = said(corpus.name, "--realism", str(path), "--seed", "3")
    assert re.search(r"Told apart by a machine: AUC (0\.9\d\d|1\.000) \(", heard)
    assert re.search(r"^Folds of whole threads +[01]\.\d{3}  [01]\.\d{3} to [01]\.\d{3}  n 36$", heard, re.M)
    assert "Authors, fold 5" in heard
    assert heard.count("Fewer than 5 texts: too few.") == 12, "each thread has three comments"
    assert "36 and 36 texts of 12 and 12 authors, 5 folds, seed 3" in heard
    assert list(files.iterdir()) == []
    assert path.exists()


def test_realism_against_a_corpus(corpus):
    chatter(corpus, authors=3)
    other = CorpusFactory()
    chatter(other)
    assert "not measured. Only 3 authors" in said(corpus.name, "--realism", other.name)


def refused(*given):
    with pytest.raises(CommandError) as caught:
        said(*given)
    return caught.value.returncode, str(caught.value)


def test_what_is_not_there_is_named(goats, tmp_path):
    wrong = tmp_path / "wrong.txt"
    wrong.write_bytes(b"fine\n\xff\n")
    for given, words in (
        (["nothere"], f"There is no corpus 'nothere'; there are: {goats.name}."),
        ([goats.name, "--run", "nothere"], "There is no simulation 'nothere'; there are: none."),
        ([goats.name, "--beside", "nothere"], "There is no corpus 'nothere'"),
        ([goats.name, "--realism", "nothere"], "There is no corpus 'nothere'"),
        ([goats.name, "--realism", str(wrong)], f"{wrong}: Line 2: is not UTF-8"),
        ([goats.name, "--json", str(tmp_path / "no" / "where.json")], "cannot be written"),
    ):
        code, heard = refused(*given)
        assert (code, words in heard) == (2, True), heard


def test_what_could_not_be_counted_ends_with_another_code(goats, monkeypatch):
    monkeypatch.setattr(reports.MAKERS[Report.DIVERSITY], "content", lambda corpus, parameters: 1 / 0)
    assert refused(goats.name) == (1, reports.STOPPED)
