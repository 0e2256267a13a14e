"""Is the installation ready? Each part is asked by name, so that an operator reads what is wrong."""

from dataclasses import dataclass

import psycopg
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from redis.exceptions import RedisError

from simulation.selectors import workers

CONNECT_SECONDS = 3


@dataclass(frozen=True)
class Check:
    name: str
    ok: bool
    said: str


def database() -> Check:
    """Asks over a connection of its own: the pool waits for a lost server longer than a probe may."""
    address = connection.get_connection_params() | {"connect_timeout": CONNECT_SECONDS}
    try:
        with psycopg.connect(**address) as asking:
            asking.execute("SELECT 1")
    except psycopg.Error as error:
        return Check("database", False, f"does not answer ({type(error).__name__})")
    return Check("database", True, "answers")


def migrations(*, reachable: bool) -> Check:
    """Unapplied migrations mean that this code and this database do not belong together yet."""
    if not reachable:
        return Check("migrations", False, "unknown, the database does not answer")
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        return Check("migrations", False, f"unknown, the database does not answer ({type(error).__name__})")
    if missing:
        return Check("migrations", False, f"{len(missing)} not applied; run: manage.py migrate")
    return Check("migrations", True, "all applied")


def broker() -> Check:
    try:
        workers.broker().ping()
    except (RedisError, OSError) as error:
        return Check("broker", False, f"does not answer ({type(error).__name__})")
    return Check("broker", True, "answers")


def worker() -> Check:
    try:
        ages = workers.ages()
    except (RedisError, OSError):
        return Check("worker", False, "unknown, the broker does not answer")
    if not ages:
        return Check("worker", False, "none was ever seen; start one: celery -A synthpai_web worker")
    age = min(ages.values())
    if age > workers.SILENCE_SECONDS:
        return Check("worker", False, f"last seen {age:.0f} s ago")
    return Check("worker", True, f"seen {max(age, 0):.0f} s ago")


def readiness() -> list[Check]:
    asked = database()
    return [asked, migrations(reachable=asked.ok), broker(), worker()]
