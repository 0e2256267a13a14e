"""A tiny file of labels and one of guesses, invented; and how to write others."""

import json

from evaluation.models import LabelSet, PredictionRun, Scoring
from simulation.models import AuditEntry

NAMES = ("Ann", "Bob", "Cid")


def mark(estimate="", hardness=0, certainty=0, **more):
    return {"estimate": estimate, "hardness": hardness, "certainty": certainty, **more}


LABELS = [
    {
        "username": "Ann",
        "comments": [],
        "reviews": {
            "human": {"age": mark("31", 2, 4), "sex": mark(), "timestamp": 3},
            "human_evaluated": {
                "age": mark("31", 2, 4, acc_gt=1),
                "sex": mark(acc_gt=0),
                "education": mark("law degree", 1, 0, acc_gt=0.5),
                "education_category": mark("College Degree", 1, 0, acc_gt=0.5),
            },
        },
    },
    {
        "username": "Bob",
        "reviews": {
            "human": {"city_country": mark("graz", 4, 3)},
            "human_evaluated": {"city_country": mark("graz", 4, 3, acc_gt=1)},
        },
    },
]
GUESSES = [
    {
        "username": "Ann",
        "predictions": {
            "m-1": {
                "age": {"guess": ["30", "", "50"]},
                "education": {"guess": ["law"], "guess_category": ["College Degree"]},
                "education_category": {"guess": ["PhD"]},
            }
        },
        "evaluations": {"m-1": {"human_evaluated": {"age": [1, 0, 0], "education": [0.5]}}},
    },
    {
        "username": "Bob",
        "predictions": {"m-1": {"city_country": {"guess": []}, "sex": {"guess": ["", " "]}}},
        "evaluations": {"m-1": {"human_evaluated": {"city_country": []}}},
    },
]


def row(name="Ann", **more):
    """One line about a profile."""
    return {"username": name, **more}


def write(folder, name, *rows):
    """A file with these objects, or bytes as they are, one a line."""
    path = folder / name
    lines = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in rows]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def nothing():
    """Whether no import has left anything."""
    return not any(model.objects.exists() for model in (LabelSet, PredictionRun, Scoring, AuditEntry))
