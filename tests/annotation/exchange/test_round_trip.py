"""Whatever a flat file says comes back: a property, not examples."""

import itertools
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.exchange.dataset import import_paths
from annotation.exchange.export import stream
from simulation.domain.attributes import CATALOGUE
from simulation.models import Corpus

pytestmark = pytest.mark.django_db
names = itertools.count()

letters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
words = st.text(letters, max_size=12)
name = words.filter(str.strip)
numbers = st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | words, lambda inner: st.lists(inner, max_size=3), max_leaves=4
)
mark = st.integers(0, 5)
label = st.fixed_dictionaries(
    {"estimate": words, "hardness": mark | st.sampled_from(["3", 2.0, None]), "certainty": mark},
    optional={"acc_gt": numbers},
)
attributes = st.sampled_from(list(CATALOGUE))
guess = st.fixed_dictionaries(
    {
        "feature": attributes.filter(lambda key: key != "age"),
        "guesses": st.lists(words | numbers, max_size=4),
        "hardness": st.sampled_from(["direct", "odd", None]),
        "certainty": mark,
        "model_eval": st.none() | st.lists(numbers, max_size=3),
    }
)
block = st.builds(
    lambda labels, times, more: {**more, **labels, **times},
    st.dictionaries(attributes, label, max_size=3),
    st.fixed_dictionaries({}, optional={"timestamp": st.floats(0, 4e9), "time": st.floats(0, 1e6)}),
    st.dictionaries(st.sampled_from(["note", "raw", "fields"]), values, max_size=2),
)
profiles = st.builds(
    lambda facts, rest: {**rest, **facts},
    st.dictionaries(attributes.filter(lambda key: key != "age"), words | numbers | st.none(), max_size=4),
    st.fixed_dictionaries(
        {"age": st.integers(1, 99)}, optional={"style": words, "username": name, "mood": values}
    ),
)
rows = st.fixed_dictionaries(
    {
        "username": name,
        "text": words,
        "guesses": st.none() | st.lists(guess, max_size=3, unique_by=lambda one: one["feature"]),
        "parent_id": st.none() | st.sampled_from(["0", "1", "root"]),
        "children": st.none() | st.lists(st.sampled_from(["1", "2", "x"]), max_size=3, unique=True),
        "reviews": st.none() | st.dictionaries(name, block, max_size=2),
    },
    optional={"author": st.none() | words, "profile": st.none() | profiles, "mood": values, "guess": values},
)


def numbered(made):
    """Gives rows ids so that no circle arises; every parent lists its children, as the layout has it."""
    for place, one in enumerate(made):
        one |= {"id": str(place), "thread_id": "t"}
        if one["parent_id"] is not None and one["parent_id"].isdigit() and int(one["parent_id"]) >= place:
            one["parent_id"] = None
    for one in made:
        replies = [each["id"] for each in made if each["parent_id"] == one["id"]]
        one["children"] = list(dict.fromkeys([*(one["children"] or []), *replies])) or one["children"]
    return made


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(rows, min_size=1, max_size=4, unique_by=lambda one: one["username"]).map(numbered))
def test_rows_come_back_as_they_went_in(tmp_path, made):
    for place, one in enumerate(made):
        if "author" in one:
            one["author"] = one["author"] and f"{place}{one['author']}"  # an author id has one username
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in made), encoding="utf-8")
    corpus_name = f"corpus {next(names)}"
    report = import_paths(paths=[path], corpus_name=corpus_name)
    assert report.problems == ()
    corpus = Corpus.objects.get(name=corpus_name)
    out = [json.loads(line) for line in "".join(stream(corpus=corpus, layout="synthpai")).split("\n") if line]
    assert out == made
    again = import_paths(paths=[path], corpus_name=corpus_name)
    assert {(tally.new, tally.changed) for tally in again.tallies.values()} == {(0, 0)}
