"""Tagging and checking tags from the command line, by the scripted model within this process."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Suggestion, SuggestionCheck
from simulation.llm.connecting import SCRIPTED
from simulation.models import Run
from simulation.selectors import workers
from simulation.services import engine
from tests.factories.simulation import CommentFactory, CorpusFactory, ProfileFactory, ProviderFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def here(monkeypatch):
    """Five comments by a nurse; options that name where they are."""
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(workers, "alive", dict)
    corpus = CorpusFactory(name="wards")
    ProviderFactory(name="rules", base_url=SCRIPTED, default_model="scripted")
    nurse = ProfileFactory(corpus=corpus, facts={"age": 34, "occupation": "nurse"})
    first = CommentFactory(thread__corpus=corpus, profile=nurse, text="I'm a nurse and I am 34 years old")
    for place in range(1, 5):
        CommentFactory(
            thread=first.thread,
            profile=nurse,
            sequence=place,
            text=f"as a nurse on ward {place} i never sleep",
        )
    return ["--corpus", corpus.name, "--provider", "rules", "--json"]


def run(command, *arguments):
    said = StringIO()
    call_command(command, *arguments, stdout=said)
    return json.loads(said.getvalue())


def test_a_part_is_tagged_by_two_prompts_side_by_side_and_checked(here):
    options = ["--filter", "q=ward", "--variant", "tag_comment", "--variant", "tag_brief"]
    said = run("tag_comments", *here, *options, "--judge", "scripted", "--max-cost", "1.50")
    assert [one["variant"] for one in said["runs"]] == ["tag_comment", "tag_brief"]
    assert {one["comments"] for one in said["runs"]} == {4}
    assert {run.group for run in Run.objects.filter(kind=Run.TAG)} == {said["group"]}
    assert set(Run.objects.filter(kind=Run.TAG).values_list("max_cost", flat=True)) == {1_500_000_000}
    for one in said["runs"]:
        assert one["check_state"] == "done"
        assert one["checked"] == Suggestion.objects.filter(run__public_id=one["run"]).count() > 0


def test_tags_are_checked_afterwards_and_once(here):
    tagged = run("tag_comments", *here, "--all")
    assert (tagged["state"], tagged["comments"]) == ("done", 5)
    checked = run("judge_tags", *here, "--run", tagged["run"])
    assert checked["checked"] == tagged["suggestions"] == SuggestionCheck.objects.count()
    assert 0 < checked["kept"] <= checked["checked"]
    assert checked["by_rule"] > 0
    with pytest.raises(CommandError, match="no tag to check"):
        run("judge_tags", *here)
    again = run("judge_tags", *here, "--again", "--all-to-judge")
    assert (again["checked"], again["state"]) == (checked["checked"], "done")
    assert again["by_rule"] == 1  # the age


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("tag_comments", ["--filter", "colour=red"], "there is no field 'colour'"),
        ("tag_comments", ["--filter", "attribute=height"], "not on the list"),
        ("tag_comments", ["--filter", "nurse"], "write fields as in the address"),
        ("tag_comments", ["--filter", "q=zebra"], "no comment to tag"),
        ("tag_comments", ["--max-cost", "much"], "an amount in dollars"),
        ("tag_comments", ["--variant", "tag_other"], "There is no prompt"),
        ("tag_comments", ["--judge", "x" * 101], "1 to 100 characters"),
        ("judge_tags", [], "no tag to check"),
        ("judge_tags", ["--run", "zzz"], "There is no tagging run zzz"),
    ],
)
def test_wrong_usage_is_said_and_starts_nothing(here, command, options, said):
    with pytest.raises(CommandError, match=said) as error:
        run(command, *here, *options)
    assert error.value.returncode == 2
    assert not Run.objects.exists()


def test_a_filter_may_be_a_whole_address(here):
    said = run(
        "tag_comments", *here, "--filter", "https://studio.example/corpora/x/comments/?q=ward&state=both"
    )
    assert said["comments"] == 4
