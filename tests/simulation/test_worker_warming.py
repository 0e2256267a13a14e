"""What takes seconds the first time is made when a worker starts, beside its work."""

import threading

from celery.signals import worker_ready

from simulation.domain import artefacts
from simulation.domain.gazetteer import gazetteer
from synthpai_web import celery


def test_a_worker_that_is_ready_makes_the_slow_lists_in_a_thread_of_its_own(monkeypatch):
    asked = []
    find = artefacts.find
    monkeypatch.setattr(
        artefacts, "find", lambda *said: asked.append(threading.current_thread()) or find(*said)
    )
    monkeypatch.setattr(celery.workers, "beat", lambda **_: None)
    worker_ready.send(sender=None)
    for one in threading.enumerate():
        if one.name == "warm":
            one.join()
    assert [(one.name, one.daemon) for one in asked] == [("warm", True)]
    assert gazetteer.cache_info().currsize == 1
