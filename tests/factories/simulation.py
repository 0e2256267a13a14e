"""The smallest valid people, corpora and threads."""

from uuid import uuid4

import factory
from django.contrib.auth.hashers import make_password
from django.utils import timezone
from factory.django import DjangoModelFactory

from simulation.domain.parameters import Parameters
from simulation.domain.plans import published_models
from simulation.domain.roles import Role
from simulation.domain.run_states import ENDED_STEPS, AttemptState, CallState, StepState
from simulation.models import (
    CallAttempt,
    Comment,
    Corpus,
    Membership,
    ModelCall,
    Profile,
    PromptVersion,
    Provider,
    Run,
    RunThread,
    Step,
    Thread,
    User,
)

PASSWORD = "correct horse battery"


class UserFactory(DjangoModelFactory):
    """A person with an account and no role; the password is `PASSWORD`."""

    class Meta:
        model = User

    username = factory.Sequence(lambda number: f"person{number}")
    email = factory.LazyAttribute(lambda person: f"{person.username}@example.org")
    password = factory.LazyFunction(lambda: make_password(PASSWORD))


class CorpusFactory(DjangoModelFactory):
    class Meta:
        model = Corpus

    name = factory.Sequence(lambda number: f"corpus {number}")


class MembershipFactory(DjangoModelFactory):
    """A labeler of the whole installation; give `corpus` for a role in one corpus."""

    class Meta:
        model = Membership

    person = factory.SubFactory(UserFactory)
    corpus = None
    role = Role.LABELER.value


class ProfileFactory(DjangoModelFactory):
    class Meta:
        model = Profile

    corpus = factory.SubFactory(CorpusFactory)
    # Far from the small numbers that tests name themselves.
    external_id = factory.Sequence(lambda number: f"pers{number + 1000}")
    username = factory.Sequence(lambda number: f"Author{number + 1000}")


class ThreadFactory(DjangoModelFactory):
    class Meta:
        model = Thread

    corpus = factory.SubFactory(CorpusFactory)
    external_id = factory.Sequence(lambda number: f"thread_{number}")
    source = "tree"


class CommentFactory(DjangoModelFactory):
    """A comment at the root of a thread of its own; give `thread`, `parent`, `profile` for more."""

    class Meta:
        model = Comment

    thread = factory.SubFactory(ThreadFactory)
    corpus = factory.SelfAttribute("thread.corpus")
    parent = None
    depth = factory.LazyAttribute(lambda comment: comment.parent.depth + 1 if comment.parent else 0)
    external_id = factory.Sequence(lambda number: f"comment_{number}")
    username = factory.LazyAttribute(
        lambda comment: comment.profile.username if getattr(comment, "profile", None) else "Someone"
    )
    text = "I take the night bus home."
    sequence = factory.Sequence(lambda number: number)


class ProviderFactory(DjangoModelFactory):
    """The scripted model in this process."""

    class Meta:
        model = Provider

    name = factory.Sequence(lambda number: f"provider {number}")
    base_url = "scripted:"
    default_model = "scripted"


class PromptFactory(DjangoModelFactory):
    class Meta:
        model = PromptVersion

    name = "thread/comment"
    language = "en"
    digest = factory.Sequence(lambda number: f"{number:064x}")
    source = "# user\nAnswer."


class RunFactory(DjangoModelFactory):
    """A simulation that was just planned, without threads and steps."""

    class Meta:
        model = Run

    corpus = factory.SubFactory(CorpusFactory)
    kind = Run.SIMULATE
    name = factory.Sequence(lambda number: f"run {number}")
    provider = factory.SubFactory(ProviderFactory)
    seed = 42
    max_calls = 1000
    max_tokens = 1_000_000
    plan = factory.LazyAttribute(
        lambda run: {
            "version": 1,
            "profiles": [],
            "parameters": Parameters().as_dict(),
            "models": {key: one.as_dict() for key, one in published_models("scripted").items()},
            "form": "",
        }
    )


class RunThreadFactory(DjangoModelFactory):
    """A thread that a run has not begun yet."""

    class Meta:
        model = RunThread

    run = factory.SubFactory(RunFactory)
    index = factory.Sequence(lambda number: number)
    target = "age"
    author = factory.SubFactory(ProfileFactory, corpus=factory.SelfAttribute("..run.corpus"))
    asked = factory.LazyFunction(list)
    external_id = factory.LazyAttribute(lambda thread: f"thread_age_{thread.index}")
    first_sequence = factory.LazyAttribute(lambda thread: thread.index * 1000)
    last_sequence = factory.LazyAttribute(lambda thread: thread.index * 1000 + 999)


class StepFactory(DjangoModelFactory):
    """A step that is done; give `state` for another. A leased one has its lease."""

    class Meta:
        model = Step

    run = factory.SubFactory(RunFactory)
    run_thread = None
    key = factory.Sequence(lambda number: f"step/{number}")
    kind = "turn"
    number = factory.Sequence(lambda number: number)
    state = StepState.DONE.value
    due_at = factory.LazyFunction(timezone.now)
    finished_at = factory.LazyAttribute(lambda step: step.due_at if step.state in ENDED_STEPS else None)
    lease = factory.LazyAttribute(lambda step: uuid4() if step.state == StepState.LEASED else None)
    leased_until = factory.LazyAttribute(lambda step: step.due_at if step.lease else None)


class ModelCallFactory(DjangoModelFactory):
    """A call that was answered with a comment."""

    class Meta:
        model = ModelCall

    step = factory.SubFactory(StepFactory)
    run = factory.SelfAttribute("step.run")
    purpose = factory.SelfAttribute("step.kind")
    key = factory.Sequence(lambda number: f"{number:064x}")
    prompt = factory.SubFactory(PromptFactory)
    provider = factory.SelfAttribute("run.provider")
    base_url = factory.SelfAttribute("provider.base_url")
    model = "scripted"
    served_model = "scripted-1"
    request = factory.LazyFunction(
        lambda: {"model": "scripted", "messages": [{"role": "user", "content": "Write a comment."}]}
    )
    reply = factory.LazyFunction(lambda: {"text": "My comment: I take the night bus.", "finish": "stop"})
    state = CallState.DONE.value


class AttemptFactory(DjangoModelFactory):
    """An attempt that was answered."""

    class Meta:
        model = CallAttempt

    call = factory.SubFactory(ModelCallFactory)
    number = 0
    state = AttemptState.ANSWERED.value
    sent_at = factory.LazyFunction(timezone.now)
    held = 900
