"""Several acts at the same moment, each with a connection of its own."""

import threading
from concurrent.futures import ThreadPoolExecutor

from django.db import connection


def together(*acts):
    """What the acts return, in their order; raises what the first of them raised."""
    gate = threading.Barrier(len(acts))

    def run(act):
        try:
            gate.wait(timeout=20)
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return [one.result(timeout=120) for one in [pool.submit(run, act) for act in acts]]
