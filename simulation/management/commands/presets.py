"""presets: the presets of the run form, from the command line."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from simulation.domain.plan_values import Shipped
from simulation.models import RunPreset
from simulation.selectors import presets as selectors
from simulation.services import presets
from simulation.services.terminal import USAGE


class Command(BaseCommand):
    help = (
        "Lists the presets of simulations, shows one or deletes one. They are saved on the page of a new"
        " simulation and used with run_simulation --preset. Exit status: 0 done, 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--list", action="store_true", help="names and when each was saved (the default)")
        what.add_argument("--show", metavar="NAME", help="every field that a preset fills")
        what.add_argument("--delete", metavar="NAME", help="for good; runs keep their plans")
        parser.add_argument("--json", action="store_true", help="report in JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["show"]:
            self._show(_found(options["show"]), as_json=options["json"])
        elif options["delete"]:
            self._delete(_found(options["delete"]), as_json=options["json"])
        else:
            self._list(as_json=options["json"])

    def _list(self, *, as_json: bool) -> None:
        rows = [{"name": one.name, "source": "shipped", "saved": None} for one in selectors.SHIPPED.values()]
        rows += [
            {"name": one.name, "source": "saved", "saved": one.updated_at.isoformat(timespec="seconds")}
            for one in selectors.listed()
        ]
        if as_json:
            self.stdout.write(json.dumps(rows, ensure_ascii=False, indent=1))
            return
        width = max(len(str(row["name"])) for row in rows)
        for row in rows:
            self.stdout.write(f"{row['name']:<{width}}  {row['saved'] or 'comes with the product'}")

    def _show(self, preset: RunPreset | Shipped, *, as_json: bool) -> None:
        if as_json:
            found = {"name": preset.name, "values": preset.values}
            self.stdout.write(json.dumps(found, ensure_ascii=False, indent=1))
            return
        for field, value in preset.values.items():
            if value not in ("", [], None):
                self.stdout.write(f"{field:<24} {value}")

    def _delete(self, preset: RunPreset | Shipped, *, as_json: bool) -> None:
        if isinstance(preset, Shipped):
            raise CommandError(f"“{preset.name}” comes with the product and stays.", returncode=USAGE)
        name = preset.name
        presets.delete(by=None, preset=preset)
        self.stdout.write(json.dumps({"deleted": name}) if as_json else f"deleted {name}")


def _found(name: str) -> RunPreset | Shipped:
    """The preset of this name. Raises CommandError (status 2) that lists what there is."""
    preset = selectors.named(name)
    if preset is None:
        names = selectors.names()
        raise CommandError(f"There is no preset “{name}”; there are: {', '.join(names)}.", returncode=USAGE)
    return preset
