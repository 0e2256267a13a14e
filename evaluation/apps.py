from importlib import import_module

from django.apps import AppConfig

MAKERS = (
    "evaluation.services.boards",
    "evaluation.services.quality",
    "evaluation.services.diversity",
    "evaluation.services.masking_reports",
)
"""Modules that say how reports are made; each registers itself."""


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        for module in MAKERS:
            import_module(module)
