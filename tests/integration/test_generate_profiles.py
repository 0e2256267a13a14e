"""Profiles from the command line: thirty people with styles, a report, and what is refused."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from simulation.models import Corpus, ModelCall, Profile, Run
from simulation.selectors import workers
from simulation.services import engine
from tests.factories.simulation import CorpusFactory, ProfileFactory, ProviderFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nobody_else(monkeypatch):
    """No worker is alive, and no message is sent to one."""
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(workers, "alive", dict)


@pytest.fixture
def here():
    return ProviderFactory(name="here")


def call(*arguments):
    said = StringIO()
    call_command("generate_profiles", *arguments, stdout=said)
    return said.getvalue()


def run(*arguments):
    return json.loads(call(*arguments, "--json"))


def test_thirty_people_with_styles_in_a_new_corpus(here):
    said = run(
        *("--corpus", "people", "--new-corpus", "--provider", "here", "--count", "30"),
        *("--seed", "5", "--approve-clean"),
    )
    corpus = Corpus.objects.get(name="people")
    assert (said["state"], said["profiles"], said["styles"], said["seed"]) == ("done", 30, 30, 5)
    assert sum(said["overlap"].values()) == 30 * 29 / 2
    assert corpus.profiles.exclude(style="").count() == 30
    assert said["calls"] == ModelCall.objects.count() >= 60
    clean = corpus.profiles.filter(warnings=[])
    assert said["approved"] == clean.count() == corpus.profiles.filter(state="approved").count() > 20
    assert said["with_warnings"] == corpus.profiles.filter(state="proposed").count() == 30 - clean.count()
    assert said["with_warnings"] <= sum(said["warnings"].values())


def test_without_being_asked_nobody_is_approved(here):
    CorpusFactory(name="people")
    said = call("--corpus", "people", "--provider", "here", "--count", "3", "--seed", "1", "--here", "2")
    assert "overlap" in said
    assert set(Profile.objects.values_list("state", flat=True)) == {"proposed"}


def test_styles_for_those_who_have_none(here):
    corpus = CorpusFactory(name="people")
    facts = {"age": 40, "sex": "male", "occupation": "cook"}
    bare = ProfileFactory(corpus=corpus, facts=facts)
    styled = ProfileFactory(corpus=corpus, facts=facts, style="Writing style: mine.\n\nExample: yes")
    ProfileFactory(corpus=corpus, facts=facts, state="rejected")
    said = run("--corpus", "people", "--provider", "here", "--styles-only", "--seed", "2")
    assert (said["state"], said["profiles"], said["styles"], said["calls"]) == ("done", 0, 1, 1)
    bare.refresh_from_db()
    assert bare.style.startswith("Writing style: ")
    assert Profile.objects.get(pk=styled.pk).style == styled.style


def test_targets_from_a_file(here, tmp_path):
    file = tmp_path / "targets.toml"
    file.write_text("country_cap = 1.0\n[city_country]\nPeru = 1\n[sex]\nfemale = 1\n[age]\n'30-39' = 1\n")
    CorpusFactory(name="people")
    options = ("--corpus", "people", "--provider", "here", "--count", "5", "--seed", "4")
    said = run(*options, "--targets", str(file))
    made = Profile.objects.filter(warnings=[])
    assert said["profiles"] == 5
    assert made.count() >= 3
    for one in made:
        assert one.facts["city_country"].endswith(", Peru")
        assert (one.facts["sex"], 30 <= one.facts["age"] <= 39) == ("female", True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("--count", "0"), "1 to 5,000"),
        (("--max-cost", "much"), "amount in dollars"),
        (("--targets", "/nowhere/t.toml"), "/nowhere/t.toml"),
        (("--corpus", "none"), "There is no corpus 'none'"),
        (("--provider", "none", "--corpus", "new", "--new-corpus"), "There is no"),
        (("--corpus", "new", "--new-corpus", "--language", "xx"), "There are no prompts"),
        (("--corpus", "new", "--new-corpus", "--count", "5001"), "1 to 5,000"),
        (("--styles-only",), "no profile to write a style for"),
        (("--seed", "-1"), "whole number from 0"),
    ],
)
def test_wrong_usage_says_what_and_makes_nothing(here, change, words):
    CorpusFactory(name="people")
    with pytest.raises(CommandError) as refused:
        call("--corpus", "people", "--provider", "here", "--json", *change)
    assert words in str(refused.value)
    assert refused.value.returncode == 2
    assert (Run.objects.count(), Corpus.objects.count(), Profile.objects.count()) == (0, 1, 0)


def test_a_cap_that_is_reached_stops_it_and_keeps_what_was_written(here):
    CorpusFactory(name="people")
    options = ("--corpus", "people", "--provider", "here", "--count", "6", "--seed", "4", "--here", "1")
    with pytest.raises(CommandError) as stopped:
        call(*options, "--max-calls", "5")
    assert stopped.value.returncode == 1
    assert Run.objects.get().calls == 5
    assert Profile.objects.count() > 0
