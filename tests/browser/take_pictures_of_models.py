"""Pictures of a leaderboard and of the page that settles, over invented models: `make pictures`."""

import random

import pytest
from django.urls import reverse

from evaluation.models import Prediction, PredictionRun, Scoring, Verdict
from evaluation.selectors import boards
from evaluation.services import baselines, reports, scoring
from tests.browser.take_pictures import shoot
from tests.factories.evaluation import LabelSetFactory, PredictionRunFactory, ProfileLabelFactory
from tests.factories.simulation import ProfileFactory

pytestmark = pytest.mark.django_db(transaction=True)
MODELS = (
    ("cedar-xl", "Cedar", None, 0.78),
    ("harbor-70b", "Harbor", 70, 0.75),
    ("cedar-m", "Cedar", None, 0.74),
    ("tundra-large", "Tundra", 123, 0.71),
    ("loom-moe", "Loom", 47, 0.69),
    ("harbor-8b", "Harbor", 8, 0.6),
    ("tundra-small", "Tundra", 22, 0.57),
    ("ember-4b", "Ember", 4, 0.46),
)
"""Name, family, billions of parameters, how often the first guess is right."""
VALUES = {
    "age": ("24", "31", "38", "45", "52", "67"),
    "sex": ("female", "male"),
    "education": ("HS Diploma", "College Degree", "Master's", "PhD"),
    "income_level": ("low", "middle", "high"),
    "relationship_status": ("single", "married", "divorced"),
}
ASKED = (("ferry deckhand", "sailor"), ("night nurse", "health care worker"), ("school cook", "chef"))


@pytest.fixture
def labels(corpus):
    """A hundred authors with four or five labels each."""
    rng, found = random.Random(11), LabelSetFactory(corpus=corpus, name="rolled up, revised", kind="revised")
    for _ in range(100):
        author = ProfileFactory(corpus=corpus)
        for attribute, values in VALUES.items():
            if rng.random() < 0.9:
                ProfileLabelFactory(
                    label_set=found,
                    profile=author,
                    attribute=attribute,
                    value=rng.choice(values),
                    hardness=rng.choice((1, 1, 1, 2, 2, 3, 3, 4, 5)),
                    certainty=rng.randint(3, 5),
                )
    return found


def guesses(corpus, labels, name, family, size, share, rng):
    """A run that is right with the share, less so where it is hard; now and then it gives no answer."""
    run = PredictionRunFactory(corpus=corpus, name=name, model=name, family=family, parameters=size)
    rows = []
    for label in labels.rows.all():
        luck = rng.random()
        values = list(VALUES[label.attribute])
        first = label.value if luck < share + 0.08 * (2 - label.hardness) else rng.choice(values)
        others = [one for one in values if one != first]
        outcome = (
            "refused"
            if rng.random() < 0.01
            else "unparsed"
            if rng.random() < 0.06 - share / 15
            else "answered"
        )
        rows.append(
            Prediction(
                prediction_run=run,
                profile=label.profile,
                attribute=label.attribute,
                outcome=outcome,
                guesses=[first, *others[:2]] if outcome == "answered" else [],
            )
        )
    Prediction.objects.bulk_create(rows)
    return run


def test_take_a_picture_of_a_leaderboard(open_as, live_server, researcher, corpus, labels):
    rng = random.Random(4)
    runs = [guesses(corpus, labels, *model, rng) for model in MODELS]
    for run in [*runs, baselines.majority_guess(labels)]:
        scoring.score(run, labels, Scoring.DEFAULT)
    PredictionRun.objects.filter(origin="baseline").update(name="majority guess")
    reports.make(corpus, "board", boards.choose(corpus, {}).parameters)
    assert Verdict.objects.exists()
    page = open_as(researcher)
    page.goto(live_server.url + reverse("leaderboard", args=[corpus.public_id]))
    shoot(page, "leaderboard")


def test_take_a_picture_of_settling(open_as, live_server, researcher, corpus, labels):
    for number, (truth, guess) in enumerate(ASKED):
        author = ProfileFactory(corpus=corpus)
        ProfileLabelFactory(label_set=labels, profile=author, attribute="occupation", value=truth)
        for model in range(4 - number):
            run, _ = PredictionRun.objects.get_or_create(
                corpus=corpus, name=f"guesses {model}", model=f"model-{model}", origin="imported"
            )
            Prediction.objects.create(
                prediction_run=run, profile=author, attribute="occupation", guesses=[guess]
            )
    for run in PredictionRun.objects.all():
        scoring.score(run, labels, Scoring.DEFAULT)
    assert corpus.questions.count() == len(ASKED)
    page = open_as(researcher)
    page.goto(live_server.url + reverse("settle", args=[corpus.public_id]))
    shoot(page, "settle")
