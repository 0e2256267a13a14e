"""The Celery app, its queues, and the sign of life each worker leaves.

Workers run a thread pool (docs/adr/0003): `celery -A synthpai_web worker --pool threads -Q llm,io,stats`.
"""

import os
import sys
import threading

from celery import Celery
from celery.signals import beat_init, celeryd_init, heartbeat_sent, worker_ready, worker_shutdown
from kombu import Exchange, Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "synthpai_web.settings")

from django.conf import settings

from simulation.domain import artefacts
from simulation.domain.gazetteer import gazetteer
from simulation.services import workers
from synthpai_web.start import attach_servers

app = Celery("synthpai_web")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Each queue on an exchange of its own: who sends to the exchange `llm` reaches the queue `llm` alone.
app.conf.task_queues = [
    Queue(name, Exchange(name), routing_key=name) for name in settings.CELERY_TASK_QUEUES_NAMES
]
app.autodiscover_tasks()


SOMEBODY = {"age": 30, "city_country": "Oslo, Norway", "occupation": "nurse"}
"""Facts with which every rule about authors has something to look for."""


@celeryd_init.connect
def _take_turns(**_: object) -> None:
    """Who waited for a server is not to wait for who computes, 5 ms after each answer as Python has it:
    it may hold the lock for which all others wait."""
    sys.setswitchinterval(0.0005)


@celeryd_init.connect
@beat_init.connect
def _before_anything(**_: object) -> None:
    attach_servers()


def _name(sender: object) -> str:
    """The worker's name: the consumer and the worker carry it, the heart's dispatcher does for the heart."""
    carrier = sender if hasattr(sender, "hostname") else getattr(sender, "eventer", None)
    return str(getattr(carrier, "hostname", "") or "worker")


@worker_ready.connect
@heartbeat_sent.connect
def _alive(sender: object = None, **_: object) -> None:
    workers.beat(worker=_name(sender))


@worker_ready.connect
def _warm(**_: object) -> None:
    """What takes seconds the first time is made beside the first work, not in the midst of it."""
    threading.Thread(target=_first_uses, name="warm", daemon=True).start()


def _first_uses() -> None:
    gazetteer()
    artefacts.find("I am a nurse in Oslo.", SOMEBODY)


@worker_shutdown.connect
def _gone(sender: object = None, **_: object) -> None:
    workers.leave(worker=_name(sender))
