"""Comments are rewritten by a model until an adversary infers nothing from them any more: one step a comment.

Scheme: R. Staab, M. Vero, M. Balunović, M. Vechev (2024), Large Language Models are Advanced Anonymizers,
arXiv:2402.13846. The rules are those of `domain.masking_rewrite`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Annotated, Any

from django.db import transaction
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field

from evaluation.domain import masking_rewrite
from evaluation.domain.masking_rewrite import Finding, Limits, Rewriting
from evaluation.domain.masking_rewrite import Step as Turn
from evaluation.domain.masking_rewrite_answer import SAID
from evaluation.models import MaskedText, Masking
from evaluation.services.infer_prompts import FOLDER
from evaluation.services.masking import BadMasking, check_name, digest_of, finish
from simulation.domain.attributes import CATALOGUE, TARGET_KEYS, listed
from simulation.domain.plans import BadPlan, RoleModel
from simulation.domain.run_states import RunState, StepState
from simulation.llm.messages import Form
from simulation.llm.prompts import BadPrompt
from simulation.llm.structured import Parsed, Shape
from simulation.models import Comment, Corpus, Provider, Run, Step, User
from simulation.services import audit, engine, prompts
from simulation.services.asking import drawn_seed
from simulation.services.claiming import Claim
from simulation.services.completions import Asker, Question
from simulation.services.runs import check_caps, check_money, check_prices
from simulation.services.runs import check_name as check_run_name
from simulation.services.work import Outcome, Work

KIND = Run.MASK
FIND, REWRITE = "rewrite_comment_find", "rewrite_comment"
PURPOSE = "mask"
BATCH = 1000
ANSWER_CAP = 1200


class Found(BaseModel):
    """One thing that a comment gives away, as the adversary says it."""

    model_config = ConfigDict(extra="ignore")
    attribute: str
    guess: str | int
    certainty: Annotated[int, Field(ge=1, le=5)]
    evidence: str = ""


class Findings(BaseModel):
    """The adversary's answer; an empty list says that nothing can be inferred."""

    model_config = ConfigDict(extra="ignore")
    findings: list[Found] = Field(max_length=40)


class Text(BaseModel):
    """The rewriter's answer in its own words; `domain.masking_rewrite_answer` reads it."""

    text: str


def _from_words(text: str) -> Findings:
    if text.strip(" .\n").casefold() in ("none", "nothing", "keine", "nichts"):
        return Findings(findings=[])
    raise ValueError('no JSON object with the key "findings"')


@lru_cache(maxsize=8)
def _finding_shape(form: str) -> Shape[Findings]:
    return Shape(Findings, _from_words, form)


@lru_cache(maxsize=1)
def _text_shape() -> Shape[Text]:
    return Shape(Text, lambda text: Text(text=text), "")


@dataclass(frozen=True)
class Rewritten(Outcome):
    """The last text, what it was made from, how often it was rewritten, and the last call."""

    text: str = ""
    original: str = ""
    rounds: int = 0
    call: int | None = None


