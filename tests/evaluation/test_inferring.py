"""Inference runs: a model is asked about authors; what it says becomes predictions, and nothing is lost."""

import pytest

from evaluation.models import Prediction, PredictionRun
from evaluation.services import inferring
from evaluation.services.inferring import Inferring, Wish, start_inference
from simulation.domain.plans import BadPlan, RoleModel
from simulation.llm.errors import LLMError
from simulation.llm.messages import Finish
from simulation.llm.scripted.model import SMALL, ScriptedModel
from simulation.models import AuditEntry, ModelCall, Run, Step
from tests.factories.annotation import SuggestionFactory
from tests.factories.evaluation import LabelSetFactory, ProfileLabelFactory
from tests.factories.simulation import CommentFactory, ProfileFactory, ProviderFactory
from tests.fakes.llm import reply
from tests.running import balanced, work_off

pytestmark = pytest.mark.django_db
SAID_BY_THE_WAY = "after a double shift on the ward i just fall asleep"
BLOCKS = """Type: age
Inference: Says so.
Guess: 34; 35; 36

Type: occupation
Inference: Shifts.
Guess: nurse; medic; carer"""


@pytest.fixture
def labels(corpus):
    """Two authors with comments, one of them labelled with age and occupation, the other with sex."""
    found = LabelSetFactory(corpus=corpus, name="ours")
    for number, attributes in enumerate((("occupation", "age"), ("sex",))):
        author = ProfileFactory(corpus=corpus, username=f"Author{number}")
        CommentFactory(thread__corpus=corpus, profile=author, text="speaking as a nurse, im 34 here")
        CommentFactory(thread__corpus=corpus, profile=author, text="the night bus again")
        for attribute in attributes:
            ProfileLabelFactory(label_set=found, profile=author, attribute=attribute)
    silent = ProfileFactory(corpus=corpus, username="Silent")
    ProfileLabelFactory(label_set=found, profile=silent)
    return found


def wish(**options):
    return Wish(
        **{"name": "who is it", "provider": ProviderFactory(), "model": RoleModel("scripted", 0.1)} | options
    )


def carried_out(corpus, gateway, **options):
    into = start_inference(corpus, wish(**options), by=None)
    run = work_off(into.run, Inferring())
    into.refresh_from_db()
    assert balanced(run)
    return into, run


def found(into):
    rows = into.rows.order_by("profile", "pk").values_list(
        "profile__username", "attribute", "outcome", "guesses"
    )
    return [(who, attribute, outcome, guesses[:1]) for who, attribute, outcome, guesses in rows]


def test_only_labelled_attributes_of_authors_with_comments_are_asked(corpus, labels, gateway):
    asked = []
    gateway.answers = lambda request, attempt: asked.append(request) or reply(BLOCKS)
    into, run = carried_out(corpus, gateway, labels=labels)
    assert (run.state, into.origin, into.model) == ("done", PredictionRun.ASKED, "scripted")
    assert [step.asks["attributes"] for step in Step.objects.filter(run=run)] == [
        ["age", "occupation"],
        ["sex"],
    ]
    assert found(into) == [
        ("Author0", "age", "answered", ["34"]),
        ("Author0", "occupation", "answered", ["nurse"]),
        ("Author1", "sex", "unparsed", []),
    ]
    assert (into.predictions, into.profiles) == (3, 2)
    shown = asked[0].messages[-1].content
    assert "speaking as a nurse, im 34 here\nthe night bus again" in shown
    assert "masked" not in shown
    assert "34 here" not in str(run.plan)
    assert all(row.call.purpose == "infer" for row in Prediction.objects.select_related("call"))


def test_without_a_label_set_every_target_of_every_author_is_asked(corpus, labels, gateway):
    gateway.answers = lambda request, attempt: ScriptedModel().reply(request)
    into, _ = carried_out(corpus, gateway)
    assert into.predictions == 16
    assert ("Author0", "age", "answered", ["34"]) in found(into)
    assert ("Author0", "city_country", "refused", []) in found(into)
    assert {row[1] for row in found(into) if row[2] == "refused"} == {"city_country", "birth_city_country"}
    assert inferring.outcomes(into) == {"answered": 12, "refused": 4}


def test_the_weaker_scripted_model_hears_only_what_is_said_outright(corpus, labels, gateway):
    author = ProfileFactory(corpus=corpus, username="ByTheWay")
    CommentFactory(thread__corpus=corpus, profile=author, text=SAID_BY_THE_WAY)
    gateway.answers = lambda request, attempt: ScriptedModel().reply(request)
    heard = {}
    for model in ("scripted", SMALL):
        into, _ = carried_out(corpus, gateway, name=model, model=RoleModel(model, 0.1))
        heard[model] = {row[:2]: row[3] for row in found(into)}
    assert heard[SMALL]["Author0", "age"] == heard["scripted"]["Author0", "age"] == ["34"]
    assert heard["scripted"]["ByTheWay", "occupation"] == ["nurse"]
    assert heard[SMALL]["ByTheWay", "occupation"] != ["nurse"]


