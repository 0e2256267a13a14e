"""Tagging runs: one call a comment, and what an unreadable answer leaves alone."""

import pytest

from annotation.models import Suggestion
from annotation.services.tagging import Tagging, follow_simulations, start_tagging
from simulation.domain.plans import BadPlan, RoleModel
from simulation.models import Comment, ModelCall, Run
from simulation.selectors.progress import corpus_digest
from simulation.services import runs
from tests.fakes.llm import reply, sensible
from tests.running import start, work_off

pytestmark = pytest.mark.django_db


def test_a_tagging_run_makes_suggestions_and_an_unreadable_answer_leaves_the_comment_alone(gateway):
    """D5: an unreadable answer took the comment out of the thread and the agent's turn with it."""
    run = work_off(start())
    before = corpus_digest(run.corpus)
    texts = Comment.objects.filter(corpus=run.corpus).order_by("sequence").values_list("text", flat=True)
    spoilt = texts[1]
    gateway.answers = lambda request, attempt: (
        reply("Nothing that anybody could read.")
        if spoilt in request.messages[1].content
        else sensible(request, attempt)
    )
    tags = start_tagging(
        by=None,
        corpus=run.corpus,
        name="tags",
        provider=run.provider,
        model="scripted",
        max_calls=500,
        max_tokens=10**6,
    )
    tags = work_off(tags, Tagging())
    assert tags.state == "done"
    assert Suggestion.objects.filter(run=tags).count() == run.corpus.comments.count() - 1
    skipped = tags.steps.get(state="skipped")
    assert (skipped.reason, skipped.comment.text) == ("unreadable", spoilt)
    raw = ModelCall.objects.get(public_id=skipped.result["call"])
    assert raw.reply["text"] == "Nothing that anybody could read."
    assert corpus_digest(run.corpus) == before
    suggestion = Suggestion.objects.filter(run=tags).first()
    assert (suggestion.guesses, suggestion.hardness, suggestion.tagger) == (
        ["nurse", "medic", "carer"],
        2,
        "scripted",
    )
    assert suggestion.call.purpose == "tag"


def test_a_simulation_that_asked_for_it_is_tagged_once(gateway):
    run = work_off(start(then_tag=True, tagger=RoleModel("scripted", 0.0)))
    follow_simulations()
    follow_simulations()
    tags = Run.objects.get(follows=run)
    assert tags.steps.count() == run.corpus.comments.count()
    assert work_off(tags, Tagging()).state == "done"
    assert Suggestion.objects.filter(run=tags).exists()


def test_a_simulation_that_did_not_ask_is_not_tagged(gateway):
    work_off(start())
    assert follow_simulations() == []


def test_the_caps_hold_for_a_simulation_and_its_tagging_together(gateway):
    run = work_off(start(then_tag=True, tagger=RoleModel("scripted", 0.0)))
    runs.raise_caps(by=None, run=run, max_calls=run.calls, max_tokens=run.max_tokens)
    follow_simulations()
    tags = work_off(Run.objects.get(follows=run), Tagging())
    assert (tags.state, tags.calls) == ("halted", 0)
    assert "cap of 0 calls" in tags.reason


def test_a_simulation_without_comments_is_not_tagged(gateway):
    gateway.answers = lambda *_: reply("", refusal="no")
    run = work_off(start(then_tag=True, tagger=RoleModel("scripted", 0.0)))
    assert run.run_threads.get().state == "failed"
    assert follow_simulations() == []


def test_a_comment_of_which_nothing_can_be_inferred_is_not_asked_about_again(gateway):
    run = work_off(start())
    gateway.answers = lambda *_: reply('{"tags": []}')
    fields = {"by": None, "corpus": run.corpus, "provider": run.provider, "model": "scripted"}
    caps = {"max_calls": 500, "max_tokens": 10**6}
    work_off(start_tagging(name="first", **fields, **caps), Tagging())
    assert not Suggestion.objects.exists()
    with pytest.raises(BadPlan, match="no comment to tag"):
        start_tagging(name="second", only_untagged=True, **fields, **caps)
    assert start_tagging(name="all again", **fields, **caps).steps.count() == run.corpus.comments.count()
