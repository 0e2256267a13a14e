"""Comments are rewritten until an adversary is quiet: a run with its ledger, its caps and its resumption."""

import json
import uuid

import pytest
from django.urls import reverse

from evaluation.domain.masking_rewrite import Limits
from evaluation.models import MaskedText, Masking
from evaluation.selectors import masking as selected
from evaluation.services.masking_rewriting import (
    KIND,
    RewritingWork,
    Wish,
    follow_rewritings,
    start_rewriting,
)
from evaluation.tasks import sweep_maskings
from simulation.domain.plans import BadPlan, RoleModel
from simulation.domain.roles import Role
from simulation.llm.errors import LLMError
from simulation.llm.scripted.model import ScriptedModel
from simulation.models import AuditEntry, Comment, ModelCall, Run, Step
from tests.factories.simulation import (
    CommentFactory,
    CorpusFactory,
    MembershipFactory,
    ProviderFactory,
    ThreadFactory,
)
from tests.fakes.llm import reply
from tests.running import balanced, work_off

pytestmark = pytest.mark.django_db
TELLING = "The bus was late. Speaking as a nurse, I need it. So it goes."


@pytest.fixture
def comments(corpus):
    thread = ThreadFactory(corpus=corpus)
    texts = (TELLING, "Well, so it is.")
    return [CommentFactory(thread=thread, text=text) for text in texts]


def wish(**options):
    role = RoleModel("scripted", 0.0, max_tokens=800)
    common = {"name": "rewritten", "provider": ProviderFactory(), "rewriter": role, "adversary": role}
    return Wish(**common | options)


def carried_out(corpus, **options):
    one = start_rewriting(corpus, wish(**options), by=None)
    run = work_off(one.run, RewritingWork())
    sweep_maskings()
    assert balanced(run)
    return Masking.objects.get(pk=one.pk), run


def found(*rows):
    keys = ("attribute", "guess", "certainty", "evidence")
    return reply(json.dumps({"findings": [dict(zip(keys, row, strict=True)) for row in rows]}))


def is_rewrite(request):
    return "<findings>" in request.messages[-1].content


def test_the_scripted_model_finds_and_rewrites_offline(corpus, comments, gateway):
    gateway.answers = lambda request, attempt: ScriptedModel().reply(request)
    one, run = carried_out(corpus)
    assert (run.state, run.kind, one.state, one.style) == ("done", KIND, "done", "rewritten")
    rows = one.rows.order_by("comment__sequence")
    assert [row.text for row in rows] == ["The bus was late. So it goes.", "Well, so it is."]
    assert [row.rounds for row in rows] == [1, 0]
    assert (one.texts, one.changed, one.masked_characters) == (2, 1, 0)
    results = [step.result for step in Step.objects.filter(run=run).order_by("number")]
    assert [(result["end"], result["calls"]) for result in results] == [("quiet", 3), ("quiet", 1)]
    assert selected.current(one).count() == 2
    assert rows[0].call == ModelCall.objects.get(public_id=results[0]["call"])
    assert set(run.plan["prompts"]) == {"rewrite_comment_find", "rewrite_comment"}
    assert "nurse" not in json.dumps(run.plan)
    assert AuditEntry.objects.filter(action="run.started").count() == 1


def test_in_german_the_german_prompts_are_asked(gateway):
    corpus = CorpusFactory(language="de")
    CommentFactory(thread__corpus=corpus, text="Der Bus kam zu spät.")
    asked = []
    gateway.answers = lambda request, attempt: asked.append(request) or found()
    one, _ = carried_out(corpus)
    assert "Welche dieser privaten Angaben" in asked[0].messages[-1].content
    assert one.rows.get().text == "Der Bus kam zu spät."


def test_the_rewriter_is_told_what_was_found_and_why_its_answer_was_no_use(corpus, comments, gateway):
    comments[1].delete()
    asked = []

    def answer(request, attempt):
        content = request.messages[-1].content
        asked.append(content)
        if is_rewrite(request):
            return reply("<text>The bus was late.</text>" if "could not be used" in content else "Sure!")
        return found(("occupation", "nurse", 5, "a nurse")) if "nurse" in content else found()

    gateway.answers = answer
    one, _ = carried_out(corpus)
    assert "occupation: nurse (“a nurse”)" in asked[1]
    assert "could not be used: The answer has no text between <text> and </text>." in asked[2]
    assert (one.rows.get().text, len(asked)) == ("The bus was late.", 4)


def test_the_limit_of_rounds_ends_it_and_says_so(corpus, comments, gateway):
    comments[1].delete()
    rounds = iter(range(99))

    def answer(request, attempt):
        if is_rewrite(request):
            return reply(f"<text>The bus was late, it was number {next(rounds)} this time.</text>")
        return found(("age", "30", 4, ""), ("age", "31", 1, ""), ("shoe", "43", 5, ""))

    gateway.answers = answer
    one, run = carried_out(corpus, limits=Limits(rounds=2))
    assert Step.objects.get(run=run).result["end"] == "rounds"
    assert one.rows.get().rounds == 2


