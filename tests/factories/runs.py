"""A run in the middle of its work, as the pages show it."""

from dataclasses import dataclass, field

from django.db.models import F

from simulation.domain.run_states import AttemptState, CallState, StepState
from simulation.models import Comment, Corpus, Happening, Run, RunThread, Step
from tests.factories.simulation import (
    AttemptFactory,
    CommentFactory,
    ModelCallFactory,
    ProfileFactory,
    RunFactory,
    RunThreadFactory,
    StepFactory,
    ThreadFactory,
)


@dataclass
class Scene:
    """A running simulation: one thread with a post and replies, one that is not begun."""

    run: Run
    thread: RunThread
    root: Comment
    written: list[Comment] = field(default_factory=list)

    def write(self, text: str, *, parent: Comment | None = None, critic: bool = False) -> Comment:
        """A turn that was written, with the call behind it."""
        number = len(self.written) + 1
        parent = parent or self.root
        comment = CommentFactory(
            thread=self.root.thread,
            parent=parent,
            username="Otter",
            text=text,
            position=number,
            sequence=number,
            external_id=f"{self.thread.external_id}-{number:03d}",
        )
        asks = {"place": [0, 0, number], "profile": "pers1", "target": parent.external_id, "critic": critic}
        step = StepFactory(run=self.run, run_thread=self.thread, number=number, asks=asks, comment=comment)
        step.result = {"call": ModelCallFactory(step=step).public_id}
        step.save()
        self.written.append(comment)
        self.tell(f"comment {number} by Otter")
        return comment

    def turn(self, state: StepState, *, number: int, reason: str = "", detail: str = "") -> Step:
        """A turn of Otter's that is not written: ready, leased or skipped."""
        asks = {"place": [1, 0, 0], "profile": "pers1", "target": self.root.external_id, "critic": False}
        return StepFactory(
            run=self.run,
            run_thread=self.thread,
            number=number,
            asks=asks,
            state=state.value,
            reason=reason,
            detail=detail,
        )

    def send(self, step: Step, *, attempts: int = 1) -> None:
        """Its call is in flight, after `attempts` - 1 that were refused for being too fast."""
        call = ModelCallFactory(step=step, state=CallState.LEASED, reply=None)
        for number in range(attempts - 1):
            AttemptFactory(call=call, number=number, state=AttemptState.RATE_LIMITED, wait=2.5, detail="slow")
        AttemptFactory(call=call, number=attempts - 1, state=AttemptState.SENT)
        self.tick()

    def skip(self, *, number: int, raw: str = "Sure! Here it is.") -> Step:
        """A turn that was skipped since its answer could not be read."""
        step = self.turn(StepState.SKIPPED, number=number, reason="unreadable", detail="the line is missing")
        call = ModelCallFactory(step=step, state=CallState.INVALID, reply={"text": raw}, problem=step.detail)
        step.result = {"call": call.public_id}
        step.save()
        self.tell("Skipped a turn: unreadable.", "warn")
        return step

    def ask(self, *, yes: int, no: int = 0) -> None:
        """Interest checks that were answered."""
        for number in range(yes + no):
            StepFactory(
                run=self.run, run_thread=self.thread, kind="interest", result={"interested": number < yes}
            )

    def tick(self) -> None:
        """As the engine does with whatever changes what the page shows."""
        Run.objects.filter(pk=self.run.pk).update(tick=F("tick") + 1)

    def tell(self, text: str, level: str = "info") -> Happening:
        self.tick()
        return Happening.objects.create(run=self.run, text=text, level=level)


def scene(corpus: Corpus, *, state: str = "running", **fields: object) -> Scene:
    """A run whose first thread has its post."""
    otter = ProfileFactory(corpus=corpus, external_id="pers1", username="Otter")
    run = RunFactory(corpus=corpus, state=state, **fields)
    thread = RunThreadFactory(
        run=run,
        index=0,
        author=otter,
        asked=["pers2", "pers3", "pers4"],
        state=RunThread.RUNNING,
        thread=ThreadFactory(corpus=corpus, external_id="thread_age_1", source="simulated"),
    )
    RunThreadFactory(run=run, index=1, target="income", author=otter)
    root = CommentFactory(
        thread=thread.thread,
        username="Otter",
        text="What keeps you awake?",
        external_id="thread_age_0-000",
        sequence=0,
    )
    StepFactory(run=run, run_thread=thread, kind="topic", number=0, comment=root)
    made = Scene(run, thread, root)
    made.tell("Planned: 2 threads with 4 profiles.")
    return made
