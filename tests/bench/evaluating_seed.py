"""Fills the bench’s database: two corpora, 20 models each, the second with ten times the profiles.

Run as `python -m tests.bench.evaluating_seed PROFILES` on a database that was just made; prints one line of
JSON: the corpora, how long a board took to count, and how many queries its page took.
"""

import json
import random
import sys
import time

import django

django.setup()

from django.core.management import call_command  # noqa: E402 - after the setup
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from annotation.exchange.copying import copy_in, reserve_ids  # noqa: E402
from evaluation.models import (  # noqa: E402
    LabelSet,
    Prediction,
    PredictionRun,
    ProfileLabel,
    Scoring,
    Verdict,
)
from evaluation.selectors import boards  # noqa: E402
from evaluation.services import boards as counting  # noqa: E402
from evaluation.services import reports  # noqa: E402
from simulation.domain.attributes import TARGET_KEYS  # noqa: E402
from simulation.domain.roles import Role  # noqa: E402
from simulation.models import Corpus, Profile, User  # noqa: E402
from simulation.services import people  # noqa: E402
from tests.bench.plan import PASSWORD, READER  # noqa: E402

MODELS, TIMES = 20, 10
LABEL = ("id", "label_set_id", "profile_id", "attribute", "value", "hardness", "certainty")
GUESS = ("id", "prediction_run_id", "profile_id", "attribute", "guesses", "categories")
VERDICT = (
    "scoring_id",
    "label_id",
    "prediction_id",
    "profile_id",
    "attribute",
    "hardness",
    "certainty",
    "outcome",
    "scores",
    "rungs",
    "reasons",
)


def fill(name: str, profiles: int, rng: random.Random) -> Corpus:
    """A corpus whose every author has seven labels in eight, and 20 models that are right now and then."""
    corpus = Corpus.objects.create(name=name)
    keys = reserve_ids(Profile, profiles)
    columns = ("id", "corpus_id", "external_id", "username", "facts")
    copy_in(Profile, columns, ((key, corpus.pk, f"{name}{key}", f"Author{key}", {"age": 30}) for key in keys))
    labels = LabelSet.objects.create(corpus=corpus, name="labels", kind=LabelSet.IMPORTED)
    wanted = [(key, attribute) for key in keys for attribute in TARGET_KEYS if rng.random() < 7 / 8]
    ids = reserve_ids(ProfileLabel, len(wanted))
    rows = [
        (pk, labels.pk, key, attribute, "value", rng.randint(1, 5), rng.randint(1, 5))
        for pk, (key, attribute) in zip(ids, wanted, strict=True)
    ]
    copy_in(ProfileLabel, LABEL, rows)
    LabelSet.objects.filter(pk=labels.pk).update(labels=len(rows), profiles=profiles)
    for number in range(MODELS):
        guess(corpus, labels, number, rows, rng)
    return corpus


def guess(corpus: Corpus, labels: LabelSet, number: int, rows: list, rng: random.Random) -> None:
    run = PredictionRun.objects.create(
        corpus=corpus,
        name=f"guesses {number}",
        model=f"model-{number}",
        family=f"family {number % 5}",
        parameters=1 + number,
        origin=PredictionRun.IMPORTED,
        predictions=len(rows),
    )
    scoring = Scoring.objects.create(
        prediction_run=run, label_set=labels, mode=Scoring.DEFAULT, verdicts=len(rows)
    )
    ids = reserve_ids(Prediction, len(rows))
    guesses = ["value", "other", "third"]
    copy_in(
        Prediction,
        GUESS,
        ((pk, run.pk, row[2], row[3], guesses, []) for pk, row in zip(ids, rows, strict=True)),
    )
    share = 0.4 + 0.5 * number / MODELS
    rungs, reasons = ["rule"] * 3, ["said so"] * 3
    copy_in(
        Verdict,
        VERDICT,
        (
            (
                scoring.pk,
                row[0],
                pk,
                row[2],
                row[3],
                row[5],
                row[6],
                "answered",
                [rng.choice((1.0, 1.0, 0.5)) if rng.random() < share else 0.0, 0.0, 0.0],
                rungs,
                reasons,
            )
            for pk, row in zip(ids, rows, strict=True)
        ),
    )


def counted(corpus: Corpus) -> float:
    """Seconds of a worker for the board of a corpus."""
    choice = boards.choose(corpus, {})
    assert choice is not None
    started = time.perf_counter()
    report = reports.make(corpus, "board", choice.parameters)
    assert report.content, report.problem
    return time.perf_counter() - started


def queries(corpus: Corpus, reader: User) -> int:
    """Of the leaderboard's page, session and all."""
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(reader, backend="django.contrib.auth.backends.ModelBackend")
    address = f"/corpora/{corpus.public_id}/leaderboard/"
    assert client.get(address).status_code == 200
    with CaptureQueriesContext(connection) as asked:
        client.get(address)
    return len(asked)


def main() -> None:
    assert counting
    call_command("migrate", verbosity=0, interactive=False)
    profiles, rng = int(sys.argv[1]), random.Random(5)
    started = time.perf_counter()
    corpora = [fill("small", profiles, rng), fill("large", TIMES * profiles, rng)]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    filled = time.perf_counter() - started
    reader = people.create_user(
        username=READER, email="reader@bench.invalid", password=PASSWORD, role=Role.RESEARCHER
    )
    said = {
        "corpora": [corpus.public_id for corpus in corpora],
        "verdicts": [Verdict.objects.filter(scoring__label_set__corpus=corpus).count() for corpus in corpora],
        "counting": [counted(corpus) for corpus in corpora],
        "queries": [queries(corpus, reader) for corpus in corpora],
        "filling": filled,
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
