"""Algorithm 1 as work of a run: a post, the interest of others, then their turns one after another.

Threads go on side by side; inside a thread the interest checks do too, turns wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable

from django.utils import timezone
from pydantic import BaseModel

from simulation.domain import personas, replies
from simulation.domain.attributes import CATALOGUE
from simulation.domain.parameters import Parameters
from simulation.domain.plans import RoleModel
from simulation.domain.rounds import Place, Turn, next_turn
from simulation.domain.run_states import ENDED_STEPS, StepState
from simulation.domain.seeds import generator
from simulation.domain.targets import Written
from simulation.llm.messages import Form
from simulation.llm.structured import Parsed, Shape
from simulation.models import Comment, Profile, Run, RunThread, Step, Thread
from simulation.services import engine
from simulation.services.completions import Asker, Question
from simulation.services.engine import Claim, Outcome
from simulation.services.prompts import pinned

OWN_SHOWN = 3
"""How many of an agent's own comments in a thread it is reminded of."""


class Simulation:
    """The work of a simulation run; see `engine.Work`."""

    def perform(self, claim: Claim, asker: Asker) -> Outcome:
        thread = _thread(claim.step)
        written = _comments(thread)
        if written and _answers(claim.step, written) in closed(written):
            return Outcome(StepState.SKIPPED, reason="withdrawn", detail="what it answers was withdrawn")
        question = {"topic": _topic, "interest": _interest, "turn": _turn}[claim.step.kind]
        answered = asker.ask(question(claim, thread, written))
        result = {"call": answered.call.public_id}
        if isinstance(answered.read, Parsed):
            return Outcome(result=result | answered.read.value.model_dump())
        return Outcome(
            StepState.SKIPPED, result, reason=answered.read.why.value, detail=answered.read.problem
        )

    def record(self, claim: Claim, outcome: Outcome) -> Comment | None:
        thread = _thread(claim.step, lock=True)
        comment = None
        if claim.step.kind == "topic":
            comment = _open_thread(claim, thread, outcome)
        elif claim.step.kind == "turn" and outcome.state is StepState.DONE:
            comment = _attach(claim, thread, str(outcome.result["text"]))
        if outcome.state is StepState.SKIPPED:
            _say_skipped(claim, outcome)
        _plan_on(claim.run, thread)
        return comment


def persona(run: Run, profile: Profile) -> str:
    """The profile's facts as the run's prompts say them."""
    _, prompt = pinned(run, "thread/persona")
    said = personas.sentences(profile.facts, prompt.parts, lambda key, values: prompt.part(key, **values))
    return prompt.render(facts="\n".join(said))[0].content


def _question(
    claim: Claim,
    name: str,
    role: str,
    answer: type[BaseModel],
    from_words: Callable[[str], BaseModel],
    forms: tuple[Form, ...] | None = None,
    **values: str,
) -> Question:
    row, prompt = pinned(claim.run, name)
    chance = generator(claim.run.seed, claim.step.key, "model")
    return Question(
        purpose=claim.step.kind,
        prompt=row,
        messages=prompt.render(**values),
        role=RoleModel(**claim.run.plan["models"][role]),
        seed=chance.randrange(2**31),
        shape=Shape(answer, from_words, prompt.parts.get("form", "")),
        forms=forms,
    )


def _topic(claim: Claim, thread: RunThread, written: list[Comment]) -> Question:
    return _question(
        claim,
        "thread/topic",
        "author",
        replies.Topic,
        replies.read_topic,
        persona=persona(claim.run, thread.author),
        target=CATALOGUE[thread.target].topic,
    )


def _interest(claim: Claim, thread: RunThread, written: list[Comment]) -> Question:
    return _question(
        claim,
        "thread/interest",
        "interest",
        replies.Interest,
        replies.read_interest,
        persona=persona(claim.run, _profile(claim)),
        post=_root(written).text,
    )


