"""manage.py report: the leaderboard on paper."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command

from evaluation.domain.boards import from_json
from evaluation.models import Report
from evaluation.services import boards
from tests.evaluation.board_scene import results
from tests.factories.evaluation import LabelSetFactory
from tests.factories.simulation import CorpusFactory

pytestmark = pytest.mark.django_db


def run(*words, **options):
    out = io.StringIO()
    call_command("report", "--corpus", *words, stdout=out, **options)
    return out.getvalue()


def test_the_board_is_printed_best_first(corpus):
    results(corpus)
    said = run("winter")
    assert "16 labels of 8 profiles of “truth”, hardness ≥ 1, certainty ≥ 3; mode default" in said
    lines = [line.split() for line in said.splitlines()]
    ranked = [line for line in lines if "model" in line and line[0] in "12"]
    assert [(line[0], line[4]) for line in ranked] == [("1", "100.0"), ("2", "81.2")]
    assert any(line[-1:] == ["baseline"] for line in lines)
    assert "of 1 pairwise differences exclude zero" in said
    assert Report.objects.get().content is not None


def test_the_board_is_written_as_json_and_csv(corpus, tmp_path):
    labels = results(corpus)
    run(
        corpus.public_id,
        "--labels",
        "truth",
        "--certainty",
        "4",
        "--json",
        str(tmp_path / "a.json"),
        "--csv",
        str(tmp_path / "a.csv"),
    )
    written = from_json(json.loads((tmp_path / "a.json").read_text()))
    assert written == boards.count(corpus, Report.objects.get().parameters)
    assert (written.label_set, written.min_certainty) == (labels.public_id, 4)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text())))
    assert [row["asked_percent"] for row in rows] == ["100.0", "81.25", "0.0"]


def test_what_is_asked_for_wrongly_is_said(corpus, tmp_path):
    results(corpus)
    LabelSetFactory(corpus=corpus, name="unused")
    for words, said in (
        (("summer",), "no corpus has the name or id “summer”"),
        (("winter", "--labels", "lies"), "no label set “lies”; scored in mode default: “truth”"),
        (("winter", "--labels", "unused"), "nothing is scored against “unused” in mode default"),
        (("winter", "--mode", "recorded"), "scored in mode recorded: none"),
        (("winter", "--certainty", "9"), "from 0 to 5"),
        (("winter", "--mode", "own"), "invalid choice"),
        (("winter", "--json", str(tmp_path / "no" / "a.json")), "cannot be written"),
    ):
        with pytest.raises(CommandError, match=said.split(" “")[0][:30]) as caught:
            run(*words)
        assert said in str(caught.value)


def test_a_second_label_set_has_to_be_named(corpus):
    results(corpus)
    results(corpus, name="other")
    with pytest.raises(CommandError, match="name one; scored in mode default: “other”, “truth”"):
        run("winter")
    assert "of “other”" in run("winter", "--labels", "other")


def test_a_board_that_cannot_be_counted_is_an_error(corpus, monkeypatch):
    results(corpus)

    def broken(*_):
        raise RuntimeError("x")

    monkeypatch.setattr(boards, "count", broken)
    with pytest.raises(CommandError, match="could not be counted"):
        run("winter")
    assert CorpusFactory().reports.count() == 0
