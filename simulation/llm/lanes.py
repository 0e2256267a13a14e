"""How many calls to one model may be under way at once, learnt from its answers and shared by all workers.

A lane is a provider's model. It begins with `start` places. A 429 at more calls in flight than have gone
well takes places away, a quarter at most; the other 429s of that burst take no more. 25 successes in a row
win one back while all places are in use; near the number that was refused last it is tried more rarely, and
so rarely that pauses cost a twentieth of the time at most. Passing faults in a row, such as timeouts, take
one place away. Its state is in Redis and so is its clock: a worker with a wrong time does no harm, and a
worker that is killed loses its places when their leases end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from redis import Redis

from simulation.llm import lane_scripts

PAUSES = (0.2, 30.0)
"""Seconds a lane pauses at a 429 that asks for no time: it doubles while no call comes back well."""
SUCCESSES = 25
"""Successes in a row that win a place."""
PROBES = (100, 60.0)
"""Successes in a row, or seconds since the last shrink, before the number that was refused is tried again."""
PROBE_COSTS = 20.0
"""A number that was refused is not tried before so many times the pause that it cost."""
MEMORY_SECONDS = 600.0
"""After so long it is forgotten what was refused: limits of providers change."""
PATIENCE = 20
"""After so many successes in a row a 429 at a number that goes well takes nothing away: it only pauses."""
FAULTS = 5
"""Passing faults in a row that take a place away."""
LONGEST_REASON = 300
Arg = str | int | float


class Lane(str):
    """The id of a lane, which also knows the name people read."""

    __slots__ = ("name",)
    name: str


def lane_of(base_url: str, model: str) -> Lane:
    """The lane of a model at an address: equal for every worker."""
    address = base_url.rstrip("/")
    lane = Lane(hashlib.sha256(f"{address}\n{model}".encode()).hexdigest()[:24])
    lane.name = f"{model} at {address}"
    return lane


@dataclass(frozen=True)
class LaneState:
    """`paused_for` in seconds. `reason` and `changed_at` tell of the limit's last change, if any."""

    limit: int
    in_flight: int
    paused_for: float
    reason: str
    changed_at: datetime | None
    name: str = ""


class Lanes:
    """All lanes in one Redis. A method for one holder is one round trip; safe to share between threads."""

    def __init__(
        self,
        client: Redis,
        *,
        start: int = 20,
        most: int = 64,
        prefix: str = "synthpai:lane",
    ) -> None:
        self._bounds: list[Arg] = [start, most]
        self._prefix = prefix
        self._client = client
        self._acquire = client.register_script(lane_scripts.ACQUIRE)
        self._renew = client.register_script(lane_scripts.RENEW)
        self._release = client.register_script(lane_scripts.RELEASE)
        self._slow_down = client.register_script(lane_scripts.SLOW_DOWN)
        self._succeeded = client.register_script(lane_scripts.SUCCEEDED)
        self._stumbled = client.register_script(lane_scripts.STUMBLED)
        self._look = client.register_script(lane_scripts.LOOK)

    def acquire(self, lane: str, holder: str, *, lease: float) -> float:
        """Takes a place for `lease` seconds: 0.0, or how many seconds to wait before asking again.

        Who holds a place already keeps it and is given a new lease.
        """
        return float(self._acquire(keys=self._keys(lane), args=self._asking(lane, holder, lease)))

    def acquire_some(self, lane: str, holders: Sequence[str], *, lease: float) -> list[bool]:
        """Which of the holders found a place at once; two round trips, however many they are."""
        if not holders:
            return []
        pipe = self._client.pipeline(transaction=False)
        for holder in holders:
            self._acquire(keys=self._keys(lane), args=self._asking(lane, holder, lease), client=pipe)
        return [not float(wait) for wait in pipe.execute()]

    def _going_well(self, holder: str) -> list[Arg]:
        return [*self._bounds, holder, SUCCESSES, *PROBES, PROBE_COSTS, MEMORY_SECONDS]

    def _asking(self, lane: str, holder: str, lease: float) -> list[Arg]:
        return [*self._bounds, holder, lease, _name(lane)]

    def renew(self, lane: str, holder: str, lease: float) -> bool:
        """A new lease from now on; False where the place is already lost."""
        return bool(self._renew(keys=self._keys(lane), args=[*self._bounds, holder, lease]))

    def release(self, lane: str, holder: str) -> None:
        """Gives the place back; nothing happens where it is lost already."""
        self._release(keys=self._keys(lane), args=[*self._bounds, holder])

    def slow_down(self, lane: str, after: float | None, detail: str, *, holder: str = "") -> LaneState:
        """A 429 came: the lane pauses for `after` seconds, or for a short time, and may lose places.

        `holder` is who sent the call: its 429 is of an older burst where the lane has shrunk or paused since
        it took its place. Without a holder, 429s that come while the lane pauses are of the same burst.
        """
        asked = "" if after is None else after
        args = [*self._bounds, holder, asked, *PAUSES, detail[:LONGEST_REASON], _name(lane), PATIENCE]
        return _state(self._slow_down(keys=self._keys(lane), args=args))

    def succeeded(self, lane: str, *, holder: str = "") -> LaneState:
        """A call came back well, and its `holder` gives the place back; the lane may win a place, up to the
        most."""
        return _state(self._succeeded(keys=self._keys(lane), args=self._going_well(holder)))

    def come_back(self, lane: str, *, well: Sequence[str], others: Sequence[str]) -> None:
        """`succeeded` for some holders and `release` for others; two round trips in all."""
        if not well and not others:
            return
        pipe = self._client.pipeline(transaction=False)
        for holder in well:
            self._succeeded(keys=self._keys(lane), args=self._going_well(holder), client=pipe)
        for holder in others:
            self._release(keys=self._keys(lane), args=[*self._bounds, holder], client=pipe)
        pipe.execute()

    def stumbled(self, lane: str, detail: str) -> LaneState:
        """A passing fault: the lane does not grow for a while; after several in a row it has a place less."""
        args = [*self._bounds, FAULTS, detail[:LONGEST_REASON]]
        return _state(self._stumbled(keys=self._keys(lane), args=args))

    def state(self, lane: str) -> LaneState:
        return _state(self._look(keys=self._keys(lane), args=self._bounds))

    def all(self, lanes: Iterable[str]) -> dict[str, LaneState]:
        """The states of many lanes in one round trip."""
        asked = list(dict.fromkeys(lanes))
        with self._client.pipeline(transaction=False) as batch:
            for lane in asked:
                self._look(keys=self._keys(lane), args=self._bounds, client=batch)
            return {lane: _state(raw) for lane, raw in zip(asked, batch.execute(), strict=True)}

    def _keys(self, lane: str) -> list[str]:
        """In one slot of a cluster, by the braces."""
        return [f"{self._prefix}:{{{lane}}}", f"{self._prefix}:{{{lane}}}:holders"]


def _state(raw: list[Any]) -> LaneState:
    limit, in_flight, paused_for, reason, changed_at, name = (
        item.decode() if isinstance(item, bytes) else str(item) for item in raw
    )
    changed = float(changed_at)
    return LaneState(
        limit=int(limit),
        in_flight=int(in_flight),
        paused_for=float(paused_for),
        reason=reason,
        changed_at=datetime.fromtimestamp(changed, UTC) if changed else None,
        name=name,
    )


def _name(lane: str) -> str:
    return lane.name if isinstance(lane, Lane) else ""