def _turn(claim: Claim, thread: RunThread, written: list[Comment]) -> Question:
    """The reply that the planner decided on: its words are those of the moment it was planned."""
    asks, profile = claim.step.asks, _profile(claim)
    _, prompt = pinned(claim.run, "thread/comment")
    own = [comment.text for comment in written if comment.author == profile.external_id][-OWN_SHOWN:]
    return _question(
        claim,
        "thread/comment",
        "user",
        replies.Reply,
        replies.read_reply,
        (Form.TEXT,),
        persona=persona(claim.run, profile),
        style=profile.style,
        stance=prompt.part("critic") if asks["critic"] else "",
        least=str(asks["words"][0]),
        most=str(asks["words"][1]),
        username=profile.username,
        path=_path(written, asks["target"]),
        earlier=prompt.part("earlier", comments=" / ".join(own)) if own else "",
    )


def _thread(step: Step, *, lock: bool = False) -> RunThread:
    assert step.run_thread_id is not None  # every step of a simulation belongs to a thread
    threads = RunThread.objects.select_related("author", "thread")
    threads = threads.select_for_update(of=("self",)) if lock else threads
    return threads.get(pk=step.run_thread_id)


def _profile(claim: Claim) -> Profile:
    return claim.run.corpus.profiles.get(external_id=claim.step.asks["profile"])


def _comments(thread: RunThread) -> list[Comment]:
    return list(Comment.objects.filter(thread=thread.thread_id).order_by("sequence", "id"))


def _root(written: list[Comment]) -> Comment:
    return next(comment for comment in written if comment.parent_id is None)


def _answers(step: Step, written: list[Comment]) -> str:
    """The external id of the comment that a step is about: a turn's target, else the post."""
    return str(step.asks.get("target") or _root(written).external_id)


def closed(comments: list[Comment]) -> frozenset[str]:
    """External ids of the withdrawn comments and of all that stands below them: nobody answers these.

    `comments` are in order of writing, so that a parent comes before its replies.
    """
    shut: dict[int, str] = {}
    for one in comments:
        if one.state != "active" or one.parent_id in shut:
            shut[one.pk] = one.external_id
    return frozenset(shut.values())


def _path(written: list[Comment], target: str) -> str:
    """The comments from the root to `target` (an external id), one a line."""
    by_key = {comment.pk: comment for comment in written}
    node = next(comment for comment in written if comment.external_id == target)
    path = [node]
    while node.parent_id is not None:
        node = by_key[node.parent_id]
        path.append(node)
    lines = [f"author: {one.username} comment: {' '.join(one.text.split())}" for one in reversed(path)]
    return "\n".join(lines)


def _open_thread(claim: Claim, thread: RunThread, outcome: Outcome) -> Comment | None:
    """The post becomes a thread, and the profiles are asked; without a post there is no thread."""
    if outcome.state is StepState.SKIPPED:
        return None
    run, author = claim.run, thread.author
    topic = replies.Topic(question=outcome.result["question"], description=outcome.result["description"])
    _make_way(thread)
    thread.thread = Thread.objects.create(
        corpus=run.corpus,
        external_id=thread.external_id,
        target_phrase=CATALOGUE[thread.target].topic,
        source="simulated",
    )
    thread.save(update_fields=["thread", "external_id"])
    root = _comment(thread, author, topic.text, parent=None, number=0, position=0)
    Step.objects.bulk_create(
        Step(
            run=run,
            run_thread=thread,
            key=f"t{thread.index}/interest/{name}",
            kind="interest",
            number=number,
            asks={"profile": name},
            due_at=timezone.now(),
        )
        for number, name in enumerate(thread.asked)
    )
    engine.tell(run, f"{thread.external_id}: opened by {author.username}.", "ok")
    return root


def _make_way(thread: RunThread) -> None:
    """Another id where an import has taken the planned one meanwhile."""
    threads, planned = Thread.objects.filter(corpus=thread.run.corpus_id), thread.external_id
    number = 2
    while threads.filter(external_id=thread.external_id).exists():
        thread.external_id = f"{planned}_{number}"
        number += 1


