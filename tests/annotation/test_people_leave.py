"""When somebody leaves, what they labelled stays: the rows, the history, the exports to the letter."""

import uuid

import pytest
from django.db.models import ProtectedError
from django.urls import reverse
from django.utils import timezone

from annotation.exchange.export import LAYOUTS, stream
from annotation.models import (
    Annotation,
    AnnotationEvent,
    AttributeLabel,
    Decision,
    DecisionEvent,
    Draft,
    Flag,
    Slot,
    Submission,
)
from simulation.domain.roles import Role
from simulation.services import leaving
from tests.factories.annotation import queue_over
from tests.factories.simulation import MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db
AGED_30 = {"state": "value", "outcome": "added", "value": "30", "hardness": 2, "certainty": 4}


@pytest.fixture
def zoe():
    person = MembershipFactory(person__username="zanzibar", role=Role.ADJUDICATOR).person
    person.email = "zoe@example.org"
    person.save()
    return person


@pytest.fixture
def queue(corpus):
    return queue_over(corpus, comments=3)


@pytest.fixture
def answered(zoe, queue):
    """Their answer to the first comment, with all that comes along; after one of somebody else."""
    item = queue.items.first()
    others = Annotation.objects.create(
        comment=queue.items.last().comment, person=UserFactory(), submitted_at=timezone.now()
    )
    AttributeLabel.objects.create(annotation=others, attribute="age", **AGED_30)
    mine = Annotation.objects.create(
        comment=item.comment, item=item, person=zoe, submitted_at=timezone.now(), note="A slow reader."
    )
    AttributeLabel.objects.create(annotation=mine, attribute="age", **AGED_30)
    AnnotationEvent.objects.create(annotation=mine, person=zoe, attribute="age", old=None, new=AGED_30)
    Submission.objects.create(id=uuid.uuid4(), annotation=mine, person=zoe, digest="d")
    Decision.objects.create(item=item, attribute="age", state="none", reason="slip", by=zoe)
    DecisionEvent.objects.create(item=item, person=zoe, attribute="age", old=None, new={"state": "none"})
    Flag.objects.create(item=item, person=zoe, note="see here")
    Slot.objects.filter(item=item).update(state=Slot.DONE, person=zoe)
    Draft.objects.create(item=queue.items.all()[1], person=zoe, fields={"age-text": "3"})
    return mine


KEPT = (Annotation, AttributeLabel, AnnotationEvent, Submission, Decision, DecisionEvent, Flag, Slot, Draft)


def rows():
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in KEPT}


def exports(corpus):
    return {layout: "".join(stream(corpus=corpus, layout=layout)).encode() for layout in LAYOUTS}


@pytest.mark.parametrize("act", ["deactivate", "erase"])
def test_every_row_of_their_work_is_the_same_before_and_after(act, admin, zoe, answered):
    before = rows()

    if act == "erase":
        leaving.erase(by=admin, person=zoe, typed="zanzibar")
    else:
        leaving.deactivate(by=admin, person=zoe)

    assert rows() == before
    assert all(before.values())


def test_every_export_is_the_same_byte_by_byte_and_names_nobody(admin, zoe, answered, corpus):
    before, public_id = exports(corpus), zoe.public_id
    leaving.deactivate(by=admin, person=zoe)
    assert exports(corpus) == before

    erased = leaving.erase(by=admin, person=zoe, typed="zanzibar")

    after = exports(corpus)
    assert after == before
    for layout, content in after.items():
        assert b"a2" in content, layout
        for secret in ("zanzibar", "zoe@", public_id, erased.username, "erased.invalid", "former-"):
            assert secret.encode() not in content, (layout, secret)


@pytest.mark.parametrize("model", [Annotation, AnnotationEvent, Draft, Flag, Slot, Submission])
def test_who_left_anything_cannot_be_deleted_as_a_row(model, zoe, answered):
    zoe.memberships.all().delete()
    for other in (Draft, Flag, Decision, Submission):
        if other is not model:
            other.objects.all().delete()
    with pytest.raises(ProtectedError) as refusal:
        zoe.delete()
    assert any(isinstance(one, model) for one in refusal.value.protected_objects)


def test_pages_show_their_work_under_the_drawn_name(admin, researcher, zoe, answered, client_of):
    address = reverse("comment", args=[answered.comment.public_id])
    browser = client_of(researcher)
    assert "zanzibar" in browser.get(address).content.decode()

    erased = leaving.erase(by=admin, person=zoe, typed="zanzibar")

    page = browser.get(address).content.decode()
    assert erased.username in page
    assert "zanzibar" not in page


def test_the_review_page_of_somebody_who_left_leads_to_the_login(admin, labeler, queue, client_of):
    browser = client_of(labeler)
    address = reverse("review", args=[queue.public_id])
    assert browser.get(address).status_code == 200

    leaving.deactivate(by=admin, person=labeler)

    assert browser.get(address).headers["Location"].startswith("/login/")
    assert browser.post(address).headers["Location"].startswith("/login/")
