"""Reports are counted by a worker when they were asked for, and only where something has changed."""

import threading

import pytest
from django.db import connection
from django.utils import timezone

from evaluation import tasks
from evaluation.models import Report
from evaluation.services import reports
from tests.factories.simulation import CorpusFactory


class Counting:
    """A maker whose rows are a number, and that says how often it was asked to count."""

    def __init__(self):
        self.rows, self.counted, self.broken = 1, 0, False

    def stamp(self, corpus, parameters):
        return reports.stamp_of(self.rows, corpus.public_id)

    def content(self, corpus, parameters):
        if self.broken:
            raise ZeroDivisionError
        self.counted += 1
        return {"rows": self.rows, "least": parameters["least"]}


@pytest.fixture
def maker(monkeypatch):
    one = Counting()
    monkeypatch.setitem(reports.MAKERS, "board", one)
    return one


def closing(work):
    """`work` in a thread of its own, with a connection that is closed at the end."""

    def inner(**given):
        try:
            work(**given)
        finally:
            connection.close()

    return inner


def asked(corpus, least=3):
    return reports.find(corpus, "board", {"least": least})


def test_what_was_asked_for_is_counted_once(db, corpus, maker):
    assert asked(corpus) is None
    reports.ask_for(corpus, "board", {"least": 3})
    assert asked(corpus).content is None
    assert reports.make_asked() == 1
    assert asked(corpus).content == {"rows": 1, "least": 3}
    assert asked(corpus).asked_at is None
    assert reports.is_current(asked(corpus))
    assert reports.make_asked() == 0
    reports.ask_for(corpus, "board", {"least": 3})
    reports.make_asked()
    assert maker.counted == 1, "nothing had changed"


def test_the_order_of_parameters_makes_no_other_report(db, corpus, maker):
    reports.ask_for(corpus, "board", {"least": 3, "mode": "default"})
    reports.ask_for(corpus, "board", {"mode": "default", "least": 3})
    assert Report.objects.count() == 1


def test_changed_rows_make_it_old_until_it_is_asked_for_again(db, corpus, maker):
    reports.make(corpus, "board", {"least": 3})
    maker.rows = 2
    assert not reports.is_current(asked(corpus))
    assert asked(corpus).content["rows"] == 1, "the old numbers are shown meanwhile"
    reports.ask_again(corpus, "board")
    tasks.make_reports()
    assert asked(corpus).content["rows"] == 2
    assert reports.is_current(asked(corpus))


def test_asking_again_leaves_other_corpora_and_kinds_alone(db, corpus, maker):
    other = CorpusFactory()
    for one in (corpus, other):
        reports.make(one, "board", {"least": 3})
    reports.ask_again(other, "board")
    reports.ask_again(corpus, "labels")
    assert asked(corpus).asked_at is None
    assert asked(other).asked_at is not None


def test_a_fault_is_said_keeps_the_old_numbers_and_is_not_tried_for_ever(db, corpus, maker, caplog):
    reports.make(corpus, "board", {"least": 3})
    maker.rows, maker.broken = 2, True
    reports.ask_again(corpus, "board")
    reports.make_asked()
    one = asked(corpus)
    assert one.problem == reports.STOPPED
    assert one.content["rows"] == 1
    assert "ZeroDivisionError" in caplog.text
    assert reports.make_asked() == 0
    maker.broken = False
    reports.ask_again(corpus, "board")
    reports.make_asked()
    assert (asked(corpus).problem, asked(corpus).content["rows"]) == ("", 2)


def test_one_that_was_never_counted_and_breaks_is_counted_when_it_can_be(db, corpus, maker):
    maker.broken = True
    reports.ask_for(corpus, "board", {"least": 3})
    reports.make_asked()
    assert not reports.is_current(asked(corpus))
    maker.broken = False
    reports.ask_for(corpus, "board", {"least": 3})
    reports.make_asked()
    assert asked(corpus).content["rows"] == 1


@pytest.mark.django_db(transaction=True)
def test_who_asks_while_it_is_counted_does_not_wait_and_is_not_forgotten(corpus, maker):
    reports.ask_for(corpus, "board", {"least": 3})
    begun, go_on = threading.Event(), threading.Event()
    count = maker.content

    def slowly(corpus, parameters):
        begun.set()
        assert go_on.wait(20)
        return count(corpus, parameters)

    maker.content = slowly
    worker = threading.Thread(target=closing(reports.make_asked), kwargs={"most": 1})
    worker.start()
    assert begun.wait(20)
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '5s'")
        maker.rows = 2
        reports.ask_again(corpus, "board")
        cursor.execute("RESET lock_timeout")
    go_on.set()
    worker.join(20)
    assert asked(corpus).asked_at is not None
    maker.content = count
    reports.make_asked()
    assert (asked(corpus).content["rows"], asked(corpus).asked_at) == (2, None)


@pytest.mark.django_db(transaction=True)
def test_two_workers_share_the_list(corpus, maker):
    """The second passes over what the first is counting, and does not wait for it."""
    for least in range(4):
        reports.ask_for(corpus, "board", {"least": least})
    begun, go_on, seen = threading.Event(), threading.Event(), []
    count = maker.content

    def slowly(corpus, parameters):
        if not begun.is_set():
            begun.set()
            assert go_on.wait(20)
        seen.append(parameters["least"])
        return count(corpus, parameters)

    maker.content = slowly

    first = threading.Thread(target=closing(reports.make_asked))
    first.start()
    assert begun.wait(20)
    assert reports.make_asked() == 3
    go_on.set()
    first.join(20)
    assert sorted(seen) == [0, 1, 2, 3]
    assert not Report.objects.filter(asked_at__lte=timezone.now()).exists()
