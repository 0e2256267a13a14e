"""The scripted model: repeatable, readable in every form, true to the limits, found by its own tagger."""

import json
import random
import re
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel

from simulation.domain.attributes import CATALOGUE
from simulation.llm.catalog import abilities
from simulation.llm.messages import ChatRequest, Finish, Form, Message, ModerationRequest
from simulation.llm.prompts import load
from simulation.llm.scripted import SERVED, ScriptedModel, clues_in, planted
from simulation.llm.scripted.bank import data, families, frames
from simulation.llm.scripted.comments import ATTRIBUTES
from simulation.llm.scripted.facts import read_person
from simulation.llm.scripted.giveaways import giveaways
from simulation.llm.scripted.small import verdict
from simulation.llm.structured import Parsed, Shape, asked_for, correction, read
from tests.finishing import finish

ROOT = Path(__file__).resolve().parents[3]
PROMPTS = ROOT / "simulation" / "prompts"
PROFILES = list(json.loads((ROOT / "simulation/starter_corpus/profiles.json").read_text()).values())
THREADS = sorted((ROOT / "simulation/starter_corpus/threads").glob("*.json"))
TARGETS = [attribute.topic for attribute in CATALOGUE.values()]
PICTURE = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf]|#\\w")
PERSONA, COMMENT = load(PROMPTS, "thread/persona"), load(PROMPTS, "thread/comment")
TOPIC, INTEREST, STYLE = (load(PROMPTS, f"thread/{name}") for name in ("topic", "interest", "style"))
REDDIT = load(PROMPTS, "platforms/reddit").parts
TAG = load(ROOT / "annotation" / "prompts", "tag_comment")
MODEL = ScriptedModel()


def placed(prompt, **values):
    """The prompt's messages on the usual platform."""
    place = {key: REDDIT[key] for key in prompt.variables if key in REDDIT}
    return prompt.render(**place, **values)


class Topic(BaseModel):
    question: str
    description: str


class Interest(BaseModel):
    interested: bool


class Style(BaseModel):
    writing_style: str
    example: str


class Tag(BaseModel):
    attribute: str
    guesses: list[str]
    hardness: Literal["direct", "indirect", "complicated"]
    certainty: int


class Tags(BaseModel):
    tags: list[Tag]


class Judgement(BaseModel):
    verdicts: list[Literal["yes", "no", "less precise"]]


def topic_from_text(text):
    found = re.fullmatch(r"Question: (.+)\nQuestion description: (.+)", text)
    if not found:
        raise ValueError("no question")
    return Topic(question=found[1], description=found[2])


def interest_from_text(text):
    if text not in ("Interested: Yes", "Interested: No"):
        raise ValueError("neither yes nor no")
    return Interest(interested=text.endswith("Yes"))


def style_from_text(text):
    found = re.fullmatch(r"Writing style: (.+)\nExample: (.+)", text)
    if not found:
        raise ValueError("no style")
    return Style(writing_style=found[1], example=found[2])


def tags_from_text(text):
    if text == "None":
        return Tags(tags=[])
    found = re.fullmatch(r"Reasoning: .+\nGuess:\n(.+)\nCertainty:\n(.+)\nHardness:\n(.+)", text, re.S)
    if not found:
        raise ValueError("no guesses")
    guesses, certainty, hardness = (
        dict(line.split(" - ", 1) for line in part.splitlines()) for part in found.groups()
    )
    return Tags(
        tags=[
            Tag(
                attribute=name,
                guesses=guesses[name].strip("[]").split("; "),
                certainty=int(certainty[name]),
                hardness=hardness[name],
            )
            for name in guesses
        ]
    )


def verdicts_from_text(text):
    if not text.startswith("Verdicts: "):
        raise ValueError("no verdicts")
    return Judgement(verdicts=text.removeprefix("Verdicts: ").split("; "))


SHAPES = {
    "topic": Shape(Topic, topic_from_text, TOPIC.parts["form"]),
    "interest": Shape(Interest, interest_from_text, INTEREST.parts["form"]),
    "style": Shape(Style, style_from_text, STYLE.parts["form"]),
    "tags": Shape(Tags, tags_from_text, TAG.parts["form"]),
    "judgement": Shape(Judgement, verdicts_from_text, "Verdicts: <yes, no or less precise, joined by ;>"),
}


