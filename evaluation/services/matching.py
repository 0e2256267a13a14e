"""A judge is asked about questions that rules left open: one call for the guesses at one truth."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.services import tag_prompts
from evaluation.domain import votes as voting
from evaluation.domain.verdicts import Rung
from evaluation.models import Question
from evaluation.selectors import matching_parts as selectors
from evaluation.selectors.matching_parts import GUESSES, MOST_GUESSES, Part, Which
from evaluation.services import questions
from evaluation.services.matching_prompts import asked_about, scores_of
from simulation.domain.plans import BadPlan, RoleModel
from simulation.domain.run_states import StepState
from simulation.llm.structured import Parsed, Unparsed
from simulation.models import Corpus, ModelCall, Provider, Run, Step, User
from simulation.services import audit, engine
from simulation.services.claiming import Claim
from simulation.services.completions import Answered, Asker
from simulation.services.runs import LARGEST_SEED, check_limits, check_name, check_prices
from simulation.services.work import Outcome, Work

BATCH = 1000
JUDGE_CAP = 600
"""Completion cap of a call, in tokens."""
SAID = {1.0: "yes", 0.5: "less_precise", 0.0: "no"}
"""Score -> what a step's result calls it."""


@dataclass(frozen=True)
class Judged(Outcome):
    """What the judge said of each question (key), None: it could not say; and the call that it said it in."""

    verdicts: tuple[tuple[int, float | None], ...] = ()
    call: ModelCall | None = None


class Matching(Work):
    """The work of such a run; see `work.Work`."""

    def perform(self, claim: Claim, asker: Asker) -> Outcome:
        rows = _questions(claim.step)
        if not rows:
            return Outcome(StepState.SKIPPED, reason="withdrawn", detail="its questions are gone")
        if _is_needless(claim.run, rows):
            return Outcome(result={"questions": len(rows), "answered_meanwhile": len(rows)})
        votes = int(claim.run.plan.get("votes", 1))
        return _judged(
            rows, [asker.ask(asked_about(claim.run, claim.step, rows, vote)) for vote in range(votes)]
        )

    def record(self, claim: Claim, outcome: Outcome) -> None:
        if outcome.state is StepState.SKIPPED:
            engine.tell(
                claim.run, f"No verdict for {claim.step.key}: {outcome.reason}; nothing is counted.", "warn"
            )
        if isinstance(outcome, Judged):
            # Of a step that is done twice `judged` notes nothing twice.
            questions.judged(claim.run, outcome.call, outcome.verdicts)


def _judged(rows: Sequence[Question], answers: Sequence[Answered]) -> Judged:
    """What the votes say together, one answer each; too few that can be read are no verdict."""
    result: dict[str, object] = {"questions": len(rows)}
    said = [(one.call, scores_of(one.read.value)) for one in answers if isinstance(one.read, Parsed)]
    unread = [(one.call, one.read) for one in answers if isinstance(one.read, Unparsed)]
    if len(answers) > 1:
        result |= {"votes": len(answers), "unreadable_votes": len(unread)}
    if not voting.enough(len(said), len(answers)):
        # What cannot be read is no verdict: the questions stay as they are, and are never taken for wrong.
        call, read = unread[0]
        return Judged(
            StepState.SKIPPED,
            {"call": call.public_id} | result,
            reason=read.why.value,
            detail=read.problem,
            verdicts=tuple((row.pk, None) for row in rows),
            call=call,
        )
    missing = (None,) * len(unread)
    given = [(*votes, *missing) for votes in zip(*(scores for _, scores in said), strict=True)]
    scores = [voting.decided(votes) for votes in given]
    # Behind the verdicts stands the vote that is nearest to them; with one vote, that one.
    call, _ = max(said, key=lambda one: sum(map(operator.eq, one[1], scores)))
    result |= {word: scores.count(score) for score, word in SAID.items()}
    if len(answers) > 1:
        result["split"] = sum(map(voting.is_split, given))
    verdicts = tuple((row.pk, score) for row, score in zip(rows, scores, strict=True))
    return Judged(result={"call": call.public_id} | result, verdicts=verdicts, call=call)


def _questions(step: Step) -> list[Question]:
    """Those that the step was planned for, in the order in which the judge sees them; one query."""
    return list(Question.objects.filter(pk__in=step.asks["questions"]).order_by("pk"))


def _is_needless(run: Run, rows: Sequence[Question]) -> bool:
    """Whether people have settled or disputed all of them since the run was planned, and it asks for no
    comparison: what a judge says could count for none of them."""
    to_settle = run.plan["which"] in (Which.OPEN, Which.UNANSWERED)
    return to_settle and all(row.rung == Rung.PERSON or row.state == Question.DISPUTED for row in rows)


