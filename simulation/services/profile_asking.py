"""What a profile run asks a model: to invent one person, and to describe how one writes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from simulation.domain import personas, profile_answers, replies
from simulation.domain.plans import RoleModel
from simulation.domain.seeds import generator
from simulation.llm.structured import Shape
from simulation.models import Profile, Run, Step
from simulation.services.asking import drawn_seed, language_of
from simulation.services.completions import Question
from simulation.services.prompts import pinned, platform_parts

GENERATE, PERSONA, STYLE = "profile/generate", "thread/persona", "thread/style"
PROMPTS = (GENERATE, PERSONA, STYLE)
AUTHOR, STYLER = "profile", "style"
"""Roles of a profile run, under which its plan has their models."""


def invention(run: Run, step: Step, sample: int) -> Question:
    """One new person, as the step's wishes say. Another `sample` is another answer to the same question.

    Everything in it was planned when the run began: whatever is written meanwhile, it is the same question.
    """
    row, prompt = pinned(run, GENERATE)
    language, asks = language_of(run), step.asks
    known = [run.plan["examples"][place] for place in asks["examples"]]
    say: Any = prompt.part
    form = prompt.part("form", lines=profile_answers.plain_form())
    return Question(
        purpose=step.kind,
        prompt=row,
        messages=prompt.render(
            fields=profile_answers.described(prompt.parts, say, language),
            examples="\n\n".join(profile_answers.shown(facts, language) for facts in known),
            wishes=profile_answers.wished(asks["wishes"], prompt.parts, say, language),
            taken=prompt.part("taken", others="; ".join(asks["taken"])) if asks["taken"] else "",
        ),
        role=(role := RoleModel(**run.plan["models"][AUTHOR])),
        seed=_seed(run, step, role, sample),
        shape=_shape(profile_answers.answer_model(), form),
    )


@lru_cache(maxsize=16)
def _shape(model: type[BaseModel], form: str) -> Shape[BaseModel]:
    """Made once a process, as its schema is."""
    return Shape(model, profile_answers.read_profile, form)


def style(run: Run, step: Step, profile: Profile) -> Question:
    """How the person writes, with an example."""
    row, prompt = pinned(run, STYLE)
    place = {key: part for key, part in platform_parts(run).items() if key in prompt.variables}
    return Question(
        purpose=step.kind,
        prompt=row,
        messages=prompt.render(**{**place, "persona": persona(run, profile)}),
        role=(role := RoleModel(**run.plan["models"][STYLER])),
        seed=_seed(run, step, role, 0),
        shape=Shape(replies.Style, replies.read_style, prompt.parts.get("form", "")),
    )


def persona(run: Run, profile: Profile) -> str:
    """The profile's facts as the run's prompts say them."""
    _, prompt = pinned(run, PERSONA)
    said = personas.sentences(
        profile.facts,
        prompt.parts,
        lambda key, values: prompt.part(key, **values),
        language=language_of(run),
    )
    return prompt.render(facts="\n".join(said))[0].content


def _seed(run: Run, step: Step, role: RoleModel, sample: int) -> int:
    """A role's own seed for its first sample, and the numbers behind it for others."""
    if role.seed is not None:
        return (role.seed + sample) % 2**31
    return generator(drawn_seed(run, step), sample).randrange(2**31) if sample else drawn_seed(run, step)
