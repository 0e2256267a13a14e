"""A hard cap is never passed: 1,000 seeded runs of the rule, with random times, costs and failures.

No network and no database: callers, calls in flight and money alone, in the order of a clock. The rule is
that of the ledger, `simulation.domain.money`: what a call may cost at most is set aside before it is sent,
and what it did cost replaces that when it comes back.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass, field
from decimal import Decimal

import pytest

from simulation.domain import money
from simulation.domain.money import Limit, Room, UnitPrice, room

CALLERS = 32
AGAIN = 0.5
"""Seconds until a caller that found no room looks again."""
MOST_EVENTS = 100_000
"""A run that needs more has not come to an end."""


@dataclass
class Account:
    """A run, or the installation: what is spent, what is set aside, and the most that may be."""

    cap: int | None
    spent: int = 0
    held: int = 0

    @property
    def limit(self) -> Limit:
        return Limit(self.spent, self.held, self.cap)

    def check(self) -> None:
        assert self.held >= 0
        assert self.cap is None or self.spent + self.held <= self.cap, "the hard cap was passed"


@dataclass
class Run(Account):
    """One run with the calls that its callers still want to make."""

    wanted: int = 0
    full: bool = False
    paid: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Call:
    """One call in flight: set aside at the price of the moment it was sent, and settled at that price."""

    run: Run
    price: UnitPrice
    input: int
    most_output: int
    held: int


class World:
    """Some runs that share an installation, and 32 callers that work for them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.price = self.new_price()
        scale = self.price.cost(input=1500, output=600)
        installation_cap = self.rng.choice([None, self.rng.randint(0, 200) * scale])
        self.installation = Account(installation_cap)
        self.runs = [self.new_run(scale) for _ in range(self.rng.randint(1, 4))]
        self.events: list[tuple[float, int, Run | Call]] = []
        self.ticket = 0
        for caller in range(CALLERS):
            self.at(self.rng.random(), self.runs[caller % len(self.runs)])

    def new_price(self) -> UnitPrice:
        input = Decimal(self.rng.randint(0, 3_000_000)) / 1_000_000
        cached = self.rng.choice([None, input / 2])
        return UnitPrice(input, input * self.rng.randint(1, 8), cached)

    def new_run(self, scale: int) -> Run:
        cap = self.rng.choice([None, self.rng.randint(0, 120) * scale])
        return Run(cap, wanted=self.rng.randint(10, 80))

    def at(self, moment: float, what: Run | Call) -> None:
        self.ticket += 1
        heapq.heappush(self.events, (moment, self.ticket, what))

    def play(self) -> None:
        for _ in range(MOST_EVENTS):
            if not self.events:
                return
            now, _, what = heapq.heappop(self.events)
            if self.rng.random() < 0.02:
                self.price = self.new_price()
            if isinstance(what, Call):
                self.settle(what)
                self.at(now, what.run)
            elif what.wanted and not what.full:
                self.begin(now, what)
            self.check()
        raise AssertionError("it does not come to an end: callers wait for room that never comes")

    def begin(self, now: float, run: Run) -> None:
        input, most_output = self.rng.randint(1, 4000), self.rng.choice([64, 600, 1200])
        need = self.price.cost(input=input, output=most_output)
        verdict = room([(run.limit, need), (self.installation.limit, need)])
        in_flight = self.installation.held + run.held
        if verdict is Room.CROWDED:
            assert in_flight > 0, "crowded, and nothing is in flight: nobody would ever make room"
            self.at(now + AGAIN, run)
        elif verdict is Room.FULL:
            alone = [Limit(one.spent, 0, one.cap) for one in (run, self.installation)]
            fits = all(limit.cap is None or limit.spent + need <= limit.cap for limit in alone)
            assert not fits, "full, though the calls in flight would have made room"
            run.full = True
        else:
            run.wanted -= 1
            for account in (run, self.installation):
                account.held += need
            self.at(now + self.rng.expovariate(0.5), Call(run, self.price, input, most_output, need))

    def settle(self, call: Call) -> None:
        cost = self.cost_of(call)
        assert cost <= call.held
        for account in (call.run, self.installation):
            account.held -= call.held
            account.spent += cost
        call.run.paid.append(cost)

    def cost_of(self, call: Call) -> int:
        """By the provider's count; of an answer nobody heard all that was set aside; of a 429 nothing."""
        fate = self.rng.random()
        if fate < 0.08:
            return call.held
        if fate < 0.2:
            call.run.wanted += 1
            return 0
        cached = self.rng.randint(0, call.input) if self.rng.random() < 0.3 else 0
        output = self.rng.choice([call.most_output, self.rng.randint(0, call.most_output)])
        return call.price.cost(input=call.input, output=output, cached=cached)

    def check(self) -> None:
        for account in (*self.runs, self.installation):
            account.check()

    def check_end(self) -> None:
        """Nothing is set aside any more, and every nano-dollar is somewhere."""
        for run in self.runs:
            assert run.held == 0
            assert run.spent == sum(run.paid)
            assert run.full or run.wanted == 0
        assert self.installation.held == 0
        assert self.installation.spent == sum(run.spent for run in self.runs)


@pytest.mark.parametrize("block", range(10))
def test_no_run_and_no_installation_ever_passes_its_hard_cap(block):
    for seed in range(block * 100, block * 100 + 100):
        world = World(seed)
        world.play()
        world.check_end()


def test_the_runs_meet_every_kind_of_end():
    """Caps that bite and caps that do not, several runs at once: else the test above would prove little."""
    worlds = [World(seed) for seed in range(200)]
    play_all(worlds)
    runs = [run for world in worlds for run in world.runs]
    assert 50 < sum(run.full for run in runs) < len(runs) - 50
    assert {len(world.runs) for world in worlds} == {1, 2, 3, 4}
    near = [run for run in runs if run.cap and run.full and run.spent > 0.9 * run.cap]
    assert len(near) > 20


def play_all(worlds):
    for world in worlds:
        world.play()


def forgets_what_is_held(self, need):
    fits = self.cap is None or self.spent + need <= self.cap
    return Room.FITS if fits else Room.FULL


def gives_up_when_crowded(self, need):
    fits = self.cap is None or self.spent + self.held + need <= self.cap
    return Room.FITS if fits else Room.FULL


def waits_for_ever(self, need):
    fits = self.cap is None or self.spent + self.held + need <= self.cap
    return Room.FITS if fits else Room.CROWDED


def counts_one_too_many(self, need):
    if self.cap is None or self.spent + self.held + need <= self.cap + 1 + self.cap // 100:
        return Room.FITS
    return Room.CROWDED if self.spent + need <= self.cap else Room.FULL


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (forgets_what_is_held, "the hard cap was passed"),
        (gives_up_when_crowded, "would have made room"),
        (waits_for_ever, "nobody would ever make room"),
        (counts_one_too_many, "the hard cap was passed"),
    ],
)
def test_a_wrong_rule_is_found_out(monkeypatch, wrong, said):
    monkeypatch.setattr(money.Limit, "room_for", wrong)
    worlds = [World(seed) for seed in range(100)]
    with pytest.raises(AssertionError, match=said):
        play_all(worlds)
