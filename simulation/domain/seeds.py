"""Where chance comes from in a run: every draw has a generator of its own, named by the seed and a path.

A draw depends on its name alone, never on what was drawn before it. So work may end in any order, stop and
start again, and the choices stay the same. Who begins the threads and who is asked is drawn here as well.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Sequence


def generator(seed: int, *path: object) -> random.Random:
    """The generator of the draw that `path` names, such as thread, round, agent, action and purpose.

    Parts of the path count by their text and cannot run into each other: ("a", "b/c") is not ("a/b", "c").
    """
    name = json.dumps([seed, *(str(part) for part in path)])
    digest = hashlib.sha256(name.encode("ascii")).digest()
    return random.Random(int.from_bytes(digest))  # noqa: S311  it has to be repeatable, it guards nothing


def shuffled(names: Iterable[str], rng: random.Random) -> list[str]:
    """The distinct names in an order that `rng` alone decides: the order they come in does not matter."""
    order = sorted(set(names))
    rng.shuffle(order)
    return order


def plan_authors(profiles: Sequence[str], threads: int, seed: int) -> list[str]:
    """Who begins each of a run's threads: nobody begins a second one before everybody began one.

    Algorithm 1 draws authors without replacement within a run. A run with more threads than profiles goes on
    with a new shuffle. Without profiles there is nobody to begin a thread: ValueError.
    """
    if threads > 0 and not profiles:
        raise ValueError("profiles: a thread needs an author, there must be at least one profile")
    authors: list[str] = []
    while len(authors) < threads:
        authors += shuffled(profiles, generator(seed, "authors", len(authors)))
    return authors[: max(threads, 0)]


def plan_asked(profiles: Sequence[str], author: str, asked: int, seed: int, thread: int) -> list[str]:
    """The profiles asked whether the thread interests them, at most `asked`, in the thread's fixed order.

    The author of the thread is never asked. Every thread has a shuffle of its own: the published runs began
    each time with the same one, so the same few dozen profiles were always asked.
    """
    others = [profile for profile in profiles if profile != author]
    return shuffled(others, generator(seed, thread, "asked"))[: max(asked, 0)]
