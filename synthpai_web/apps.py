from django.apps import AppConfig

from synthpai_web.celery import app as celery_app


class SynthpaiWebConfig(AppConfig):
    """Loads the Celery app with the site, so that `task.delay` finds the broker."""

    name = "synthpai_web"
    celery_app = celery_app
