"""People who leave: closed accounts that can be opened again, and names taken away for good."""

import datetime
import threading

import pytest
from axes.models import AccessAttempt
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from simulation.domain.roles import Role
from simulation.domain.typed import NotConfirmed
from simulation.models import AuditEntry, Invitation, Membership, User
from simulation.services import invitations, leaving, people
from tests.factories.simulation import PASSWORD, CorpusFactory, MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db


def address(act, person):
    return reverse(f"person_{act}", args=[person.public_id])


def promise(by, email="nora@example.org", corpus=None):
    return invitations.invite(by=by, email=email, role=Role.LABELER, corpus=corpus)


def actions():
    return list(AuditEntry.objects.order_by("id").values_list("action", flat=True))


def may_sign_in(username, password=PASSWORD):
    browser = Client()
    browser.post("/login/", {"username": username, "password": password})
    return "_auth_user_id" in browser.session


@pytest.fixture
def local_admin(corpus):
    """Admin of the corpus "winter" only."""
    return MembershipFactory(person__username="wilma", role=Role.ADMIN, corpus=corpus).person


# --- Deactivated ------------------------------------------------------------------------------------


def test_a_deactivated_person_keeps_name_and_roles_and_cannot_sign_in(admin, labeler):
    leaving.deactivate(by=admin, person=labeler)

    labeler.refresh_from_db()
    assert (labeler.is_active, labeler.username, labeler.erased_at) == (False, "lena", None)
    assert labeler.memberships.count() == 1
    assert not may_sign_in("lena")
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.object_id) == (admin, "person.deactivated", labeler.public_id)


def test_the_sessions_of_a_deactivated_person_end_at_once(admin, labeler, client_of):
    theirs, others = client_of(labeler), client_of(admin)
    assert theirs.get("/account/").status_code == 200

    leaving.deactivate(by=admin, person=labeler)

    assert theirs.get("/account/").headers["Location"] == "/login/?next=/account/"
    assert others.get("/account/").status_code == 200


def test_an_inactive_account_is_refused_even_where_a_session_was_left(labeler, client_of):
    browser = client_of(labeler)
    User.objects.filter(pk=labeler.pk).update(is_active=False)

    assert browser.get("/account/").status_code == 302


def test_reactivated_they_sign_in_as_before_but_no_old_session_comes_back(admin, labeler, client_of):
    browser = client_of(labeler)
    leaving.deactivate(by=admin, person=labeler)

    leaving.reactivate(by=admin, person=labeler)

    assert browser.get("/account/").status_code == 302
    assert may_sign_in("lena")
    assert actions() == ["person.deactivated", "person.reactivated"]


def test_open_invitations_of_a_deactivated_person_are_withdrawn(admin, corpus):
    second = MembershipFactory(person__username="anna", role=Role.ADMIN).person
    _, token = promise(second)
    promise(second, email="other@example.org", corpus=corpus)
    kept, _ = promise(admin, email="third@example.org")

    leaving.deactivate(by=admin, person=second)

    with pytest.raises(invitations.InvitationRevoked):
        invitations.find(token=token)
    assert list(Invitation.objects.filter(revoked_at=None)) == [kept]


def test_nobody_deactivates_or_erases_themselves(admin):
    for act in (leaving.deactivate, leaving.reactivate):
        with pytest.raises(leaving.OwnAccount):
            act(by=admin, person=admin)
    with pytest.raises(leaving.OwnAccount):
        leaving.erase(by=admin, person=admin, typed="ada")
    admin.refresh_from_db()
    assert admin.is_active


def test_twice_is_refused(admin, labeler):
    with pytest.raises(leaving.NothingToDo):
        leaving.reactivate(by=admin, person=labeler)
    leaving.deactivate(by=admin, person=labeler)
    with pytest.raises(leaving.NothingToDo):
        leaving.deactivate(by=admin, person=labeler)
    assert actions() == ["person.deactivated"]


def test_an_admin_of_one_corpus_may_do_none_of_it(local_admin, corpus):
    inside = MembershipFactory(corpus=corpus).person
    for act in (leaving.deactivate, leaving.reactivate):
        with pytest.raises(PermissionDenied):
            act(by=local_admin, person=inside)
    with pytest.raises(PermissionDenied):
        leaving.erase(by=local_admin, person=inside, typed=inside.username)
    assert actions() == []


def test_whoever_is_not_the_last_admin_may_lose_the_power_the_last_may_not(admin):
    second = MembershipFactory(person__username="anna", role=Role.ADMIN).person
    leaving.deactivate(by=admin, person=second)

    with pytest.raises(people.LastAdmin):
        people.keep_an_admin(besides=admin)
    with pytest.raises(people.LastAdmin):
        people.revoke_membership(by=admin, membership=admin.memberships.get())


