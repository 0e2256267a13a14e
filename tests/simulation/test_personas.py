"""A profile's facts as sentences: no hole, no crooked grammar (D2 and D3 of the published prompts)."""

import json
import re
from pathlib import Path

import pytest

from simulation.domain.personas import sentences
from simulation.llm.prompts import BadPrompt, load

ROOT = Path(__file__).resolve().parents[2]
PROMPT = load(ROOT / "simulation" / "prompts", "thread/persona")


def said(**facts):
    return sentences(facts, PROMPT.parts, lambda key, values: PROMPT.part(key, **values))


def test_each_fact_is_one_sentence():
    assert said(age=34, sex="male", city_country="Durban, South Africa", occupation="electrician") == [
        "You are 34 years old.",
        "You are male.",
        "You live in Durban, South Africa.",
        "You work as: electrician.",
    ]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("Masters in Biology", "You hold a Masters in Biology."),
        ("PhD in Law", "You hold a PhD in Law."),
        ("Law Degree", "You hold a Law Degree."),
        ("High School Diploma", "You hold a High School Diploma."),
        ("studying towards a Bachelors in Art", "You are studying towards a Bachelors in Art."),
        ("Studying towards a Bachelors in Art", "You are studying towards a Bachelors in Art."),
        ("Currently studying for a PhD in Law", "You are currently studying for a PhD in Law."),
        ("Retired, Masters in Biology", "Your education: Retired, Masters in Biology."),
        ("No Highschool", "Your education: No Highschool."),
    ],
)
def test_a_degree_is_held_and_studies_are_not(value, sentence):
    assert said(education=value) == [sentence]


def test_a_fact_without_a_value_or_unknown_to_the_catalogue_is_not_said():
    assert said(age="", sex=None, shoe_size=44) == []


def test_every_starter_profile_reads_well():
    profiles = json.loads((ROOT / "simulation/starter_corpus/profiles.json").read_text())
    for facts in profiles.values():
        for sentence in said(**facts):
            assert re.fullmatch(r"(You|Your|For where|Relationship)[^<>$]+\.", sentence), sentence
            assert "hold a stud" not in sentence.lower()
            assert "have hold" not in sentence


def test_a_prompt_with_a_hole_left_is_an_error():
    with pytest.raises(BadPrompt, match="persona"):
        load(ROOT / "simulation" / "prompts", "thread/topic").render(target="age")
