"""Naming of communities: a model says, once a thread, in which three subreddits its post would stand.

Spec: SynthPAI, appendix A.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluation.domain.communities import (
    WANTED,
    Communities,
    Declined,
    chosen,
    read_communities,
    shown,
    written,
)
from evaluation.models import ThreadTopics
from evaluation.selectors.communities import Need, roots
from evaluation.services import infer_prompts
from simulation.domain.plans import BadPlan, Forecast, RoleModel
from simulation.domain.run_states import StepState
from simulation.llm.structured import Parsed, Shape, Why
from simulation.models import Comment, Corpus, Provider, Run, Step, Thread, User
from simulation.services import audit, engine, prompts
from simulation.services.asking import drawn_seed
from simulation.services.claiming import Claim
from simulation.services.completions import Answered, Asker, Question
from simulation.services.runs import check_caps, check_money, check_name, check_prices
from simulation.services.work import Outcome, Work

BATCH = 1000
PURPOSE = "communities"
PROMPT = "name_communities"
ROLE = "namer"
TEMPERATURE = 0.1
ANSWER_CAP = 300
"""Completion cap, in tokens: three names, and some words around them."""
LONGEST_POST = 8000
"""Characters of a post that are shown."""


@dataclass(frozen=True)
class Named(Outcome):
    """The names that were kept, and the key of the call that gave them."""

    topics: tuple[str, ...] = ()
    call: int | None = None


@dataclass(frozen=True)
class Heard:
    """An answer as far as it can be used: the names that may be kept, or why there is none."""

    answered: Answered
    topics: tuple[str, ...] = ()
    reason: str = ""
    detail: str = ""
    again: bool = False
    """Whether it was read, and names too few: asked once more, there may be three."""


class Naming(Work):
    """The work of a naming run; see `work.Work`."""

    def perform(self, claim: Claim, asker: Asker) -> Outcome:
        run, step = claim.run, claim.step
        post = _post(step)
        if not post:
            return Outcome(StepState.SKIPPED, reason="withdrawn", detail="the thread’s post is not there")
        heard, again = _heard(asker.ask(_question(run, step, post)), run), False
        if heard.again:
            again, second = True, _heard(asker.ask(_question(run, step, post, kept=heard.topics)), run)
            heard = second if len(second.topics) > len(heard.topics) or not heard.topics else heard
        result: dict[str, Any] = {"call": heard.answered.call.public_id, "asked_again": again}
        if not heard.topics:
            return Outcome(StepState.SKIPPED, result, heard.reason, heard.detail)
        result["topics"] = list(heard.topics)
        return Named(result=result, topics=heard.topics, call=heard.answered.call.pk)

    def record(self, claim: Claim, outcome: Outcome) -> Comment | None:
        if not isinstance(outcome, Named):
            engine.tell(claim.run, f"No communities for {claim.step.key}: {outcome.reason}.", "warn")
            return None
        thread = Thread.objects.filter(pk=claim.step.asks["thread"]).first()
        if thread is not None:  # else it was deleted while the model answered
            ThreadTopics.objects.update_or_create(
                run=claim.run,
                thread=thread,
                defaults={"topics": list(outcome.topics), "call_id": outcome.call},
            )
        return None


def _post(step: Step) -> str:
    """The post of the step's thread, as long as it is there and active."""
    if step.comment_id is None:
        return ""
    comment = Comment.objects.filter(pk=step.comment_id, state="active").only("text").first()
    return shown(comment.text, LONGEST_POST) if comment else ""


def _heard(answered: Answered, run: Run) -> Heard:
    read = answered.read
    if not isinstance(read, Parsed):
        return Heard(answered, (), read.why.value, read.problem)
    if isinstance(read.value, Declined):
        return Heard(answered, (), Why.REFUSED.value, "the model declined in words")
    names = read.value.communities
    topics = chosen(names, askreddit=bool(run.plan["askreddit"]))
    if topics:
        return Heard(answered, topics, again=len(topics) < WANTED)
    if names:
        said = "r/AskReddit alone was named, which the plan leaves out"
        return Heard(answered, (), "excluded", said, again=True)
    return Heard(answered, (), Why.EMPTY.value, "the answer names no community", again=True)


def _question(run: Run, step: Step, post: str, kept: tuple[str, ...] | None = None) -> Question:
    """With `kept` once more, saying what could be used of the last answer."""
    row, prompt = prompts.pinned(run, PROMPT)
    role = RoleModel(**run.plan["models"][ROLE])
    of_last = ", ".join(written(kept or ())) or prompt.part("none")
    return Question(
        purpose=PURPOSE,
        prompt=row,
        messages=prompt.render(
            askreddit=prompt.part("with" if run.plan["askreddit"] else "without"),
            again="" if kept is None else prompt.part("again", kept=of_last),
            post=post,
        ),
        role=role,
        seed=drawn_seed(run, step) if role.seed is None else role.seed,
        shape=_shape(prompt.part("form").strip()),
    )


@lru_cache(maxsize=64)
def _shape(form: str) -> Shape[Communities]:
    return Shape(Communities, read_communities, form)


@dataclass(frozen=True)
class Wish:
    """What is asked, of whom, and within which caps. Costs are nano-dollars, None: no cap.

    `askreddit`: whether r/AskReddit may be among the three, as in one of the two published files.
    """

    name: str
    provider: Provider
    model: RoleModel
    askreddit: bool = False
    max_calls: int = 1000
    max_tokens: int = 2_000_000
    soft_cost: int | None = None
    max_cost: int | None = None
    seed: int = 0
    parallel: int = 32
    form: str = ""


def forecast(need: Need) -> Forecast:
    """What is likely: one thread in five is asked about again."""
    calls = need.threads + need.threads // 5
    return Forecast(need.threads, calls, need.tokens + need.tokens // 5, 0)


@transaction.atomic
def start_naming(corpus: Corpus, wish: Wish, *, by: User | None) -> Run:
    """A run that names communities for every thread with a post.

    Raises BadPlan naming the field and what to do; nothing is started then.
    """
    check_name(wish.name)
    check_caps(wish.max_calls, wish.max_tokens)
    check_money(wish.soft_cost, wish.max_cost)
    check_prices(wish.provider, {ROLE: wish.model})
    posts = list(roots(corpus).values_list("thread", "pk"))
    if not posts:
        raise BadPlan("", "There is no thread to name communities for: no post that is not withdrawn.")
    run = Run.objects.create(
        corpus=corpus,
        kind=Run.TOPICS,
        name=wish.name.strip(),
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
    _plan_steps(run, posts)
    audit.record(by=by, action="run.started", target=run, corpus=corpus, details={"threads": len(posts)})
    rule = "may be named" if wish.askreddit else "may not be named"
    engine.tell(run, f"Planned: {len(posts)} threads to name three communities for; r/AskReddit {rule}.")
    engine.wake(run)
    return run


def _plan(corpus: Corpus, wish: Wish) -> dict[str, Any]:
    return {
        "version": 1,
        "language": corpus.language,
        "askreddit": wish.askreddit,
        "models": {ROLE: wish.model.as_dict()},
        "prompts": infer_prompts.freeze(PROMPT, corpus.language),
        "form": wish.form,
    }


def _plan_steps(run: Run, posts: list[tuple[int, int]]) -> None:
    now = timezone.now()
    Step.objects.bulk_create(
        (
            Step(
                run=run,
                key=f"communities/{number}",
                kind=PURPOSE,
                number=number,
                asks={"thread": thread},
                comment_id=post,
                due_at=now,
            )
            for number, (thread, post) in enumerate(posts)
        ),
        batch_size=BATCH,
    )
