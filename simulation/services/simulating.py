"""Algorithm 1 as work of a run: a post, the interest of others, then their turns one after another.

Threads go on side by side; inside a thread the interest checks do too, turns wait for each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from simulation.domain.parameters import Parameters
from simulation.domain.rounds import Place, Turn, next_turn
from simulation.domain.run_states import StepState
from simulation.domain.targets import Written
from simulation.llm.structured import Parsed
from simulation.models import CastMember, Comment, Run, RunThread, Step, Thread
from simulation.selectors.run_planning import Line, SoFar, lines, root, so_far
from simulation.services import artefacts, asking, engine
from simulation.services.claiming import Claim
from simulation.services.completions import Answered, Asker, Question
from simulation.services.work import Outcome, Work


class Simulation(Work):
    """The work of a simulation run; see `work.Work`."""

    def perform(self, claim: Claim, asker: Asker) -> Outcome:
        question = _question(claim)
        return question if isinstance(question, Outcome) else self.outcome(asker.ask(question))

    def questions(self, claims: Sequence[Claim]) -> list[Question | None]:
        thread = claims[0].step.run_thread_id
        assert thread is not None  # every step of a simulation belongs to a thread
        post = root(thread)
        return [asking.interest(one.run, one.step, post.text) if _open(post) else None for one in claims]

    def outcome(self, answered: Answered) -> Outcome:
        result = {"call": answered.call.public_id}
        if isinstance(answered.read, Parsed):
            return Outcome(result=result | answered.read.value.model_dump())
        return Outcome(
            StepState.SKIPPED, result, reason=answered.read.why.value, detail=answered.read.problem
        )

    def ends_alone(self, step: Step) -> bool:
        return step.kind == "interest"  # the last one of a thread goes on

    def record(self, claim: Claim, outcome: Outcome) -> Comment | None:
        thread = _thread(claim.step, lock=True)
        comment, written = None, None
        if outcome.state is StepState.SKIPPED:
            _say_skipped(claim, outcome)
        elif claim.step.kind == "topic":
            comment = _open_thread(claim, thread, outcome)
        elif claim.step.kind == "turn":
            written = lines(thread.pk)
            comment = _attach(claim, thread, written, str(outcome.result["text"]))
            written.append(_line(comment))
        _go_on(claim, thread, so_far(thread.pk), written)
        return comment


def _question(claim: Claim) -> Question | Outcome:
    """What the step asks; or its end, where nothing is to be asked."""
    run, step = claim.run, claim.step
    assert step.run_thread_id is not None  # every step of a simulation belongs to a thread
    if step.kind == "fork":
        return Outcome()  # the thread is there up to a turn; what comes next is planned when this ends
    if step.kind == "topic":
        thread = _thread(step)
        return Outcome(result=dict(thread.typed)) if thread.typed else asking.topic(run, step, thread)
    if step.kind == "interest":
        post = root(step.run_thread_id)
        return asking.interest(run, step, post.text) if _open(post) else _withdrawn()
    written = lines(step.run_thread_id, texts=True)
    return _withdrawn() if step.asks["target"] in closed(written) else asking.turn(run, step, written)


def _open(post: Line) -> bool:
    return post.state == "active"


def _withdrawn() -> Outcome:
    return Outcome(StepState.SKIPPED, reason="withdrawn", detail="what it answers was withdrawn")


def _thread(step: Step, *, lock: bool = False) -> RunThread:
    assert step.run_thread_id is not None  # every step of a simulation belongs to a thread
    threads = RunThread.objects.select_for_update(no_key=True) if lock else RunThread.objects.all()
    return threads.get(pk=step.run_thread_id)


def closed(written: Sequence[Line]) -> frozenset[str]:
    """External ids of the withdrawn comments and of all that stands below them: nobody answers these.

    `written` is in order of writing, so that a parent comes before its replies.
    """
    shut: dict[int, str] = {}
    for one in written:
        if one.state != "active" or one.parent_id in shut:
            shut[one.pk] = one.external_id
    return frozenset(shut.values())


def _open_thread(claim: Claim, thread: RunThread, outcome: Outcome) -> Comment:
    """The post becomes a thread, and the profiles are asked."""
    run = claim.run
    author = asking.cast_member(run.pk, asking.author_of(thread))
    text = asking.post_text(run, outcome.result["question"], outcome.result["description"])
    _make_way(run, thread)
    thread.thread = Thread.objects.create(
        corpus_id=run.corpus_id,
        external_id=thread.external_id,
        target_phrase=asking.target_phrase(run, thread.target),
        source="simulated",
    )
    thread.save(update_fields=["thread", "external_id"])
    post = _comment(run, thread, author, text, parent=None, number=0, position=0)
    asked = [
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
    ]
    engine.plan(claim, asked)
    engine.tell(run, f"{thread.external_id}: opened by {author.username}.", "ok")
    return post


def _make_way(run: Run, thread: RunThread) -> None:
    """Another id where an import has taken the planned one meanwhile, or one of its comments' ids."""
    planned, number = thread.external_id, 2
    while _taken(run, thread):
        thread.external_id = f"{planned}_{number}"
        number += 1


