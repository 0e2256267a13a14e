"""Rules around a model that rewrites: infer, rewrite what gave the author away, until nothing is inferred.

A state machine without any model. `start` gives a state; its `step` says what to ask next (or that it is
over); `inferred` and `answered` take what came back and give the next state. States are immutable and hold
plain values, so a run can be stored between two calls and resumed.

Scheme: R. Staab, M. Vero, M. Balunović, M. Vechev (2024), Large Language Models are Advanced Anonymizers,
arXiv:2402.13846 (feedback-guided adversarial anonymisation). The stop rule, the reasons and the form of the
answer are our own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from evaluation.domain.masking_rewrite_answer import Given, Unusable, read_rewrite

ROUNDS = 3
TRIES = 2
CERTAIN = 3
"""Certainty (1 to 5) from which an inference counts as given away: the published scoring's lower bound."""


class Step(StrEnum):
    """What comes next."""

    INFER = "infer"
    """Ask the adversary about the text as it stands."""
    REWRITE = "rewrite"
    """Ask the rewriter to take out what the findings rest on."""
    DONE = "done"


class End(StrEnum):
    """Why a rewriting ended."""

    QUIET = "quiet"
    """The adversary infers nothing any more. The only end that says that the text is anonymous to it."""
    ROUNDS = "rounds"
    """As often rewritten as allowed, and the adversary still infers something."""
    CIRCLE = "circle"
    """The rewriter came back to a text that it had left."""
    STUCK = "stuck"
    """The rewriter gave no usable answer, as often as allowed. The text stands as it was before."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the adversary infers: an attribute, its best guess, certainty 1 to 5, and the words it rests on
    (may be empty). Raises ValueError for another certainty."""

    attribute: str
    guess: str
    certainty: int
    evidence: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.certainty <= 5:
            raise ValueError(f"certainty {self.certainty} is not within 1 and 5")


@dataclass(frozen=True, slots=True)
class Round:
    """One turn of the adversary with what counted of it, and the answers of the rewriter that followed, the
    usable one last."""

    findings: tuple[Finding, ...]
    refused: tuple[Unusable, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """`rounds`: rewritings at most; `tries`: answers of the rewriter a round; `certain`: see CERTAIN."""

    rounds: int = ROUNDS
    tries: int = TRIES
    certain: int = CERTAIN

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.tries < 1 or not 1 <= self.certain <= 5:
            raise ValueError("rounds and tries are at least 1, certain is within 1 and 5")


class WrongStep(ValueError):
    """An answer came to a state that had not asked for it."""


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Where the rewriting of one text stands. `text` is the current one; `rounds` what happened so far."""

    original: str
    text: str
    limits: Limits
    step: Step
    rounds: tuple[Round, ...] = ()
    end: End | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the rewriter has to take out now, the surest first; empty before the first inference."""
        return self.rounds[-1].findings if self.rounds else ()

    @property
    def last_refusal(self) -> Unusable | None:
        """Why the rewriter's last answer of this round could not be used, to be said when asking again."""
        return self.rounds[-1].refused[-1] if self.rounds and self.rounds[-1].refused else None

    @property
    def rewritten(self) -> int:
        """How often the text was rewritten."""
        return sum(one.text is not None for one in self.rounds)


def start(text: str, limits: Limits | None = None) -> Rewriting:
    """The state before the first question. A text of blanks alone is quiet at once."""
    limits = limits or Limits()
    if not text.strip():
        return Rewriting(text, text, limits, Step.DONE, end=End.QUIET)
    return Rewriting(text, text, limits, Step.INFER)


def inferred(state: Rewriting, findings: Iterable[Finding]) -> Rewriting:
    """After the adversary's answer. Findings below the limits' certainty do not count.

    None left: quiet. Else the rewriter is next, unless the text was rewritten as often as allowed. Raises
    WrongStep unless the adversary was asked. An adversary whose answer cannot be read has not answered: ask
    it again, and never pass its silence on as no findings.
    """
    _expect(state, Step.INFER)
    counted = [one for one in findings if one.certainty >= state.limits.certain]
    counted.sort(key=lambda one: (-one.certainty, one.attribute))
    rounds = (*state.rounds, Round(tuple(counted)))
    if not counted:
        return replace(state, rounds=rounds, step=Step.DONE, end=End.QUIET)
    if state.rewritten >= state.limits.rounds:
        return replace(state, rounds=rounds, step=Step.DONE, end=End.ROUNDS)
    return replace(state, rounds=rounds, step=Step.REWRITE)


def answered(state: Rewriting, raw: str, *, cut: bool = False) -> Rewriting:
    """After the rewriter's answer; `cut` says that the provider cut it off.

    A usable one becomes the text, and the adversary is asked again; one that was there before ends it, and
    the text stays. An unusable one is noted, and the rewriter asked again as often as allowed. Raises
    WrongStep unless the rewriter was asked.
    """
    _expect(state, Step.REWRITE)
    evidence = tuple(one.evidence for one in state.findings if one.evidence.strip())
    read = read_rewrite(raw, Given(state.text, evidence, is_cut=cut))
    now = state.rounds[-1]
    if isinstance(read, Unusable):
        now = replace(now, refused=(*now.refused, read))
        is_over = len(now.refused) >= state.limits.tries
        return replace(
            state,
            rounds=(*state.rounds[:-1], now),
            step=Step.DONE if is_over else Step.REWRITE,
            end=End.STUCK if is_over else None,
        )
    before = {state.original, *(one.text for one in state.rounds)}
    if read in before:
        return replace(state, step=Step.DONE, end=End.CIRCLE)
    rounds = (*state.rounds[:-1], replace(now, text=read))
    return replace(state, text=read, rounds=rounds, step=Step.INFER)


def _expect(state: Rewriting, step: Step) -> None:
    if state.step is not step:
        raise WrongStep(f"the state asks for {state.step.value}, and was given an answer to {step.value}")
