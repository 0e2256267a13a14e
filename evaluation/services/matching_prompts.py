"""What a judge is asked about guesses at one truth, with the published prompt, and how its answer is read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from annotation.domain import judgements
from annotation.domain.judgements import Judgement, Wanted
from annotation.services import tag_prompts
from evaluation.models import Question
from simulation.domain.normalise import MAX_LENGTH, squeeze
from simulation.domain.plans import RoleModel
from simulation.domain.seeds import generator
from simulation.llm.structured import Shape
from simulation.models import Run, Step
from simulation.services import completions, prompts
from simulation.services.asking import drawn_seed

LONGEST = 1000
"""Characters of a guess or a truth that are looked at."""


def asked_about(run: Run, step: Step, rows: Sequence[Question], vote: int = 0) -> completions.Question:
    """The call about these questions, all of one attribute and one truth (the first one's spelling of it).

    Another `vote` (0-4) is another answer to the same question: a call of its own, drawn with another seed.
    """
    row, prompt = prompts.pinned(run, tag_prompts.JUDGE)
    role = RoleModel(**run.plan["models"]["judge"])
    first = rows[0]
    pair = prompt.part(
        "pair",
        attribute=first.attribute,
        truth=_shown(first.truth),
        guesses="\n".join(f"- {_shown(one.guess)}" for one in rows),
    )
    return completions.Question(
        purpose="judge",
        prompt=row,
        messages=prompt.render(pairs=pair.strip()),
        role=role,
        seed=_seed(run, step, role, vote),
        shape=_shape(((first.attribute, len(rows)),), prompt.parts.get("form", "")),
    )


def scores_of(answer: Judgement) -> tuple[float, ...]:
    """1, 0.5 or 0 a guess, in their order; the shape has seen to it that there is one for each."""
    (only,) = answer.checks
    return tuple(verdict.score for verdict in only.verdicts)


def _seed(run: Run, step: Step, role: RoleModel, vote: int) -> int:
    """Of the first vote that of the role or the step; the number after each is its longer second try's."""
    if role.seed is not None:
        return (role.seed + 2 * vote) % 2**31 if vote else role.seed
    drawn = drawn_seed(run, step)
    return generator(drawn, "vote", vote).randrange(2**31) if vote else drawn


@lru_cache(maxsize=1024)
def _shape(asked: Wanted, form: str) -> Shape[Judgement]:
    return Shape(judgements.judgement_of(asked), lambda text: judgements.read_judgement(text, asked), form)


def _shown(text: str) -> str:
    """As the judge sees it: on one line, of bounded length, and without the signs of the prompt's marks."""
    return squeeze(text[:LONGEST].replace("<", " ").replace(">", " "))[:MAX_LENGTH] or "–"
