"""The released evaluation files, scored here: by the published rules, and as they were recorded."""

from collections.abc import Iterator

import pytest

from annotation.exchange import decoding
from evaluation.domain.paper.records import EDUCATION_CATEGORY, REVISED
from evaluation.exchange.released import find
from evaluation.exchange.released_rows import read_rows
from evaluation.models import LabelSet, Prediction, PredictionRun, ProfileLabel, Scoring, Verdict
from evaluation.services import scoring
from evaluation.services.scoring import Recorded
from evaluation.services.scoring_recorded import take_recorded
from simulation.models import Profile
from tests.factories.evaluation import LabelSetFactory, PredictionRunFactory
from tests.factories.simulation import CorpusFactory
from tests.published import FOLDER, needs_published_data

pytestmark = [pytest.mark.django_db, pytest.mark.published, needs_published_data]

CERTAIN = 3
EDUCATION = "education"


class Released:
    """One folder's labels in the database, and its predictions one model at a time."""

    def __init__(self) -> None:
        self.release = find(FOLDER)
        self.corpus = CorpusFactory()
        self.labels: LabelSet = LabelSetFactory(corpus=self.corpus)
        rows = list(read_rows(self.release.labels["comments_eval_revised"]))
        Profile.objects.bulk_create(
            Profile(corpus=self.corpus, external_id=one.username, username=one.username) for one in rows
        )
        self.profiles = dict(Profile.objects.filter(corpus=self.corpus).values_list("username", "pk"))
        ProfileLabel.objects.bulk_create(label for row in rows for label in self._labels(row))

    def _labels(self, row) -> Iterator[ProfileLabel]:
        marks = row.reviews[REVISED]
        for attribute, mark in marks.items():
            if attribute == EDUCATION_CATEGORY:
                continue
            code = marks.get(EDUCATION_CATEGORY)
            yield ProfileLabel(
                label_set=self.labels,
                profile_id=self.profiles[row.username],
                attribute=attribute,
                value=mark.value,
                category=code.value if code and attribute == EDUCATION else "",
                hardness=mark.hardness or None,
                certainty=mark.certainty or None,
                truth_score=mark.truth,
            )

    def model(self, name) -> tuple[PredictionRun, list[Recorded]]:
        run = PredictionRunFactory(corpus=self.corpus, name=name)
        recorded: list[Recorded] = []
        guesses = []
        for row in read_rows(self.release.predictions[name]["evaluated"]):
            profile = self.profiles[row.username]
            (model, kinds), *_ = [*row.evaluations.items(), ("", {})]
            for attribute, scores in kinds.get(REVISED, {}).items():
                if attribute == EDUCATION_CATEGORY:
                    continue
                recorded.append(Recorded(profile, attribute, scores))
                guessed = row.predictions[model][attribute]
                guesses.append(
                    Prediction(
                        prediction_run=run,
                        profile_id=profile,
                        attribute=attribute,
                        guesses=list(guessed.guesses),
                        categories=list(guessed.categories),
                    )
                )
        Prediction.objects.bulk_create(guesses)
        return run, recorded


def certain(made: Scoring):
    return Verdict.objects.filter(scoring=made, certainty__gte=CERTAIN).exclude(outcome=Verdict.NOT_ASKED)


def top1(made: Scoring) -> tuple[float, int]:
    scores = list(certain(made).values_list("scores", flat=True))
    return sum(one[:1] == [1] for one in scores) / len(scores), len(scores)


def test_the_released_files_score_as_published():
    """Compatible: within 0.006 of what the rules alone gave in another implementation. Recorded: exactly."""
    released = Released()
    expected = decoding.decode((FOLDER / "expected.json").read_text())["models"]
    names = [name for name in released.release.models if "evaluated" in released.release.predictions[name]]
    assert len(names) == 12
    for name in names:
        run, recorded = released.model(name)
        known = expected[name]["evaluated"]
        share, n = top1(scoring.score(run, released.labels, Scoring.COMPATIBLE))
        assert n == known["n_items"], name
        assert share == pytest.approx(known["det_top1_jw_classic"], abs=0.006), name
        kept = scoring.record(run, released.labels, recorded)
        share, n = top1(kept)
        assert (share, n) == (pytest.approx(known["top1"], abs=1e-12), known["n_items"]), name
    default = scoring.score(run, released.labels, Scoring.DEFAULT)
    before = default.open
    taken = take_recorded(kept, default)
    default.refresh_from_db()
    assert 0 < default.open < before
    assert taken.questions > 0
