"""The one query by which a queue is opened lets in exactly those whom the lists show it to."""

import itertools

import pytest
from django.utils import timezone

from annotation.models import Guideline, Queue, QueueWorker
from annotation.selectors.opening import opened
from simulation.domain.roles import Role
from simulation.models import Corpus
from tests.factories.annotation import queue_over
from tests.factories.simulation import CorpusFactory, MembershipFactory, UserFactory

pytestmark = pytest.mark.database


def people(queue):
    yield UserFactory()
    yield UserFactory(is_superuser=True)
    for role, where in itertools.product(Role, (None, queue.corpus, CorpusFactory())):
        yield MembershipFactory(role=role.value, corpus=where).person
    left = MembershipFactory(role="labeler").person
    left.is_active = False
    left.save()
    yield left
    named = MembershipFactory(role="labeler").person
    QueueWorker.objects.create(queue=queue, person=named)
    yield named


@pytest.mark.parametrize(
    "changes", [{}, {"named_only": True}, {"trashed_at": timezone.now()}, {"state": "closed"}]
)
def test_it_agrees_with_the_list_for_everybody(db, changes):
    queue = queue_over(comments=1)
    everybody = list(people(queue))
    Queue.objects.update(**changes)
    for person in everybody:
        listed = Queue.objects.workable_by(person).filter(pk=queue.pk).exists()
        assert (opened(person, queue.public_id) is not None) is listed, (person.username, changes)


def test_a_queue_of_a_corpus_in_the_trash_is_not_there(labeler):
    queue = queue_over(comments=1)
    Corpus.objects.update(trashed_at=timezone.now())
    assert opened(labeler, queue.public_id) is None


def test_it_brings_all_fields_the_corpus_and_the_newest_guidelines(labeler):
    queue = queue_over(comments=1)
    for version in (1, 2):
        Guideline.objects.create(queue=queue, version=version, text="…")
    found = opened(labeler, queue.public_id)
    stored = Queue.objects.get()
    assert all(
        getattr(found, field.attname) == getattr(stored, field.attname) for field in Queue._meta.fields
    )
    assert (found.corpus, found.corpus.name, found.guideline_version) == (queue.corpus, queue.corpus.name, 2)
