"""What an admin does to a run under way: pause, resume, cancel, raise its caps."""

import pytest
from django.urls import reverse
from django.utils import timezone

from simulation.domain.roles import Role
from simulation.models import AuditEntry, Run
from simulation.selectors import workers
from simulation.services import engine
from tests.factories.runs import scene
from tests.factories.simulation import CorpusFactory, MembershipFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})


@pytest.fixture
def run(corpus):
    return scene(corpus, calls=40, tokens=4200).run


def steer(browser, run, event, **options):
    return browser.post(reverse("run_control", args=[run.public_id]), {"event": event}, **options)


def set_caps(browser, run, calls, tokens, **options):
    data = {"max_calls": calls, "max_tokens": tokens}
    return browser.post(reverse("run_caps", args=[run.public_id]), data, **options)


def state_of(run):
    return Run.objects.values_list("state", flat=True).get(pk=run.pk)


def test_an_admin_pauses_resumes_and_cancels(client_of, admin, run):
    browser = client_of(admin)
    for event, state, said in (
        ("pause", "paused", "Paused. What is in flight finishes"),
        ("resume", "running", "Resumed."),
        ("cancel", "cancelled", "Stopped. What was written stays."),
    ):
        answer = steer(browser, run, event, follow=True)
        assert state_of(run) == state
        assert said in answer.content.decode()
    assert list(AuditEntry.objects.order_by("id").values_list("action", flat=True)) == [
        "run.pause",
        "run.resume",
        "run.cancel",
    ]


def test_what_cannot_be_done_is_said(client_of, admin, run):
    answer = steer(client_of(admin), run, "resume", follow=True)
    assert "A run that is running cannot resume." in answer.content.decode()
    assert state_of(run) == "running"


def test_an_ended_run_stays_ended(client_of, admin, run):
    Run.objects.update(state="done", ended_at=timezone.now())
    browser = client_of(admin)
    for event in ("pause", "resume", "cancel"):
        steer(browser, run, event)
        assert state_of(run) == "done"
    assert "Pause" not in browser.get(reverse("run", args=[run.public_id])).content.decode()


@pytest.mark.parametrize("event", ["", "finish", "fail", "PAUSE"])
def test_an_unknown_event_is_a_bad_request(client_of, admin, run, event):
    assert steer(client_of(admin), run, event).status_code == 400


def test_watching_gives_no_right_to_steer(client_of, researcher, run):
    browser = client_of(researcher)
    assert steer(browser, run, "cancel").status_code == 403
    assert set_caps(browser, run, 5000, 5_000_000).status_code == 403
    assert state_of(run) == "running"


def test_to_the_admin_of_another_corpus_the_run_is_not_there(client_of, run):
    browser = client_of(MembershipFactory(role=Role.ADMIN, corpus=CorpusFactory(name="summer")).person)
    assert steer(browser, run, "cancel").status_code == 404
    assert set_caps(browser, run, 5000, 5_000_000).status_code == 404
    assert state_of(run) == "running"


def test_an_admin_of_the_corpus_alone_steers_its_runs(client_of, run):
    browser = client_of(MembershipFactory(role=Role.ADMIN, corpus=run.corpus).person)
    steer(browser, run, "pause")
    assert state_of(run) == "paused"


def test_steering_needs_a_post_with_a_token(client, client_of, admin, run):
    browser = client_of(admin)
    for name in ("run_control", "run_caps"):
        assert browser.get(reverse(name, args=[run.public_id])).status_code == 405
    strict = type(client)(enforce_csrf_checks=True)
    strict.force_login(admin, backend="django.contrib.auth.backends.ModelBackend")
    assert steer(strict, run, "cancel").status_code == 403
    assert state_of(run) == "running"


@pytest.fixture
def halted(run):
    reason = "The cap of 40 calls is reached. Raise it and resume, or cancel the run."
    Run.objects.update(state="halted", reason=reason, max_calls=40)
    run.refresh_from_db()
    return run


def test_raised_caps_let_a_halted_run_go_on(client_of, admin, halted):
    answer = set_caps(client_of(admin), halted, 90, 2_000_000, follow=True)
    halted.refresh_from_db()
    assert (halted.state, halted.max_calls, halted.max_tokens) == ("running", 90, 2_000_000)
    assert "Caps set, resumed." in answer.content.decode()


@pytest.mark.parametrize(
    ("calls", "tokens", "words"),
    [
        (39, 2_000_000, "40 calls have been made already."),
        (90, 4199, "4,200 tokens have been spent or set aside already."),
        (40, 1_000_000, "None is higher than before"),
        ("", 1_000_000, "This field is required."),
        ("many", 1_000_000, "Enter a whole number."),
        (0, 1_000_000, "greater than or equal to 1"),
    ],
)
def test_caps_that_would_not_help_are_refused_beside_the_field(
    client_of, admin, halted, calls, tokens, words
):
    answer = set_caps(client_of(admin), halted, calls, tokens)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    halted.refresh_from_db()
    assert (halted.state, halted.max_calls, halted.max_tokens) == ("halted", 40, 1_000_000)


def test_caps_of_a_run_that_cannot_go_on_are_not_raised(client_of, admin, run):
    """Both or neither: the cap is not raised where the run does not resume."""
    answer = set_caps(client_of(admin), run, 9000, 9_000_000, follow=True)
    run.refresh_from_db()
    assert (run.state, run.max_calls) == ("running", 1000)
    assert "cannot resume" in answer.content.decode()