class RewritingWork(Work):
    """The work of a rewriting run; see `work.Work`."""

    def perform(self, claim: Claim, asker: Asker) -> Outcome:
        comment = _comment(claim.step)
        if comment is None:
            return Outcome(StepState.SKIPPED, reason="withdrawn", detail="the comment is not there any more")
        state, call = masking_rewrite.start(comment.text, Limits(**claim.run.plan["limits"])), None
        calls = 0
        while state.step is not Turn.DONE:
            if state.step is Turn.INFER:
                answered = asker.ask(_find(claim.run, claim.step, state.text))
            else:
                answered = asker.ask(_rewrite(claim.run, claim.step, state))
            call, read, calls = answered.call, answered.read, calls + 1
            if state.step is Turn.REWRITE:
                raw = read.value.text if isinstance(read, Parsed) else ""
                state = masking_rewrite.answered(state, raw)
            elif isinstance(read, Parsed):
                state = masking_rewrite.inferred(state, _findings(read.value))
            else:  # silence is no sign that nothing can be inferred
                result = {"call": call.public_id, "calls": calls}
                return Outcome(StepState.SKIPPED, result, read.why.value, read.problem)
        assert state.end is not None  # it is over
        result = {"end": state.end.value, "rounds": state.rewritten, "calls": calls}
        result |= {"call": call.public_id} if call else {}
        key = call.pk if call else None
        return Rewritten(
            result=result, text=state.text, original=comment.text, rounds=state.rewritten, call=key
        )

    def record(self, claim: Claim, outcome: Outcome) -> Comment | None:
        if not isinstance(outcome, Rewritten):
            engine.tell(claim.run, f"No masked text for {claim.step.key}: {outcome.reason}.", "warn")
            return None
        assert claim.step.comment_id is not None  # every step is about a comment
        MaskedText.objects.update_or_create(
            masking=Masking.objects.get(run=claim.run),
            comment_id=claim.step.comment_id,
            defaults={
                "text": outcome.text,
                "original": digest_of(outcome.original),
                "rounds": outcome.rounds,
                "call_id": outcome.call,
            },
        )
        return None


def _comment(step: Step) -> Comment | None:
    """The step's comment, as long as it is there and active."""
    if step.comment_id is None:
        return None
    return Comment.objects.filter(pk=step.comment_id, state="active").only("text").first()


def _findings(answer: Findings) -> list[Finding]:
    """Those about attributes that are asked for; others are passed over."""
    return [
        Finding(one.attribute, str(one.guess).strip()[:300], one.certainty, one.evidence)
        for one in answer.findings
        if one.attribute in TARGET_KEYS and str(one.guess).strip()
    ]


def _find(run: Run, step: Step, text: str) -> Question:
    row, prompt = prompts.pinned(run, FIND)
    role = RoleModel(**run.plan["models"]["adversary"])
    attributes = [CATALOGUE[key] for key in TARGET_KEYS]
    return Question(
        purpose=PURPOSE,
        prompt=row,
        messages=prompt.render(attributes=listed(attributes, run.plan["language"]), comment=_shown(text)),
        role=role,
        seed=drawn_seed(run, step) if role.seed is None else role.seed,
        shape=_finding_shape(prompt.parts["form"].strip()),
    )


def _rewrite(run: Run, step: Step, state: Rewriting) -> Question:
    row, prompt = prompts.pinned(run, REWRITE)
    role = RoleModel(**run.plan["models"]["rewriter"])
    told = [
        f"{one.attribute}: {one.guess}" + (f" (“{one.evidence}”)" if one.evidence else "")
        for one in state.findings
    ]
    refused = state.last_refusal
    return Question(
        purpose=PURPOSE,
        prompt=row,
        messages=prompt.render(
            findings="\n".join(told).replace("</findings>", " "),
            again=prompt.part("again", why=SAID[refused]) if refused else "",
            comment=_shown(state.text),
        ),
        role=role,
        seed=drawn_seed(run, step) if role.seed is None else role.seed,
        shape=_text_shape(),
        forms=(Form.TEXT,),
    )


def _shown(text: str) -> str:
    """A comment without the sign that would end the part it stands in."""
    return text.replace("</comment>", " ")


@dataclass(frozen=True)
class Wish:
    """Who rewrites and who looks, how often at most, and within which caps. Costs are nano-dollars."""

    name: str
    provider: Provider
    rewriter: RoleModel
    adversary: RoleModel
    limits: Limits = field(default_factory=Limits)
    max_calls: int = 1000
    max_tokens: int = 2_000_000
    soft_cost: int | None = None
    max_cost: int | None = None
    seed: int = 0
    parallel: int = 32
    form: str = ""


