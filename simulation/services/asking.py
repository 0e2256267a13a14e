"""What a simulation asks a model in each kind of step: the words, the role, the shape of the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from string import Template

from pydantic import BaseModel

from simulation.domain import personas, replies
from simulation.domain.attributes import CATALOGUE
from simulation.domain.plans import RoleModel
from simulation.domain.seeds import generator
from simulation.llm.messages import Form
from simulation.llm.structured import Shape
from simulation.models import CastMember, Run, RunThread, Step
from simulation.selectors.run_planning import Line
from simulation.services.completions import Question
from simulation.services.prompts import pinned, platform_parts, version

OWN_SHOWN = 3
"""How many of an agent's own comments in a thread it is reminded of."""


@lru_cache(maxsize=4096)
def cast_member(run_id: int, external_id: str) -> CastMember:
    """The profile as the run has it. A cast is frozen, so it is read once a process."""
    return CastMember.objects.get(run_id=run_id, external_id=external_id)


def language_of(run: Run) -> str:
    """The language of the run's prompts, as its plan froze it."""
    return str(run.plan.get("language") or "en")


def persona(run: Run, member: CastMember) -> str:
    """The member's facts as the run's prompts say them."""
    digest = run.plan["prompts"]["thread/persona"]
    return persona_of(run.pk, member.external_id, digest, language_of(run))


@lru_cache(maxsize=4096)
def persona_of(run_id: int, external_id: str, digest: str, language: str) -> str:
    """Said once a process: neither the cast of a run nor a version of a prompt ever changes."""
    prompt, facts = version(digest).prompt, cast_member(run_id, external_id).facts
    said = personas.sentences(
        facts, prompt.parts, lambda key, values: prompt.part(key, **values), language=language
    )
    return prompt.render(facts="\n".join(said))[0].content


def target_phrase(run: Run, key: str) -> str:
    """How a thread of the run asks about an attribute, in the run's language."""
    known = CATALOGUE.get(key)
    return known.in_language(language_of(run)).topic if known else key


def post_text(run: Run, question: str, description: str) -> str:
    """The opening post as the run's platform stores it."""
    form = Template(platform_parts(run)["post_form"])
    return form.substitute(question=question, description=description)


def topic(run: Run, step: Step, thread: RunThread) -> Question:
    """The post that opens a thread."""
    return _question(
        run,
        step,
        "thread/topic",
        "author",
        replies.Topic,
        replies.read_topic,
        persona=persona(run, cast_member(run.pk, author_of(thread))),
        target=target_phrase(run, thread.target),
    )


def interest(run: Run, step: Step, post: str) -> Question:
    """Whether a profile would join below this post."""
    return _question(
        run,
        step,
        "thread/interest",
        "interest",
        replies.Interest,
        replies.read_interest,
        persona=persona(run, cast_member(run.pk, step.asks["profile"])),
        post=post,
    )


def turn(run: Run, step: Step, written: Sequence[Line]) -> Question:
    """The reply that the planner decided on: its words are those of the moment it was planned."""
    asks, member = step.asks, cast_member(run.pk, step.asks["profile"])
    _, prompt = pinned(run, "thread/comment")
    own = [comment.text for comment in written if comment.author == member.external_id][-OWN_SHOWN:]
    return _question(
        run,
        step,
        "thread/comment",
        "user",
        replies.Reply,
        replies.read_reply,
        (Form.TEXT,),
        persona=persona(run, member),
        style=member.style,
        stance=prompt.part("critic") if asks["critic"] else "",
        least=str(asks["words"][0]),
        most=str(asks["words"][1]),
        username=member.username,
        path=path(written, asks["target"]),
        earlier=prompt.part("earlier", comments=" / ".join(own)) if own else "",
    )


def author_of(thread: RunThread) -> str:
    """External id of who opens the thread."""
    return str(thread.author.external_id)


def path(written: Sequence[Line], target: str) -> str:
    """The comments from the root to `target` (an external id), one a line."""
    by_key = {comment.pk: comment for comment in written}
    node = next(comment for comment in written if comment.external_id == target)
    nodes = [node]
    while node.parent_id is not None:
        node = by_key[node.parent_id]
        nodes.append(node)
    lines = [f"author: {one.username} comment: {' '.join(one.text.split())}" for one in reversed(nodes)]
    return "\n".join(lines)


def _question(
    run: Run,
    step: Step,
    name: str,
    role: str,
    answer: type[BaseModel],
    from_words: Callable[[str], BaseModel],
    forms: tuple[Form, ...] | None = None,
    **values: str,
) -> Question:
    row, prompt = pinned(run, name)
    # What prompts of older runs do not ask for they do not get.
    place = {key: part for key, part in platform_parts(run).items() if key in prompt.variables}
    model = RoleModel(**run.plan["models"][role])
    return Question(
        purpose=step.kind,
        prompt=row,
        messages=prompt.render(**{**place, **values}),
        role=model,
        seed=drawn_seed(run, step) if model.seed is None else model.seed,
        shape=_shape(answer, from_words, prompt.parts.get("form", "")),
        forms=forms,
    )


@lru_cache(maxsize=64)
def _shape(answer: type[BaseModel], from_words: Callable[[str], BaseModel], hint: str) -> Shape[BaseModel]:
    """Made once a process, as its schema is."""
    return Shape(answer, from_words, hint)


def drawn_seed(run: Run, step: Step) -> int:
    """The seed of the step's calls where its role has none of its own: another sample, another draw."""
    sample = () if not (run.sample or step.tries) else (run.sample, step.tries)
    return generator(run.seed, step.key, "model", *sample).randrange(2**31)
