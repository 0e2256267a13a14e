"""The copied part of a forked thread: its comments under new ids, and what was asked for them, as done."""

from __future__ import annotations

from django.utils import timezone

from simulation.domain.run_states import StepState
from simulation.models import Comment, Corpus, Run, RunThread, Step, Thread
from simulation.selectors.sequences import next_sequence
from simulation.services.simulating import comment_id


def copied_thread(made: Run, source: RunThread, turn: int) -> RunThread:
    """The thread with its comments up to the turn, under a name and in a place of its own."""
    assert source.thread is not None  # the caller has looked
    name = _free_name(made.corpus, f"{source.external_id[:80]}_fork")
    thread = Thread.objects.create(
        corpus=made.corpus,
        external_id=name,
        target_phrase=source.thread.target_phrase,
        source="simulated",
    )
    begin = next_sequence(made.corpus)
    copied = RunThread.objects.create(
        run=made,
        index=source.index,
        target=source.target,
        typed=source.typed,
        author=source.author,
        asked=source.asked,
        external_id=name,
        first_sequence=begin,
        last_sequence=begin + source.last_sequence - source.first_sequence,
        thread=thread,
        state=RunThread.RUNNING,
        forked_from=source,
        forked_at=turn,
    )
    numbers = {
        step.comment_id: step.number
        for step in source.steps.filter(kind__in=["topic", "turn"], comment__isnull=False)
    }
    old = source.thread.comments.order_by("sequence", "id")
    kept: dict[int, Comment] = {}
    for one in old:
        number = numbers.get(one.pk)
        if number is None or number > turn:
            continue
        kept[one.pk] = Comment.objects.create(
            corpus=made.corpus,
            thread=thread,
            parent=kept[one.parent_id] if one.parent_id else None,
            profile=one.profile,
            external_id=comment_id(name, number),
            author=one.author,
            username=one.username,
            text=one.text,
            depth=one.depth,
            position=one.position,
            sequence=begin + number,
            state=one.state,
        )
    return copied


def _free_name(corpus: Corpus, wanted: str) -> str:
    number = 1
    taken = Thread.objects.filter(corpus=corpus)
    while taken.filter(external_id=f"{wanted}_{number}").exists():
        number += 1
    return f"{wanted}_{number}"


def copied_steps(made: Run, source: RunThread, copied: RunThread, turn: int) -> None:
    """What was asked up to the turn, as done; and one step more, that goes on from there."""
    assert copied.thread is not None  # it was just made
    comments = {one.external_id: one for one in copied.thread.comments.all()}
    renamed = {
        step.comment.external_id: comment_id(copied.external_id, step.number)
        for step in source.steps.filter(comment__isnull=False).select_related("comment")
        if step.comment is not None
    }
    steps = []
    for step in source.steps.exclude(kind="fork").order_by("number", "id"):
        if step.kind == "turn" and step.number > turn:
            continue
        open_yet = step.state in (StepState.READY, StepState.LEASED)
        asks = dict(step.asks)
        if "target" in asks:
            asks["target"] = renamed.get(asks["target"], asks["target"])
        result = {key: value for key, value in step.result.items() if key != "call"}
        if "call" in step.result:
            result["copied"] = {"run": source.run.public_id, "call": step.result["call"]}
        written = renamed.get(step.comment.external_id) if step.comment else None
        steps.append(
            Step(
                run=made,
                run_thread=copied,
                key=step.key,
                kind=step.kind,
                number=step.number,
                asks=asks,
                state=StepState.READY.value if open_yet else step.state,
                result=result,
                reason=step.reason,
                detail=step.detail,
                comment=comments.get(written or ""),
                finished_at=step.finished_at,
                due_at=timezone.now(),
            )
        )
    going_on = Step(
        run=made,
        run_thread=copied,
        key=f"t{copied.index}/fork",
        kind="fork",
        number=0,
        due_at=timezone.now(),
    )
    Step.objects.bulk_create([*steps, going_on])
