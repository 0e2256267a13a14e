"""Handing work to a worker at the end of a request."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from django.db import transaction
from kombu.exceptions import OperationalError

log = logging.getLogger("synthpai.api")


def tell(task: Any, key: int) -> None:
    """Tells a worker, once the transaction is over: that of the kept answer, where a request has a key.

    Where the broker is down the row waits: the sweep sends what nobody was told of.
    """
    transaction.on_commit(partial(_send, task, key))


def _send(task: Any, key: int) -> None:
    try:
        task.delay(key)
    except OperationalError:
        log.warning("work not handed over, the broker does not answer", extra={"task": task.name})