def test_an_adversary_that_cannot_be_read_is_never_taken_for_quiet(corpus, comments, gateway):
    gateway.answers = lambda request, attempt: reply("I like buses.")
    one, run = carried_out(corpus)
    assert (run.state, one.state, one.texts) == ("done", "done", 0)
    assert set(Step.objects.filter(run=run).values_list("state", "reason")) == {("skipped", "unreadable")}
    assert not MaskedText.objects.exists()
    assert selected.unmasked(one).count() == 2


def test_a_cap_halts_it_before_it_is_passed_and_nothing_is_counted_as_done(corpus, comments, gateway):
    gateway.answers = lambda request, attempt: ScriptedModel().reply(request)
    one, run = carried_out(corpus, max_calls=2)
    assert (run.state, run.calls) == ("halted", 2)
    assert one.state == "waiting"
    assert follow_rewritings() == 0


def test_a_step_that_is_tried_again_goes_on_from_the_answers_in_the_ledger(corpus, comments, gateway):
    """The second call fails in passing; the first answer is not asked for again."""
    comments[1].delete()
    asked = []

    def answer(request, attempt):
        asked.append(is_rewrite(request))
        if len(asked) == 2:
            return LLMError("busy for a moment", retry=True)
        return ScriptedModel().reply(request)

    gateway.answers = answer
    one, run = carried_out(corpus)
    assert run.state == "done"
    assert one.rows.get().text == "The bus was late. So it goes."
    assert asked == [False, True, True, False]


def test_a_comment_withdrawn_meanwhile_is_passed_over(corpus, comments, gateway):
    gateway.answers = lambda request, attempt: found()
    one = start_rewriting(corpus, wish(), by=None)
    Comment.objects.filter(pk=comments[0].pk).update(state="withdrawn")
    work_off(one.run, RewritingWork())
    assert follow_rewritings() == 1
    assert follow_rewritings() == 0
    assert MaskedText.objects.count() == 1


def test_a_run_that_was_cancelled_ends_the_masking_with_its_reason(corpus, comments, gateway):
    one = start_rewriting(corpus, wish(), by=None)
    Run.objects.filter(pk=one.run_id).update(state="cancelled", reason="not needed")
    follow_rewritings()
    one.refresh_from_db()
    assert (one.state, one.reason) == ("failed", "Its run was cancelled: not needed")


@pytest.mark.parametrize(
    ("options", "field"),
    [({"name": " "}, "name"), ({"name": "taken"}, "name"), ({"max_calls": 0}, "max_calls")],
)
def test_what_cannot_be_is_refused_and_nothing_is_started(corpus, comments, gateway, options, field):
    Masking.objects.create(corpus=corpus, name="taken", origin="imported", masker="x", style="stars")
    with pytest.raises(BadPlan) as raised:
        start_rewriting(corpus, wish(**options), by=None)
    assert raised.value.field == field
    assert not Run.objects.exists()


def test_a_corpus_in_a_language_without_prompts_is_refused(gateway):
    corpus = CorpusFactory(language="xx")
    CommentFactory(thread__corpus=corpus)
    with pytest.raises(BadPlan, match="no prompts to rewrite"):
        start_rewriting(corpus, wish(), by=None)


def sent(provider, **fields):
    return {
        "name": "rewritten",
        "provider": provider.public_id,
        "model": "",
        "rounds": "2",
        "certain": "3",
        "max_calls": "50",
        "max_tokens": "90000",
        "suggested_calls": "1",
        "suggested_tokens": "1",
        "form": str(uuid.uuid4()),
    } | fields


def address(corpus):
    return reverse("masking_rewrite", args=[corpus.public_id])


def test_the_form_says_what_it_will_take_and_starts_one_run(client_of, admin, corpus, comments, gateway):
    provider, browser = ProviderFactory(), client_of(admin)
    page = browser.get(address(corpus)).content.decode()
    assert "<dt>Calls</dt><dd><b>2 to 14</b>" in page
    fields = sent(provider)
    first = browser.post(address(corpus), fields)
    one = Masking.objects.get()
    assert first["Location"] == reverse("masking", args=[one.public_id])
    assert browser.post(address(corpus), fields)["Location"] == first["Location"]
    assert (Run.objects.count(), one.options["rounds"]) == (1, 2)
    assert "is queued: 0 texts so far" in browser.get(first["Location"]).content.decode()
    again = browser.post(address(corpus), sent(provider))
    assert (again.status_code, "choose another name" in again.content.decode()) == (422, True)


def test_who_may_not_start_runs_may_not_have_it_rewritten(client_of, corpus, comments):
    for role, status in ((Role.ADMIN, 200), (Role.RESEARCHER, 403), (Role.LABELER, 403)):
        person = MembershipFactory(role=role.value, corpus=corpus).person
        assert client_of(person).get(address(corpus)).status_code == status, role
    other = MembershipFactory(role="admin", corpus=CorpusFactory()).person
    assert client_of(other).get(address(corpus)).status_code == 404
