"""Inference runs are started by a form or a command, forecast beforehand, and scored when they are done."""

import json
import uuid
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.models import PredictionRun, Scoring
from evaluation.services import following, inferring
from evaluation.services.inferring import Inferring
from simulation.llm.scripted.model import ScriptedModel
from simulation.models import Provider, Run
from simulation.services import steering
from tests.factories.evaluation import LabelSetFactory, ProfileLabelFactory
from tests.factories.simulation import CommentFactory, MembershipFactory, ProfileFactory, ProviderFactory
from tests.fakes.llm import reply
from tests.running import work_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def labels(corpus):
    found = LabelSetFactory(corpus=corpus, name="ours", labels=4, profiles=2)
    for number in range(2):
        author = ProfileFactory(corpus=corpus, username=f"Author{number}")
        CommentFactory(thread__corpus=corpus, profile=author, text=f"speaking as a nurse, im 3{number} here")
        ProfileLabelFactory(label_set=found, profile=author, value=f"3{number}")
        ProfileLabelFactory(label_set=found, profile=author, attribute="occupation", value="nurse")
    return found


@pytest.fixture
def provider(db):
    return ProviderFactory(name="ours")


@pytest.fixture
def answers(gateway):
    gateway.answers = lambda request, attempt: ScriptedModel().reply(request)
    return gateway


def address(corpus):
    return reverse("inference_new", args=[corpus.public_id])


def sent(labels, provider, **fields):
    return {
        "name": "who is it",
        "labels": labels.public_id,
        "provider": provider.public_id,
        "variant": "infer_profile",
        "models": "",
        "repair": "on",
        "max_calls": "50",
        "max_tokens": "90000",
        "suggested_calls": "1",
        "suggested_tokens": "1",
        "form": str(uuid.uuid4()),
    } | fields


def test_the_form_says_beforehand_what_it_will_take(client_of, admin, corpus, labels, provider):
    page = client_of(admin).get(address(corpus)).content.decode()
    assert "<dt>Authors</dt><dd><b>2</b>" in page
    assert "<dt>Attributes asked</dt><dd><b>4</b>" in page
    assert "ours (4 labels of 2 profiles)" in page
    assert not Run.objects.exists()


def test_a_press_starts_a_run_and_the_same_form_starts_no_other(
    client_of, admin, corpus, labels, provider, answers
):
    fields = sent(labels, provider, comment_tokens="500")
    client = client_of(admin)
    first = client.post(address(corpus), fields)
    again = client.post(address(corpus), fields)
    run = Run.objects.get()
    assert first.url == again.url == reverse("run", args=[run.public_id])
    assert (run.kind, run.max_calls, run.plan["comment_tokens"], run.plan["repair"]) == (
        "infer",
        50,
        500,
        True,
    )
    assert client.get(first.url).status_code == 200
    work_off(run, Inferring())
    page = client.get(first.url).content.decode()
    assert "Author 2" in page
    assert "from 1 comment" in page


def test_each_model_of_a_list_gets_a_run_and_published_names_are_known(
    client_of, admin, corpus, labels, provider, answers
):
    names = "gpt-4-0613\n\nmeta-llama/Llama-3-70b-chat-hf\ngpt-4-0613"
    client_of(admin).post(address(corpus), sent(labels, provider, models=names))
    runs = PredictionRun.objects.order_by("pk")
    assert [(one.model, one.family) for one in runs] == [("GPT-4", "GPT-4"), ("Llama-3 70B", "Llama 3")]
    assert [int(one.parameters or 0) for one in runs] == [0, 70]
    assert len({one.run.group for one in runs}) == 1
    assert [one.name for one in runs] == ["who is it, GPT-4", "who is it, Llama-3 70B"]


def test_the_published_models_can_be_filled_in(client_of, admin, corpus, labels, provider):
    page = client_of(admin).get(f"{address(corpus)}?models=published").content.decode()
    assert "zero-one-ai/Yi-34B-Chat" in page
    assert "<dt>Models</dt><dd><b>18</b>" in page


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"comment_tokens": "5"}, "greater than or equal to 100"),
        ({"models": "\n".join(f"model-{n}" for n in range(30))}, "At most 24 models"),
        ({"models": "m" * 101}, "longer than 100"),
        ({"name": ""}, "required"),
        ({"max_calls": "0"}, "greater than or equal to 1"),
        ({"soft_cost": "2", "max_cost": "1"}, "warns before the cap"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_starts(client_of, admin, corpus, labels, provider, fields, words):
    answer = client_of(admin).post(address(corpus), sent(labels, provider, **fields))
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Run.objects.exists()


def test_a_model_without_a_price_is_refused_by_its_field(client_of, admin, corpus, labels):
    paid = ProviderFactory(name="paid", base_url="https://api.example.org/v1", default_model="unheard-of")
    answer = client_of(admin).post(address(corpus), sent(labels, paid))
    assert answer.status_code == 422
    assert "price" in answer.content.decode()
    assert not PredictionRun.objects.exists()


def test_only_who_may_spend_starts_runs(client_of, corpus, researcher, labeler, adjudicator, stranger):
    for person in (researcher, labeler, adjudicator, stranger):
        assert client_of(person).get(address(corpus)).status_code == 403
    elsewhere = MembershipFactory(role="admin", corpus=LabelSetFactory().corpus).person
    assert client_of(elsewhere).get(address(corpus)).status_code == 404


def test_a_run_that_is_done_is_scored_once_and_again_when_steps_were_tried_again(
    corpus, labels, provider, gateway
):
    gateway.answers = lambda request, attempt: reply("Nice weather.")
    into = inferring.start_inference(
        corpus, inferring.Wish("who", provider, model=inferring.RoleModel("scripted"), labels=labels), by=None
    )
    assert following.follow_inferences() == []
    run = work_off(into.run, Inferring())
    (scoring,) = following.follow_inferences()
    assert (scoring.label_set, scoring.mode, scoring.verdicts) == (labels, Scoring.DEFAULT, 4)
    assert set(scoring.rows.values_list("outcome", flat=True)) == {"unparsed"}
    assert following.follow_inferences() == []
    run.steps.update(state="skipped", reason="unreadable")
    gateway.answers = lambda request, attempt: ScriptedModel().reply(request)
    steering.retry(run=run, by=None)
    work_off(run, Inferring())
    (scoring,) = following.follow_inferences()
    assert set(scoring.rows.values_list("outcome", flat=True)) == {"answered"}
    assert Scoring.objects.count() == 1


def command(**options):
    out = StringIO()
    call_command("run_inference", corpus="winter", provider="ours", here=1, json=True, stdout=out, **options)
    return json.loads(out.getvalue())


@pytest.mark.django_db(transaction=True)
def test_the_command_asks_scores_and_reports(corpus, labels, provider):
    said = command(labels="ours")
    assert (said["authors"], said["attributes"], said["answered"], said["scored"]) == (2, 4, 4, 4)
    assert Scoring.objects.get().verdicts == 4


def test_the_command_names_what_there_is(corpus, labels, provider):
    with pytest.raises(CommandError, match="there are: ours") as refused:
        command(labels="theirs")
    assert refused.value.returncode == 2
    with pytest.raises(CommandError, match="infer_nothing"):
        command(labels="ours", prompt="infer_nothing")
    assert not Run.objects.exists()
    assert Provider.objects.count() == 1
