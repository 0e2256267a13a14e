"""A model proposes what can be inferred from a comment: one call a comment, tags kept as suggestions."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field

from annotation.domain.tag_replies import Unreadable, read_tag_json, read_tags
from annotation.models import Suggestion
from simulation.domain.attributes import TARGETS
from simulation.domain.plans import BadPlan, RoleModel
from simulation.domain.run_states import RunState, StepState
from simulation.domain.seeds import generator
from simulation.llm.structured import Parsed, Shape
from simulation.models import Comment, Corpus, ModelCall, Provider, Run, Step, User
from simulation.services import audit, engine, prompts
from simulation.services.completions import Asker, Question
from simulation.services.engine import Claim, Outcome
from simulation.services.runs import check_caps, check_name

FOLDER = Path(settings.BASE_DIR) / "annotation" / "prompts"
PROMPT = "tag_comment"
BATCH = 1000


class TagEntry(BaseModel):
    """What a tagger says of one attribute, before anything is checked against the catalogue."""

    model_config = ConfigDict(extra="ignore")
    attribute: str
    guesses: list[str | int] = Field(max_length=20)
    hardness: str
    certainty: int | str


class Tags(BaseModel):
    """A tagger's answer; an empty list says that nothing can be inferred."""

    model_config = ConfigDict(extra="ignore")
    tags: list[TagEntry] = Field(max_length=40)


def from_words(text: str) -> Tags:
    """The plain form, or JSON that the schema does not know. Raises ValueError with what is wrong."""
    reply = read_tags(text)
    if isinstance(reply, Unreadable):
        raise ValueError(reply.reason)
    return Tags(
        tags=[
            TagEntry(
                attribute=tag.attribute,
                guesses=list(tag.guesses),
                hardness=tag.hardness_word,
                certainty="" if tag.certainty is None else tag.certainty,
            )
            for tag in reply.tags
        ]
    )


class Tagging:
    """The work of a tagging run; see `engine.Work`."""

    def perform(self, claim: Claim, asker: Asker) -> Outcome:
        if claim.step.comment is None or claim.step.comment.state != "active":
            return Outcome(StepState.SKIPPED, reason="withdrawn", detail="the comment was withdrawn")
        answered = asker.ask(_question(claim))
        result: dict[str, Any] = {"call": answered.call.public_id}
        read = answered.read
        if not isinstance(read, Parsed):
            return Outcome(StepState.SKIPPED, result, reason=read.why.value, detail=read.problem)
        reply = read_tag_json(read.value.model_dump())
        if isinstance(reply, Unreadable):
            return Outcome(StepState.SKIPPED, result, reason="unreadable", detail=reply.reason)
        result["tags"] = [
            {
                "attribute": tag.attribute,
                "guesses": list(tag.guesses),
                "hardness_word": tag.hardness_word[:40],
                "hardness": tag.hardness,
                "certainty": tag.certainty,
            }
            for tag in reply.tags
        ]
        result["notes"] = list(reply.notes)
        return Outcome(result=result)

    def record(self, claim: Claim, outcome: Outcome) -> Comment | None:
        if outcome.state is StepState.SKIPPED:
            engine.tell(claim.run, f"No tags for {claim.step.key}: {outcome.reason}.", "warn")
            return None
        assert claim.step.comment_id is not None  # every tagging step is about a comment
        call = ModelCall.objects.only("pk").get(public_id=outcome.result["call"])
        Suggestion.objects.bulk_create(
            Suggestion(
                comment_id=claim.step.comment_id,
                tagger=claim.run.plan["models"]["tagger"]["model"],
                run=claim.run,
                call=call,
                position=position,
                **tag,
            )
            for position, tag in enumerate(outcome.result["tags"])
        )
        return None


def _question(claim: Claim) -> Question:
    row, prompt = prompts.pinned(claim.run, PROMPT)
    comment = claim.step.comment
    assert comment is not None  # every tagging step is about a comment
    listed = "\n".join(
        f"{one.key}: {one.label.lower()}" + (f" ({', '.join(one.values)})" if one.values else "")
        for one in TARGETS
    )
    return Question(
        purpose="tag",
        prompt=row,
        messages=prompt.render(attributes=listed, comment=comment.text),
        role=RoleModel(**claim.run.plan["models"]["tagger"]),
        seed=generator(claim.run.seed, claim.step.key, "model").randrange(2**31),
        shape=Shape(Tags, from_words, prompt.part("form")),
    )


