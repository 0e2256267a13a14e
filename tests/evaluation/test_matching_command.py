"""judge_guesses, by the scripted model within this process."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Opinion, Question
from simulation.llm.connecting import SCRIPTED
from simulation.models import Run
from simulation.selectors import workers
from simulation.services import engine
from tests.factories.evaluation import QuestionFactory
from tests.factories.simulation import CorpusFactory, ProviderFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def here(monkeypatch):
    """Five questions about two jobs and a place; options that name where they are."""
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(workers, "alive", dict)
    corpus = CorpusFactory(name="ports")
    ProviderFactory(name="rules", base_url=SCRIPTED, default_model="scripted")
    for guess in ("bus driver", "pilot", "night bus driver"):
        QuestionFactory(corpus=corpus, guess=guess)
    QuestionFactory(corpus=corpus, truth="nurse", guess="pilot")
    QuestionFactory(corpus=corpus, attribute="city_country", truth="Graz, Austria", guess="Linz, Austria")
    return ["ports", "--provider", "rules"]


def run(*arguments, as_json=True):
    said = StringIO()
    call_command("judge_guesses", "--corpus", *arguments, *(["--json"] if as_json else []), stdout=said)
    return json.loads(said.getvalue()) if as_json else said.getvalue()


def test_open_questions_are_answered_and_counted(here):
    said = run(*here, "--model", "scripted", "--max-calls", "50", "--max-tokens", "90000")
    assert (said["state"], said["asked"], said["answered"], said["calls"]) == ("done", 5, 5, 3)
    assert said["right"] + said["less_precise"] + said["wrong"] == 5
    assert said["right"] >= 1
    assert said["wrong"] >= 2
    assert Question.objects.get(truth="Graz, Austria").score == 0.5
    assert said["unreadable_or_refused"] == 0
    one = Run.objects.get()
    assert (one.max_calls, one.max_tokens, one.kind) == (50, 90000, Run.MATCH)
    with pytest.raises(CommandError, match="no open question"):
        run(*here)
    again = run(*here, "--which", "again", "--attribute", "city_country", "--guesses", "1")
    assert (again["asked"], Opinion.objects.count()) == (1, 6)


def test_a_dry_run_says_what_it_needs_and_writes_nothing(here):
    said = run(*here, "--attribute", "occupation", "--dry-run")
    assert (said["questions"], said["calls_low"], said["cost_high_usd"]) == (4, 2, 0)
    assert said["tokens_high"] > 0
    assert "questions      5" in run(*here, "--dry-run", as_json=False)
    assert run(*here, "--waiting", "9", "--dry-run")["calls_high"] == 0
    assert not Run.objects.exists()


def test_a_cap_that_is_reached_ends_it_with_status_1(here):
    with pytest.raises(CommandError, match="The run is halted") as error:
        run(*here, "--max-calls", "1", "--here", "1")
    assert error.value.returncode == 1
    assert Opinion.objects.exists()
    assert Question.objects.filter(state="open").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--attribute", "height"], "Not in the catalogue"),
        (["--which", "people"], "People have settled none"),
        (["--guesses", "0"], "from 1 up"),
        (["--guesses", "99"], "from 1 to 50"),
        (["--max-cost", "much"], "an amount in dollars"),
        (["--model", "x" * 101], "1 to 100 characters"),
        (["--model", "x" * 101, "--dry-run"], "1 to 100 characters"),
        (["--provider", "nobody"], "There is no provider 'nobody'"),
        (["--seed", "-1"], "A whole number"),
    ],
)
def test_wrong_usage_is_said_and_starts_nothing(here, options, said):
    with pytest.raises(CommandError, match=said) as error:
        run(*here, *options)
    assert error.value.returncode == 2
    assert not Run.objects.exists()
