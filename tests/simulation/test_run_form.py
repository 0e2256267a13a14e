"""The run form: every parameter with its published value, posts of one's own, money, a model's price."""

import re
from decimal import Decimal

import pytest
from django.urls import reverse

from simulation.domain.parameters import Parameters
from simulation.domain.plan_values import parameter_values, published_values
from simulation.forms import SimulationForm, plan_how, plan_options, plan_topics
from simulation.models import Price, Run
from simulation.selectors import workers
from simulation.services import engine, prices
from tests.factories.simulation import CorpusFactory, ProfileFactory, ProviderFactory

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
POST = {
    "typed_target": ["age"],
    "typed_question": ["When did you last feel old?"],
    "typed_story": ["A boy on the bus got up for me."],
}


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})


@pytest.fixture
def provider(db):
    return ProviderFactory(name="scripted model")


@pytest.fixture
def peopled(corpus, provider):
    for number in range(12):
        ProfileFactory(corpus=corpus, external_id=f"pers{number}", facts={"age": 20 + number, "sex": "male"})
    return corpus


@pytest.fixture
def paid(peopled):
    """A provider whose model costs 2 dollars a million tokens in, 8 out; another model has no price."""
    one = ProviderFactory(name="wire", base_url="http://127.0.0.1:1/v1", default_model="own-7b")
    prices.set_price(by=None, provider=one, model="own-7b", input=Decimal(2), output=Decimal(8))
    return one


def address(corpus):
    return reverse("run_new", args=[corpus.public_id])


def fields(browser, corpus, **changes):
    form = browser.get(address(corpus)).context["form"]
    held = {field.html_name: field.value() for field in form if field.name != "typed"}
    return {
        name: value for name, value in (held | changes).items() if value is not None and value is not False
    }


def with_caps(browser, corpus, **changes):
    """The form as a person sends it who looked at the new forecast first."""
    sent = fields(browser, corpus, **changes)
    form = browser.post(address(corpus), sent, headers=HTMX).context["form"]
    renewed = ("max_calls", "max_tokens", "max_cost", "suggested_calls", "suggested_tokens", "suggested_cost")
    return sent | {name: form[name].value() or "" for name in renewed} | changes


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def test_every_parameter_of_the_algorithm_is_on_the_form_with_its_published_value(corpus, provider):
    form = SimulationForm(corpus=corpus, providers=[provider])
    for name, value in parameter_values(Parameters()).items():
        assert form.fields[name].initial == form.fields[name].published == value
        assert form.fields[name].help_text
    for name, value in published_values().items():
        assert (form.fields[name].initial in (None, "")) == (value == ""), name
        if value != "":
            assert form.fields[name].initial == value
    assert set(plan_how.ROLES) == {"author", "user", "interest", "tagger", "judge"}


def test_the_mark_of_a_field_follows_what_stands_in_it(client_of, admin, peopled):
    browser = client_of(admin)
    body = browser.get(address(peopled)).content.decode()
    assert 'id="mark-rounds">As published' in body
    sent = fields(browser, peopled, rounds=3, user_temperature="0.5", p_critic="0.40")
    looked = browser.post(address(peopled), sent, headers=HTMX).content.decode()
    assert 'id="mark-rounds" hx-swap-oob="true" data-changed>Changed; published: 2' in looked
    assert 'id="mark-p_critic" hx-swap-oob="true">As published' in looked
    assert re.search(r'id="used-roles"[^>]*>1 changed', looked)


def test_a_model_by_role_with_provider_and_seed_reaches_the_plan(client_of, admin, peopled, paid):
    browser = client_of(admin)
    sent = with_caps(
        browser, peopled, judge_provider=paid.public_id, author_seed=7, user_model="other", then_judge="on"
    )
    assert browser.post(address(peopled), sent).status_code == 302
    plan = Run.objects.get().plan
    assert (plan["judge"]["provider"], plan["judge"]["model"]) == (paid.public_id, "own-7b")
    assert (plan["models"]["author"]["seed"], plan["models"]["user"]["model"]) == (7, "other")
    assert plan["models"]["user"]["provider"] == ""


def test_without_tags_there_is_nothing_to_check(client_of, admin, peopled):
    browser = client_of(admin)
    sent = with_caps(browser, peopled, then_tag=False, then_judge="on")
    assert browser.post(address(peopled), sent).status_code == 302
    assert (Run.objects.get().plan["tagger"], Run.objects.get().plan["judge"]) == (None, None)


