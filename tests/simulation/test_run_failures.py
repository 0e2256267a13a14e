"""What of a run came to nothing: every row with its reason, for whom, and as a file."""

import csv
import io
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from simulation.domain import failures
from simulation.domain.roles import Role
from simulation.domain.run_states import AttemptState, CallState, StepState
from simulation.models import Step
from simulation.selectors import run_failures
from simulation.selectors.run_failures import Filter
from tests.factories.runs import scene
from tests.factories.simulation import (
    AttemptFactory,
    CorpusFactory,
    MembershipFactory,
    ModelCallFactory,
    RunFactory,
    StepFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def watched(corpus):
    return scene(corpus)


def address(run, name="run_failures"):
    return reverse(name, args=[run.public_id])


def body_of(answer):
    assert answer.status_code == 200
    return answer.content.decode()


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", body_of(answer)).split())


def trouble(watched, *, again=True):
    """One of everything: skipped, failed, cancelled, and answers that were asked again."""
    watched.skip(number=1, raw="Sure! Here it is.")
    watched.turn(StepState.FAILED, number=2, reason="fault", detail="An error of ours.")
    watched.turn(StepState.CANCELLED, number=3)
    went_on = StepFactory(run=watched.run, run_thread=watched.thread, kind="interest", number=4)
    for state in ("refused", "truncated", "invalid", "failed"):
        call = ModelCallFactory(
            step=went_on, state=state, problem=f"problem of {state}", reply={"text": f"raw {state}"}
        )
    AttemptFactory(call=call, state="permanent", status=422, detail="unknown parameter seed")
    AttemptFactory(call=call, number=1, state="rate_limited", wait=2.5, detail="slow down")


# --- rows -----------------------------------------------------------------------------------------------


def test_every_step_without_a_result_and_every_answer_of_no_use_is_a_row(client_of, admin, watched):
    trouble(watched)
    page = run_failures.page(watched.run, Filter())
    told = {(row.what, row.step.key if row.what == "steps" else row.state, row.reason) for row in page.rows}
    keys = dict(watched.run.steps.values_list("number", "key"))
    assert told == {
        ("steps", keys[1], "unreadable"),
        ("steps", keys[2], "fault"),
        ("steps", keys[3], "cancelled"),
        ("answers", "refused", "refused"),
        ("answers", "truncated", "truncated"),
        ("answers", "invalid", "unreadable"),
        ("answers", "failed", "rejected"),
    }
    # With the answers alone also that of the step that was lost.
    assert len(run_failures.page(watched.run, Filter(what="answers")).rows) == 5


def test_a_row_says_what_it_means_what_can_be_done_and_what_the_provider_said(client_of, admin, watched):
    trouble(watched)
    said = words(client_of(admin).get(address(watched.run)))
    assert "Turn 1, Otter" in said
    assert "The model answered, but not in the form that was asked for." in said
    assert "The agent lost its turn; the run went on." in said
    assert "The line is missing." in said
    assert "scripted, served by scripted-1" in said
    assert "The provider: slow down" in said
    assert "Interest check refused refused asked again" in said
    assert "The provider was asked too fast" in said


def test_raw_answers_are_for_admins_on_the_page_and_in_the_file(client_of, admin, researcher, watched):
    trouble(watched)
    for person, reads in ((admin, True), (researcher, False)):
        browser = client_of(person)
        assert ("raw refused" in body_of(browser.get(address(watched.run)))) is reads
        file = browser.get(address(watched.run, "run_failures_csv"))
        text = b"".join(file.streaming_content).decode()
        assert ("raw refused" in text) is reads
        assert ("raw_answer" in text) is reads


def test_the_page_is_for_who_may_see_the_run(client_of, labeler, watched):
    foreign = MembershipFactory(role=Role.RESEARCHER, corpus=CorpusFactory()).person
    for name in ("run_failures", "run_failures_csv"):
        assert client_of(labeler).get(address(watched.run, name)).status_code == 403
        assert client_of(foreign).get(address(watched.run, name)).status_code == 404


def test_a_run_without_trouble_says_so(client_of, researcher, watched):
    said = words(client_of(researcher).get(address(watched.run)))
    assert "Nothing failed" in said
    assert "No model declined to answer." in said
    assert "No attempt was rate-limited, failed or lost." in said


def test_every_state_that_is_trouble_has_words():
    calls = (CallState.REFUSED, CallState.TRUNCATED, CallState.INVALID, CallState.FAILED)
    reasons = [failures.OF_CALLS[state] for state in calls]
    for reason in [*reasons, "empty", "withdrawn", "fault", "cancelled"]:
        assert failures.meaning(reason).means != failures.OTHER.means
        assert failures.meaning(reason).do
    heard = (AttemptState.SENT, AttemptState.ANSWERED)
    assert {state for state in AttemptState if state not in heard} == set(failures.ATTEMPTS)
    assert failures.meaning("a new reason").word == "a new reason"


# --- filters, counts, pages -----------------------------------------------------------------------------


def test_counts_stand_on_top_and_lead_to_their_rows(client_of, researcher, watched):
    trouble(watched)
    watched.skip(number=5)
    browser = client_of(researcher)
    said = words(browser.get(address(watched.run)))
    assert "Steps without a result 4" in said
    assert "2 unreadable" in said
    assert "Attempts without an answer 2" in said
    page = browser.get(address(watched.run), {"what": "steps", "reason": "unreadable"}).context["page"]
    assert {row.step.number for row in page.rows} == {1, 5}
    page = browser.get(address(watched.run), {"kind": "interest"}).context["page"]
    assert {row.what for row in page.rows} == {"answers"}
    page = browser.get(address(watched.run), {"reason": "cancelled"}).context["page"]
    assert [row.step.number for row in page.rows] == [3]
    assert "Nothing matches" in words(browser.get(address(watched.run), {"reason": "nonsense"}))


@pytest.mark.parametrize("at_once", [True, False])
def test_rows_are_paged_newest_first_and_none_is_missed_or_told_twice(watched, at_once):
    now = timezone.now()
    for number in range(60):
        moment = now if at_once or number % 3 == 0 else now - timedelta(seconds=number)
        if number % 2:
            StepFactory(run=watched.run, number=number, state="cancelled", finished_at=moment)
        else:
            step = StepFactory(run=watched.run, number=number)
            ModelCallFactory(step=step, state="refused", finished_at=moment)
    seen, before, pages = [], "", 0
    while True:
        page = run_failures.page(watched.run, Filter(), before=before, size=7)
        seen += page.rows
        before, pages = page.before, pages + 1
        if not before:
            break
    assert sorted(row.step.number for row in seen) == list(range(60))
    assert [row.at for row in seen] == sorted((row.at for row in seen), reverse=True)
    assert pages == 9


@pytest.mark.parametrize("before", ["x", "steps:", "steps:nothing", "answers:nothing", "s1", "steps:%00"])
def test_a_mark_that_nobody_of_ours_wrote_means_the_first_page(client_of, researcher, watched, before):
    trouble(watched)
    page = client_of(researcher).get(address(watched.run), {"before": before}).context["page"]
    assert len(page.rows) == 7


def test_more_rows_take_no_more_queries(client_of, researcher, watched):
    browser = client_of(researcher)
    trouble(watched)
    with CaptureQueriesContext(connection) as few:
        browser.get(address(watched.run))
    for number in range(40):
        watched.skip(number=100 + number)
        call = ModelCallFactory(step=StepFactory(run=watched.run), state="refused")
        AttemptFactory(call=call, state="transient", detail="away")
    with CaptureQueriesContext(connection) as many:
        browser.get(address(watched.run))
    assert len(many) == len(few) <= 23


def test_refusals_are_counted_by_model_and_target(client_of, researcher, watched):
    other = watched.run.run_threads.get(index=1)
    for thread, model, state in (
        (watched.thread, "quill-2", "refused"),
        (watched.thread, "quill-2", "refused"),
        (watched.thread, "quill-2", "done"),
        (other, "quill-2", "refused"),
        (other, "mild-1", "done"),
    ):
        step = StepFactory(run=watched.run, run_thread=thread)
        ModelCallFactory(step=step, model=model, state=state)
    rows = run_failures.refusals(watched.run)
    assert [(row.model, row.target, row.refused, row.asked) for row in rows] == [
        ("quill-2", "Age", 2, 3),
        ("quill-2", "Income", 1, 1),
    ]
    assert "quill-2 Age 2 3 66.7 %" in words(client_of(researcher).get(address(watched.run)))


# --- the file, and trying again -------------------------------------------------------------------------


def test_the_file_has_every_row_of_the_filter_and_no_formula(client_of, admin, watched):
    trouble(watched)
    step = watched.turn(StepState.SKIPPED, number=9, reason="unreadable", detail='=cmd("x")')
    assert step.detail.startswith("=")
    browser = client_of(admin)

    def rows(**asked):
        file = browser.get(address(watched.run, "run_failures_csv"), asked)
        return list(csv.DictReader(io.StringIO(b"".join(file.streaming_content).decode())))

    everything = rows()
    assert len(everything) == 8
    assert {row["reason"] for row in rows(what="steps")} == {"unreadable", "fault", "cancelled"}
    mine = next(row for row in everything if row["turn"] == "9")
    assert mine["detail"].startswith("'=cmd")
    assert mine["username"] == "Otter"
    assert mine["thread"] == watched.thread.external_id
    raws = {row["raw_answer"] for row in everything}
    assert "raw refused" in raws


def test_a_long_file_is_read_page_by_page(watched):
    for number in range(23):
        StepFactory(run=watched.run, number=number, state="skipped")
    rows = run_failures.everything(watched.run, Filter(), chunk=5)
    assert sorted(row.step.number for row in rows) == list(range(23))


def test_trying_again_is_offered_to_who_may_start_runs_where_it_is_possible(
    client_of, admin, researcher, watched
):
    trouble(watched)
    step = watched.run.steps.get(number=1)
    retry = address(watched.run, "run_retry")
    asked = {"reason": "unreadable"}
    # Its thread is still being written: what comes late is written behind everything else.
    assert retry not in body_of(client_of(admin).get(address(watched.run), asked))

    watched.run.run_threads.update(state="partial")
    mine = body_of(client_of(admin).get(address(watched.run), asked))
    assert f'name="step" value="{step.key}"' in mine
    assert "Try all of these again (1)" in mine
    page = body_of(client_of(admin).get(reverse("run", args=[watched.run.public_id])))
    assert f'form="retry" name="step" value="{step.key}"' in page
    assert retry not in body_of(client_of(researcher).get(address(watched.run), asked))
    assert f'value="{step.key}"' not in body_of(
        client_of(researcher).get(reverse("run", args=[watched.run.public_id]))
    )

    watched.run.state = "cancelled"
    watched.run.save()
    assert retry not in body_of(client_of(admin).get(address(watched.run), asked))


def test_a_run_of_another_is_not_told_of(client_of, researcher, watched, corpus):
    trouble(watched)
    other = RunFactory(corpus=corpus)
    assert run_failures.page(other, Filter()).rows == []
    assert run_failures.page(other, Filter(), before=f"steps:{Step.objects.first().key}").rows == []
