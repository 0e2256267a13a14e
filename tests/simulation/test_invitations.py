"""An invitation: a signed link that makes one account with one role, once."""

import datetime
import threading

import pytest
import time_machine
from django.conf import settings
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse

from simulation.domain.invitations import InvitationState, state_of
from simulation.domain.roles import Role
from simulation.models import AuditEntry, Invitation, Membership, User
from simulation.services import invitations, people
from tests.factories.simulation import CorpusFactory, MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db
NEW_PASSWORD = "nine green bottles"
NOW = datetime.datetime(2026, 3, 2, 9, 0, tzinfo=datetime.UTC)


def promise(by, email="nora@example.org", role=Role.LABELER, corpus=None):
    return invitations.invite(by=by, email=email, role=role, corpus=corpus)


def accept(token, username="nora", password=NEW_PASSWORD):
    return invitations.accept(token=token, username=username, password=password)


def join_address(token):
    return reverse("join", args=[token])


def answers(username="nora", password=NEW_PASSWORD, again=None):
    return {"username": username, "password1": password, "password2": again or password}


def test_the_link_makes_the_account_with_the_promised_role(client, admin, corpus):
    _, token = promise(admin, corpus=corpus)
    assert "labeler" in client.get(join_address(token)).content.decode()

    response = client.post(join_address(token), answers())

    nora = User.objects.get(username="nora")
    assert response.headers["Location"] == reverse("home")
    assert client.session["_auth_user_id"] == str(nora.pk)
    assert nora.email == "nora@example.org"
    assert nora.check_password(NEW_PASSWORD)
    assert [(m.role, m.corpus, m.granted_by) for m in nora.memberships.all()] == [("labeler", corpus, admin)]


def test_the_page_shows_the_link_once(admin, client_of, corpus):
    browser = client_of(admin)
    made = browser.post(
        "/people/invite/",
        {"email": "nora@example.org", "role": "labeler", "corpus": corpus.public_id},
        follow=True,
    )
    link = made.context["made"]["link"]

    assert f'value="{link}"' in made.content.decode()
    assert Client().get(link).status_code == 200
    assert link not in browser.get("/people/invite/").content.decode()
    assert link not in browser.get("/people/").content.decode()


def test_the_expiry_is_as_many_days_ahead_as_the_settings_say(admin):
    with time_machine.travel(NOW, tick=False):
        invitation, _ = promise(admin)

    assert invitation.expires_at == NOW + datetime.timedelta(days=settings.INVITATION_DAYS)


def test_an_expired_link_says_so(client, admin):
    with time_machine.travel(NOW, tick=False) as clock:
        _, token = promise(admin)
        clock.shift(datetime.timedelta(days=settings.INVITATION_DAYS, seconds=1))

        with pytest.raises(invitations.InvitationExpired):
            accept(token)
        response = client.get(join_address(token))

    assert response.status_code == 410
    assert "expired" in response.content.decode()
    assert not User.objects.filter(username="nora").exists()


def test_the_row_ends_a_link_even_where_its_signature_is_young(admin):
    invitation, token = promise(admin)
    Invitation.objects.filter(pk=invitation.pk).update(expires_at=NOW - datetime.timedelta(days=400))

    with pytest.raises(invitations.InvitationExpired):
        accept(token)


def test_a_revoked_link_is_worthless(client, admin, client_of):
    invitation, token = promise(admin)
    client_of(admin).post(reverse("invitation_revoke", args=[invitation.public_id]))

    with pytest.raises(invitations.InvitationRevoked):
        accept(token)
    assert client.post(join_address(token), answers()).status_code == 410


def test_a_link_works_once(client, admin):
    _, token = promise(admin)
    accept(token)

    with pytest.raises(invitations.InvitationUsed):
        accept(token, username="second")
    assert client.get(join_address(token)).status_code == 410


@pytest.mark.django_db(transaction=True)
@pytest.mark.database
def test_two_who_accept_at_once_make_one_account(admin):
    _, token = promise(admin)
    together = threading.Barrier(2)
    outcomes = []

    def join(username):
        try:
            together.wait(timeout=10)
            outcomes.append(accept(token, username=username).username)
        except invitations.InvitationUsed:
            outcomes.append("used")
        finally:
            connection.close()

    threads = [threading.Thread(target=join, args=[username]) for username in ("nora", "olaf")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)

    assert sorted(outcomes) in (["nora", "used"], ["olaf", "used"])
    assert User.objects.filter(username__in=["nora", "olaf"]).count() == 1
    assert Membership.objects.filter(role=Role.LABELER).count() == 1


@pytest.mark.parametrize(
    "spoil", [lambda t: t[:-1], lambda t: "x" + t, lambda t: "nonsense", lambda t: t[::-1]]
)
def test_a_tampered_link_is_not_one_of_ours(client, admin, spoil):
    _, token = promise(admin)

    with pytest.raises(invitations.InvitationUnknown):
        accept(spoil(token))
    response = client.get(join_address(spoil(token)))
    assert response.status_code == 404
    assert "not one of ours" in response.content.decode()


def test_a_signature_made_for_something_else_opens_nothing(admin):
    invitation, _ = promise(admin)

    with pytest.raises(invitations.InvitationUnknown):
        accept(signing.dumps({"invitation": invitation.public_id}, salt="simulation.something"))


