"""For health checks: exit status 0 while a worker on this host was heard from within a minute."""

import socket
from typing import Any

from django.core.management import BaseCommand, CommandError

from simulation.selectors import workers


class Command(BaseCommand):
    help = "Exit status 0 when the worker of this host is alive, 1 when not."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        host = socket.gethostname()
        here = {name: age for name, age in workers.alive().items() if name.endswith(f"@{host}")}
        if not here:
            raise CommandError(f"no worker of {host} was heard from within {workers.SILENCE_SECONDS:.0f} s")
        self.stdout.write(", ".join(f"{name}: {age:.0f} s ago" for name, age in here.items()))
