from evaluation.models.imports import ResultImport
from evaluation.models.inference import OpenGuess, Prediction, PredictionRun, Scoring, Verdict
from evaluation.models.labels import LabelSet, ProfileLabel
from evaluation.models.masking import MaskedText, Masking
from evaluation.models.questions import Opinion, Question
from evaluation.models.releases import Release, ReleaseDifference
from evaluation.models.reports import Reference, Report
from evaluation.models.topics import ThreadTopics

__all__ = [
    "LabelSet",
    "MaskedText",
    "Masking",
    "OpenGuess",
    "Opinion",
    "Prediction",
    "PredictionRun",
    "ProfileLabel",
    "Question",
    "Reference",
    "Release",
    "ReleaseDifference",
    "Report",
    "ResultImport",
    "Scoring",
    "ThreadTopics",
    "Verdict",
]