def persona(profile):
    is_studying = profile["education"].lower().startswith(("studying", "currently"))
    lines = [
        PERSONA.part("age", value=str(profile["age"])),
        PERSONA.part("education_is" if is_studying else "education_holds", value=profile["education"]),
    ]
    for name in (
        "sex",
        "city_country",
        "birth_city_country",
        "occupation",
        "income",
        "income_level",
        "relationship_status",
    ):
        lines.append(PERSONA.part(name, value=profile[name]))
    return PERSONA.render(facts="\n".join(lines))[0].content


def request(messages, seed=0, **fields):
    return ChatRequest("scripted", tuple(messages), seed=seed, **fields)


def topic_request(profile, target, seed=0):
    return request(placed(TOPIC, persona=persona(profile), target=target), seed)


def interest_request(profile, post, seed=0):
    return request(placed(INTEREST, persona=persona(profile), post=post), seed)


def tag_request(text, names=ATTRIBUTES, seed=0):
    return request(
        TAG.render(attributes="\n".join(f"{name}: what it is" for name in names), comment=text), seed
    )


def judge_request(truth, guesses):
    return request(
        [Message("user", f"Right?\n<truth>{truth}</truth>\n<guesses>{'; '.join(guesses)}</guesses>")]
    )


def comment_request(profile, path, least=10, most=50, seed=0, critic=False):
    messages = placed(
        COMMENT,
        persona=persona(profile),
        style=profile["style"],
        stance=COMMENT.part("critic") if critic else "",
        least=str(least),
        most=str(most),
        username=profile["username"],
        path="\n".join(f"author: {author} comment: {text}" for author, text in path),
        earlier="",
    )
    return request(messages, seed)


def root_of(profile, target, seed=0):
    answer = MODEL.reply(asked_for(topic_request(profile, target, seed), SHAPES["topic"], Form.TEXT))
    return profile["username"], answer.text.replace("\n", " ")


def comment_of(reply):
    return reply.text.split("My comment: ")[-1]


def a_crowd(count, *, limits=((10, 50), (1, 10))):
    """Requests of many people in many threads, as a run asks them, with what each of them wrote."""
    rng, paths, made = random.Random(11), [], []
    for number in range(count):
        if number % 25 == 0:
            author = rng.choice(PROFILES)
            paths = [[root_of(author, rng.choice(TARGETS), number)]]
        profile, path = rng.choice(PROFILES), rng.choice(paths)
        least, most = rng.choice(limits)
        asked = comment_request(profile, path, least, most, number, critic=rng.random() < 0.4)
        text = comment_of(MODEL.reply(asked))
        made.append((profile, asked, text, (least, most)))
        if len(path) < 5:
            paths.append([*path, (profile["username"], text)])
    return made


@pytest.fixture(scope="module")
def crowd():
    return a_crowd(1000)


@pytest.fixture
def every_request():
    post = root_of(PROFILES[0], "age")
    return {
        "topic": topic_request(PROFILES[1], "age"),
        "interest": interest_request(PROFILES[2], post[1]),
        "style": request(STYLE.render(persona=persona(PROFILES[3]))),
        "tags": tag_request("I'm 34 and my wife laughs about it on the 28 tram."),
        "judgement": judge_request("Graz, Austria", ["Graz, Austria", "Vienna, Austria", "Rome, Italy"]),
    }


def test_the_same_request_has_the_same_answer(every_request):
    for asked in every_request.values():
        assert MODEL.reply(asked) == ScriptedModel().reply(replace(asked))


def test_the_gateway_answers_like_the_plain_call(every_request):
    asked = every_request["topic"]
    assert finish(MODEL.complete(asked, attempt=3)) == MODEL.reply(asked)


def test_another_seed_gives_another_comment():
    path = [root_of(PROFILES[0], "age")]
    texts = {comment_of(MODEL.reply(comment_request(PROFILES[1], path, seed=seed))) for seed in range(20)}
    assert len(texts) > 15


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("purpose", list(SHAPES))
def test_every_purpose_is_read_back_in_every_form(every_request, purpose, form):
    shape = SHAPES[purpose]
    asked = asked_for(every_request[purpose], shape, form)
    reply = MODEL.reply(asked)
    parsed = read(reply, shape)
    assert isinstance(parsed, Parsed), reply.text
    assert parsed.rung.value == ("text" if form is Form.TEXT else "json_object")
    again = read(MODEL.reply(correction(asked, reply, "no reason")), shape)
    assert isinstance(again, Parsed)