def test_the_link_of_a_deleted_corpus_is_unknown(admin, corpus):
    _, token = promise(admin, corpus=corpus)
    corpus.delete()

    with pytest.raises(invitations.InvitationUnknown):
        accept(token)


@pytest.mark.parametrize("taken", ["lena", "LENA"])
def test_a_taken_name_is_refused_and_the_link_stays_good(client, admin, labeler, taken):
    _, token = promise(admin)

    page = client.post(join_address(token), answers(username=taken))
    assert "username" in page.context["form"].errors
    with pytest.raises(people.NameTaken):
        accept(token, username=taken)

    assert accept(token, username="nora").username == "nora"


@pytest.mark.parametrize(
    ("password", "again"),
    [
        ("short", None),
        ("12345678901", None),
        ("password123", None),
        ("nora@example.org", None),
        (NEW_PASSWORD, "other"),
    ],
)
def test_a_weak_or_mistyped_password_is_refused(client, admin, password, again):
    _, token = promise(admin)

    page = client.post(join_address(token), answers(password=password, again=again))

    assert page.status_code == 200
    assert {"password1", "password2"} & set(page.context["form"].errors)
    assert not User.objects.filter(username="nora").exists()


def test_an_address_that_got_an_account_meanwhile_is_refused(client, admin):
    _, token = promise(admin)
    UserFactory(username="earlier", email="NORA@example.org")

    page = client.post(join_address(token), answers())
    assert "Sign in with it" in page.content.decode()
    with pytest.raises(people.AddressTaken):
        accept(token)


def test_somebody_with_an_account_gets_the_role_without_a_link(admin, stranger, client_of, corpus):
    data = {"email": stranger.email.upper(), "role": "researcher", "corpus": corpus.public_id}
    response = client_of(admin).post("/people/invite/", data, follow=True)

    assert "sven is now researcher in winter" in response.content.decode()
    assert stranger.memberships.get().role == Role.RESEARCHER
    assert not Invitation.objects.exists()


def test_who_is_signed_in_makes_no_second_account(admin, labeler, client_of):
    invitation, token = promise(admin)
    browser = client_of(labeler)

    assert "signed in as" in browser.get(join_address(token)).content.decode()
    browser.post(join_address(token), answers())
    invitation.refresh_from_db()
    assert invitation.accepted_at is None


def test_revoking_a_used_invitation_is_refused_in_words(admin, client_of):
    invitation, token = promise(admin)
    accept(token)

    response = client_of(admin).post(reverse("invitation_revoke", args=[invitation.public_id]), follow=True)

    invitation.refresh_from_db()
    assert "has been used" in response.content.decode()
    assert invitation.revoked_at is None


def test_revoking_twice_writes_one_entry(admin):
    invitation, _ = promise(admin)
    for _ in range(2):
        invitations.revoke_invitation(by=admin, invitation=invitation)

    assert AuditEntry.objects.filter(action="invitation.revoked").count() == 1


def test_who_loses_the_role_of_admin_loses_the_open_invitations_made_with_it(admin):
    other = MembershipFactory(role=Role.ADMIN)
    _, token = promise(other.person, role=Role.ADMIN)

    people.revoke_membership(by=admin, membership=other)

    with pytest.raises(invitations.InvitationRevoked):
        accept(token)


def test_an_admin_of_one_corpus_invites_into_no_other(client_of, corpus):
    local = MembershipFactory(role=Role.ADMIN, corpus=corpus).person
    elsewhere = CorpusFactory()
    foreign, _ = promise(MembershipFactory(role=Role.ADMIN).person, corpus=elsewhere)
    browser = client_of(local)

    for place in (elsewhere, None):
        with pytest.raises(PermissionDenied):
            promise(local, corpus=place)
        data = {"email": "x@example.org", "role": "labeler", "corpus": place.public_id if place else ""}
        assert "corpus" in browser.post("/people/invite/", data).context["form"].errors
    assert browser.post(reverse("invitation_revoke", args=[foreign.public_id])).status_code == 404
    assert Invitation.objects.count() == 1


@pytest.mark.parametrize("role", [Role.LABELER, Role.ADJUDICATOR, Role.RESEARCHER])
def test_nobody_but_an_admin_invites(role, client_of):
    person = MembershipFactory(role=role).person

    assert client_of(person).get("/people/invite/").status_code == 403
    with pytest.raises(PermissionDenied):
        promise(person)


def test_an_invitation_is_accepted_by_somebody_or_not_at_all(admin):
    invitation, _ = promise(admin)

    with pytest.raises(IntegrityError, match="invitation_accepted_by_someone"), transaction.atomic():
        Invitation.objects.filter(pk=invitation.pk).update(accepted_at=NOW)


@pytest.mark.parametrize(
    ("accepted", "revoked", "hours_left", "state"),
    [
        (False, False, 1, InvitationState.OPEN),
        (False, False, 0, InvitationState.EXPIRED),
        (False, True, 1, InvitationState.REVOKED),
        (False, True, -1, InvitationState.REVOKED),
        (True, False, -1, InvitationState.USED),
    ],
)
def test_the_state_follows_from_what_happened_before_the_clock(accepted, revoked, hours_left, state):
    found = state_of(
        accepted_at=NOW if accepted else None,
        revoked_at=NOW if revoked else None,
        expires_at=NOW + datetime.timedelta(hours=hours_left),
        now=NOW,
    )

    assert found == state
