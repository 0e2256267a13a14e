"""The forms of a rerun and of a fork, sent twice: one run, paid for once."""

import threading

import pytest
from django.db import connection
from django.urls import reverse

from simulation.models import Run
from tests.running import committing, start, work_off

pytestmark = pytest.mark.django_db
CAPS = {"max_cost": "1", "max_calls": "500", "max_tokens": "1000000"}


@pytest.fixture(params=["run_rerun", "run_fork"])
def address(request, gateway, db):
    run = work_off(start())
    return reverse(request.param, args=[run.public_id, *(["1"] if request.param == "run_fork" else [])])


def sent_form(browser, address):
    """What a browser sends of the page as it opens, with caps."""
    form = browser.get(address).context["form"]
    return {field.html_name: field.value() for field in form if field.value() is not None} | CAPS


def test_a_form_sent_twice_starts_one_run(client_of, admin, address):
    browser = client_of(admin)
    sent = sent_form(browser, address)
    first, second = browser.post(address, sent), browser.post(address, sent)
    assert (first.status_code, second.status_code) == (302, 302)
    made = Run.objects.exclude(origin=Run.FRESH).get()
    assert first["Location"] == second["Location"] == reverse("run", args=[made.public_id])
    assert made.plan["form"] == sent["form"]
    assert browser.post(address, sent_form(browser, address)).status_code == 302
    assert Run.objects.exclude(origin=Run.FRESH).count() == 2  # another form, another run


def test_a_form_without_its_mark_starts_nothing(client_of, admin, address):
    browser = client_of(admin)
    sent = sent_form(browser, address)
    del sent["form"]
    assert browser.post(address, sent).status_code == 422
    assert not Run.objects.exclude(origin=Run.FRESH).exists()


@committing
def test_two_presses_at_the_same_time_start_one_run(client_of, admin, address):
    browsers = [client_of(admin) for _ in range(2)]
    sent, gate, found = sent_form(browsers[0], address), threading.Barrier(2), []

    def press(browser):
        try:
            gate.wait()
            found.append(browser.post(address, sent)["Location"])
        finally:
            connection.close()

    presses = [threading.Thread(target=press, args=[one]) for one in browsers]
    for one in presses:
        one.start()
    for one in presses:
        one.join()
    assert len(found) == 2
    assert len(set(found)) == 1
    assert Run.objects.exclude(origin=Run.FRESH).count() == 1
