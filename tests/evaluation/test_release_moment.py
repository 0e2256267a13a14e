"""A release shows one moment, needs no more memory for more comments, and works beside another one."""

import threading
import tracemalloc

import pytest
from django.db import connection, connections

from annotation.exchange.dataset import import_paths
from evaluation.domain.releasing import Query
from evaluation.exchange import release_scope
from evaluation.exchange.release_scope import Scope
from simulation.models import Comment, Corpus
from tests.annotation.exchange.samples import guess, row
from tests.evaluation.release_scene import hostile_corpus, lines, make, write_rows
from tests.factories.simulation import CommentFactory


def elsewhere(act):
    """Runs `act` with a connection of its own to the end."""

    def run():
        try:
            act()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


@pytest.mark.django_db(transaction=True)
def test_all_files_show_the_moment_at_which_reading_began(tmp_path):
    corpus = hostile_corpus(tmp_path)

    def change():
        Comment.objects.filter(external_id="c1").update(text="changed meanwhile")
        CommentFactory(thread=Comment.objects.get(external_id="c1").thread, corpus=corpus, sequence=99)

    waiting = [change]
    make(corpus, tmp_path / "out", check=lambda: elsewhere(waiting.pop()) if waiting else None)
    assert Comment.objects.count() == 9
    for name in ("comments", "synthpai"):
        texts = [one["text"] for one in lines(tmp_path / "out", name)]
        assert len(texts) == 8
        assert "changed meanwhile" not in texts
    make(corpus, tmp_path / "later")
    assert len(lines(tmp_path / "later", "comments")) == 9


@pytest.mark.django_db(transaction=True)
def test_two_releases_at_once_do_not_meet(tmp_path):
    corpus, other = hostile_corpus(tmp_path, "one"), hostile_corpus(tmp_path, "two")
    Comment.objects.filter(corpus=other, external_id="c7").update(state="withdrawn")
    waiting = [lambda: make(other, tmp_path / "other")]
    make(corpus, tmp_path / "one", check=lambda: elsewhere(waiting.pop()) if waiting else None)
    assert len(lines(tmp_path / "one", "comments")) == 8
    assert len(lines(tmp_path / "other", "comments")) == 7


@pytest.mark.django_db(transaction=True)
def test_the_tables_of_a_release_are_gone_after_it(tmp_path):
    make(hostile_corpus(tmp_path), tmp_path / "out")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_class WHERE relname LIKE 'release_%' AND relpersistence = 't'"
        )
        assert cursor.fetchone() == (0,)


@pytest.mark.django_db
def test_every_temporary_table_is_one_that_is_dropped(tmp_path):
    scope = Scope(hostile_corpus(tmp_path), Query(), "adjudicated", None)
    with release_scope.snapshot():
        release_scope.choose(scope)
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relpersistence = 't' AND relkind = 'r'")
        assert cursor.fetchall() == []


@pytest.mark.django_db
def test_memory_does_not_grow_with_the_comments(tmp_path):
    peaks = []
    for size in (600, 6000):
        rows = [
            row(n, reviews={}, username="One", author="pers1", guesses=[guess()], text=f"{n} " + "word " * 40)
            for n in range(size)
        ]
        name = f"corpus of {size}"
        assert import_paths(paths=[write_rows(tmp_path / f"{size}.jsonl", rows)], corpus_name=name).ok
        corpus = Corpus.objects.get(name=name)
        tracemalloc.start()
        make(corpus, tmp_path / name)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
