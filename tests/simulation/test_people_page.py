"""The page of people: who sees whom, with which roles and invitations."""

import datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from simulation.domain.roles import Role
from simulation.models import Invitation
from simulation.selectors import people
from tests.factories.simulation import CorpusFactory, MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db


def names(page):
    return [row.username for row in page.rows]


@pytest.fixture
def local_admin(corpus):
    """Admin of the corpus "winter" only."""
    return MembershipFactory(person__username="wilma", role=Role.ADMIN, corpus=corpus).person


def test_an_admin_sees_everybody_with_their_roles(admin, labeler, stranger, client_of):
    page = client_of(admin).get("/people/")

    assert names(page.context["page"]) == ["ada", "lena", "sven"]
    assert [role.role for role in page.context["page"].rows[1].roles] == ["labeler"]
    assert "lena@example.org" in page.content.decode()


def test_an_admin_of_one_corpus_sees_the_people_and_roles_of_it(local_admin, labeler, corpus, client_of):
    inside = MembershipFactory(corpus=corpus, person__username="ines").person
    MembershipFactory(corpus=CorpusFactory(name="secret"), person=inside, role=Role.RESEARCHER)
    MembershipFactory(corpus=CorpusFactory(), person__username="otto")

    page = client_of(local_admin).get("/people/")

    assert names(page.context["page"]) == ["ines", "wilma"]
    assert [role.corpus_name for role in page.context["page"].rows[0].roles] == ["winter"]
    words = page.content.decode()
    assert "secret" not in words
    assert "whole installation</option>" not in words
    assert "ines@example.org" not in words


def test_an_admin_of_one_corpus_sees_the_invitations_into_it(local_admin, admin, corpus, client_of):
    soon = timezone.now() + datetime.timedelta(days=1)
    for email, place in [("in@example.org", corpus), ("out@example.org", None)]:
        Invitation.objects.create(
            email=email, role="labeler", corpus=place, invited_by=admin, expires_at=soon
        )

    shown = client_of(local_admin).get("/people/").context["invitations"]
    assert [row.email for row in shown] == ["in@example.org"]


def test_each_state_of_an_invitation_has_its_word(admin, client_of):
    now, day = timezone.now(), datetime.timedelta(days=1)
    made = {"role": "labeler", "invited_by": admin, "email": "x@example.org"}
    Invitation.objects.create(expires_at=now + day, **made)
    Invitation.objects.create(expires_at=now - day, **made)
    Invitation.objects.create(expires_at=now + day, revoked_at=now, **made)
    Invitation.objects.create(expires_at=now + day, accepted_at=now, accepted_by=UserFactory(), **made)

    page = client_of(admin).get("/people/").content.decode()

    for word in ("open", "expired", "revoked", "used"):
        assert f"</svg>{word}</span>" in page
    assert page.count(">Withdraw<span") == 1


def test_an_empty_list_of_invitations_says_what_one_is(admin, client_of):
    assert "No invitation yet" in client_of(admin).get("/people/").content.decode()


@pytest.mark.parametrize("role", [Role.LABELER, Role.ADJUDICATOR, Role.RESEARCHER, None])
@pytest.mark.parametrize("address", ["/people/", "/people/invite/", "/people/audit/"])
def test_without_the_right_the_pages_are_closed(role, address, client_of):
    person = MembershipFactory(role=role).person if role else UserFactory()

    assert client_of(person).get(address).status_code == 403


def test_without_an_account_the_pages_lead_to_the_login(client):
    assert client.get("/people/").headers["Location"] == "/login/?next=/people/"


def test_no_database_id_stands_in_the_page(admin, labeler, corpus, client_of):
    page = client_of(admin).get("/people/").content.decode()

    assert f"/people/{labeler.public_id}/roles/" in page
    assert f'value="{corpus.public_id}"' in page
    for thing in (admin, labeler, corpus):
        assert f'value="{thing.pk}"' not in page
        assert f"/people/{thing.pk}/" not in page


def test_the_number_of_queries_does_not_grow_with_the_people(admin, corpus, client_of):
    browser = client_of(admin)

    def queries():
        with CaptureQueriesContext(connection) as captured:
            browser.get("/people/")
        return len(captured)

    MembershipFactory(corpus=corpus)
    before = queries()
    for _ in range(10):
        person = MembershipFactory(corpus=CorpusFactory()).person
        MembershipFactory(person=person, corpus=corpus, role=Role.ADJUDICATOR)
        Invitation.objects.create(
            email="x@example.org", role="labeler", corpus=corpus, invited_by=person, expires_at=timezone.now()
        )
    assert queries() == before


def test_a_long_list_comes_in_pages_by_name(admin, monkeypatch, client_of):
    monkeypatch.setattr(people, "PAGE", 2)
    for username in ("Cleo", "bert", "dora"):
        UserFactory(username=username)
    browser = client_of(admin)

    first = browser.get("/people/").context["page"]
    second = browser.get(f"/people/?after={first.after}").context["page"]

    assert (names(first), names(second)) == (["ada", "bert"], ["Cleo", "dora"])
    assert first.total == 4
    assert second.after == ""


def test_an_unknown_mark_shows_the_first_page(admin, client_of):
    assert names(client_of(admin).get("/people/?after=nobody").context["page"]) == ["ada"]


def test_the_page_works_without_scripts_and_inline_styles(admin, labeler, client_of):
    page = client_of(admin).get("/people/").content.decode()

    assert "<script" not in page
    assert " style=" not in page
    assert " onclick" not in page
