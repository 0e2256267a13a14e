from annotation.models.annotations import (
    Annotation,
    AnnotationEvent,
    AttributeLabel,
    Draft,
    FirstAnswer,
    Flag,
    Submission,
)
from annotation.models.decisions import Decision, DecisionEvent, Gold
from annotation.models.imports import ColumnMapping, DataImport, ImportChange
from annotation.models.queue import Guideline, Item, Queue, QueueWorker, Slot, Tally
from annotation.models.suggestions import Suggestion, SuggestionCheck

__all__ = [
    "Annotation",
    "AnnotationEvent",
    "AttributeLabel",
    "ColumnMapping",
    "DataImport",
    "Decision",
    "DecisionEvent",
    "Draft",
    "FirstAnswer",
    "Flag",
    "Gold",
    "Guideline",
    "ImportChange",
    "Item",
    "Queue",
    "QueueWorker",
    "Slot",
    "Submission",
    "Suggestion",
    "SuggestionCheck",
    "Tally",
]
