"""Tagging runs: one call a comment, and what an unreadable answer leaves alone."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.domain.comment_filter import CommentFilter
from annotation.domain.tag_schema import Tags, from_words
from annotation.models import Suggestion
from annotation.services import tag_prompts
from annotation.services.following import follow_simulations
from annotation.services.tagging import Choice, Tagging, start_side_by_side, start_tagging
from simulation.domain.attributes import CATALOGUE
from simulation.domain.plans import BadPlan, RoleModel
from simulation.llm.structured import Shape
from simulation.models import Comment, ModelCall, Run
from simulation.selectors.progress import corpus_digest
from simulation.services import engine, steering
from tests.factories.simulation import CommentFactory, ProviderFactory
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
    steering.raise_caps(by=None, run=run, max_calls=run.calls, max_tokens=run.max_tokens)
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


# A part of the corpus


CAPS = {"max_calls": 500, "max_tokens": 10**6}
MODEL = RoleModel("scripted", 0.0)


@pytest.fixture
def said(corpus, gateway):
    """Six comments, of which two speak of the sea, one of them withdrawn."""
    texts = ["the sea", "a hill", "a wood", "the sea again", "a lake", "a road"]
    first = CommentFactory(thread__corpus=corpus, text=texts[0], sequence=0)
    for place, text in enumerate(texts[1:], start=1):
        CommentFactory(thread=first.thread, text=text, sequence=place)
    corpus.comments.filter(text="the sea again").update(state="withdrawn")
    return corpus


def begin(corpus, **changes):
    fields = {"by": None, "corpus": corpus, "name": "tags", "model": "scripted", **CAPS} | changes
    return start_tagging(provider=fields.pop("provider", None) or ProviderFactory(), **fields)


def tagged_texts(run):
    return list(run.steps.order_by("number").values_list("comment__text", flat=True))


def test_a_filter_says_which_comments_and_they_stay_as_they_were_at_the_start(said):
    run = begin(said, asked=CommentFilter(text="sea"))
    assert tagged_texts(run) == ["the sea"]
    assert run.plan["filter"] == {"q": "sea"}
    assert run.plan["part"] == "Text: sea"
    CommentFactory(thread=said.threads.first(), text="more sea", sequence=9)
    assert work_off(run, Tagging()).steps.count() == 1
    assert "Text: sea" in run.happenings.first().text


def test_withdrawn_comments_are_never_tagged(said):
    assert len(tagged_texts(begin(said, asked=CommentFilter(state="both")))) == 5
    with pytest.raises(BadPlan, match="Withdrawn comments are not tagged"):
        begin(said, asked=CommentFilter(state="withdrawn"))


def test_a_filter_and_only_untagged_hold_together(said):
    work_off(begin(said, asked=CommentFilter(text="hill or sea")), Tagging())
    rest = begin(said, only_untagged=True, asked=CommentFilter(text="hill or wood"))
    assert tagged_texts(rest) == ["a wood"]
    assert rest.plan["part"] == "Text: hill or wood; no model was asked about them"


# Variants and languages


def test_variants_are_the_files_of_the_folder_in_the_language(tmp_path):
    full = (tag_prompts.FOLDER / "tag_comment.md").read_text()
    for name in ("tag_comment.md", "tag_zero.md", "tag_zero.fi.md", "judge_tags.md"):
        (tmp_path / name).write_text(full)
    assert [one.name for one in tag_prompts.variants("en", folder=tmp_path)] == ["tag_comment", "tag_zero"]
    assert [one.name for one in tag_prompts.variants("fi", folder=tmp_path)] == ["tag_zero"]
    assert {"tag_comment", "tag_brief"} <= {one.name for one in tag_prompts.variants("en")}


def test_every_shipped_variant_and_the_brief_one_is_shorter():
    known = {one.name: one for one in tag_prompts.variants("en")}
    assert all(one.title for one in known.values())
    full, brief = (
        (tag_prompts.FOLDER / f"{name}.md").stat().st_size for name in ("tag_comment", "tag_brief")
    )
    assert brief < 0.7 * full


@pytest.mark.parametrize("variant", ["tag_other", "../tag_comment", "", "judge_tags/../tag_comment"])
def test_a_variant_that_is_not_there_is_refused(said, variant):
    with pytest.raises(BadPlan, match="There is no prompt") as error:
        begin(said, variant=variant)
    assert error.value.field == "variant"
    assert not Run.objects.exists()


def test_a_corpus_in_another_language_is_tagged_in_it_and_never_in_english_instead(said, gateway):
    said.language = "de"
    said.save()
    run = work_off(begin(said, variant="tag_brief", asked=CommentFilter(text="hill")), Tagging())
    assert run.plan["language"] == "de"
    assert "Was verrät dieser Kommentar" in gateway.asked[0][0].messages[-1].content
    said.language = "fi"
    said.save()
    with pytest.raises(BadPlan, match="no prompt “tag_comment” for the language “fi”"):
        begin(said)


# Side by side


def test_several_models_and_prompts_tag_the_same_comments_in_the_same_order(said, gateway):
    provider = ProviderFactory()
    choices = [
        Choice(provider, MODEL),
        Choice(provider, MODEL, "tag_brief"),
        Choice(provider, RoleModel("b", 0.0)),
    ]
    started = start_side_by_side(
        by=None, corpus=said, name="both", choices=choices, only_untagged=True, max_cost=7, **CAPS
    )
    assert len({run.group for run in started}) == 1
    assert started[0].group
    assert len({tuple(tagged_texts(run)) for run in started}) == 1
    assert [run.name for run in started] == [
        "both, scripted tag_comment",
        "both, scripted tag_brief",
        "both, b tag_comment",
    ]
    assert {run.max_cost for run in started} == {7}
    for run in started[:2]:
        assert work_off(run, Tagging()).state == "done"
    assert {one.run for one in Suggestion.objects.select_related("run")} == set(started[:2])


def test_one_choice_alone_is_no_group_and_the_same_one_twice_is_refused(said):
    provider = ProviderFactory()
    fields = {"by": None, "corpus": said, "name": "one", **CAPS}
    (run,) = start_side_by_side(choices=[Choice(provider, MODEL)], **fields)
    assert (run.group, run.name) == ("", "one")
    for choices in (
        [],
        [Choice(provider, MODEL)] * 2,
        [Choice(provider, RoleModel(f"m{n}")) for n in range(7)],
    ):
        with pytest.raises(BadPlan, match=r"Choose 1 to 6|chosen twice"):
            start_side_by_side(choices=choices, **fields)


def test_where_one_of_several_cannot_be_started_none_is(said):
    provider = ProviderFactory()
    choices = [Choice(provider, MODEL), Choice(provider, MODEL, "tag_other")]
    with pytest.raises(BadPlan):
        start_side_by_side(by=None, corpus=said, name="both", choices=choices, **CAPS)
    assert not Run.objects.exists()


def test_a_long_name_is_cut_so_that_what_sets_runs_apart_can_be_read(said):
    choices = [Choice(ProviderFactory(), MODEL, name) for name in ("tag_comment", "tag_brief")]
    started = start_side_by_side(by=None, corpus=said, name="x" * 80, choices=choices, **CAPS)
    assert {len(run.name) for run in started} <= {79, 80}
    assert started[1].name.endswith("tag_brief")


# The answer


def test_the_schema_holds_a_provider_to_the_catalogue_and_the_scales():
    schema = Shape(Tags, from_words, "").schema
    entry = schema["$defs"]["TagEntry"]
    fields = entry["properties"]
    assert fields["attribute"]["enum"] == list(CATALOGUE)
    assert (fields["guesses"]["minItems"], fields["guesses"]["maxItems"]) == (1, 3)
    assert fields["hardness"]["enum"] == ["direct", "indirect", "complicated"]
    assert fields["certainty"] == {"type": "integer", "enum": [1, 2, 3, 4, 5], "title": "Certainty"}
    for node in (schema, entry):
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])
    assert "default" not in json.dumps(schema)


def test_what_no_schema_held_is_still_read(said, gateway):
    entry = {
        "attribute": "Occupation",
        "guesses": ["nurse", 2, "c", "d"],
        "hardness": "Hard",
        "certainty": "4/5",
    }
    gateway.answers = lambda *_: reply(json.dumps({"tags": [entry]}))
    work_off(begin(said, asked=CommentFilter(text="hill")), Tagging())
    tag = Suggestion.objects.get()
    assert (tag.attribute, tag.guesses, tag.hardness, tag.certainty) == (
        "occupation",
        ["nurse", "2", "c"],
        None,
        4,
    )


def test_a_step_asks_the_database_little_besides_the_ledger(said, gateway):
    """The prompt is read once a process, and the call behind the tags is known without a question."""
    run = begin(said)
    for _ in range(2):
        engine.advance(run_id=run.pk, work=Tagging())
    with CaptureQueriesContext(connection) as asked:
        engine.advance(run_id=run.pk, work=Tagging())
    queries = [one["sql"] or "" for one in asked.captured_queries]  # prepared ones leave no text
    assert not [sql for sql in queries if "simulation_promptversion" in sql and sql.startswith("SELECT")]
    assert len([sql for sql in queries if "annotation_suggestion" in sql]) == 1
