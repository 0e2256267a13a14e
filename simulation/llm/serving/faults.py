"""Which fault a request meets and how long its answer takes: drawn from its digest and the attempt."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Fault(StrEnum):
    RATE_LIMIT = "429"
    SERVER_ERROR = "500"
    TIMEOUT = "timeout"
    """The answer comes later than the client waits."""
    CUT = "cut"
    """The connection ends in the middle of the body."""
    EMPTY = "empty"
    TRUNCATED = "truncated"
    """Half of the text, finish_reason length."""
    REFUSED = "refused"
    MALFORMED = "malformed"
    """Broken JSON, or a text without its last labelled section."""
    PROSE = "prose"
    """Chatter around the answer."""


def digest_of(body: object) -> str:
    """SHA-256 (hex) of the canonical JSON of a body: the order of its keys and its blanks do not count."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def chance(seed: int, digest: str, attempt: int, what: str) -> float:
    """A number in [0, 1), the same for the same arguments."""
    drawn = hashlib.sha256(f"{seed}:{digest}:{attempt}:{what}".encode()).digest()
    return int.from_bytes(drawn[:7]) / 2**56


@dataclass(frozen=True)
class Faults:
    """`shares` of all requests meet each fault; the rest, at least 1 minus their sum, meet none."""

    shares: Mapping[Fault, float] = field(default_factory=dict)
    seed: int = 0

    @classmethod
    def parse(cls, text: str, seed: int = 0) -> Faults:
        """Reads '429=0.05,cut=0.02'. Raises ValueError saying which part is wrong and what it may be."""
        shares: dict[Fault, float] = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, _, number = (piece.strip() for piece in part.partition("="))
            if name not in list(Fault):
                raise ValueError(f"{part!r}: no such fault; there are {', '.join(Fault)}")
            try:
                share = float(number)
            except ValueError:
                share = math.nan
            if not 0 <= share <= 1:
                raise ValueError(f"{part!r}: the share must be a number from 0 to 1, as in {name}=0.05")
            if Fault(name) in shares:
                raise ValueError(f"{name} is there twice")
            shares[Fault(name)] = share
        if sum(shares.values()) > 1 + 1e-9:
            raise ValueError(f"the shares add up to {sum(shares.values()):g}; 1 is the most")
        return cls(shares, seed)

    def of(self, digest: str, attempt: int) -> Fault | None:
        """The fault this attempt meets."""
        left = chance(self.seed, digest, attempt, "fault")
        for fault, share in self.shares.items():
            if left < share:
                return fault
            left -= share
        return None


@dataclass(frozen=True)
class Latency:
    """An answer takes between `fixed` and `fixed` + `spread` seconds."""

    fixed: float = 0.0
    spread: float = 0.0
    seed: int = 0

    def of(self, digest: str, attempt: int) -> float:
        return self.fixed + self.spread * chance(self.seed, digest, attempt, "latency")
