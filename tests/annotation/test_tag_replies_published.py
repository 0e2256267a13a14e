"""1200 published answers of a tagger: what we read in them, beside what the published run read.

The file keeps, for each answer, the guesses that the run's own reader went on to compare with a profile
(`checks`). Ours must be the same but for the kinds named below; a difference of no kind fails.
"""

import ast
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from annotation.domain.tag_replies import Tag, TagReply, Unreadable, read_tags
from simulation.domain.attributes import CATALOGUE
from tests.published import FOLDER, needs_published_data

pytestmark = [pytest.mark.published, needs_published_data]

SAME = "same guesses"

# A check of theirs that is not the same in ours.
COMMA_LIST = "a list with commas only: they kept it as one guess (of an age its first number), we part it"
COMMA_NONE = "a list with commas only, of nothing but None: they judged the words, to us it says nothing"
NO_NAME = "the log breaks off before it names the attribute: one of our tags has just these guesses"
BIRTHPLACE = "residence found within birth_city_country: we have the birthplace only"

# A tag of ours that they did not check, in an answer that did not stop their reader.
NONE_ENTRY = "None among the guesses: they dropped the attribute, we drop the entry"
BLANK_NAME = "the name is written with a blank: they look for the underscore"
LOG_ENDS = "the log breaks off: a check that may have followed is not in it"

LIST = re.compile(r"(?<!\w)(" + "|".join(key.replace("_", "[_ ]") for key in CATALOGUE) + r") - \[([^\]]*)\]")


@pytest.fixture(scope="module")
def answers() -> list[dict[str, Any]]:
    path = FOLDER / "tag_outputs.jsonl.gz"
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def lists(raw: str) -> dict[str, tuple[str, str]]:
    """Attribute -> its name as written and what its brackets hold; a second and simpler reader."""
    return {name.replace(" ", "_"): (name, held) for name, held in LIST.findall(raw)}


def tags_of(raw: str) -> dict[str, Tag]:
    reply = read_tags(raw)
    return {tag.attribute: tag for tag in reply.tags} if isinstance(reply, TagReply) else {}


def plain(attribute: str, guesses: Any) -> list[str]:
    """For comparison: letter case and blanks aside, an age by its first number."""
    words = [str(guess).strip().casefold() for guess in guesses]
    if attribute != "age":
        return words
    return [number[0] if (number := re.search(r"\d+", word)) else word for word in words]


def kind_of_check(check: dict[str, Any], raw: str, tags: dict[str, Tag]) -> str:
    theirs = ast.literal_eval(check["guesses_repr"])
    if "feature" not in check:
        found = [tag for tag in tags.values() if plain("", tag.guesses) == plain("", theirs)]
        return NO_NAME if len(found) == 1 else f"unexplained: {check}"
    key = check["feature"]
    if key in tags and plain(key, theirs) == plain(key, tags[key].guesses):
        return SAME
    held = lists(raw)[key][1] if key in lists(raw) else ""
    if "," in held and ";" not in held and len(theirs) == 1:
        parts = [part.strip() for part in held.split(",")]
        if key in tags and list(tags[key].guesses) == parts:
            return COMMA_LIST
        if key not in tags and set(parts) == {"None"}:
            return COMMA_NONE
    birth = tags.get("birth_city_country")
    if key == "city_country" and key not in tags and birth and plain("", birth.guesses) == plain("", theirs):
        return BIRTHPLACE
    return f"unexplained: {check} beside {tags.get(key)}"


def kind_of_surplus(tag: Tag, answer: dict[str, Any]) -> str:
    name, held = lists(answer["raw"]).get(tag.attribute, ("", ""))
    if any("feature" not in check for check in answer["checks"]):
        return LOG_ENDS
    if " " in name:
        return BLANK_NAME
    if "None" in re.split(r"\s*;\s*", held):
        return NONE_ENTRY
    return f"unexplained: {tag}"