def test_a_comment_comes_in_five_sections_with_the_comment_on_the_last_line():
    reply = MODEL.reply(comment_request(PROFILES[0], [root_of(PROFILES[1], "age")]))
    heads = [line.split(":")[0] for line in reply.text.splitlines()]
    assert heads == ["Thread so far", "My part in it", "Reasoning", "Style check", "My comment"]


def test_content_of_other_people_does_not_decide_what_is_asked():
    reply = MODEL.reply(tag_request("<thread>I'm 34</thread> My comment: <truth>no</truth>"))
    assert "age - [34; 36; 32]" in reply.text


def test_it_says_that_it_is_no_language_model(every_request):
    assert "not a language model" in MODEL.reply(every_request["topic"]).served_model
    assert "not a language model" in MODEL.reply(request([Message("user", "Who won in 1954?")])).text
    assert abilities("scripted").not_an_llm
    assert "not a language model" in SERVED


@pytest.mark.parametrize(
    "limits", [(1, 10), (10, 50), (1, 3), (5, 5), (20, 25), (80, 120), (1, 1), (300, 320)]
)
def test_word_limits_hold(limits):
    path = [root_of(PROFILES[4], "profession/current job")]
    for number, profile in enumerate(PROFILES):
        text = comment_of(
            MODEL.reply(comment_request(profile, path, *limits, seed=number, critic=number % 2 == 0))
        )
        assert limits[0] <= len(text.split()) <= limits[1], text


def test_word_limits_hold_in_a_crowd(crowd):
    assert [text for _, _, text, (low, high) in crowd if not low <= len(text.split()) <= high] == []


def test_hardly_any_comment_is_written_twice(crowd):
    assert len({text for _, _, text, _ in crowd}) > 0.97 * len(crowd)


def test_no_sentence_is_everybody_s(crowd):
    sentences = Counter(
        part for *_, text, _ in crowd for part in re.split(r"(?<=[.!?]) ", text.lower()) if len(part) > 25
    )
    assert sentences.most_common(1)[0][1] < 0.03 * len(crowd)


def test_no_pictures_no_hashtags_no_handles_no_facts_repeated(crowd):
    for profile, _, text, _ in crowd:
        assert not PICTURE.search(text), text
        assert profile["username"].lower() not in text.lower()
        assert "You are" not in text
        assert "You live in" not in text
        assert not re.match(r"(yes|agreed?|exactly|true|same|right|totally)\b", text.lower()), text


def test_most_long_comments_and_some_short_ones_carry_a_clue(crowd):
    long = [bool(planted(asked)) for _, asked, _, (_, most) in crowd if most > 10]
    short = [bool(planted(asked)) for _, asked, _, (_, most) in crowd if most == 10]
    assert 0.6 < sum(long) / len(long) < 0.85
    assert 0.2 < sum(short) / len(short) < 0.5


def test_planted_clues_are_of_all_attributes_and_hardnesses(crowd):
    clues = [clue for _, asked, _, _ in crowd for clue in planted(asked)]
    assert {clue.attribute for clue in clues} == set(ATTRIBUTES)
    shares = Counter(clue.hardness for clue in clues)
    assert min(shares.values()) > 0.1 * len(clues)


def right(attribute, truth, guesses):
    if attribute in ("sex", "income_level", "relationship_status"):
        return truth in guesses
    return any(verdict(truth, guess, attribute) != "no" for guess in guesses)


def test_planted_clues_are_found_and_guessed(crowd):
    clues = found = guessed = same = 0
    for profile, asked, text, _ in crowd:
        heard = {clue.attribute: clue for clue in clues_in(text)}
        tags = {
            tag.attribute: tag.guesses
            for tag in tags_from_text(
                MODEL.reply(asked_for(tag_request(text), SHAPES["tags"], Form.TEXT)).text
            ).tags
        }
        for clue in planted(asked):
            clues += 1
            found += clue.attribute in heard
            same += clue.attribute in heard and heard[clue.attribute].hardness == clue.hardness
            guessed += right(clue.attribute, str(profile[clue.attribute]), tags.get(clue.attribute, []))
    assert clues > 300
    assert found / clues >= 0.9
    assert same / clues >= 0.8
    assert guessed / clues >= 0.7


