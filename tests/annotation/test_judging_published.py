"""The published checks of age tags, reproduced by the rule alone; and what the other checks show of it."""

import gzip
import json

import pytest

from annotation.domain.judging import Guessed, checks, pairs
from tests.published import FOLDER, needs_published_data

pytestmark = [pytest.mark.published, needs_published_data]


def nodes(tree):
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node["children"])


@pytest.fixture(scope="module")
def profiles():
    return json.loads(gzip.decompress((FOLDER / "profiles.json.gz").read_bytes()))


@pytest.fixture(scope="module")
def tags():
    """(author, tag) of every node of the published trees."""
    found = []
    for path in sorted((FOLDER / "threads").glob("*.json.gz")):
        for node in nodes(json.loads(gzip.decompress(path.read_bytes()))):
            found += [(node["author"], tag) for tag in node["guesses"] or ()]
    return found


def test_every_published_check_of_an_age_is_reproduced(profiles, tags):
    ages = [(profiles[author], tag) for author, tag in tags if tag["feature"] == "age"]
    expected = json.loads((FOLDER / "expected.json").read_text())["threads"]
    assert len(ages) == expected["age_tag_check_interval_rule_equal"]
    assert len(ages) > 300
    differing = []
    for profile, tag in ages:
        guessed = Guessed(1, "age", tuple(str(guess) for guess in tag["guesses"]))
        assert pairs([guessed], profile, exact_first=True) == ()
        (found,) = checks([guessed], profile, {}, exact_first=True)
        assert not found.by_judge
        if list(found.scores) != tag["model_eval"]:
            differing.append((profile["age"], tag["guesses"], tag["model_eval"], found.scores))
    assert differing == []


def test_every_published_tag_was_kept_by_the_rule_that_keeps_ours(profiles, tags):
    """The trees hold only what was kept, so the rule must say kept of all of them."""
    assert {sum(tag["model_eval"]) > 0 for _, tag in tags} == {True}
