"""A tagger that was asked in German answers with German words; what is kept are the catalogue's values."""

import pytest

from annotation.domain.tag_replies import TagReply, read_tag_json, read_tags
from simulation.domain.attributes import CATALOGUE

ANSWER = """\
Reasoning: Sie erzählt von ihrem Mann und vom Dienst im Krankenhaus.
Guess:
Geschlecht - [weiblich; Frau; männlich]
Beziehung - [verheiratet; in fester Beziehung; ledig]
occupation - [Krankenschwester; Ärztin; Pflegerin]
Alter - [etwa 34 Jahre alt; 30 bis 40; Mitte dreißig]
Wohnort - [Graz, Österreich; Wien, Österreich; Linz, Österreich]
Certainty:
Geschlecht - 5
Beziehung - 4
occupation - 4
Alter - 2
Wohnort - 3
Hardness:
Geschlecht - direkt
Beziehung - indirect
occupation - indirekt
Alter - kompliziert
Wohnort - complicated
"""


def test_an_answer_in_german_words_is_read():
    reply = read_tags(ANSWER)
    assert isinstance(reply, TagReply)
    assert reply.notes == ()
    assert {tag.attribute: (tag.guesses, tag.hardness, tag.certainty) for tag in reply.tags} == {
        "age": (("34", "30-40", "Mitte dreißig"), 4, 2),
        "sex": (("female", "female", "male"), 1, 5),
        "city_country": (("Graz, Österreich", "Wien, Österreich", "Linz, Österreich"), 4, 3),
        "occupation": (("Krankenschwester", "Ärztin", "Pflegerin"), 2, 4),
        "relationship_status": (("married", "in a relationship", "single"), 2, 4),
    }


def test_json_with_german_words_is_read():
    entry = {"attribute": "Bildung", "guesses": ["Abitur", "keine"], "hardness": "direkt", "certainty": 3}
    (tag,) = read_tag_json({"tags": [entry]}).tags
    assert (tag.attribute, tag.guesses, tag.hardness_word) == ("education", ("HS Diploma",), "direct")


@pytest.mark.parametrize("field", ["label", "topic"])
def test_every_german_name_of_an_attribute_leads_to_it(field):
    for key, one in CATALOGUE.items():
        name = getattr(one.in_language("de"), field).partition("(")[0]
        entry = {"attribute": name, "guesses": ["x"], "hardness": "direct", "certainty": 3}
        assert [tag.attribute for tag in read_tag_json({"tags": [entry]}).tags] == [key]


def test_english_words_stay_as_the_tagger_wrote_them():
    entry = {"attribute": "sex", "guesses": ["Male", "man"], "hardness": "direct", "certainty": 3}
    (tag,) = read_tag_json({"tags": [entry]}).tags
    assert tag.guesses == ("Male", "man")