def untagged(corpus: Corpus) -> QuerySet[Comment]:
    """The active comments of a corpus that no model has been asked about and that carry no suggestion.

    Where a model said that nothing can be inferred, it has been asked.
    """
    tagged = Suggestion.objects.filter(comment=OuterRef("pk"))
    asked = Step.objects.filter(comment=OuterRef("pk"), kind="tag", state=StepState.DONE)
    return corpus.comments.filter(~Exists(tagged), ~Exists(asked), state="active")


@transaction.atomic
def start_tagging(
    *,
    by: User | None,
    corpus: Corpus,
    name: str,
    provider: Provider,
    model: str | RoleModel,
    only_untagged: bool = False,
    max_calls: int,
    max_tokens: int,
    follows: Run | None = None,
    seed: int = 0,
    parallel: int = 32,
    form: str = "",
) -> Run:
    """A run that tags the active comments of a corpus; of the simulation `follows` alone, where given.

    Raises BadPlan naming the field and what to do.
    """
    comments = untagged(corpus) if only_untagged else corpus.comments.filter(state="active")
    if follows is not None:
        comments = comments.filter(thread__run_thread__run=follows)
    check_name(name)
    if follows is None:
        check_caps(max_calls, max_tokens)
    try:
        tagger = model if isinstance(model, RoleModel) else RoleModel(model, 0.0, max_tokens=1200)
    except ValueError as error:
        raise BadPlan("model", str(error)) from None
    run = Run.objects.create(
        corpus=corpus,
        kind=Run.TAG,
        name=name.strip(),
        seed=seed,
        provider=provider,
        follows=follows,
        max_calls=max_calls,
        max_tokens=max_tokens,
        parallel=parallel,
        created_by=by,
        plan={
            "version": 1,
            "language": "en",
            "only_untagged": only_untagged,
            "models": {"tagger": tagger.as_dict()},
            "prompts": prompts.freeze(FOLDER, [PROMPT]),
            "form": form,
        },
    )
    count = _plan_steps(run, comments)
    if not count:
        raise BadPlan("", "There is no comment to tag.")
    audit.record(by=by, action="run.started", target=run, corpus=corpus, details={"comments": count})
    engine.tell(run, f"Planned: {count} comments to tag.")
    engine.wake(run)
    return run


def _plan_steps(run: Run, comments: QuerySet[Comment]) -> int:
    now, number = timezone.now(), 0
    stream = comments.order_by("sequence", "id").only("pk", "external_id").iterator(chunk_size=BATCH)
    while batch := list(islice(stream, BATCH)):
        Step.objects.bulk_create(
            Step(
                run=run,
                key=f"tag/{place}",
                kind="tag",
                number=place,
                comment=comment,
                due_at=now,
            )
            for place, comment in enumerate(batch, start=number)
        )
        number += len(batch)
    return number


def follow_simulations() -> list[Run]:
    """Starts the tagging runs that finished simulations asked for. Asked twice, it starts each once."""
    written = Comment.objects.filter(thread__run_thread__run=OuterRef("pk"), state="active")
    wanting = Run.objects.filter(
        Exists(written),
        kind=Run.SIMULATE,
        state=RunState.DONE,
        plan__tagger__model__isnull=False,
        followers=None,
        corpus__trashed_at=None,
    )
    return [tags for run in wanting if (tags := _follow(run.pk))]


@transaction.atomic
def _follow(simulation: int) -> Run | None:
    """The caps hold for a simulation and its tagging together: what is left of them is what this may spend.

    Where nothing is left the tagging run halts before its first call, and says that the cap can be raised.
    """
    run = Run.objects.select_for_update(of=("self",)).select_related("corpus", "provider").get(pk=simulation)
    if Run.objects.filter(follows=run).exists():
        return None
    return start_tagging(
        by=run.created_by,
        corpus=run.corpus,
        name=f"{run.name[:70]}, tags",
        provider=run.provider,
        model=RoleModel(**run.plan["tagger"]),
        follows=run,
        seed=run.seed,
        max_calls=max(0, run.max_calls - run.calls),
        max_tokens=max(0, run.max_tokens - run.tokens),
        parallel=run.parallel,
    )
