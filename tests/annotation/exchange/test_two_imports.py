"""Two imports into one corpus at the same moment."""

import threading

import pytest
from django.db import connection

from annotation.exchange.dataset import import_paths
from simulation.models import Comment, Corpus, Profile
from tests.annotation.exchange.samples import row

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


def together(*calls):
    """Runs the calls in threads that start as one; their results or errors."""
    results, barrier = [None] * len(calls), threading.Barrier(len(calls))

    def run(number, call):
        try:
            barrier.wait()
            results[number] = call()
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


def test_the_same_file_at_once_is_stored_once(write):
    path = write("rows.jsonl", [row(number) for number in range(300)])
    reports = together(*[lambda: import_paths(paths=[path], corpus_name="harbour")] * 2)
    assert sorted((one.tallies["comments"].new, one.tallies["comments"].same) for one in reports) == [
        (0, 300),
        (300, 0),
    ]
    assert Corpus.objects.count() == 1
    assert Comment.objects.count() == Profile.objects.count() == 300


def test_different_files_at_once_do_not_mix_their_order(write):
    paths = [
        write(f"{name}.jsonl", [row(number, id=f"{name}{number}") for number in range(300)]) for name in "ab"
    ]
    reports = together(
        *[lambda path=path: import_paths(paths=[path], corpus_name="harbour") for path in paths]
    )
    assert all(one.ok for one in reports)
    order = "".join(one.external_id[0] for one in Comment.objects.order_by("sequence"))
    assert order in ("a" * 300 + "b" * 300, "b" * 300 + "a" * 300)
    assert list(Comment.objects.order_by("sequence").values_list("sequence", flat=True)) == list(range(600))
