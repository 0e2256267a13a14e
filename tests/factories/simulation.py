"""The smallest valid people, corpora and threads."""

import factory
from django.contrib.auth.hashers import make_password
from factory.django import DjangoModelFactory

from simulation.domain.roles import Role
from simulation.models import Comment, Corpus, Membership, Profile, Thread, User

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
    external_id = factory.Sequence(lambda number: f"pers{number}")
    username = factory.Sequence(lambda number: f"Author{number}")


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
