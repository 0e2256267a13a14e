"""The rules on the published data: of the withdrawn comments most are found, of the others few.

Misses are named by their index, never by their text.
"""

import gzip
import json
import re
from pathlib import Path

import pytest

from simulation.domain import artefacts
from simulation.domain.artefact_letters import is_known
from simulation.domain.artefacts import RULES, Kind, find
from tests.published import FOLDER, needs_published_data

pytestmark = needs_published_data
LEAKED = 1000
"""Characters from which a withdrawn comment is a whole chain of thought; comments have 50 words."""
ODD = re.compile(r"[a-z][A-Z]|_|\A[A-Z]{4,}\Z|[^\W\d_a-zA-Z]")
"""What no everyday word has: capitals inside, a low line, capitals only, a letter that English lacks."""


def _read(name):
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as file:
        return file.read()


@pytest.fixture(scope="module")
def withdrawn():
    rows = [json.loads(line) for line in _read("labels/synth_removed.jsonl.gz").splitlines()]
    assert len(rows) == 23
    return rows


def _rules(text, facts=None, username="", kind=Kind.LEFT_BEHIND):
    return {one.rule for one in find(text, facts, username) if RULES[one.rule].kind is kind}


def test_withdrawn_comments_are_found_by_general_rules(withdrawn):
    hit = {index: _rules(row["text"], None, row["username"]) for index, row in enumerate(withdrawn)}
    leaked = {index for index, row in enumerate(withdrawn) if len(row["text"]) > LEAKED}
    others = set(hit) - leaked
    missed = sorted(index for index in hit if not hit[index])
    print(f"\nmissed, by index in the file: {missed}")  # noqa: T201
    for index, rules in hit.items():
        print(f"{index:3}{'  chain of thought' if index in leaked else '':20}{', '.join(sorted(rules))}")  # noqa: T201
    assert len(leaked) == 5
    assert all("thought" in hit[index] for index in leaked)
    assert sum(bool(hit[index]) for index in others) >= 12


def test_no_rule_names_a_token_of_that_file(withdrawn):
    folder = Path(artefacts.__file__).parent
    rules = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("artefact*")).casefold()
    strange = {
        word.casefold()
        for row in withdrawn
        if len(row["text"]) < LEAKED
        for word in re.findall(r"\w{4,}", row["text"])
        if ODD.search(word) and not is_known(word.lower())
    }
    assert len(strange) > 12
    assert not [word for word in strange if word in rules]


def test_false_alarms_on_the_published_threads_are_few(withdrawn):
    profiles = json.loads(_read("profiles.json.gz"))
    known = {row["text"].strip() for row in withdrawn}
    comments, alarms, given_away = 0, [], []
    for path in sorted((FOLDER / "threads").glob("*.json.gz")):
        nodes = [json.loads(_read(f"threads/{path.name}"))]
        while nodes:
            node = nodes.pop()
            nodes += node["children"]
            text, facts = node["text"].strip(), profiles.get(node["author"], {})
            if text in known:
                continue
            comments += 1
            place = f"{path.name.partition('.')[0]}, {node['username']}"
            if rules := _rules(text, facts, node["username"]):
                alarms.append((place, sorted(rules)))
            if rules := _rules(text, facts, node["username"], Kind.GIVES_AWAY):
                given_away.append((place, sorted(rules)))
    print(f"\n{comments} comments: {len(alarms)} alarms ({len(alarms) / comments:.2%});", end=" ")  # noqa: T201
    print(f"{len(given_away)} give their author away ({len(given_away) / comments:.2%})")  # noqa: T201
    for place, rules in alarms:
        print(f"  {place}: {', '.join(rules)}")  # noqa: T201
    assert comments > 7000
    assert len(alarms) < 0.02 * comments