def _comment(
    thread: RunThread, profile: Profile, text: str, *, parent: Comment | None, number: int, position: int
) -> Comment:
    assert thread.thread_id is not None  # comments are written once the thread is there
    return Comment.objects.create(
        corpus_id=thread.run.corpus_id,
        thread_id=thread.thread_id,
        parent=parent,
        profile=profile,
        external_id=f"{thread.external_id}-{number:03d}",
        author=profile.external_id,
        username=profile.username,
        text=text,
        depth=parent.depth + 1 if parent else 0,
        position=position,
        sequence=thread.first_sequence + number,
    )


def _attach(claim: Claim, thread: RunThread, text: str) -> Comment:
    parent = Comment.objects.get(thread=thread.thread_id, external_id=claim.step.asks["target"])
    profile, position = _profile(claim), parent.replies.count()
    comment = _comment(thread, profile, text, parent=parent, number=claim.step.number, position=position)
    engine.tell(
        claim.run,
        f"{thread.external_id}: comment {claim.step.number} by {profile.username}, to {parent.username}.",
        "ok",
    )
    return comment


def _say_skipped(claim: Claim, outcome: Outcome) -> None:
    what = {"topic": "no post", "interest": "an interest check", "turn": "a turn"}[claim.step.kind]
    engine.tell(claim.run, f"Skipped {what} ({claim.step.key}): {outcome.reason}.", "warn")


def _plan_on(run: Run, thread: RunThread) -> None:
    """Decides what this thread does next, now that one of its steps has ended. The thread's row is locked."""
    if thread.thread_id is None:
        _close(thread, RunThread.FAILED, "no post was written")
        return
    if thread.state == RunThread.WAITING:
        thread.state = RunThread.RUNNING
        thread.save(update_fields=["state"])
    if thread.steps.exclude(state__in=ENDED_STEPS).exists():
        return
    agents = _agents(thread)
    turn = _next(run, thread, agents)
    if turn is not None:
        _plan_turn(run, thread, turn)
    elif skipped := thread.steps.filter(kind="turn", state=StepState.SKIPPED).count():
        _close(thread, RunThread.PARTIAL, f"{skipped} turn{'s' if skipped > 1 else ''} skipped")
    else:
        _close(thread, RunThread.DONE, "" if agents else "nobody was interested")


def _agents(thread: RunThread) -> list[str]:
    """The external ids of those who said yes, in the thread's fixed order."""
    asked = thread.steps.filter(kind="interest", state=StepState.DONE).order_by("number")
    return [step.asks["profile"] for step in asked if step.result["interested"]]


def _next(run: Run, thread: RunThread, agents: list[str]) -> Turn | None:
    if not agents:
        return None
    comments = _comments(thread)
    by_key = {comment.pk: comment.external_id for comment in comments}
    written = [
        Written(one.external_id, by_key[one.parent_id] if one.parent_id else None, one.author, one.depth)
        for one in comments
    ]
    last = thread.steps.filter(kind="turn").order_by("-number").first()
    return next_turn(
        written,
        agents,
        Parameters.from_dict(run.plan["parameters"]),
        seed=run.seed,
        thread=thread.index,
        after=Place(*last.asks["place"]) if last else None,
        closed=closed(comments),
    )


def _plan_turn(run: Run, thread: RunThread, turn: Turn) -> None:
    place = turn.place
    Step.objects.create(
        run=run,
        run_thread=thread,
        key=f"t{thread.index}/turn/{place.round}.{place.agent}.{place.action}",
        kind="turn",
        number=thread.steps.filter(kind="turn").count() + 1,
        due_at=run.created_at,  # before every interest check: a thread's turns wait for each other
        asks={
            "place": [place.round, place.agent, place.action],
            "profile": turn.agent,
            "target": turn.target,
            "score": round(turn.score, 4),
            "probability": round(turn.probability, 4),
            "fallback": turn.fallback,
            "critic": turn.critic,
            "short": turn.short,
            "words": list(turn.words),
        },
    )


def _close(thread: RunThread, state: str, reason: str) -> None:
    thread.state, thread.reason = state, reason
    thread.save(update_fields=["state", "reason"])
