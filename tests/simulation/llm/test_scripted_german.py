"""The scripted model in German: it reads the German prompts, answers in German and hears what it said."""

import json
from pathlib import Path

import pytest

from simulation.domain import personas, replies
from simulation.domain.attributes import CATALOGUE
from simulation.llm.messages import ChatRequest, Form
from simulation.llm.prompts import load
from simulation.llm.scripted import ScriptedModel
from simulation.llm.scripted.brief import Purpose, read_brief
from simulation.llm.structured import Shape, asked_for

ROOT = Path(__file__).resolve().parents[3]
PROMPTS = ROOT / "simulation" / "prompts"
PERSONA = load(PROMPTS, "thread/persona", "de")
REDDIT = load(PROMPTS, "platforms/reddit", "de").parts
TAG = load(ROOT / "annotation" / "prompts", "tag_comment", "de")
FACTS = {
    "age": 41,
    "sex": "female",
    "city_country": "Graz, Austria",
    "birth_city_country": "Linz, Austria",
    "education": "Master's",
    "occupation": "Krankenschwester",
    "income": "48.000 Euro",
    "income_level": "middle",
    "relationship_status": "divorced",
}
PATH = "author: Otter comment: Frage: Was fehlt euch am meisten? Beschreibung der Frage: Ich frage ja nur."
GIVEN = {
    "target": "das Alter",
    "post": "Frage: Was fehlt euch?",
    "style": "Kurz.",
    "stance": "",
    "least": "10",
    "most": "50",
    "username": "Amsel",
    "path": PATH,
    "earlier": "",
}
MODEL = ScriptedModel()


def persona():
    said = personas.sentences(FACTS, PERSONA.parts, lambda key, values: PERSONA.part(key, **values), "de")
    return PERSONA.render(facts="\n".join(said))[0].content


def asked(name, *, seed=0, **values):
    prompt = load(PROMPTS, f"thread/{name}", "de")
    given = {**REDDIT, **GIVEN, "persona": persona(), **values}
    messages = prompt.render(**{key: given[key] for key in prompt.variables})
    return ChatRequest("scripted", messages, seed=seed)


def in_words(request, name, model):
    hint = load(PROMPTS, f"thread/{name}", "de").parts.get("form", "")
    return MODEL.reply(asked_for(request, Shape(model, model.model_validate, hint), Form.TEXT)).text


@pytest.mark.parametrize("name", ["topic", "interest", "comment", "style"])
def test_what_a_german_prompt_is_for_is_known(name):
    brief = read_brief(asked(name))
    purposes = {"topic": Purpose.TOPIC, "interest": Purpose.INTEREST, "comment": Purpose.COMMENT}
    if name != "style":
        assert brief.purpose is purposes[name]
    assert brief.language == "de"


def test_a_german_persona_is_read_in_the_catalogue_s_values():
    person = read_brief(asked("topic")).person
    assert (person.age, person.sex, person.relationship) == (41, "female", "divorced")
    assert (person.home, person.birthplace) == ("Graz, Austria", "Linz, Austria")
    assert (person.education, person.income_level, person.income) == ("Master's", "middle", "48.000 Euro")
    assert person.occupation == "Krankenschwester"


def test_a_topic_is_german_and_can_be_read():
    topic = replies.read_topic(in_words(asked("topic"), "topic", replies.Topic))
    assert topic.question.endswith("?")
    assert 35 <= len(topic.description.split()) <= 130
    assert any(word in topic.description.split() for word in ("ich", "mir", "mich"))


def test_an_interest_check_can_be_read():
    said = {
        replies.read_interest(in_words(asked("interest", seed=seed), "interest", replies.Interest)).interested
        for seed in range(30)
    }
    assert said == {True, False}


def test_a_style_is_german_and_can_be_read():
    style = replies.read_style(in_words(asked("style"), "style", replies.Style))
    assert style.writing_style.startswith("Du ")


@pytest.mark.parametrize(("least", "most"), [(10, 50), (1, 10), (1, 3), (60, 80)])
def test_comments_keep_to_the_limits_and_are_not_all_the_same(least, most):
    texts = [
        replies.read_comment(MODEL.reply(asked("comment", seed=seed, least=str(least), most=str(most))).text)
        for seed in range(40)
    ]
    assert all(least <= len(text.split()) <= most for text in texts)
    assert len(set(texts)) > 4


def test_a_critic_is_heard():
    stance = load(PROMPTS, "thread/comment", "de").part("critic")
    assert read_brief(asked("comment", stance=stance)).critic
    assert not read_brief(asked("comment")).critic


def tagged(text, form=Form.SCHEMA):
    listed = "\n".join(f"{key}: {one.in_language('de').label}" for key, one in CATALOGUE.items())
    request = ChatRequest("scripted", TAG.render(attributes=listed, comment=text), form=form)
    tags = json.loads(MODEL.reply(request).text)["tags"]
    return {tag["attribute"]: tag["guesses"][0] for tag in tags}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ich bin jetzt 41 und habe das oft erlebt.", {"age": "41"}),
        ("Hm. Als Frau erlebe ich das ganz anders.", {"sex": "weiblich"}),
        ("Ich bin geschieden, das erklärt vielleicht manches.", {"relationship_status": "geschieden"}),
        ("Ich arbeite als Gärtner, da lernt man das schnell.", {"occupation": "Gärtner"}),
        ("Bei uns in Graz läuft das anders.", {"city_country": "Graz"}),
        ("Beim Einkommen heißt es für mich: sehr hoch.", {"income_level": "sehr hoch"}),
        ("Niemals.", {}),
    ],
)
def test_its_tagger_hears_what_is_said_outright_in_german(text, found):
    assert tagged(text) == found


def test_comments_tell_something_of_the_person_and_nothing_else():
    heard = {}
    for seed in range(80):
        heard |= tagged(replies.read_comment(MODEL.reply(asked("comment", seed=seed)).text))
    assert len(heard) >= 5
    truth = {
        "age": "41",
        "sex": "weiblich",
        "city_country": "Graz",
        "birth_city_country": "Linz",
        "education": "Master",
        "occupation": "Krankenschwester",
        "income_level": "mittel",
        "relationship_status": "geschieden",
    }
    assert heard.items() <= truth.items()


def test_english_prompts_are_not_taken_for_german():
    english = load(PROMPTS, "thread/interest")
    messages = english.render(
        persona="<persona>\nYou are 30 years old.\n</persona>",
        post="Du schreibst hier auf Deutsch?",
        opening="The thread begins with this post:",
    )
    brief = read_brief(ChatRequest("scripted", messages))
    assert (brief.language, brief.person.age) == ("en", 30)
