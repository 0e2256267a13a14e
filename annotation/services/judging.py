"""Tags are checked against the personas' truth: what rules leave open goes to a judge, one call a comment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.domain import judgements, judging
from annotation.domain.judgements import Judgement, Wanted
from annotation.domain.judging import Checked, Guessed, Pair
from annotation.models import Suggestion, SuggestionCheck
from annotation.services import tag_prompts
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
Checks = tuple[Checked, ...]


@dataclass(frozen=True)
class Compared(Outcome):
    """What was found, and the key of the judge's call, if there was one."""

    checks: Checks = ()
    call: int | None = None


class Judging(Work):
    """The work of a check of tags; see `work.Work`."""

    def perform(self, claim: Claim, asker: Asker) -> Outcome:
        rows = _suggestions(claim.step)
        comment = rows[0].comment if rows else None
        if comment is None or comment.state != "active" or comment.profile is None:
            return Outcome(StepState.SKIPPED, reason="withdrawn", detail="the comment or its profile is gone")
        guessed, facts = [_guessed(row) for row in rows], comment.profile.facts
        exact_first = bool(claim.run.plan["exact_first"])
        pairs = judging.pairs(guessed, facts, exact_first=exact_first)
        if not pairs:
            return _compared(judging.checks(guessed, facts, {}, exact_first=exact_first), None, {})
        answered = asker.ask(_question(claim.run, claim.step, pairs))
        result: dict[str, object] = {"call": answered.call.public_id}
        read = answered.read
        if isinstance(read, Parsed):
            verdicts = judgements.verdicts_of(pairs, read.value)
            found = judging.checks(guessed, facts, verdicts, exact_first=exact_first)
            return _compared(found, answered.call.pk, result)
        # What rules decided stands; what the judge was asked stays open, and is never taken for wrong.
        found = judging.checks(guessed, facts, {}, exact_first=exact_first)
        return Compared(
            StepState.SKIPPED, result, reason=read.why.value, detail=read.problem, checks=tuple(found)
        )

    def record(self, claim: Claim, outcome: Outcome) -> Comment | None:
        if outcome.state is StepState.SKIPPED:
            engine.tell(claim.run, f"No verdict for {claim.step.key}: {outcome.reason}.", "warn")
        if isinstance(outcome, Compared):
            # A step that is tried again finds what rules decided the first time.
            SuggestionCheck.objects.bulk_create(
                (_row(claim.run, one, outcome.call) for one in outcome.checks), ignore_conflicts=True
            )
        return None


def _suggestions(step: Step) -> list[Suggestion]:
    """Those that the step was planned for, with what is asked about their author; one query."""
    there = Suggestion.objects.filter(pk__in=step.asks["suggestions"]).select_related("comment__profile")
    return list(there.order_by("position", "pk"))


def _guessed(row: Suggestion) -> Guessed:
    return Guessed(row.pk, row.attribute, tuple(row.words))


def _compared(found: Sequence[Checked], call: int | None, result: dict[str, object]) -> Compared:
    counts = {
        "checks": len(found),
        "by_rule": sum(not one.by_judge for one in found),
        "kept": sum(one.kept for one in found),
    }
    return Compared(result=result | counts, checks=tuple(found), call=call)


def _row(run: Run, one: Checked, call: int | None) -> SuggestionCheck:
    return SuggestionCheck(
        suggestion_id=one.key,
        run=run,
        call_id=call if one.by_judge else None,
        scores=list(one.scores),
        verdicts=[verdict.value for verdict in one.verdicts],
        kept=one.kept,
        decided_by=SuggestionCheck.JUDGE if one.by_judge else SuggestionCheck.RULE,
    )


def _question(run: Run, step: Step, pairs: Sequence[Pair]) -> Question:
    row, prompt = prompts.pinned(run, tag_prompts.JUDGE)
    role = RoleModel(**run.plan["models"]["judge"])
    shown = [
        prompt.part(
            "pair",
            attribute=pair.attribute,
            truth=pair.truth,
            guesses="\n".join(f"- {guess}" for guess in pair.guesses),
        ).strip()
        for pair in pairs
    ]
    return Question(
        purpose="judge",
        prompt=row,
        messages=prompt.render(pairs="\n\n".join(shown)),
        role=role,
        seed=drawn_seed(run, step) if role.seed is None else role.seed,
        shape=_shape(judgements.wanted(pairs), prompt.parts.get("form", "")),
    )


@lru_cache(maxsize=1024)
def _shape(asked: Wanted, form: str) -> Shape[Judgement]:
    return Shape(judgements.judgement_of(asked), lambda text: judgements.read_judgement(text, asked), form)