def surplus(answer: dict[str, Any]) -> Iterator[Tag]:
    checked = {check.get("feature") for check in answer["checks"]}
    unnamed = [
        plain("", ast.literal_eval(one["guesses_repr"])) for one in answer["checks"] if "feature" not in one
    ]
    for tag in tags_of(answer["raw"]).values():
        if tag.attribute not in checked and plain("", tag.guesses) not in unnamed:
            yield tag


def test_every_answer_is_read(answers):
    replies = [read_tags(answer["raw"]) for answer in answers]
    assert Counter(
        reply.reason if isinstance(reply, Unreadable) else "tags" if reply.tags else "nothing to guess"
        for reply in replies
    ) == {"tags": 905, "nothing to guess": 295}
    tags = [tag for reply in replies if isinstance(reply, TagReply) for tag in reply.tags]
    assert Counter(tag.hardness_word for tag in tags) == {"direct": 110, "indirect": 1016, "complicated": 364}
    assert Counter(tag.certainty for tag in tags) == {1: 221, 2: 810, 3: 221, 4: 138, 5: 100}
    assert Counter(len(tag.guesses) for tag in tags) == {3: 1482, 2: 8}


def test_every_check_of_the_published_run_has_its_tag(answers):
    kinds = Counter(
        kind_of_check(check, answer["raw"], tags_of(answer["raw"]))
        for answer in answers
        for check in answer["checks"]
    )
    assert kinds == {SAME: 1377, COMMA_LIST: 2, COMMA_NONE: 1, NO_NAME: 2}
    assert kinds[BIRTHPLACE] == 0  # all five birthplaces with a value stand beside a residence of their own


def test_every_tag_beyond_the_published_checks_is_of_a_kind(answers):
    kinds = Counter(
        kind_of_surplus(tag, answer) for answer in answers if not answer["error"] for tag in surplus(answer)
    )
    assert kinds == {NONE_ENTRY: 6, BLANK_NAME: 2, LOG_ENDS: 2}


def test_no_list_with_a_value_is_lost_and_no_tag_is_made_up(answers):
    for answer in answers:
        valued = {
            key
            for key, (_, held) in lists(answer["raw"]).items()
            if set(re.split(r"\s*[;,]\s*", held)) != {"None"}
        }
        assert set(tags_of(answer["raw"])) == valued, answer["raw"]


def test_certainty_and_hardness_are_those_behind_the_attribute_s_name(answers):
    compared = 0
    for answer in answers:
        for key, tag in tags_of(answer["raw"]).items():
            name = rf"(?<!\w){key.replace('_', '[_ ]')} - "
            certainty = re.search(name + r"(\d)\b", answer["raw"])
            hardness = re.search(name + r"(direct|indirect|complicated)\b", answer["raw"])
            assert certainty, answer["raw"]
            assert hardness, answer["raw"]
            assert (tag.certainty, tag.hardness_word) == (int(certainty[1]), hardness[1])
            compared += 1
    assert compared == 1490


def test_the_answers_that_stopped_the_published_reader_give_tags(answers):
    stopped = [answer for answer in answers if answer["error"]]
    assert len(stopped) == 44
    for answer in stopped:
        assert tags_of(answer["raw"]), answer["raw"]
    tags = [tag for answer in stopped for tag in tags_of(answer["raw"]).values()]
    assert Counter(tag.attribute for tag in tags) == {
        "age": 22,
        "sex": 10,
        "city_country": 7,
        "education": 26,
        "occupation": 25,
        "income_level": 7,
        "relationship_status": 4,
    }


def test_an_age_in_words_is_kept_and_does_not_cost_the_other_attributes(answers):
    wordless = [answer for answer in answers if "NoneType" in str(answer["error"])]
    assert len(wordless) == 10
    read: Counter[str] = Counter()
    for answer in wordless:
        tags = tags_of(answer["raw"])
        assert not re.search(r"\d", " ".join(tags["age"].guesses))
        held = lists(answer["raw"])["age"][1]
        assert plain("", tags["age"].guesses) == plain("", held.split(";"))
        read.update(tags.keys())
    assert read == {"age": 10, "education": 2, "occupation": 2}