def _taken(run: Run, thread: RunThread) -> bool:
    places = range(thread.last_sequence - thread.first_sequence + 1)
    ids = [comment_id(thread.external_id, place) for place in places]
    return (
        Thread.objects.filter(corpus=run.corpus_id, external_id=thread.external_id).exists()
        or Comment.objects.filter(corpus=run.corpus_id, external_id__in=ids).exists()
    )


def comment_id(thread: str, number: int) -> str:
    """External id of the comment that turn `number` of a thread writes; 0: the post."""
    return f"{thread}-{number:03d}"


def _comment(
    run: Run,
    thread: RunThread,
    member: CastMember,
    text: str,
    *,
    parent: Line | None,
    number: int,
    position: int,
) -> Comment:
    assert thread.thread_id is not None  # comments are written once the thread is there
    comment = Comment.objects.create(
        corpus_id=run.corpus_id,
        thread_id=thread.thread_id,
        parent_id=parent.pk if parent else None,
        profile_id=member.profile_id,
        external_id=comment_id(thread.external_id, number),
        author=member.external_id,
        username=member.username,
        text=text,
        depth=parent.depth + 1 if parent else 0,
        position=position,
        sequence=thread.first_sequence + number,
    )
    artefacts.scan_comment(comment, member.facts)
    return comment


def _line(one: Comment) -> Line:
    return Line(one.pk, one.external_id, one.parent_id, one.author, one.username, one.state, one.depth)


def _attach(claim: Claim, thread: RunThread, written: Sequence[Line], text: str) -> Comment:
    run, step = claim.run, claim.step
    parent = next(one for one in written if one.external_id == step.asks["target"])
    position = sum(one.parent_id == parent.pk for one in written)
    member = asking.cast_member(run.pk, step.asks["profile"])
    comment = _comment(run, thread, member, text, parent=parent, number=step.number, position=position)
    engine.tell(
        run, f"{thread.external_id}: comment {step.number} by {member.username}, to {parent.username}.", "ok"
    )
    return comment


def _say_skipped(claim: Claim, outcome: Outcome) -> None:
    what = {"topic": "no post", "interest": "an interest check", "turn": "a turn"}[claim.step.kind]
    engine.tell(claim.run, f"Skipped {what} ({claim.step.key}): {outcome.reason}.", "warn")


def _go_on(claim: Claim, thread: RunThread, now: SoFar, written: list[Line] | None) -> None:
    """Decides what this thread does next, now that one of its steps has ended. The thread's row is locked."""
    if thread.thread_id is None:
        _close(thread, RunThread.FAILED, "no post was written")
        return
    if thread.state != RunThread.RUNNING:
        _close(thread, RunThread.RUNNING, "")
    if now.open:
        return
    turn = _next(claim.run, thread, now, lines(thread.pk) if written is None else written)
    if turn is not None:
        engine.plan(claim, [_planned(claim.run, thread, turn, number=now.turns + 1)])
    elif now.skipped:
        _close(thread, RunThread.PARTIAL, f"{now.skipped} turn{'s' if now.skipped > 1 else ''} skipped")
    else:
        _close(thread, RunThread.DONE, "" if now.agents else "nobody was interested")


def _next(run: Run, thread: RunThread, now: SoFar, comments: Sequence[Line]) -> Turn | None:
    if not now.agents:
        return None
    by_key = {one.pk: one.external_id for one in comments}
    written = [
        Written(one.external_id, by_key[one.parent_id] if one.parent_id else None, one.author, one.depth)
        for one in comments
    ]
    return next_turn(
        written,
        now.agents,
        Parameters.from_dict(run.plan["parameters"]),
        seed=run.seed,
        thread=thread.index,
        after=Place(*now.last) if now.last else None,
        closed=closed(comments),
    )


def _planned(run: Run, thread: RunThread, turn: Turn, *, number: int) -> Step:
    place = turn.place
    return Step(
        run=run,
        run_thread=thread,
        key=f"t{thread.index}/turn/{place.round}.{place.agent}.{place.action}",
        kind="turn",
        number=number,
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