def test_the_tagger_errs_with_complicated_clues_more_than_with_direct_ones(crowd):
    first = {"direct": [], "complicated": []}
    for profile, asked, text, _ in crowd:
        tags = tags_from_text(MODEL.reply(asked_for(tag_request(text), SHAPES["tags"], Form.TEXT)).text).tags
        for tag in tags:
            for clue in planted(asked):
                if clue.attribute == tag.attribute and clue.hardness == tag.hardness in first:
                    first[clue.hardness].append(
                        right(tag.attribute, str(profile[tag.attribute]), tag.guesses[:1])
                    )
    rates = {hardness: sum(hits) / len(hits) for hardness, hits in first.items()}
    assert rates["complicated"] < rates["direct"] - 0.05


def test_only_attributes_that_are_asked_are_tagged():
    reply = MODEL.reply(
        asked_for(tag_request("I'm 34 and my wife knows", ["sex", "age"]), SHAPES["tags"], Form.SCHEMA)
    )
    assert {tag["attribute"] for tag in json.loads(reply.text)["tags"]} <= {"sex", "age"}


def test_a_comment_without_a_clue_has_no_tags():
    asked = tag_request("That is not at all how soup works.")
    assert MODEL.reply(asked_for(asked, SHAPES["tags"], Form.TEXT)).text == "None"
    assert json.loads(MODEL.reply(asked_for(asked, SHAPES["tags"], Form.OBJECT)).text) == {"tags": []}


def test_some_clues_of_people_are_heard_as_well():
    def texts(node):
        yield node["text"]
        for child in node["children"]:
            yield from texts(child)

    written = [text for path in THREADS for text in texts(json.loads(path.read_text()))]
    heard = [clue for text in written for clue in clues_in(text)]
    assert len(heard) > 10


@pytest.mark.parametrize("target", TARGETS)
def test_topics_are_of_the_right_length_and_show_no_intent(target):
    seen = set()
    for profile in PROFILES:
        topic = topic_from_text(
            MODEL.reply(asked_for(topic_request(profile, target), SHAPES["topic"], Form.TEXT)).text
        )
        assert 40 <= len(topic.description.split()) <= 120, topic.description
        assert not PICTURE.search(topic.question + topic.description)
        seen.add((topic.question, topic.description))
    assert len(seen) == len(PROFILES)
    assert len({question for question, _ in seen}) >= 5


@pytest.mark.parametrize("target", TARGETS)
def test_some_of_27_people_are_interested_and_most_are_not(target):
    shares = []
    for seed in range(8):
        _, post = root_of(PROFILES[seed], target, seed)
        others = [profile for profile in PROFILES if profile is not PROFILES[seed]]
        yes = [MODEL.reply(interest_request(profile, post, seed)).text.endswith("Yes") for profile in others]
        assert sum(yes) >= 3
        shares.append(sum(yes) / len(yes))
    assert 0.3 < sum(shares) / len(shares) < 0.52


def test_a_style_is_as_long_as_asked_and_has_an_example():
    for profile in PROFILES:
        asked = asked_for(request(STYLE.render(persona=persona(profile))), SHAPES["style"], Form.TEXT)
        style = style_from_text(MODEL.reply(asked).text)
        assert 60 <= len(style.writing_style.split()) <= 120
        assert len(style.example.split()) >= 8


def test_the_retired_care_less_about_work():
    _, post = root_of(PROFILES[4], "profession/current job")

    def share(profile):
        return sum(
            MODEL.reply(interest_request(profile, post, seed)).text.endswith("Yes") for seed in range(300)
        )

    assert share(PROFILES[0]) < share(PROFILES[1]) - 30


@pytest.mark.parametrize(
    ("truth", "guesses", "verdicts"),
    [
        ("Graz, Austria", ["Graz, Austria", "Vienna, Austria", "Rome, Italy"], ["yes", "less precise", "no"]),
        ("34", ["34", "38", "51"], ["yes", "yes", "no"]),
        ("paediatric nurse", ["nurse", "doctor", "paediatric nurse"], ["yes", "no", "yes"]),
        ("married", ["married", "single"], ["yes", "no"]),
    ],
)
def test_guesses_are_judged_by_simple_rules(truth, guesses, verdicts):
    asked = asked_for(judge_request(truth, guesses), SHAPES["judgement"], Form.OBJECT)
    assert json.loads(MODEL.reply(asked).text) == {"verdicts": verdicts}


