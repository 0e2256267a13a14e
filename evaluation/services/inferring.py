"""Inference runs: a model is asked, once an author, what it can tell from all that the author wrote."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.db.models import Count, F
from django.utils import timezone
from pydantic import BaseModel

from evaluation.domain import inference
from evaluation.domain.inference import Guessed
from evaluation.models import LabelSet, Masking, Prediction, PredictionRun
from evaluation.services import infer_prompts, masking_inference
from evaluation.services.masking_inference import counterpart_of
from simulation.domain.attributes import CATALOGUE, TARGET_KEYS, listed
from simulation.domain.plans import BadPlan, RoleModel
from simulation.domain.run_states import StepState
from simulation.llm.messages import Form
from simulation.llm.structured import Parsed, Shape
from simulation.models import Comment, Corpus, Profile, Provider, Run, Step, User
from simulation.services import audit, engine, prompts
from simulation.services.asking import drawn_seed
from simulation.services.claiming import Claim
from simulation.services.completions import Asker, Question
from simulation.services.runs import check_caps, check_money, check_name, check_prices
from simulation.services.work import Outcome, Work

BATCH = 1000
CERTAIN = 1
"""Labels of at least this certainty are asked about, as published; what is scored is chosen later."""
PURPOSE = "infer"
SAME = ("variant", "comment_tokens")
"""What of the plan has to be equal where runs on plain and on masked text are compared."""


@dataclass(frozen=True)
class Inferred(Outcome):
    """What was read of every attribute that was asked, and the key of the call behind it."""

    rows: tuple[Guessed, ...] = ()
    call: int | None = None


class Inferring(Work):
    """The work of an inference run; see `work.Work`."""

    def perform(self, claim: Claim, asker: Asker) -> Outcome:
        run, asked = claim.run, list(claim.step.asks["attributes"])
        said = masking_inference.said_by(claim.step.asks["author"], run.plan.get("masking"))
        comments = said.comments
        if not comments:
            why, words = "withdrawn", "none of the author's comments is there any more"
            if said.unmasked:
                why, words = "unmasked", f"none of {said.unmasked} comments has a masked text of its own"
            rows = inference.failed(why, words, asked)
            result: dict[str, Any] = {"unmasked": said.unmasked}
            return Inferred(StepState.SKIPPED, result, why, rows[0].detail, tuple(rows))
        fitted = inference.fit(comments, run.plan["comment_tokens"])
        answered = asker.ask(_question(run, claim.step, inference.written(comments, fitted)))
        result = {
            "call": answered.call.public_id,
            "comments": len(fitted.kept),
            "unmasked": said.unmasked,
            "dropped": fitted.dropped,
            "dropped_labelled": fitted.dropped_labelled,
        }
        read = answered.read
        if not isinstance(read, Parsed):
            rows = inference.failed(read.why.value, read.problem, asked)
            return Inferred(
                StepState.SKIPPED, result, read.why.value, read.problem, tuple(rows), answered.call.pk
            )
        rows = inference.guessed(read.value.text, asked)
        result["outcomes"] = _counted(rows)
        return Inferred(result=result, rows=tuple(rows), call=answered.call.pk)

    def record(self, claim: Claim, outcome: Outcome) -> Comment | None:
        rows, call = (outcome.rows, outcome.call) if isinstance(outcome, Inferred) else ((), None)
        if not isinstance(outcome, Inferred):
            rows = tuple(inference.failed(outcome.reason, outcome.detail, claim.step.asks["attributes"]))
        if outcome.state is StepState.SKIPPED:
            engine.tell(claim.run, f"No guesses for {claim.step.key}: {outcome.reason}.", "warn")
        _keep(claim.run, claim.step.asks["author"], rows, call)
        return None


def _keep(run: Run, profile: int, rows: Sequence[Guessed], call: int | None) -> None:
    """A step that is tried again replaces what it had found; a profile that is gone leaves nothing."""
    if not Profile.objects.filter(pk=profile).exists():
        return
    into = PredictionRun.objects.get(run=run)
    before = Prediction.objects.filter(prediction_run=into, profile=profile).count()
    Prediction.objects.bulk_create(
        (
            Prediction(
                prediction_run=into,
                profile_id=profile,
                attribute=row.attribute,
                outcome=row.outcome,
                detail=row.detail,
                guesses=list(row.guesses),
                categories=list(row.categories),
                call_id=call,
            )
            for row in rows
        ),
        update_conflicts=True,
        unique_fields=["prediction_run", "profile", "attribute"],
        update_fields=["outcome", "detail", "guesses", "categories", "call"],
    )
    if not before:
        PredictionRun.objects.filter(pk=into.pk).update(
            predictions=F("predictions") + len(rows), profiles=F("profiles") + 1
        )


def _counted(rows: Iterable[Guessed]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for row in rows:
        found[row.outcome] += 1
    return dict(found)


class Text(BaseModel):
    """An answer in its own words; what the reader cannot read of it is an outcome."""

    text: str


def _as_text(text: str) -> Text:
    return Text(text=text)


@lru_cache(maxsize=256)
def _shape(asked: tuple[str, ...], repair: bool, form: str) -> Shape[Text]:
    """With `repair` an answer of which nothing can be read is sent back once with the form that is wanted."""

    def readable(text: str) -> Text:
        if not inference.readable(inference.guessed(text, asked)):
            raise ValueError("no block “Type: … / Inference: … / Guess: …” for any of the attributes")
        return Text(text=text)

    return Shape(Text, readable if repair else _as_text, form)


def _question(run: Run, step: Step, comments: str) -> Question:
    plan, asked = run.plan, tuple(step.asks["attributes"])
    row, prompt = prompts.pinned(run, plan["variant"])
    role = RoleModel(**plan["models"]["adversary"])
    attributes = [CATALOGUE[key] for key in asked if key in CATALOGUE]
    return Question(
        purpose=PURPOSE,
        prompt=row,
        messages=prompt.render(
            note=prompt.parts.get("masked", "") if plan.get("masked") else "",
            attributes=listed(attributes, plan["language"]),
            comments=comments,
        ),
        role=role,
        seed=drawn_seed(run, step) if role.seed is None else role.seed,
        shape=_shape(asked, bool(plan["repair"]), prompt.parts.get("form", "").strip()),
        forms=(Form.TEXT,),
    )


@dataclass(frozen=True)
class Wish:
    """What is asked, of whom, and within which caps. Costs are nano-dollars, None: no cap.

    `masking`: its masked texts are shown in place of the comments.
    `labels`: ask about the attributes of its labels alone, as published; None: every target of every author.
    `comment_tokens`: comments are left out until the rest has at most so many tokens; None: all are shown.
    `repair`: an answer of which nothing can be read is sent back once.
    """

    name: str
    provider: Provider
    model: RoleModel
    labels: LabelSet | None = None
    masking: Masking | None = None
    variant: str = infer_prompts.PUBLISHED
    comment_tokens: int | None = None
    repair: bool = False
    called: str = ""
    """What charts call the model; empty: its name."""
    family: str = ""
    parameters: Decimal | None = None
    max_calls: int = 1000
    max_tokens: int = 2_000_000
    soft_cost: int | None = None
    max_cost: int | None = None
    seed: int = 0
    parallel: int = 32
    group: str = ""
    form: str = ""


@transaction.atomic
def start_inference(corpus: Corpus, wish: Wish, *, by: User | None) -> PredictionRun:
    """An inference run, and the prediction run that its answers go into.

    Raises BadPlan naming the field and what to do; nothing is started then.
    """
    _check(corpus, wish)
    run = Run.objects.create(
        corpus=corpus,
        kind=Run.INFER,
        name=wish.name.strip(),
        seed=wish.seed,
        provider=wish.provider,
        group=wish.group,
        max_calls=wish.max_calls,
        max_tokens=wish.max_tokens,
        soft_cost=wish.soft_cost,
        max_cost=wish.max_cost,
        parallel=wish.parallel,
        created_by=by,
        plan=_plan(corpus, wish),
    )
    asked = wanted(corpus, wish.labels, wish.masking)
    if not asked:
        raise BadPlan(
            "labels", "There is nobody to ask about: no author with comments, a profile and a label."
        )
    model, same = wish.called or wish.model.model, {key: run.plan[key] for key in SAME}
    text = PredictionRun.ANONYMISED if wish.masking else PredictionRun.PLAIN
    into = PredictionRun.objects.create(
        corpus=corpus,
        name=_free_name(corpus, run.name),
        model=model,
        text=text,
        masking=wish.masking,
        counterpart=counterpart_of(corpus, model, wish.labels, same) if wish.masking else None,
        family=wish.family,
        parameters=wish.parameters,
        origin=PredictionRun.ASKED,
        run=run,
        recipe={
            "prompt": wish.variant,
            "about": run.plan["part"],
            "comment tokens": wish.comment_tokens or "all",
            **masking_inference.described(wish.masking),
        },
        created_by=by,
    )
    _plan_steps(run, asked)
    audit.record(by=by, action="run.started", target=run, corpus=corpus, details={"profiles": len(asked)})
    engine.tell(run, f"Planned: {len(asked)} authors to tell something about ({run.plan['part'][:200]}).")
    engine.wake(run)
    return into


def _check(corpus: Corpus, wish: Wish) -> None:
    check_name(wish.name)
    check_caps(wish.max_calls, wish.max_tokens)
    check_money(wish.soft_cost, wish.max_cost)
    check_prices(wish.provider, {"adversary": wish.model})
    masking_inference.check(corpus, wish.masking)
    if wish.labels is not None and wish.labels.corpus_id != corpus.pk:
        raise BadPlan("labels", "No label set of this corpus.")
    if wish.comment_tokens is not None and not 100 <= wish.comment_tokens <= 1_000_000:
        raise BadPlan("comment_tokens", "Choose 100 to 1,000,000 tokens, or none for all comments.")


def _plan(corpus: Corpus, wish: Wish) -> dict[str, Any]:
    about = f"the labels of {wish.labels.name}" if wish.labels else "every attribute of every author"
    about += f", from texts as masked by {wish.masking.name}" if wish.masking else ""
    return {
        "version": 1,
        "language": corpus.language,
        "labels": wish.labels.public_id if wish.labels else None,
        "part": about,
        "variant": wish.variant,
        "comment_tokens": wish.comment_tokens,
        "repair": wish.repair,
        "masked": wish.masking is not None,
        "masking": wish.masking.public_id if wish.masking else None,
        "models": {"adversary": asdict(wish.model)},
        "prompts": infer_prompts.freeze(wish.variant, corpus.language),
        "form": wish.form,
    }


def wanted(corpus: Corpus, labels: LabelSet | None, masking: Masking | None = None) -> dict[int, list[str]]:
    """Profile -> the attributes that are asked, in the catalogue's order; of authors with active comments, or
    with masked texts of such.

    Three queries at most. The order is fixed, unlike the published one, which was that of a set.
    """
    authors = masking_inference.authors(corpus, masking).values_list("pk", flat=True)
    if labels is None:
        return {pk: list(TARGET_KEYS) for pk in authors}
    said: dict[int, set[str]] = defaultdict(set)
    rows = labels.rows.filter(hardness__gte=1, certainty__gte=CERTAIN, attribute__in=TARGET_KEYS)
    for profile, attribute in rows.values_list("profile", "attribute"):
        said[profile].add(attribute)
    return {pk: [key for key in TARGET_KEYS if key in said[pk]] for pk in authors if said.get(pk)}


def _plan_steps(run: Run, asked: dict[int, list[str]]) -> None:
    now = timezone.now()
    Step.objects.bulk_create(
        (
            Step(
                run=run,
                key=f"infer/{number}",
                kind=PURPOSE,
                number=number,
                asks={"author": profile, "attributes": attributes},
                due_at=now,
            )
            for number, (profile, attributes) in enumerate(asked.items())
        ),
        batch_size=BATCH,
    )


def _free_name(corpus: Corpus, name: str) -> str:
    """The run's name, with a number where there are guesses of that name already."""
    taken = set(
        PredictionRun.objects.filter(corpus=corpus, name__startswith=name[:100]).values_list(
            "name", flat=True
        )
    )
    return next(
        one
        for number in range(1, len(taken) + 2)
        if (one := name if number == 1 else f"{name} ({number})") not in taken
    )


def left_out(into: PredictionRun) -> dict[str, int]:
    """How many authors were shown with fewer comments than they wrote, and how many comments that were."""
    if into.run is None:
        return {"authors": 0, "comments": 0}
    steps = Step.objects.filter(run=into.run, kind=PURPOSE, result__dropped__gt=0)
    dropped = [result.get("dropped", 0) for result in steps.values_list("result", flat=True)]
    return {"authors": len(dropped), "comments": sum(dropped)}


def unmasked(into: PredictionRun) -> int:
    """How many comments were left out because they have no masked text of their own."""
    steps = Step.objects.filter(run=into.run, kind=PURPOSE, result__unmasked__gt=0)
    return sum(result["unmasked"] for result in steps.values_list("result", flat=True)) if into.run else 0


def outcomes(into: PredictionRun) -> dict[str, int]:
    """How many attributes have which outcome."""
    counted = into.rows.order_by().values_list("outcome").annotate(n=Count("pk"))
    return dict(counted)
