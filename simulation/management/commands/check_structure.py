"""check_structure: does Algorithm 1 as written here grow threads of the published shape?"""

from __future__ import annotations

import gzip
import json
import zlib
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from simulation.domain.parameters import Parameters
from simulation.domain.rounds import simulate_structure
from simulation.domain.structure import children_histogram, depth_histogram, shares, total_variation
from simulation.domain.targets import Written

OUT_OF_BOUNDS = 1
USAGE = 2

BOUNDS = {"children": 0.03, "depths": 0.12}
"""Largest total variation distance allowed between the published and the simulated histogram."""

LOST = 44 / 1200
"""Share of comments that the published runs could not read suggestions of, so that nobody answered them."""

TITLES = {"children": "replies to a reply", "depths": "depth (root = 0)"}


@dataclass(frozen=True)
class Shape:
    """Histograms of a set of threads and the mean number of comments in one, root included."""

    children: dict[int, int]
    depths: dict[int, int]
    comments_per_thread: float

    @classmethod
    def of(cls, threads: list[list[Written]]) -> Shape:
        """The shape of at least one thread."""
        comments = sum(len(thread) for thread in threads)
        return cls(children_histogram(threads), depth_histogram(threads), comments / len(threads))

    def distances(self, other: Shape) -> dict[str, float]:
        """Total variation distances of the two histograms, by the names in BOUNDS."""
        return {name: total_variation(getattr(self, name), getattr(other, name)) for name in BOUNDS}

    def as_dict(self) -> dict[str, Any]:
        return {
            "children": self.children,
            "depths": self.depths,
            "comments_per_thread": self.comments_per_thread,
        }


class Command(BaseCommand):
    help = (
        "Compares the shape of the published threads with threads of as many agents that are simulated"
        " without a model. Exit status 1 if they differ too much, 2 if there are no published threads."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "folder", nargs="?", metavar="DIR", help="holds threads/*.json.gz; default: SYNTHPAI_DATA"
        )
        parser.add_argument("--seeds", type=int, default=5, help="simulations of every thread; default: 5")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["seeds"] < 1:
            raise CommandError("--seeds must be at least 1.", returncode=USAGE)
        threads = [_read(path) for path in _files(options["folder"] or settings.SYNTHPAI_DATA)]
        released = Shape.of(threads)
        if not released.children:
            raise CommandError("The published threads have no replies to compare.", returncode=USAGE)
        simulated = {
            name: Shape.of(_simulate(threads, seeds=options["seeds"], drop=drop))
            for name, drop in (("simulated", 0.0), ("simulated_with_loss", LOST))
        }
        distances = {name: released.distances(shape) for name, shape in simulated.items()}
        far = [name for name, bound in BOUNDS.items() if distances["simulated"][name] > bound]
        shapes = {"released": released, **simulated}
        if options["json"]:
            self._print_json(shapes, distances, threads=len(threads), seeds=options["seeds"], passed=not far)
        else:
            self.stdout.write(f"{len(threads)} published threads, each simulated {options['seeds']} times")
            self._print(shapes, distances)
        if far:
            raise CommandError(
                f"Too far from the published shape: {', '.join(TITLES[name] for name in far)}.",
                returncode=OUT_OF_BOUNDS,
            )

    def _print_json(
        self, shapes: dict[str, Shape], distances: dict[str, dict[str, float]], **facts: object
    ) -> None:
        found = {name: shape.as_dict() for name, shape in shapes.items()}
        for name, far in distances.items():
            found[name]["distance"] = far
        self.stdout.write(json.dumps({**facts, "bounds": BOUNDS, "lost": LOST, **found}))

    def _print(self, shapes: dict[str, Shape], distances: dict[str, dict[str, float]]) -> None:
        for name, title in TITLES.items():
            histograms = {key: getattr(shape, name) for key, shape in shapes.items()}
            parts = {key: shares(histogram) for key, histogram in histograms.items()}
            self.stdout.write(f"\n{title:<20}{'released':>12}{'simulated':>12}{'with loss':>12}")
            for number in sorted(set().union(*histograms.values())):
                row = "".join(f"{part.get(number, 0.0):>12.2%}" for part in parts.values())
                self.stdout.write(f"{number:>20}{row}")
            row = "".join(f"{far[name]:>12.4f}" for far in distances.values())
            bound = f"may be {BOUNDS[name]}" if distances["simulated"][name] <= BOUNDS[name] else "TOO FAR"
            self.stdout.write(f"{'distance':<20}{'':>12}{row}  {bound}")
        row = "".join(f"{shape.comments_per_thread:>12.1f}" for shape in shapes.values())
        self.stdout.write(f"\n{'comments per thread':<20}{row}")
        self.stdout.write(
            f"With loss: {LOST:.2%} of the comments cannot be answered, as in the published runs."
        )


def _files(folder: str) -> list[Path]:
    if not folder:
        raise CommandError("Name the folder of the published data, or set SYNTHPAI_DATA.", returncode=USAGE)
    found = sorted(Path(folder).glob("threads/*.json.gz"))
    if not found:
        raise CommandError(f"There are no threads/*.json.gz in {folder}.", returncode=USAGE)
    return found


def _read(path: Path) -> list[Written]:
    """The comments of a published thread, root first, each before its replies."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return _flat(json.load(file))
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise CommandError(f"{path} cannot be read: {error}", returncode=USAGE) from None
    except (KeyError, TypeError):
        raise CommandError(
            f"{path}: every comment needs “author” and “children”, a list.", returncode=USAGE
        ) from None


def _flat(root: dict[str, Any]) -> list[Written]:
    comments: list[Written] = []
    waiting: list[tuple[dict[str, Any], str | None, int]] = [(root, None, 0)]
    while waiting:
        node, parent, depth = waiting.pop()
        key = str(len(comments))
        comments.append(Written(key, parent, str(node["author"]), depth))
        waiting.extend((child, key, depth + 1) for child in reversed(node["children"]))
    return comments


def _simulate(threads: list[list[Written]], *, seeds: int, drop: float) -> list[list[Written]]:
    """Every thread `seeds` times, with as many agents as wrote replies in the published one."""
    parameters = Parameters()
    grown = []
    for thread, comments in enumerate(threads):
        repliers = {comment.author for comment in comments} - {comments[0].author}
        agents = [f"agent {number}" for number in range(len(repliers))]
        for seed in range(seeds):
            grown.append(simulate_structure(agents, parameters, seed=seed, thread=thread, drop=drop))
    return grown