@transaction.atomic
def start_matching(
    *,
    by: User | None,
    corpus: Corpus,
    name: str,
    provider: Provider,
    model: str | RoleModel,
    part: Part | None = None,
    guesses: int = GUESSES,
    votes: int = 1,
    max_calls: int,
    max_tokens: int,
    soft_cost: int | None = None,
    max_cost: int | None = None,
    seed: int | None = None,
    parallel: int = 32,
    form: str = "",
) -> Run:
    """A run that asks a judge about the questions of a part, up to `guesses` of them (1-50) in one call,
    and each of them `votes` times (1, 3 or 5); what it says most often counts, see `domain.votes`.

    `seed` None: the number of such runs that the corpus has had, so that a second run is another draw. Costs
    are nano-dollars, None: no cap. Raises BadPlan naming the field and what to do; nothing is written then.
    """
    part = part or Part()
    check_name(name)
    check_limits(max_calls, max_tokens, soft_cost, max_cost)
    judge = _judge(model)
    check_prices(provider, {"judge": judge})
    _check_part(part, guesses, votes)
    earlier = Run.objects.filter(corpus=corpus, kind=Run.MATCH).count()
    if not 0 <= (seed := earlier if seed is None else seed) <= LARGEST_SEED:
        raise BadPlan("seed", "A whole number from 0 to 9,223,372,036,854,775,807.")
    run = Run.objects.create(
        corpus=corpus,
        kind=Run.MATCH,
        name=name.strip(),
        seed=seed,
        provider=provider,
        max_calls=max_calls,
        max_tokens=max_tokens,
        soft_cost=soft_cost,
        max_cost=max_cost,
        parallel=parallel,
        created_by=by,
        plan=_plan(corpus, judge, part, guesses, votes) | {"form": form},
    )
    found = _plan_steps(run, part, guesses)
    if not found.questions:
        raise BadPlan("", NOTHING[part.which])
    details = {"questions": found.questions, "steps": found.calls, "which": part.which.value}
    audit.record(by=by, action="run.started", target=run, corpus=corpus, details=details)
    engine.tell(run, f"Planned: {found.questions:,} {run.plan['part'][:300]}.")
    engine.wake(run)
    return run


NOTHING = {
    Which.OPEN: "There is no open question to ask. Score a prediction run, or choose other attributes.",
    Which.UNANSWERED: "People have settled, or dispute, all of these questions.",
    Which.AGAIN: "No judge has answered any of these questions yet: ask about the open ones first.",
    Which.PEOPLE: "People have settled none of these questions yet.",
}


def _check_part(part: Part, guesses: int, votes: int) -> None:
    if strange := [key for key in part.attributes if key not in selectors.known(part.attributes)]:
        raise BadPlan("attributes", f"Not in the catalogue of attributes: {', '.join(strange)}.")
    if not 1 <= guesses <= MOST_GUESSES:
        raise BadPlan("guesses", f"A whole number from 1 to {MOST_GUESSES}.")
    if votes not in voting.VOTES:
        raise BadPlan("votes", "1, 3 or 5.")
    if part.waiting < 0:
        raise BadPlan("waiting", "A whole number from 0 up.")


def _judge(model: str | RoleModel) -> RoleModel:
    try:
        return model if isinstance(model, RoleModel) else RoleModel(model, 0.0, max_tokens=JUDGE_CAP)
    except ValueError as error:
        raise BadPlan("model", str(error)) from None


def _plan(corpus: Corpus, judge: RoleModel, part: Part, guesses: int, votes: int) -> dict[str, Any]:
    return {
        "version": 1,
        "language": corpus.language,
        "which": part.which.value,
        "attributes": list(part.attributes),
        "waiting": part.waiting,
        "guesses": guesses,
        "votes": votes,
        "part": selectors.in_words(part, guesses, votes),
        "models": {"judge": judge.as_dict()},
        "prompts": tag_prompts.freeze(tag_prompts.JUDGE, corpus.language, field="model"),
    }


def _plan_steps(run: Run, part: Part, guesses: int) -> selectors.Size:
    now, number, count = timezone.now(), 0, 0
    there = selectors.batches(selectors.askable(run.corpus, part), guesses)
    while batch := list(islice(there, BATCH)):
        Step.objects.bulk_create(
            Step(
                run=run,
                key=f"match/{one.attribute}/{place}",
                kind="match",
                number=place,
                asks={"attribute": one.attribute, "questions": list(one.questions)},
                due_at=now,
            )
            for place, one in enumerate(batch, start=number)
        )
        number += len(batch)
        count += sum(len(one.questions) for one in batch)
    return selectors.Size(count, number)
