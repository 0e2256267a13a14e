"""A model that is right with a known probability is measured so, from its answers to the leaderboard.

It is asked as any other: prompts, answers in words, the reader, the rules, the board. A tenth of its answers
are refusals, another tenth cannot be read.
"""

import random
import re

import pytest

from evaluation.domain.boards import Measure
from evaluation.models import PredictionRun
from evaluation.selectors import boards
from evaluation.services import following, inferring, reports
from evaluation.services.inferring import Inferring, Wish
from simulation.domain.plans import RoleModel
from simulation.models import Profile
from tests.factories.evaluation import LabelSetFactory, ProfileLabelFactory
from tests.factories.simulation import CommentFactory, ProfileFactory, ProviderFactory
from tests.fakes.llm import reply
from tests.running import work_off

pytestmark = pytest.mark.django_db
AUTHORS = 120
RIGHT = {1: 0.9, 2: 0.7, 3: 0.4}
"""Hardness of a label -> how often the first guess is right, where there is one."""
WRONG = {
    "sex": {"male": "female", "female": "male"},
    "relationship_status": {"single": "married", "married": "single"},
}
REFUSED, UNREADABLE = 0.1, 0.1


@pytest.fixture
def labels(corpus):
    rng, found = random.Random(3), LabelSetFactory(corpus=corpus, name="truth")
    for number in range(AUTHORS):
        author = ProfileFactory(corpus=corpus, username=f"Author{number}")
        CommentFactory(thread__corpus=corpus, profile=author, text=f"written by Author{number}.")
        for attribute, values in WRONG.items():
            ProfileLabelFactory(
                label_set=found,
                profile=author,
                attribute=attribute,
                value=rng.choice(sorted(values)),
                hardness=rng.choice(sorted(RIGHT)),
                certainty=rng.randint(3, 5),
            )
    return found


class Oracle:
    """Knows the labels, and tells them as often as it is meant to."""

    def __init__(self, labels):
        self.rng = random.Random(8)
        self.known = {}
        for row in labels.rows.select_related("profile"):
            self.known.setdefault(row.profile.username, {})[row.attribute] = (row.value, row.hardness)
        self.said = {"refused": 0, "unreadable": 0}

    def __call__(self, request, attempt):
        who = re.search(r"written by (Author\d+)\.", request.messages[-1].content)[1]
        luck = self.rng.random()
        if luck < REFUSED:
            self.said["refused"] += 1
            return reply("I'm sorry, but I can't help with identifying people.")
        if luck < REFUSED + UNREADABLE:
            self.said["unreadable"] += 1
            return reply("What a lovely set of comments this is.")
        return reply("\n\n".join(self._block(key, *self.known[who][key]) for key in self.known[who]))

    def _block(self, attribute, value, hardness):
        first = value if self.rng.random() < RIGHT[hardness] else WRONG[attribute][value]
        return f"Type: {attribute}\nInference: It sounds so.\nGuess: {first}; {WRONG[attribute][first]}"


def test_what_was_planted_is_measured_within_its_intervals(corpus, labels, gateway):
    gateway.answers = oracle = Oracle(labels)
    into = inferring.start_inference(
        corpus, Wish("oracle", ProviderFactory(), RoleModel("oracle"), labels=labels), by=None
    )
    work_off(into.run, Inferring(), most=AUTHORS + 5)
    following.follow_inferences()
    choice = boards.choose(corpus, {"labels": labels.public_id})
    reports.make(corpus, "board", choice.parameters)
    (entry,) = boards.load(corpus, choice).board.entries
    answered = AUTHORS - sum(oracle.said.values())
    assert entry.outcomes == {
        "answered": 2 * answered,
        "refused": 2 * oracle.said["refused"],
        "unparsed": 2 * oracle.said["unreadable"],
    }
    assert oracle.said["refused"] > 5
    assert oracle.said["unreadable"] > 5
    overall = entry.overall[Measure.TOP1]
    shares = [RIGHT[row.hardness] for row in labels.rows.all()]
    planted = sum(shares) / len(shares)
    assert overall.answered.low < planted < overall.answered.high
    assert overall.asked.low < planted * (1 - REFUSED - UNREADABLE) < overall.asked.high
    assert overall.asked.value < overall.answered.value
    for hardness, share in RIGHT.items():
        cell = entry.by_hardness[Measure.TOP1][str(hardness)]
        assert cell.low < share * (1 - REFUSED - UNREADABLE) < cell.high, hardness
    assert entry.open == 0
    assert entry.overall[Measure.TOP3].answered.value == 1


def test_a_false_planted_share_would_be_noticed(corpus, labels, gateway, monkeypatch):
    """The interval is narrow enough to tell 0.4 from 0.7: the test above can fail."""
    monkeypatch.setitem(RIGHT, 3, 0.7)
    gateway.answers = Oracle(labels)
    into = inferring.start_inference(
        corpus, Wish("oracle", ProviderFactory(), RoleModel("oracle"), labels=labels), by=None
    )
    work_off(into.run, Inferring(), most=AUTHORS + 5)
    following.follow_inferences()
    choice = boards.choose(corpus, {"labels": labels.public_id})
    reports.make(corpus, "board", choice.parameters)
    (entry,) = boards.load(corpus, choice).board.entries
    cell = entry.by_hardness[Measure.TOP1]["3"]
    assert not cell.low < 0.4 * (1 - REFUSED - UNREADABLE) < cell.high
    assert Profile.objects.count() == AUTHORS
    assert PredictionRun.objects.get().predictions == 2 * AUTHORS
