"""The scripted model invents people: repeatable, as wished, mostly sound."""

import json
from pathlib import Path

import pytest

from simulation.domain.attributes import CATALOGUE
from simulation.domain.profile_answers import answer_model, described, plain_form, read_profile, shown, wished
from simulation.domain.profile_groups import country
from simulation.domain.profile_rules import normalised, problems, warnings
from simulation.domain.profile_targets import Targets, plan_asks
from simulation.domain.schooling import schooling
from simulation.llm.messages import ChatRequest, Form
from simulation.llm.prompts import load
from simulation.llm.scripted import ScriptedModel
from simulation.llm.structured import Parsed, Rung, Shape, asked_for, read

PROMPTS = Path(__file__).resolve().parents[3] / "simulation" / "prompts"
MODEL = ScriptedModel()
STYLE = "Writing style: short.\n\nExample: nah"
EXAMPLE = {"age": 30, "sex": "male", "city_country": "Oslo, Norway", "occupation": "nurse"}


def ask(wishes, *, seed=1, form=Form.SCHEMA, language="en"):
    prompt = load(PROMPTS, "profile/generate", language)
    messages = prompt.render(
        fields=described(prompt.parts, prompt.part, language),
        examples=shown(EXAMPLE, language),
        wishes=wished(wishes, prompt.parts, prompt.part, language),
        taken="",
    )
    shape = Shape(answer_model(), read_profile, prompt.part("form", lines=plain_form()))
    request = asked_for(ChatRequest("scripted", messages, max_tokens=600, seed=seed), shape, form)
    return read(MODEL.reply(request), shape)


def facts(wishes, **options):
    return normalised(ask(wishes, **options).value.model_dump())


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("language", ["en", "de"])
def test_every_form_and_language_is_answered(form, language):
    found = ask({"age": 30, "sex": "female"}, form=form, language=language)
    assert isinstance(found, Parsed)
    assert found.rung is (Rung.TEXT if form is Form.TEXT else Rung.OBJECT)
    assert problems(normalised(found.value.model_dump())) == {}


@pytest.mark.parametrize("language", ["en", "de"])
def test_wishes_are_kept_but_for_the_odd_slip(language):
    asks = plan_asks(200, Targets.usual(), [], 8)
    kept = dict.fromkeys(CATALOGUE, 0)
    for number, wishes in enumerate(asks):
        found = facts(wishes, seed=number, language=language)
        assert problems(found) == {}
        kept["age"] += found["age"] == wishes["age"]
        for key in ("sex", "relationship_status", "income_level"):
            kept[key] += found[key] == wishes[key]
        kept["city_country"] += country(found["city_country"]) == wishes["city_country"]
        kept["education"] += schooling(found["education"]).category == wishes["education"]
    for key in ("age", "sex", "relationship_status", "income_level", "city_country", "education"):
        assert kept[key] >= 190, key
    assert kept["sex"] == 200


def test_most_people_are_sound_and_some_are_not():
    asks = plan_asks(300, Targets.usual(), [], 4)
    warned = [bool(warnings(facts(one, seed=number), STYLE)) for number, one in enumerate(asks)]
    assert 3 <= sum(warned) <= 36


def test_equal_requests_have_equal_answers_and_another_seed_another():
    wishes = {"age": 50, "city_country": "Peru"}
    assert facts(wishes) == facts(wishes)
    assert len({json.dumps(facts(wishes, seed=seed)) for seed in range(20)}) > 10


def test_incomes_are_in_the_money_of_the_country():
    for name, money in (("Peru", "sole"), ("Japan", "yen"), ("Turkey", "lira"), ("Ghana", "cedi")):
        found = [facts({"city_country": name}, seed=seed)["income"] for seed in range(8)]
        assert sum(money in income or "sol" in income for income in found) >= 6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("age: 30\nsex: male", "no line for: city_country"),
        ("Once upon a time", "no line for: age"),
    ],
)
def test_the_plain_form_says_what_is_missing(text, words):
    with pytest.raises(ValueError, match=words):
        read_profile(text)


def test_the_plain_form_takes_labels_marks_and_prose():
    text = (
        "Here is somebody:\n\n- **Age:** 30\n* Sex: M\nResidence: Oslo, Norway\nGeburtsort: Bergen, Norway\n"
        "Education: PhD: in law\noccupation : judge\nIncome level: Medium\nRelationship: dating\n"
        "Income: 700 thousand kroner\nIncome: 1"
    )
    found = read_profile(text).model_dump()
    assert found == {
        "age": 30,
        "sex": "male",
        "city_country": "Oslo, Norway",
        "birth_city_country": "Bergen, Norway",
        "education": "PhD: in law",
        "occupation": "judge",
        "income_level": "middle",
        "relationship_status": "in a relationship",
        "income": "700 thousand kroner",
    }
