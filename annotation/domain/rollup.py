"""What an author's labels say together about one attribute, and which of them do not fit. Rules only."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simulation.domain.attributes import Attribute
from simulation.domain.matching import Match, compare

_LAST = 6
"""Behind every hardness."""


@dataclass(frozen=True)
class Claim:
    """A label that gives a value. Hardness 1-5; None where it was not given."""

    value: str
    hardness: int | None


@dataclass(frozen=True)
class Rollup:
    """`source` and `odd` are places in the sequence that was rolled up."""

    value: str
    source: int
    odd: tuple[int, ...] = ()
    against: tuple[str, ...] = ()
    """For each of `odd` the value that it contradicts: of those that fit, the clearest."""

    @property
    def is_contradicted(self) -> bool:
        return bool(self.odd)


def roll_up(attribute: Attribute, claims: Sequence[Claim]) -> Rollup | None:
    """The value for the author, as the published data make it: of the claims with a hardness the one with the
    lowest, the first of several. None where no claim has one.

    Claims contradict each other when their values are different by the attribute's own rule; one that is less
    precise fits both. Odd are those that have to go so that the rest fits: again and again the value that
    contradicts most claims goes. Where two camps are equally large, that one goes whose clearest claim is the
    harder; of two such, the later. So the roll-up itself can be odd: one clear slip against many.
    """
    marked = [place for place, claim in enumerate(claims) if claim.hardness]
    if not marked:
        return None
    source = min(marked, key=lambda place: (claims[place].hardness or _LAST, place))
    gone = _that_do_not_fit(attribute, claims)
    odd = tuple(place for place, claim in enumerate(claims) if claim.value in gone)
    fitting = sorted(
        (place for place in range(len(claims)) if claims[place].value not in gone),
        key=lambda place: (claims[place].hardness or _LAST, place),
    )
    against = tuple(_contradicted(attribute, claims, place, fitting) for place in odd)
    return Rollup(claims[source].value, source, odd, against)


def _that_do_not_fit(attribute: Attribute, claims: Sequence[Claim]) -> set[str]:
    """The values that have to go until no two of the rest are different."""
    counts = Counter(claim.value for claim in claims)
    values = list(counts)  # in the order in which they came
    clearest = {
        value: min(claim.hardness or _LAST for claim in claims if claim.value == value) for value in values
    }
    foes: dict[str, set[str]] = {value: set() for value in values}
    for place, one in enumerate(values):
        for other in values[place + 1 :]:
            if compare(attribute, one, other) is Match.DIFFERENT:
                foes[one].add(other)
                foes[other].add(one)
    gone: set[str] = set()
    while any(foes.values()):
        camps = {value: [one for one in foes if one not in foes[value]] for value in foes if foes[value]}
        worst = max(
            camps,
            key=lambda value: (
                sum(counts[foe] for foe in foes[value]),
                min(clearest[one] for one in camps[value]),
                clearest[value],
                values.index(value),
            ),
        )
        gone.add(worst)
        del foes[worst]
        for others in foes.values():
            others.discard(worst)
    return gone


def _contradicted(attribute: Attribute, claims: Sequence[Claim], place: int, fitting: Iterable[int]) -> str:
    """The clearest fitting value that is different from the one at `place`."""
    return next(
        claims[other].value
        for other in fitting
        if compare(attribute, claims[place].value, claims[other].value) is Match.DIFFERENT
    )
