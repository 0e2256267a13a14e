"""A model proposes what can be inferred from a comment: one call a comment, tags kept as suggestions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from secrets import token_hex
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.domain.comment_filter import CommentFilter
from annotation.domain.tag_replies import Unreadable, read_tag_json
from annotation.domain.tag_schema import Tags, from_words
from annotation.models import Suggestion
from annotation.selectors import browsing, tag_parts
from annotation.services import tag_prompts
from simulation.domain.attributes import TARGETS, listed
from simulation.domain.plans import BadPlan, RoleModel
from simulation.domain.run_states import StepState
from simulation.llm.structured import Parsed, Shape
from simulation.models import Comment, Corpus, Provider, Run, Step, User
from simulation.services import audit, engine, prompts
from simulation.services.asking import drawn_seed
from simulation.services.claiming import Claim
from simulation.services.completions import Asker, Question
from simulation.services.runs import check_caps, check_money, check_name, check_prices
from simulation.services.work import Outcome, Work

BATCH = 1000
MOST_SIDE_BY_SIDE = 6
LONGEST_NAME = 80


@dataclass(frozen=True)
class Tagged(Outcome):
    """What came out, and the key of the call behind it."""

    call: int | None = None


class Tagging(Work):
    """The work of a tagging run; see `work.Work`."""

    def perform(self, claim: Claim, asker: Asker) -> Outcome:
        if claim.step.comment_id is None:
            return Outcome(StepState.SKIPPED, reason="withdrawn", detail="the comment is not there any more")
        comment = Comment.objects.only("text", "state").get(pk=claim.step.comment_id)
        if comment.state != "active":
            return Outcome(StepState.SKIPPED, reason="withdrawn", detail="the comment was withdrawn")
        answered = asker.ask(_question(claim.run, claim.step, comment))
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
        return Tagged(result=result, call=answered.call.pk)

    def record(self, claim: Claim, outcome: Outcome) -> Comment | None:
        if not isinstance(outcome, Tagged):
            engine.tell(claim.run, f"No tags for {claim.step.key}: {outcome.reason}.", "warn")
            return None
        assert claim.step.comment_id is not None  # every tagging step is about a comment
        Suggestion.objects.bulk_create(
            Suggestion(
                comment_id=claim.step.comment_id,
                tagger=claim.run.plan["models"]["tagger"]["model"],
                run=claim.run,
                call_id=outcome.call,
                position=position,
                **tag,
            )
            for position, tag in enumerate(outcome.result["tags"])
        )
        return None


def _question(run: Run, step: Step, comment: Comment) -> Question:
    row, prompt = prompts.pinned(run, run.plan.get("variant", tag_prompts.FULL))
    role = RoleModel(**run.plan["models"]["tagger"])
    return Question(
        purpose="tag",
        prompt=row,
        messages=prompt.render(attributes=_attributes(run.plan["language"]), comment=comment.text),
        role=role,
        seed=drawn_seed(run, step) if role.seed is None else role.seed,
        shape=_shape(prompt.parts.get("form", "")),
    )


@lru_cache(maxsize=32)
def _shape(form: str) -> Shape[Tags]:
    """Kept, since its schema takes longer to make than all the rest of a question."""
    return Shape(Tags, from_words, form)


@lru_cache(maxsize=32)
def _attributes(language: str) -> str:
    return listed(TARGETS, language)


@dataclass(frozen=True)
class Choice:
    """Who tags, and by which prompt: one of the runs that are started side by side."""

    provider: Provider
    model: RoleModel
    variant: str = tag_prompts.FULL


@transaction.atomic
def start_tagging(
    *,
    by: User | None,
    corpus: Corpus,
    name: str,
    provider: Provider,
    model: str | RoleModel,
    variant: str = tag_prompts.FULL,
    asked: CommentFilter | None = None,
    only_untagged: bool = False,
    judge: RoleModel | None = None,
    max_calls: int,
    max_tokens: int,
    soft_cost: int | None = None,
    max_cost: int | None = None,
    follows: Run | None = None,
    group: str = "",
    like: Run | None = None,
    seed: int = 0,
    parallel: int = 32,
    form: str = "",
) -> Run:
    """A run that tags the comments which `asked` means, as they are now; None: all active ones.

    `follows`: of this simulation alone. `like`: the very comments of that tagging run, in its order; `asked`
    and `only_untagged` then only say how they were found. `variant` names a prompt file in the corpus'
    language. `judge` checks the tags once they are done, with what is left of the caps. Costs are
    nano-dollars, None: no cap. Raises BadPlan naming the field and what to do.
    """
    asked, tagger = asked or CommentFilter(), _tagger(model)
    check_name(name)
    if follows is None:
        check_caps(max_calls, max_tokens)
    check_money(soft_cost, max_cost)
    _check(corpus, provider, asked, tagger, judge)
    run = Run.objects.create(
        corpus=corpus,
        kind=Run.TAG,
        name=name.strip(),
        seed=seed,
        provider=provider,
        follows=follows,
        group=group,
        max_calls=max_calls,
        max_tokens=max_tokens,
        soft_cost=soft_cost,
        max_cost=max_cost,
        parallel=parallel,
        created_by=by,
        plan=_plan(corpus, asked, tagger, judge, variant, only_untagged=only_untagged) | {"form": form},
    )
    _begin(run, by, _plan_steps(run, _comments(corpus, asked, only_untagged, follows, like)))
    return run


def _begin(run: Run, by: User | None, comments: int) -> None:
    """Says that the run is planned and calls for workers. Raises BadPlan where there is no comment."""
    if not comments:
        raise BadPlan("", "There is no comment to tag.")
    audit.record(
        by=by,
        action="run.started",
        target=run,
        corpus=run.corpus,
        details={
            "comments": comments,
            "max_calls": run.max_calls,
            "max_tokens": run.max_tokens,
            "max_cost": run.max_cost,
        },
    )
    engine.tell(run, f"Planned: {comments} comments to tag ({run.plan['part'][:200]}).")
    engine.wake(run)


@transaction.atomic
def start_side_by_side(
    *,
    by: User | None,
    corpus: Corpus,
    name: str,
    choices: Sequence[Choice],
    asked: CommentFilter | None = None,
    **options: Any,
) -> list[Run]:
    """One tagging run for each choice, over the same comments in the same order, to be compared.

    They share a group; `options` are those of `start_tagging`, and caps hold for each run. One choice alone
    is a run without a group. Raises BadPlan, and then none is started.
    """
    if not 1 <= len(choices) <= MOST_SIDE_BY_SIDE:
        raise BadPlan("", f"Choose 1 to {MOST_SIDE_BY_SIDE} models or prompts.")
    if len(set(choices)) < len(choices):
        raise BadPlan("", "The same model with the same prompt is chosen twice: change or clear one.")
    group = token_hex(8) if len(choices) > 1 else ""
    runs: list[Run] = []
    for choice in choices:
        runs.append(
            start_tagging(
                by=by,
                corpus=corpus,
                name=_name(name, choice, choices),
                provider=choice.provider,
                model=choice.model,
                variant=choice.variant,
                asked=asked,
                group=group,
                like=runs[0] if runs else None,
                **options,
            )
        )
    return runs


def _name(name: str, choice: Choice, choices: Sequence[Choice]) -> str:
    """The common name and what sets this choice apart from the others; cut so that this can be read."""
    apart = [
        said
        for said, others in (
            (choice.model.model, {one.model.model for one in choices}),
            (choice.provider.name, {one.provider.pk for one in choices}),
            (choice.variant, {one.variant for one in choices}),
        )
        if len(others) > 1
    ]
    end = f", {' '.join(apart)}"[:40] if apart else ""
    return f"{name.strip()[: LONGEST_NAME - len(end)]}{end}"


def _check(
    corpus: Corpus, provider: Provider, asked: CommentFilter, tagger: RoleModel, judge: RoleModel | None
) -> None:
    """Raises BadPlan for what cannot be tagged, paid for, or checked once it is tagged."""
    if asked.state == "withdrawn":
        raise BadPlan("", "Withdrawn comments are not tagged: take them back, or ask for active ones.")
    check_prices(provider, {"tagger": tagger} | ({"judge": judge} if judge else {}))
    if judge is None:
        return
    tag_prompts.freeze(tag_prompts.JUDGE, corpus.language, field="judge")
    if not corpus.comments.filter(profile__isnull=False).exists():
        raise BadPlan(
            "judge", "No comment has an author with a profile: there is nothing to check tags against."
        )


def _plan(
    corpus: Corpus,
    asked: CommentFilter,
    tagger: RoleModel,
    judge: RoleModel | None,
    variant: str,
    *,
    only_untagged: bool,
) -> dict[str, Any]:
    return {
        "version": 2,
        "language": corpus.language,
        "only_untagged": only_untagged,
        "filter": asked.fields(),
        "part": in_words(corpus, asked, only_untagged=only_untagged),
        "variant": variant,
        "models": {"tagger": tagger.as_dict()},
        "judge": judge.as_dict() if judge else None,
        "prompts": tag_prompts.freeze(variant, corpus.language),
    }


def _tagger(model: str | RoleModel) -> RoleModel:
    try:
        return model if isinstance(model, RoleModel) else RoleModel(model, 0.0, max_tokens=1200)
    except ValueError as error:
        raise BadPlan("model", str(error)) from None


def in_words(corpus: Corpus, asked: CommentFilter, *, only_untagged: bool) -> str:
    """Which comments are meant, for the page of the run: what was asked for is frozen, names may change."""
    said = [f"{name}: {value}" for name, value, _ in asked.words(browsing.names(corpus, asked))]
    said += ["no model was asked about them"] if only_untagged else []
    return "; ".join(said) or "all active comments"


def _comments(
    corpus: Corpus, asked: CommentFilter, only_untagged: bool, follows: Run | None, like: Run | None
) -> QuerySet[Comment]:
    if like is not None:
        return Comment.objects.filter(steps__run=like, steps__kind="tag")
    if only_untagged:
        return tag_parts.untagged(corpus, asked)
    return tag_parts.part(corpus, asked, written_by=follows)


def _plan_steps(run: Run, comments: QuerySet[Comment]) -> int:
    now, number = timezone.now(), 0
    stream = comments.order_by("sequence", "id").only("pk").iterator(chunk_size=BATCH)
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