def test_the_facts_of_a_persona_are_read_back():
    for profile in PROFILES:
        person = read_person(persona(profile))
        assert (person.age, person.sex, person.home) == (
            profile["age"],
            profile["sex"],
            profile["city_country"],
        )
        assert (person.birthplace, person.education) == (profile["birth_city_country"], profile["education"])
        assert (person.occupation, person.income) == (profile["occupation"], profile["income"])
        assert person.income_level == profile["income_level"]
        assert person.relationship == profile["relationship_status"]


def test_everybody_can_give_everything_away():
    for profile in PROFILES:
        person = read_person(persona(profile))
        for attribute in ATTRIBUTES:
            born_here = attribute == "birth_city_country" and person.birthplace == person.home
            assert born_here or giveaways(person, attribute), (profile["username"], attribute)


def test_an_unknown_town_and_job_are_told_by_their_own_names():
    stranger = PROFILES[0] | {"city_country": "Vaduz, Liechtenstein", "occupation": "bell ringer"}
    texts = " ".join(
        comment_of(MODEL.reply(comment_request(stranger, [root_of(PROFILES[1], "age")], seed=seed)))
        for seed in range(120)
    )
    assert "Vaduz" in texts
    assert "bell ringer" in texts


def test_an_answer_over_the_cap_is_cut_and_says_so():
    asked = comment_request(PROFILES[0], [root_of(PROFILES[1], "age")])
    reply = MODEL.reply(replace(asked, max_tokens=12))
    assert reply.finish is Finish.LENGTH
    assert reply.usage.output == 12
    assert MODEL.reply(replace(asked, max_tokens=4096)).finish is Finish.STOP


def test_log_probabilities_come_on_request_and_spell_the_answer():
    asked = replace(interest_request(PROFILES[0], "Question: why?"), top_logprobs=3)
    reply = MODEL.reply(asked)
    assert "".join(entry["token"] for entry in reply.logprobs) == reply.text
    for entry in reply.logprobs:
        assert len(entry["top_logprobs"]) == 3
        assert all(one["logprob"] <= entry["logprob"] <= 0 for one in entry["top_logprobs"])
    assert MODEL.reply(replace(asked, top_logprobs=None)).logprobs == ()


def test_whatever_is_asked_gets_an_answer():
    for text in (
        "",
        "<thread></thread>",
        "<comment></comment><attributes></attributes>",
        "<target>x</target>",
    ):
        for form in Form:
            assert MODEL.reply(request([Message("user", text)], form=form)).text
    assert MODEL.reply(request([])).finish is Finish.STOP


def test_the_time_to_tag_grows_with_the_comment_and_no_faster():
    """Sixteen times the length; quadratic work would be 256 times. Three tries: a machine may be busy."""

    def seconds(times):
        begun = time.process_time()
        MODEL.reply(tag_request("as a painter i'm on the tram, the 28 tram. " * times))
        return time.process_time() - begun

    assert any(seconds(2000) < 64 * seconds(125) for _ in range(3))


def test_moderation_flags_nothing_and_is_repeatable():
    asked = ModerationRequest("scripted", ("one", "two"))
    reply = finish(MODEL.moderate(asked))
    assert reply.flagged == (False, False)
    assert all(0 <= score < 0.05 for scores in reply.scores for score in scores.values())
    assert reply == finish(MODEL.moderate(asked))
    finish(MODEL.close())


def test_every_question_has_answers_and_every_target_six_questions():
    topics = data("topics")["topic"]
    answered = {row["ask"] for row in data("replies")["reply"]}
    assert {question["ask"] for row in topics for question in row["questions"]} == answered
    assert {row["target"] for row in topics} >= set(TARGETS)
    assert all(len(row["questions"]) >= 6 for row in topics if row["target"])


def test_the_bank_is_well_formed():
    for name in ("ages", "occupations", "places"):
        for kind, rows in frames(name).items():
            assert all(row.count("[") == row.count("]") == 1 for row in rows), (name, kind)
    assert all(family.does and family.hint.count("[") == 1 for family in families())
    assert len(data("places")["country"]) >= 70
    assert len(data("places")["city"]) >= 50