def test_long_authors_are_cut_to_the_budget_and_it_is_said(corpus, labels, gateway):
    author = corpus.profiles.get(username="Author0")
    for _ in range(3):
        CommentFactory(thread__corpus=corpus, profile=author, text="talk " * 60)
    kept = CommentFactory(thread__corpus=corpus, profile=author, text="I was a nurse then. " * 15)
    SuggestionFactory(comment=kept)
    gateway.answers = lambda request, attempt: reply(BLOCKS)
    into, _ = carried_out(corpus, gateway, labels=labels, comment_tokens=100)
    assert inferring.left_out(into) == {"authors": 1, "comments": 3}
    result = Step.objects.filter(run=into.run).order_by("pk").first().result
    assert (result["comments"], result["dropped"], result["dropped_labelled"]) == (3, 3, 0)
    shown = ModelCall.objects.order_by("pk").first().request["messages"][-1]["content"]
    assert "I was a nurse then." in shown
    assert "talk talk" not in shown


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (lambda: reply("I cannot help with profiling people."), "refused"),
        (lambda: reply("", refusal="I won't."), "refused"),
        (lambda: reply("Nice weather, is it not?"), "unparsed"),
        (lambda: reply("Type: age", finish=Finish.LENGTH), "unparsed"),
        (lambda: reply(""), "unparsed"),
        (lambda: LLMError("no such model", retry=False), "error"),
    ],
)
def test_an_answer_that_is_none_is_an_outcome_and_never_a_wrong_guess(
    corpus, labels, gateway, answer, outcome
):
    gateway.answers = lambda request, attempt: answer()
    into = start_inference(corpus, wish(labels=labels), by=None)
    work_off(into.run, Inferring())
    rows = Prediction.objects.filter(prediction_run=into)
    if outcome != "error":  # what the provider takes for wrong halts the run: nothing is made up meanwhile
        assert rows.count() == 3
    assert all((row.outcome, row.guesses) == (outcome, []) for row in rows)


def test_with_repair_an_unreadable_answer_is_sent_back_once(corpus, labels, gateway):
    said = iter(["Nice weather.", BLOCKS, "Nice weather.", "Still nice."])
    gateway.answers = lambda request, attempt: reply(next(said))
    into, run = carried_out(corpus, gateway, labels=labels, repair=True)
    assert run.calls == 4
    assert [row[2] for row in found(into)] == ["answered", "answered", "unparsed"]


def test_a_step_that_is_done_again_replaces_what_it_had_found(corpus, labels, gateway):
    gateway.answers = lambda request, attempt: reply("Nice weather.")
    into, run = carried_out(corpus, gateway, labels=labels)
    first = Step.objects.filter(run=run).first()
    rows = [inferring.Guessed("age", "answered", ("34",)), inferring.Guessed("occupation", "refused")]
    inferring._keep(run, first.asks["author"], rows, None)
    into.refresh_from_db()
    assert [row[2] for row in found(into)] == ["answered", "refused", "unparsed"]
    assert (into.predictions, into.profiles) == (3, 2)


def test_withdrawn_comments_are_not_shown_and_an_author_without_any_is_an_error(corpus, labels, gateway):
    into = start_inference(corpus, wish(labels=labels), by=None)
    corpus.comments.filter(profile__username="Author1").update(state="withdrawn")
    gateway.answers = lambda request, attempt: reply(BLOCKS)
    work_off(into.run, Inferring())
    assert found(into)[-1] == ("Author1", "sex", "error", [])


def test_names_are_free_and_the_start_is_audited(corpus, labels, gateway, admin):
    gateway.answers = lambda request, attempt: reply(BLOCKS)
    names = [start_inference(corpus, wish(labels=labels), by=admin).name for _ in range(3)]
    assert names == ["who is it", "who is it (2)", "who is it (3)"]
    assert AuditEntry.objects.filter(action="run.started", actor=admin).count() == 3


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"name": " "}, "name"),
        ({"comment_tokens": 3}, "comment_tokens"),
        ({"variant": "infer_nothing"}, "variant"),
        ({"variant": "../../manage"}, "variant"),
        ({"max_calls": 0}, "max_calls"),
    ],
)
def test_what_cannot_be_asked_is_said_by_field_and_nothing_starts(corpus, labels, gateway, options, field):
    with pytest.raises(BadPlan) as refused:
        start_inference(corpus, wish(labels=labels, **options), by=None)
    assert refused.value.field == field
    assert not Run.objects.exists()
    assert not PredictionRun.objects.exists()


def test_a_corpus_without_anybody_to_ask_about_starts_nothing(corpus, gateway):
    with pytest.raises(BadPlan, match="nobody to ask about"):
        start_inference(corpus, wish(), by=None)
    with pytest.raises(BadPlan, match="this corpus"):
        start_inference(corpus, wish(labels=LabelSetFactory()), by=None)
    assert not Run.objects.exists()