@transaction.atomic
def start_rewriting(corpus: Corpus, wish: Wish, *, by: User | None) -> Masking:
    """A run over the active comments, and the masking that its texts go into.

    Raises BadPlan naming the field and what to do; nothing is started then.
    """
    name = wish.name.strip()
    try:
        check_run_name(name)
        check_name(name)
    except BadMasking as error:
        raise BadPlan("name", str(error)) from None
    check_caps(wish.max_calls, wish.max_tokens)
    check_money(wish.soft_cost, wish.max_cost)
    check_prices(wish.provider, {"rewriter": wish.rewriter, "adversary": wish.adversary})
    Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
    if Masking.objects.filter(corpus=corpus, name=name).exists():
        raise BadPlan("name", f"There is a masking “{name}” in this corpus; choose another name.")
    run = Run.objects.create(
        corpus=corpus,
        kind=KIND,
        name=name,
        seed=wish.seed,
        provider=wish.provider,
        max_calls=wish.max_calls,
        max_tokens=wish.max_tokens,
        soft_cost=wish.soft_cost,
        max_cost=wish.max_cost,
        parallel=wish.parallel,
        created_by=by,
        plan=_plan(corpus, wish),
    )
    comments = _plan_steps(run)
    if not comments:
        raise BadPlan("", "There is no comment to rewrite: import or simulate comments first.")
    made = Masking.objects.create(
        corpus=corpus,
        name=name,
        origin=Masking.MADE,
        masker=f"rewriter {wish.rewriter.model}"[:60],
        style=Masking.REWRITTEN,
        options=asdict(wish.limits),
        run=run,
        created_by=by,
    )
    audit.record(by=by, action="run.started", target=run, corpus=corpus, details={"comments": comments})
    engine.tell(run, f"Planned: {comments} comments to rewrite.")
    engine.wake(run)
    return made


def _plan(corpus: Corpus, wish: Wish) -> dict[str, Any]:
    try:
        frozen = prompts.freeze(FOLDER, [FIND, REWRITE], language=corpus.language)
    except (BadPrompt, OSError) as error:
        raise BadPlan("", f"There are no prompts to rewrite in the language of the corpus: {error}") from None
    return {
        "version": 1,
        "language": corpus.language,
        "part": "all active comments",
        "limits": asdict(wish.limits),
        "models": {"rewriter": wish.rewriter.as_dict(), "adversary": wish.adversary.as_dict()},
        "prompts": frozen,
        "form": wish.form,
    }


def _plan_steps(run: Run) -> int:
    now, number = timezone.now(), 0
    comments = Comment.objects.filter(corpus=run.corpus, state="active").order_by("sequence", "pk")
    stream = comments.only("pk").iterator(chunk_size=BATCH)
    while batch := list(islice(stream, BATCH)):
        Step.objects.bulk_create(
            Step(run=run, key=f"mask/{place}", kind=PURPOSE, number=place, comment=comment, due_at=now)
            for place, comment in enumerate(batch, start=number)
        )
        number += len(batch)
    return number


def follow_rewritings() -> int:
    """Ends the maskings whose runs have ended: counted where the run is done, failed with its reason where it
    is not. Asked twice, it ends each once. How many it ended."""
    ended = (RunState.DONE, RunState.FAILED, RunState.CANCELLED)
    waiting = Masking.objects.filter(run__state__in=ended).exclude(state__in=[Masking.DONE, Masking.FAILED])
    found = 0
    for pk in waiting.values_list("pk", flat=True):
        with transaction.atomic():
            locked = Masking.objects.select_for_update(skip_locked=True, of=("self",))
            one = locked.select_related("corpus", "run").filter(pk=pk).first()
            if one is None or one.run is None or one.state in (Masking.DONE, Masking.FAILED):
                continue
            if one.run.state == RunState.DONE:
                finish(one)
            else:
                one.state, one.finished_at = Masking.FAILED, timezone.now()
                one.reason = f"Its run was {one.run.state}: {one.run.reason or 'see its page'}"
                one.save(update_fields=["state", "reason", "finished_at"])
            found += 1
    return found