@transaction.atomic
def start_judging(
    *,
    by: User | None,
    corpus: Corpus,
    name: str,
    provider: Provider,
    model: str | RoleModel,
    runs: Sequence[Run] | None = None,
    only_unchecked: bool = False,
    exact_first: bool = True,
    max_calls: int,
    max_tokens: int,
    soft_cost: int | None = None,
    max_cost: int | None = None,
    follows: Run | None = None,
    seed: int = 0,
    parallel: int = 32,
    form: str = "",
) -> Run:
    """A run that checks the suggestions of tagging `runs` (None: all there are, imported ones too).

    `exact_first`: a guess that is the truth in canonical form is right without asking. `only_unchecked`
    leaves out what another run has checked. Of comments without a profile nothing can be checked. Costs are
    nano-dollars, None: no cap. Raises BadPlan naming the field and what to do.
    """
    check_name(name)
    if follows is None:
        check_caps(max_calls, max_tokens)
    check_money(soft_cost, max_cost)
    judge = _judge(model)
    check_prices(provider, {"judge": judge})
    if strange := [one.name for one in runs or () if one.corpus_id != corpus.pk or one.kind != Run.TAG]:
        raise BadPlan("runs", f"No tagging run of this corpus: {', '.join(strange)}.")
    run = Run.objects.create(
        corpus=corpus,
        kind=Run.JUDGE,
        name=name.strip(),
        seed=seed,
        provider=provider,
        follows=follows,
        max_calls=max_calls,
        max_tokens=max_tokens,
        soft_cost=soft_cost,
        max_cost=max_cost,
        parallel=parallel,
        created_by=by,
        plan=_plan(corpus, judge, runs, only_unchecked, exact_first) | {"form": form},
    )
    count = _plan_steps(run, checkable(corpus, runs, only_unchecked=only_unchecked))
    if not count:
        raise BadPlan("", "There is no tag to check: none by an author with a profile, or all are checked.")
    audit.record(by=by, action="run.started", target=run, corpus=corpus, details={"comments": count})
    engine.tell(run, f"Planned: the tags of {count} comments ({run.plan['part'][:200]}).")
    engine.wake(run)
    return run


def _plan(
    corpus: Corpus, judge: RoleModel, runs: Sequence[Run] | None, only_unchecked: bool, exact_first: bool
) -> dict[str, Any]:
    return {
        "version": 1,
        "language": corpus.language,
        "runs": None if runs is None else [one.public_id for one in runs],
        "only_unchecked": only_unchecked,
        "exact_first": exact_first,
        "part": _in_words(runs, only_unchecked, exact_first),
        "models": {"judge": judge.as_dict()},
        "prompts": tag_prompts.freeze(tag_prompts.JUDGE, corpus.language, field="judge"),
    }


def checkable(
    corpus: Corpus, runs: Sequence[Run] | None, *, only_unchecked: bool = False
) -> QuerySet[Suggestion]:
    """The suggestions about active comments whose author has a profile."""
    there = Suggestion.objects.filter(
        comment__corpus=corpus, comment__state="active", comment__profile__isnull=False
    )
    if runs is not None:
        there = there.filter(run__in=[one.pk for one in runs])
    if only_unchecked:
        there = there.filter(~Exists(SuggestionCheck.objects.filter(suggestion=OuterRef("pk"))))
    return there


def _judge(model: str | RoleModel) -> RoleModel:
    try:
        return model if isinstance(model, RoleModel) else RoleModel(model, 0.0, max_tokens=600)
    except ValueError as error:
        raise BadPlan("judge", str(error)) from None


def _in_words(runs: Sequence[Run] | None, only_unchecked: bool, exact_first: bool) -> str:
    said = (
        "all suggestions, imported ones too" if runs is None else f"of {', '.join(one.name for one in runs)}"
    )
    said += "; not checked before" if only_unchecked else ""
    rule = (
        "ages by rule, equal values without asking" if exact_first else "ages by rule, all else by the judge"
    )
    return f"{said}; {rule}"


def _plan_steps(run: Run, there: QuerySet[Suggestion]) -> int:
    now, number = timezone.now(), 0
    ordered = there.order_by("comment__sequence", "comment_id", "position", "pk")
    comments = _grouped(ordered.values_list("comment_id", "pk").iterator(chunk_size=BATCH))
    while batch := list(islice(comments, BATCH)):
        Step.objects.bulk_create(
            Step(
                run=run,
                key=f"judge/{place}",
                kind="judge",
                number=place,
                comment_id=comment,
                asks={"suggestions": keys},
                due_at=now,
            )
            for place, (comment, keys) in enumerate(batch, start=number)
        )
        number += len(batch)
    return number


def _grouped(rows: Iterator[tuple[int, int]]) -> Iterator[tuple[int, list[int]]]:
    for comment, group in groupby(rows, key=itemgetter(0)):
        yield comment, [key for _, key in group]