@pytest.mark.django_db(transaction=True)
@pytest.mark.database
def test_two_admins_who_deactivate_each_other_at_once_leave_one():
    first, second = (MembershipFactory(role=Role.ADMIN).person for _ in range(2))
    gate, outcomes = threading.Barrier(2), []

    def act(by, person):
        gate.wait()
        try:
            leaving.deactivate(by=by, person=person)
            outcomes.append("done")
        except people.LastAdmin:
            outcomes.append("refused")
        finally:
            connection.close()

    pairs = [(first, second), (second, first)]
    threads = [threading.Thread(target=act, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["done", "refused"]
    assert User.objects.filter(is_active=True).count() == 1


# --- Erased -----------------------------------------------------------------------------------------


@pytest.fixture
def known(admin, corpus):
    """Somebody who left traces: came by an invitation, moved house, mistyped a password, invited others."""
    promise(admin, email="zoe@old.example", corpus=corpus)
    _, token = promise(admin, email="Zoe@old.example", corpus=corpus)
    person = invitations.accept(token=token, username="zanzibar", password=PASSWORD)
    people.set_preferences(by=person, theme="dark", email="zoe@new.example")
    people.grant(by=admin, person=person, role=Role.ADMIN)
    User.objects.filter(pk=person.pk).update(
        first_name="Zoefirst", last_name="Zanderlast", review_keys={"submit": "z"}
    )
    for name in ("zanzibar", "Zanzibar", "zoe@new.example"):
        Client().post("/login/", {"username": name, "password": "wrong"})
    promise(person, email="friend@example.org")
    assert may_sign_in("zanzibar")
    return User.objects.get(pk=person.pk)


TRACES = ("zanzibar", "zoe@", "zoefirst", "zanderlast")


def traces():
    """Tables in whose rows something of the person stands."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        found = []
        for table in tables:
            for trace in TRACES:
                cursor.execute(f'SELECT count(*) FROM "{table}" t WHERE t::text ILIKE %s', [f"%{trace}%"])
                if cursor.fetchone()[0]:
                    found.append((table, trace))
    return found


def test_of_an_erased_person_no_row_of_any_table_says_anything(admin, known):
    assert {table for table, _ in traces()} >= {
        "simulation_user",
        "simulation_invitation",
        "axes_accessattempt",
    }

    leaving.erase(by=admin, person=known, typed="zanzibar")

    assert traces() == []
    assert not AccessAttempt.objects.exists()


def test_an_erased_person_is_a_row_with_a_drawn_name_and_nothing_else(admin, known):
    erased = leaving.erase(by=admin, person=known, typed=" zanzibar ")

    erased.refresh_from_db()
    assert erased.pk == known.pk
    assert erased.username.startswith("former-")
    assert len(erased.username) == len("former-") + 8
    assert erased.email == f"{erased.username}@erased.invalid"
    assert not erased.has_usable_password()
    assert (erased.theme, erased.review_keys, erased.last_login) == ("system", {}, None)
    assert [erased.is_active, erased.is_staff, erased.is_superuser] == [False] * 3
    assert erased.erased_at is not None
    assert not erased.memberships.exists()
    assert not may_sign_in("zanzibar")
    assert not may_sign_in(erased.username)


def test_the_sessions_of_an_erased_person_end(admin, labeler, client_of):
    browser = client_of(labeler)
    leaving.erase(by=admin, person=labeler, typed="lena")

    assert browser.get("/account/").status_code == 302
    assert not any("_auth_user_id" in one.get_decoded() for one in Session.objects.all())


def test_invitations_that_bear_the_address_let_nobody_in(admin, known):
    _, other = promise(admin, email="nora@example.org")

    erased = leaving.erase(by=admin, person=known, typed="zanzibar")

    mine = Invitation.objects.filter(email=erased.email)
    assert mine.count() == 2
    assert mine.filter(accepted_at=None, revoked_at=None).count() == 0
    assert Invitation.objects.get(email="friend@example.org").revoked_at is not None
    assert invitations.find(token=other).email == "nora@example.org"


def test_an_address_that_somebody_else_has_by_now_stays_in_their_invitation(admin, known):
    heir = UserFactory(email="zoe@old.example")
    now = timezone.now()
    theirs = Invitation.objects.create(
        email="zoe@old.example",
        role="labeler",
        invited_by=admin,
        accepted_by=heir,
        accepted_at=now,
        expires_at=now,
    )
    leaving.erase(by=admin, person=known, typed="zanzibar")

    theirs.refresh_from_db()
    known.invitation.refresh_from_db()
    assert theirs.email == "zoe@old.example"
    assert known.invitation.email.endswith("@erased.invalid")


def test_the_trail_shows_the_drawn_name_in_old_entries_too(admin, known, client_of):
    erased = leaving.erase(by=admin, person=known, typed="zanzibar")

    page = client_of(admin).get("/people/audit/").content.decode()

    assert "Person erased" in page
    assert page.count(erased.username) >= 4
    assert not any(trace in page.lower() for trace in TRACES)
    assert AuditEntry.objects.latest("id").details == {}


def test_the_address_is_free_for_a_new_account(admin, known):
    leaving.erase(by=admin, person=known, typed="zanzibar")

    _, token = promise(admin, email="zoe@new.example")
    again = invitations.accept(token=token, username="zanzibar", password=PASSWORD)
    assert again.pk != known.pk


@pytest.mark.parametrize("typed", ["", "Zanzibar", "zanzi", "erase"])
def test_without_the_name_nothing_is_erased(admin, known, typed):
    before = actions()
    with pytest.raises(NotConfirmed):
        leaving.erase(by=admin, person=known, typed=typed)

    known.refresh_from_db()
    assert (known.username, known.erased_at, known.is_active) == ("zanzibar", None, True)
    assert known.memberships.count() == 2
    assert actions() == before


def test_what_is_erased_can_be_neither_opened_nor_given_a_role(admin, labeler):
    erased = leaving.erase(by=admin, person=labeler, typed="lena")

    for act in (leaving.deactivate, leaving.reactivate):
        with pytest.raises(people.ErasedPerson):
            act(by=admin, person=erased)
    with pytest.raises(people.ErasedPerson):
        leaving.erase(by=admin, person=erased, typed=erased.username)
    with pytest.raises(people.ErasedPerson):
        people.grant(by=admin, person=labeler, role=Role.ADMIN)
    assert not Membership.objects.filter(person=labeler).exists()


# --- Pages ------------------------------------------------------------------------------------------


def test_the_pages_say_in_numbers_what_happens(admin, known, client_of):
    browser = client_of(admin)

    page = browser.get(address("deactivate", known)).content.decode()
    assert "<b>1 open invitation</b>" in page
    assert "<b>2 roles</b>: admin in the whole installation, labeler in winter" in page
    page = browser.get(address("erase", known)).content.decode()
    assert "<b>2 roles</b>" in page
    assert "To confirm, type" in page
    assert AuditEntry.objects.filter(action__startswith="person.").count() == 0


def test_an_invitation_that_ran_out_is_not_counted(admin, known, client_of):
    past = timezone.now() - datetime.timedelta(days=1)
    Invitation.objects.filter(invited_by=known).update(expires_at=past)

    assert "no open invitation" in client_of(admin).get(address("deactivate", known)).content.decode()


def test_the_buttons_do_it_and_the_list_says_so(admin, labeler, client_of):
    browser = client_of(admin)

    page = browser.post(address("deactivate", labeler), follow=True).content.decode()
    assert "lena is deactivated" in page
    assert "</svg>deactivated</span>" in page
    page = browser.post(address("reactivate", labeler), follow=True).content.decode()
    assert "</svg>deactivated</span>" not in page
    page = browser.post(address("erase", labeler), {"typed": "lena"}, follow=True).content.decode()
    assert "</svg>erased</span>" in page
    assert "lena" not in page
    assert "erased.invalid" not in page
    assert address("erase", labeler) not in page


def test_the_wrong_name_is_said_beside_the_field(admin, labeler, client_of):
    answer = client_of(admin).post(address("erase", labeler), {"typed": "Lena"})

    assert answer.status_code == 422
    page = answer.content.decode()
    assert 'value="Lena"' in page
    assert 'aria-invalid="true"' in page
    assert "“Lena” is not the name. Type “lena”" in page
    labeler.refresh_from_db()
    assert labeler.erased_at is None


def test_what_is_refused_leads_back_with_the_reason(admin, labeler, client_of):
    browser = client_of(admin)

    assert "your own account" in browser.get(address("erase", admin), follow=True).content.decode()
    assert "active already" in browser.post(address("reactivate", labeler), follow=True).content.decode()
    leaving.erase(by=admin, person=labeler, typed="lena")
    for act in ("deactivate", "reactivate", "erase"):
        assert "was erased" in browser.get(address(act, labeler), follow=True).content.decode()
    sent = {"role": "admin", "corpus": ""}
    given = browser.post(reverse("membership_grant", args=[labeler.public_id]), sent, follow=True)
    assert "was erased" in given.content.decode()


@pytest.mark.parametrize("act", ["deactivate", "reactivate", "erase"])
def test_the_pages_are_closed_to_all_but_admins_of_the_installation(
    act, local_admin, researcher, labeler, corpus, client_of
):
    inside = MembershipFactory(corpus=corpus).person
    for person in (local_admin, researcher, labeler):
        browser = client_of(person)
        assert browser.get(address(act, inside)).status_code == 403
        assert browser.post(address(act, inside), {"typed": inside.username}).status_code == 403
    assert "Erase" not in client_of(local_admin).get("/people/").content.decode()
    inside.refresh_from_db()
    assert (inside.is_active, inside.erased_at) == (True, None)


def test_an_unknown_person_is_not_found(admin, client_of):
    assert client_of(admin).get("/people/nobody234567/erase/").status_code == 404


def test_a_role_in_a_corpus_in_the_trash_is_named_so_and_cannot_be_taken(admin, client_of):
    hidden = CorpusFactory(name="attic", trashed_at=timezone.now())
    MembershipFactory(corpus=hidden)

    page = client_of(admin).get("/people/").content.decode()
    assert "(in the trash)" in page
    assert hidden.public_id not in page