def test_the_platform_is_one_of_those_in_the_language_of_the_corpus(client_of, admin, peopled):
    browser = client_of(admin)
    sent = with_caps(browser, peopled, platform="news")
    browser.post(address(peopled), sent)
    assert Run.objects.get().plan["platform"] == "news"
    refused = browser.post(address(peopled), sent | {"platform": "usenet"})
    assert refused.context["form"].errors["platform"]
    assert "English" in words(browser.get(address(peopled)))


def test_a_language_without_prompts_is_said_instead_of_a_form(client_of, admin, provider):
    corpus = CorpusFactory(name="sumer", language="sux")
    ProfileFactory(corpus=corpus)
    said = words(client_of(admin).get(address(corpus)))
    assert "There are no prompts in the language of this corpus" in said
    assert "Start the run" not in said


def test_typed_posts_are_threads_beside_the_generated_ones(client_of, admin, peopled):
    browser = client_of(admin)
    pasted = (
        "sex | Who fixes things? | My sister did.\n\nOccupation | What pays? | I asked my boss | twice.\n"
    )
    sent = with_caps(browser, peopled, typed_paste=pasted, **POST)
    looked = browser.post(address(peopled), sent, headers=HTMX)
    assert looked.context["preview"].threads == 5
    assert browser.post(address(peopled), sent).status_code == 302
    threads = list(Run.objects.get().run_threads.order_by("index"))
    assert [one.target for one in threads] == ["age", "occupation", "age", "sex", "occupation"]
    assert [bool(one.typed) for one in threads] == [False, False, True, True, True]
    assert threads[2].typed == {
        "question": "When did you last feel old?",
        "description": "A boy on the bus got up for me.",
    }
    assert threads[4].typed["description"] == "I asked my boss | twice."


def test_posts_of_ones_own_are_enough_for_a_run(client_of, admin, peopled):
    browser = client_of(admin)
    sent = with_caps(browser, peopled, threads_age=0, threads_occupation=0, **POST)
    assert browser.post(address(peopled), sent).status_code == 302
    assert Run.objects.get().run_threads.count() == 1


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"typed_target": [""]}, "typed", "Row 1: Say which attribute"),
        ({"typed_question": [" "]}, "typed", "Row 1: The question is missing"),
        ({"typed_story": [""]}, "typed", "Row 1: The story behind the question is missing"),
        ({"typed_question": ["q" * 1001]}, "typed", "Row 1: Question: 1 to 1,000 characters"),
        ({"typed_paste": "age | q | s\n\nshoes | q | s"}, "typed_paste", "Line 3: “shoes” is no attribute"),
        ({"typed_paste": "age | q"}, "typed_paste", "Line 1: The story behind the question is missing"),
        ({"typed_paste": "age | q | s\n" * 501}, "typed_paste", "At most 500 posts"),
    ],
)
def test_what_is_wrong_with_a_post_is_said_by_its_row(client_of, admin, peopled, changes, field, said):
    browser = client_of(admin)
    answer = browser.post(address(peopled), fields(browser, peopled, **(POST | changes)))
    assert answer.status_code == 422
    assert said in " ".join(answer.context["form"].errors[field])
    assert said.removeprefix("Row 1: ") in words(answer)
    assert not Run.objects.exists()


def test_of_a_wrong_paste_the_first_problems_are_said_and_the_rest_counted(client_of, admin, peopled):
    browser = client_of(admin)
    sent = fields(browser, peopled, **POST | {"typed_paste": "age | q\n" * 450})
    said = browser.post(address(peopled), sent).context["form"].errors["typed_paste"]
    assert len(said) == 21
    assert said[19].startswith("Line 20: ")
    assert said[20] == "And 430 more."


def test_a_paste_of_too_many_lines_is_refused_before_one_is_read(client_of, admin, peopled, monkeypatch):
    monkeypatch.setattr(plan_topics.Row, "topic", lambda row: pytest.fail(f"{row} was read"))
    browser = client_of(admin)
    sent = fields(browser, peopled, typed_paste="a\n\n" * 50_000)
    answer = browser.post(address(peopled), sent)
    said = answer.context["form"].errors["typed_paste"]
    assert said == ["At most 500 posts in one run; these are 50,000."]


def test_rows_and_paste_together_are_no_more_than_a_run_takes(client_of, admin, peopled):
    browser = client_of(admin)
    answer = browser.post(
        address(peopled), fields(browser, peopled, **POST, typed_paste="age | q | s\n" * 500)
    )
    assert "with the rows these are 501" in answer.context["form"].errors["typed_paste"][0]
    assert not Run.objects.exists()


