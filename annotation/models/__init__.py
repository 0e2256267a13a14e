from annotation.models.annotations import Annotation, AnnotationEvent, AttributeLabel, Submission
from annotation.models.imports import DataImport
from annotation.models.queue import Item, Queue, Slot
from annotation.models.suggestions import Suggestion

__all__ = [
    "Annotation",
    "AnnotationEvent",
    "AttributeLabel",
    "DataImport",
    "Item",
    "Queue",
    "Slot",
    "Submission",
    "Suggestion",
]
