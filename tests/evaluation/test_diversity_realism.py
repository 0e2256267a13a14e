"""Comments told from other texts by a worker: what is drawn, what is kept, what is refused."""

import json
import os
import time

import pytest
from django.db import transaction

from evaluation.domain.boards import as_json
from evaluation.metrics.realism import realism as measured
from evaluation.models import Report
from evaluation.services import diversity_realism as comparing
from evaluation.services import diversity_texts as texts
from evaluation.services import reports
from evaluation.services.diversity_realism import Size, drawn
from simulation.models import AuditEntry, Corpus
from tests.evaluation.diversity_scene import chatter, lines
from tests.factories.simulation import (
    CommentFactory,
    CorpusFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    return tmp_path / "realism"


def test_two_corpora_are_told_apart_by_a_planted_word(corpus, researcher):
    chatter(corpus, mark="moreover")
    other = CorpusFactory()
    chatter(other, seed=3)
    parameters = comparing.parameters_of(other=other, seed=4)
    comparing.ask(corpus, parameters, by=researcher)
    assert reports.make_asked() == 1
    report = reports.find(corpus, Report.DIVERSITY, parameters)
    found = comparing.found_in(report)
    assert (report.problem, report.asked_at) == ("", None)
    assert found.auc > 0.9
    assert found.is_told_apart
    assert "moreover" in {one.text for one in found.our_words}
    assert (found.ours.texts, found.ours.drawn, found.ours.authors, found.folds) == (36, 36, 12, 5)
    assert (found.theirs.name, found.state) == (other.name, comparing.state(corpus))
    entry = AuditEntry.objects.get(action="realism.asked")
    assert (entry.actor, entry.details["other"]) == (researcher, other.public_id)
    assert as_json(comparing.measure(corpus, parameters)) == report.content, "equal rows, equal numbers"
    CommentFactory(thread__corpus=other)
    assert not reports.is_current(report)


def test_texts_of_a_file_are_gone_once_they_are_counted(
    corpus, researcher, files, django_capture_on_commit_callbacks
):
    chatter(corpus)
    received = texts.receive(corpus, lines(), "heard.jsonl")
    assert (received.texts, received.name, len(list(files.iterdir()))) == (36, "heard.jsonl", 1)
    parameters = comparing.parameters_of(received=received)
    comparing.ask(corpus, parameters, by=researcher)
    with django_capture_on_commit_callbacks(execute=True):
        reports.make_asked()
    report = reports.find(corpus, Report.DIVERSITY, parameters)
    found = comparing.found_in(report)
    assert (found.theirs.texts, found.theirs.authors, found.own_groups) == (36, 12, False)
    assert list(files.iterdir()) == []
    assert "word" not in json.dumps(parameters)
    CommentFactory(thread__corpus=corpus)
    assert reports.is_current(report), "without the texts nobody can count it anew"
    assert found.state != comparing.state(corpus)


def test_a_killed_count_keeps_the_texts_and_can_be_repeated(corpus, files):
    chatter(corpus)
    received = texts.receive(corpus, lines(), "heard.jsonl")
    parameters = comparing.parameters_of(received=received)
    comparing.ask(corpus, parameters, by=None)

    class Killed(Exception):
        pass

    def killed():
        with transaction.atomic():
            comparing.measure(corpus, parameters)
            raise Killed

    with pytest.raises(Killed):
        killed()
    assert len(list(files.iterdir())) == 1
    reports.make_asked()
    assert comparing.found_in(reports.find(corpus, Report.DIVERSITY, parameters)).auc is not None


def test_texts_that_another_report_waits_for_stay(corpus, files):
    received = texts.receive(corpus, lines(), "heard.jsonl")
    comparing.ask(corpus, comparing.parameters_of(received=received, seed=1), by=None)
    texts.forget(corpus, received.digest)
    assert len(list(files.iterdir())) == 1
    Report.objects.update(asked_at=None)
    texts.forget(corpus, received.digest)
    assert list(files.iterdir()) == []


def test_old_files_that_nobody_waits_for_are_swept(corpus, files):
    received = texts.receive(corpus, lines(), "heard.jsonl")
    path = texts.path_of(corpus, received.digest)
    texts.sweep()
    assert path.exists()
    os.utime(path, (time.time() - 90_000,) * 2)
    comparing.ask(corpus, comparing.parameters_of(received=received), by=None)
    texts.sweep()
    assert path.exists()
    Report.objects.update(asked_at=None)
    texts.sweep()
    assert not path.exists()


def test_texts_that_are_gone_are_said_to_be(corpus):
    chatter(corpus)
    parameters = {"against": "texts", "other": "0" * 64, "name": "gone.txt", "seed": 0}
    found = comparing.found_in(reports.make(corpus, Report.DIVERSITY, parameters))
    assert (found.auc, found.words) == (None, comparing.GONE)


def test_a_corpus_in_the_trash_is_said_to_be_gone(corpus):
    other = CorpusFactory()
    Corpus.objects.filter(pk=other.pk).update(trashed_at="2026-01-01T00:00Z")
    found = comparing.measure(corpus, comparing.parameters_of(other=other))
    assert (found.auc, found.words) == (None, comparing.NO_CORPUS)


def test_too_few_authors(corpus):
    chatter(corpus, authors=4)
    other = CorpusFactory()
    chatter(other)
    found = comparing.measure(corpus, comparing.parameters_of(other=other))
    assert found.auc is None
    assert found.words == "Only 4 authors of this corpus’ comments; at least 10 are needed."


def test_a_file_without_authors_takes_each_text_as_one(corpus):
    chatter(corpus)
    plain = [
        b"\xef\xbb\xbfword1 word2 word3\r\n",
        b"\n",
        *(f"word{n} word{n + 1}\n".encode() for n in range(14)),
    ]
    received = texts.receive(corpus, plain, "plain.txt")
    found = comparing.measure(corpus, comparing.parameters_of(received=received))
    assert (found.theirs.texts, found.theirs.authors, found.own_groups) == (15, 15, True)


def test_whole_authors_are_drawn_by_the_seed_within_the_bounds():
    sizes = {f"a{number}": Size(3, 30) for number in range(20)} | {"huge": Size(100, 10)}
    chosen = drawn(sizes, seed=1, most=10, characters=1000)
    assert len(chosen) == 3
    assert "huge" not in chosen
    assert chosen == drawn(dict(reversed(sizes.items())), seed=1, most=10, characters=1000)
    assert chosen != drawn(sizes, seed=2, most=10, characters=1000)
    assert len(drawn(sizes, seed=1, most=1000, characters=95)) <= 4
    assert len(drawn(sizes, seed=1)) == 21


def test_authors_of_both_sides_are_apart(corpus, monkeypatch):
    chatter(corpus, authors=10)
    other = CorpusFactory()
    chatter(other, authors=10)
    seen = []
    monkeypatch.setattr(
        comparing, "measured", lambda said, **more: seen.extend(said) or measured(said, **more)
    )
    comparing.measure(corpus, comparing.parameters_of(other=other))
    assert len({one.group for one in seen}) == 20
    assert {one.is_synthetic for one in seen} == {True, False}


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("a.jsonl", [b'{"text": "x"}\n', b'{"text": 3}\n'], "Line 2, text: must be there"),
        ("a.jsonl", [b"goats\n"], "Line 1: is no JSON object"),
        ("a.jsonl", [b"[1]\n"], "Line 1: must be an object"),
        ("a.jsonl", [b"[" * 100_000], "Line 1: is no JSON object"),
        ("a.jsonl", [b'{"text": "x", "author": []}\n'], "Line 1, author: must be text"),
        ("a.jsonl", [b'{"text": "x\\u0000"}\n'], "Line 1, text: holds a NUL"),
        ("a.txt", [b"fine\n", b"\xff\xfe\n"], "Line 2: is not UTF-8"),
        ("a.txt", [b"x" * 20_001], "Line 1: has 20,001 characters"),
        ("a.txt", [b"\n", b"  \n"], "There is no text in the file"),
        ("a.txt", [b"ab " * 6000 + b"\n"] * 1200, "The file has more than 20 MB"),
    ],
)
def test_a_wrong_file_changes_nothing(corpus, files, name, given, said):
    with pytest.raises(texts.BadTexts, match=said):
        texts.receive(corpus, given, name)
    assert list(files.iterdir()) == []