@pytest.mark.parametrize("headers", [{}, HTMX | {"HX-Target": "topics"}], ids=["page", "htmx"])
def test_another_row_is_there_and_what_was_typed_stays(client_of, admin, peopled, headers):
    browser = client_of(admin)
    first = browser.get(address(peopled))
    assert first.content.decode().count('name="typed_question"') == 3
    rows = {f"typed_{part}": [*POST[f"typed_{part}"], "", ""] for part in ("target", "question", "story")}
    sent = fields(browser, peopled, **rows, more="1")
    answer = browser.post(address(peopled), sent, headers=headers)
    body = answer.content.decode()
    assert answer.status_code == 200
    assert body.count('name="typed_question"') == 4
    assert "A boy on the bus got up for me." in body
    assert ("<html" in body) is not bool(headers)
    assert not Run.objects.exists()


def test_the_hard_cap_is_one_and_a_half_of_the_dry_run(client_of, admin, peopled, paid):
    browser = client_of(admin)
    sent = with_caps(browser, peopled, provider=paid.public_id)
    high = browser.post(address(peopled), sent, headers=HTMX).context["preview"].dry.cost_high
    proposal = Decimal(sent["max_cost"]) * 10**9
    assert high * Decimal("1.5") <= proposal <= max(high * Decimal("1.7"), 10**7)
    assert browser.post(address(peopled), sent | {"soft_cost": "0.01"}).status_code == 302
    run = Run.objects.get()
    assert (run.max_cost, run.soft_cost) == (proposal, 10**7)


def test_where_all_is_free_no_cap_in_money_is_proposed_and_none_is_missed(client_of, admin, peopled):
    browser = client_of(admin)
    sent = with_caps(browser, peopled)
    assert sent["max_cost"] == ""
    assert "No cap in money" not in words(browser.get(address(peopled)))
    browser.post(address(peopled), sent)
    assert (Run.objects.get().max_cost, Run.objects.get().soft_cost) == (None, None)


def test_an_emptied_hard_cap_is_allowed_and_said(client_of, admin, peopled, paid):
    browser = client_of(admin)
    sent = with_caps(browser, peopled, provider=paid.public_id) | {"max_cost": ""}
    assert "No cap in money" in words(browser.post(address(peopled), sent, headers=HTMX))
    assert browser.post(address(peopled), sent).status_code == 302
    assert Run.objects.get().max_cost is None


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"max_cost": "1", "soft_cost": "2"}, "soft_cost", "not more than that"),
        ({"max_cost": "-1"}, "max_cost", "greater than or equal to 0"),
        ({"max_cost": "10000000000"}, "max_cost", "less than or equal to"),
        ({"max_cost": "NaN"}, "max_cost", "Enter a number"),
        ({"soft_cost": "0.0000000001"}, "soft_cost", "no more than 9 decimal places"),
        ({"parallel": "0"}, "parallel", "greater than or equal to 1"),
        ({"author_seed": "-3"}, "author_seed", "greater than or equal to 0"),
        ({"mode": "best"}, "mode", "not one of the available choices"),
        ({"judge_provider": "nobody"}, "judge_provider", "not one of the available choices"),
    ],
)
def test_money_and_models_out_of_range_are_refused_by_field(client_of, admin, peopled, changes, field, said):
    browser = client_of(admin)
    answer = browser.post(address(peopled), fields(browser, peopled, **changes))
    assert answer.status_code == 422
    assert said in " ".join(answer.context["form"].errors[field])
    assert said in words(answer)
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("changes", "field"), [({"model": "mystery-1"}, "model"), ({"judge_model": "mystery-1"}, "judge_model")]
)
def test_a_model_without_a_price_is_refused_beside_its_field(client_of, admin, peopled, paid, changes, field):
    browser = client_of(admin)
    sent = with_caps(browser, peopled, provider=paid.public_id, then_judge="on", **changes)
    looked = browser.post(address(peopled), sent, headers=HTMX)
    assert "No price is known for mystery-1 at wire" in words(looked)
    answer = browser.post(address(peopled), sent)
    assert answer.status_code == 422
    assert "No price is known for “mystery-1”" in " ".join(answer.context["form"].errors[field])
    link = f"{reverse('price_new')}?provider={paid.public_id}&amp;model=mystery-1"
    assert link in answer.content.decode()
    assert not Run.objects.exists()
    assert not Price.objects.filter(model="mystery-1").exists()


def test_every_field_of_the_form_has_an_option_of_the_command(corpus, provider):
    form = SimulationForm(corpus=corpus, providers=[provider])
    missing = set(form.fields) - plan_options.reached() - set(plan_options.PAGE_ONLY)
    assert not missing, f"Give these an option in simulation/forms/plan_options.py: {sorted(missing)}"
    assert plan_options.reached() <= set(form.fields)
    assert not set(plan_options.PAGE_ONLY) - set(form.fields)
