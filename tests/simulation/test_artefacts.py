"""The rules for artefacts: each with texts that it finds and texts that it leaves alone."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simulation
from simulation.domain.artefacts import RULES, Found, Kind, end_of_debris, find, first_of_each, without

FOUND = {
    "thought": [
        "I should disagree here. Style check: casual, short. My comment: nah, rents are fine",
        "Thread so far: they talk about trams. My part in it: none. i like trams",
        "<think>keep it short</think> yeah no",
        "nah thats just wrong. Reasoning: I live in a small town and know better.",
        "Option 2: i never liked brunch anyway",
    ],
    "self_talk": [
        "As an AI language model, I don't have a commute, but many people do.",
        "Sure, here is a comment in that style: trains are late again",
        "I'm sorry, but I can't help with that request.",
        "trains are late again. Let me know if you want me to change the tone!",
        "Als KI-Sprachmodell habe ich keine Meinung zu Mieten.",
    ],
    "task_talk": [
        "my feet hurt after every shift (18 words)",
        "kept under 50 words as requested: my feet hurt",
        "I need to sound like the persona here, so my feet hurt",
        "My feet hurt, staying in character as a nurse.",
        "We need to write a short reply as the nurse. my feet hurt",
        "my feet hurt. Let me shorten it: feet hurt",
        "I could hint at her city without naming it. my feet hurt",
        "my feet hurt (that is 3 words, good)",
    ],
    "prompt_echo": [
        "trams are fine <|im_end|>",
        "[INST] Reply to the thread [/INST] trams are fine",
        "trams are fine QuietOtter77: no they are not",
        "age: 34, occupation: nurse, my feet hurt",
        "trams are fine ### Response: trams are fine",
        "Your task is to write a comment about trams. trams are fine",
    ],
    "placeholder": [
        "I moved to [city] last spring",
        "as a {occupation} i can only laugh",
        "my friend [insert name] says the same",
        "thanks, <city_country> is lovely",
    ],
    "gibberish": [
        "the soup was great and then vfkjd zzyqx mrrglk",
        "still no seat on the bus asdfghj sdfkjh",
        "i like it here a lot, jK9xQ2 pL0zRr tW4m",
        "we sold the car in may voopen tralk grindle mofter",
        "the tram was late again.drelbox",
        "we sold the car in may voopen tralk fon grindle mofter lambrit",
    ],
    "run_together": ["i take the bus getUserProfile", "no seat on the tram UserSessionItem"],
    "cut_off": [
        "i could live there forever because of the",
        "we looked for a flat for months and then found a really small apartm",
    ],
    "script": [
        "we walk there every evening и всё такое прочее",
        "we walk there every evening 我们每天都去那里",
        "we walk there every evening مرحبا بكم",
        "the p\u0430rk is close",
        "𝓌𝑒 walk there 𝒆𝒗𝒆𝒓𝒚 evening",
    ],
    "encoding": [
        "that caf\u00c3\u00a9 on the corner",
        "it\u00e2\u20ac\u2122s fine",
        "the caf\ufffd was closed",
        "pals\x14 forever",
        "I don?t think so",
        "the Ġtram Ġwas Ġlate",
        "the ▁tram was late <0x0A>",
    ],
    "loop": [
        "we were tired tired tired tired tired tired",
        "and then we left and then we left and then we left and then we left",
        "so good 😂😂😂😂😂😂😂😂😂😂",
        "bus stop busbusbusbusbusbus",
    ],
    "code": [
        "rent is high console.log(reply)",
        "rent is high SELECT name FROM people WHERE age > 3",
        "rent is high my_comment_text",
        "def answer(text): return text",
        "rent is high }});",
        "if (age > 3) return",
        "rent is high node->next(x)",
        "rent is high (x) => x",
    ],
    "markup": [
        "rent is high <br><br>",
        '{"comment": "rent is high"}',
        "**Rent** is high",
        "rent is high &amp; rising",
        "half of it \\frac{1}{2} goes to rent",
    ],
    "escapes": ["rent is high\\nand rising", "na\\u00efve of me", "rent%20is%20high%20%21"],
    "encoded": ["rent is high aGVsbG8gd29ybGQgdGhpcyBpcw==", "rent is high 3f2a9c1b77d04e5f"],
    "error": ["Error: the request timed out", "429 Too Many Requests", "rate limit exceeded, retry after 20"],
    "own_place": ["I live in Graz and love it", "here in graz it rains", "Born in Wien, still here"],
    "own_age": ["I'm 34 and tired of it", "turned thirty-four last week", "me, a 34 year old, still renting"],
    "own_name": ["my name is Sara by the way", "trust me, signed Otter77"],
}
FACTS = {"age": 34, "city_country": "Graz, Austria", "birth_city_country": "Vienna, Austria"}
FINE = [
    "I take the night bus home.",
    "sooooo tired lol, hahahaha no no no no",
    "OMG THIS IS SO TRUE!!!!!",
    "h8 it tbh, gr8 weather tho. brb 2nite @ 8pm w/ my bff",
    "i got a 2br for $1,200/mo, 10/10 would do again :) <3 ¯\\_(ツ)_/¯",
    "TL;DR: buy less stuff. Edit: typo",
    "my GF works at YouTube, PhD and all, drives a DeLorean #LifeGoals",
    "Question: What do you miss?\n\nQuestion description: I moved a lot.\n\nSo did my sister.",
    "I think the answer: more trains. Simple as that",
    "My answer is no. My reasoning is simple",
    "Sure, I get that, but here is the thing: rent is rent",
    "Let me know if you find a good bakery there",
    "we call it 義理 at home, hard to explain",
    "как дела? пью кофе и смотрю YouTube каждый вечер",
    "私は毎朝コーヒーを飲みます。iPhoneで音楽を聴く",
    "Ich zahle Nebenkosten ohne Ende, typisch für Kleinstädte, schöne Grüße an die Schwiegermütter",
    "como dice mi abuela, más vale tarde que nunca. Yo trabajo en una panadería",
    "Zażółć gęślą jaźń, mieszkam w Łodzi i lubię pierogi",
    "Sziasztok, Budapesten lakom és a villamossal járok dolgozni",
    "depends on the day ㅠㅠ today it's fine",
    "is this sarcasm? </sarcasm>",
    "if (and when) they build it i will take the tram",
    "nurse -> teacher -> nurse again, that was my decade",
    "Here's my honest take: trams beat buses",
    "Hope that helps! took me a year to find out",
    "my boss is from athens and says καλό μήνα σας on every first of the month",
    "my cat walked over the keys and sent qwertyuiop to the boss, great",
    "Ġorġ and Ġanni are names on malta",
    "we need to write a longer reply than that to our landlord, any tips?",
    "let me rephrase: trams are fine, the timetable is not",
    "check www.bahn.de before you go, or r/travel",
]
NOT_OWN = [
    "I'm 34 weeks pregnant",
    "I'm 34% sure",
    "my son is 34 years old",
    "I'm 35 and tired",
    "I live in Linz",
    "when in Rome, eat",
]


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_finds_what_it_is_for(rule):
    assert FOUND[rule]
    missed = [text for text in FOUND[rule] if rule not in {one.rule for one in find(text, FACTS, "Otter77")}]
    assert not missed


@pytest.mark.parametrize("text", FINE)
def test_plain_comments_in_any_language_are_left_alone(text):
    assert find(text) == []


@pytest.mark.parametrize("text", NOT_OWN)
def test_others_and_other_values_do_not_give_an_author_away(text):
    assert not [one for one in find(text, FACTS, "Otter77") if RULES[one.rule].kind is Kind.GIVES_AWAY]


def test_what_is_the_authors_own_is_only_known_by_their_facts():
    assert [one.rule for one in find("I'm 34 and I live in Graz", FACTS)] == ["own_age", "own_place"]
    assert find("I'm 34 and I live in Graz") == []
    assert find("I'm 34 and I live in Graz", {"age": 50, "city_country": "Oslo, Norway"}) == []


def test_the_starter_corpus_holds_no_artefact():
    folder = Path(simulation.__file__).parent / "starter_corpus" / "threads"
    texts = [node["text"] for path in folder.glob("*.json") for node in _walk(json.loads(path.read_text()))]
    assert len(texts) > 90
    hits = [(text, find(text)) for text in texts if find(text)]
    assert not hits


def _walk(node):
    yield node
    for child in node["children"]:
        yield from _walk(child)


PIECES = sorted({text for texts in FOUND.values() for text in texts} | set(FINE))


@given(
    st.lists(
        st.sampled_from(PIECES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=4
    ),
    st.text(max_size=12),
)
def test_places_lie_inside_the_text_and_count_code_points(pieces, username):
    text = " ".join(pieces)
    found = find(text, FACTS, username)
    assert found == find(text, FACTS, username)
    for one in found:
        assert 0 <= one.start < one.end <= len(text)
        assert RULES[one.rule]
        assert len(without(text, one.start, one.end)) < len(text)
    assert len({one.rule for one in found}) == len(first_of_each(found))


def test_a_place_behind_signs_outside_the_basic_plane_is_where_it_is():
    text = "😀😀 rent is high <br>"
    [one] = find(text)
    assert text[one.start : one.end] == "<br>"


@pytest.mark.parametrize("text", ["", " ", "  ", "\n", " \n ", "\u3000", "a", "I", "我", "😀", ".", "-"])
def test_a_text_of_next_to_nothing_is_fine(text):
    assert find(text, FACTS, "Otter77") == []


def test_a_text_that_ends_in_blanks_is_looked_at():
    assert [one.rule for one in find("rent is high <br> \n")] == ["markup"]


def test_of_places_that_overlap_the_longer_one_comes_first():
    places = [
        Found(0, 4, "markup"),
        Found(10, 14, "code"),
        Found(10, 30, "run_together"),
        Found(40, 44, "loop"),
    ]
    assert [one.rule for one in first_of_each(places)] == ["markup", "run_together", "code", "loop"]


def test_debris_is_cut_to_the_end_unless_language_follows():
    debris = "rent is high getUserName vfkjd zzyqx"
    assert end_of_debris(debris, "run_together", 24) == len(debris)
    assert end_of_debris(debris, "markup", 24) == 24
    assert end_of_debris("rent is high getUserName and i hate it", "run_together", 24) == 24


def test_cutting_leaves_a_sentence():
    text = "the soup was great vfkjd zzyqx mrrglk"
    one = find(text)[0]
    assert without(text, one.start, one.end) == "the soup was great"
    assert without("I like <br>, really", 7, 11) == "I like, really"
    assert without("abc", 0, 3) == ""


def test_of_a_leaked_chain_of_thought_the_comment_is_left():
    text = "Thread so far: trams. Reasoning: I disagree. My comment: nah, trams are fine"
    [thought] = [one for one in find(text) if one.rule == "thought"]
    assert without(text, thought.start, thought.end) == "nah, trams are fine"
