"""Handles for authors: two harmless words in one, drawn from lists of our own."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from simulation.domain.seeds import generator


@cache
def words() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """First and second words, each once."""
    read = tomllib.loads(Path(__file__).with_name("usernames.toml").read_text(encoding="utf-8"))
    return tuple(dict.fromkeys(read["first"].split())), tuple(dict.fromkeys(read["second"].split()))


def usernames(count: int, taken: Collection[str], seed: int) -> list[str]:
    """`count` different handles such as QuietKettle, none of them `taken`, whatever the case of letters.

    The same arguments give the same handles. Once most of the more than 50,000 pairs are taken, a number
    follows.
    """
    used = {name.casefold() for name in taken}
    found: list[str] = []
    for name in _drawn(seed):
        if len(found) >= count:
            break
        if name.casefold() not in used:
            used.add(name.casefold())
            found.append(name)
    return found


def _drawn(seed: int) -> Iterator[str]:
    firsts, seconds = words()
    chance = generator(seed, "usernames")
    for _ in range(len(firsts) * len(seconds)):
        yield chance.choice(firsts) + chance.choice(seconds)
    number = 2
    while True:
        yield f"{chance.choice(firsts)}{chance.choice(seconds)}{number}"
        number += 1
