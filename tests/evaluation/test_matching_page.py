"""The page on which a judge is asked: who may, what it offers, what it starts, what the run's page shows."""

import re

import pytest
from django.urls import reverse

from evaluation.models import Opinion
from evaluation.services import questions
from evaluation.services.matching import Matching
from simulation.models import Provider, Run
from simulation.selectors import workers
from simulation.services import engine
from tests.factories.evaluation import QuestionFactory
from tests.factories.simulation import ProviderFactory
from tests.running import work_off

pytestmark = pytest.mark.django_db
SECRET = "glassblower"


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})


@pytest.fixture
def asked(corpus):
    ProviderFactory(name="rules")
    for number in range(3):
        QuestionFactory(corpus=corpus, truth=SECRET, guess=f"glass worker {number}", waiting=number + 1)
    QuestionFactory(corpus=corpus, attribute="sex", truth="male", guess="a man")
    return corpus


def address(corpus):
    return reverse("matching_new", args=[corpus.public_id])


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def fields(page, **changes):
    """What a browser would send of the form as it stands."""
    form = page.context["form"]
    sent = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in (sent | changes).items() if value is not None}


def test_the_form_is_filled_in_with_a_forecast_and_caps(client_of, admin, asked):
    page = client_of(admin).get(address(asked))
    assert (page.status_code, page.context["size"].questions, page.context["size"].calls) == (200, 4, 2)
    said = words(page)
    assert "Open ones (4): nobody has given an answer" in said
    assert "Those that people have settled (0)" in said
    assert "No judge has been asked about a question of this corpus yet." in said
    assert page.context["form"]["max_calls"].value() == "3"
    assert SECRET not in page.content.decode()


def test_an_address_chooses_and_the_forecast_follows(client_of, admin, asked):
    browser = client_of(admin)
    page = browser.get(address(asked), {"which": "people", "attribute": "sex"})
    assert page.context["size"].questions == 0
    assert "No question is like this" in words(page)
    look = browser.post(address(asked), fields(page, which="open", look="1"), headers={"HX-Request": "true"})
    assert look.context["size"].questions == 1
    assert "<html" not in look.content.decode()
    assert browser.get(address(asked), {"which": "nonsense", "attribute": "nonsense"}).status_code == 200


def test_the_form_starts_the_run_once_and_the_run_answers(client_of, admin, asked):
    browser = client_of(admin)
    page = browser.get(address(asked))
    sent = fields(page, waiting="0", attributes=["occupation"], guesses="1")
    proposed = browser.post(address(asked), sent)
    assert proposed.status_code == 422  # other questions need other caps
    assert "they are proposed anew" in words(proposed)
    sent = fields(proposed)
    for _ in range(2):
        answer = browser.post(address(asked), sent)
        run = Run.objects.get()
        assert answer.url == reverse("run", args=[run.public_id])
    assert (run.kind, run.created_by, run.steps.count()) == (Run.MATCH, admin, 3)
    assert (run.plan["waiting"], run.plan["attributes"], run.plan["guesses"]) == (0, ["occupation"], 1)
    run = work_off(run, Matching())
    assert (run.state, Opinion.objects.count()) == ("done", 3)
    assert "scripted" in words(browser.get(address(asked)))


def test_the_page_of_such_a_run_shows_it_while_it_runs_and_after(client_of, admin, asked):
    browser = client_of(admin)
    browser.post(address(asked), fields(browser.get(address(asked))))
    run = Run.objects.get()
    assert engine.advance(run_id=run.pk, work=Matching())
    where = reverse("run", args=[run.public_id])
    said = words(browser.get(where))
    assert "settling by a judge with scripted" in said.lower()
    assert "Steps done 1 of 2" in said
    assert "match/occupation/0" in said
    work_off(run, Matching())
    assert "Steps done 2 of 2" in words(browser.get(where))
    for name in ("run_failures", "run_failures_csv"):
        assert browser.get(reverse(name, args=[run.public_id])).status_code == 200


def test_who_may_only_watch_runs_sees_no_truth_on_the_page_of_the_run(client_of, admin, researcher, asked):
    browser = client_of(admin)
    browser.post(address(asked), fields(browser.get(address(asked))))
    run = work_off(Run.objects.get(), Matching())
    page = client_of(researcher).get(reverse("run", args=[run.public_id]))
    assert page.status_code == 200
    assert SECRET not in page.content.decode()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": ""}, "required"),
        ({"which": "nonsense"}, "not one of the available choices"),
        ({"attributes": ["shoe size"]}, "not one of the available choices"),
        ({"guesses": "51"}, "less than or equal to 50"),
        ({"waiting": "-1"}, "greater than or equal to 0"),
        ({"provider": "nobody"}, "not one of the available choices"),
        ({"max_cost": "1", "soft_cost": "2"}, "not more than that"),
        ({"max_cost": "-0"}, "number of dollars"),
        ({"which": "again", "max_calls": "9", "max_tokens": "9999"}, "No judge has answered"),
        ({"model": "x" * 101}, "at most 100"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_started(client_of, admin, asked, changes, said):
    browser = client_of(admin)
    answer = browser.post(address(asked), fields(browser.get(address(asked)), **changes))
    assert answer.status_code == 422
    assert said in words(answer)
    assert not Run.objects.exists()


def test_without_questions_or_providers_the_page_says_what_to_do(client_of, admin, corpus):
    browser = client_of(admin)
    said = words(browser.get(address(corpus)))
    assert "No provider yet." in said
    assert "There is no question to ask." in said
    ProviderFactory()
    assert "Score a prediction run" in words(browser.get(address(corpus)))


def test_only_who_may_start_runs_gets_in(client_of, researcher, adjudicator, labeler, admin, asked):
    for person in (researcher, adjudicator, labeler):
        assert client_of(person).get(address(asked)).status_code == 403
        assert client_of(person).post(address(asked)).status_code == 403
    gone = reverse("matching_new", args=["nowhere"])
    assert client_of(admin).get(gone).status_code == 404
    assert not Run.objects.exists()


def test_the_number_of_queries_does_not_depend_on_how_much_there_is(
    client_of, admin, asked, django_assert_num_queries
):
    browser = client_of(admin)
    provider = Provider.objects.get()

    def fill(names):
        for name in names:
            one = QuestionFactory(corpus=asked, truth=name, guess=name + "!")
            run = Run.objects.create(
                corpus=asked,
                kind=Run.MATCH,
                name=name,
                seed=0,
                provider=provider,
                max_calls=1,
                max_tokens=1,
                plan={"models": {"judge": {"model": f"m{name}"}}},
            )
            questions.judged(run, None, [(one.pk, 1.0)])

    fill("ab")
    browser.get(address(asked))
    with django_assert_num_queries(20, exact=False) as few:
        browser.get(address(asked))
    fill("cdefghijkl")
    with django_assert_num_queries(len(few)):
        assert len(browser.get(address(asked)).context["health"]) == 12
