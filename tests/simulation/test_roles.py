"""Giving and taking roles, in one corpus or in the whole installation."""

import io
import threading

import pytest
from django.core.exceptions import PermissionDenied
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.urls import reverse

from simulation.domain.roles import Right, Role
from simulation.models import AuditEntry, Corpus, Membership, User
from simulation.selectors.access import rights_of
from simulation.services import people
from tests.factories.simulation import PASSWORD, CorpusFactory, MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db


def give(browser, person, role="labeler", corpus=None, **options):
    data = {"role": role, "corpus": corpus.public_id if corpus else ""}
    return browser.post(reverse("membership_grant", args=[person.public_id]), data, **options)


def take(browser, person, role="labeler", corpus=None, **options):
    data = {"role": role, "corpus": corpus.public_id if corpus else ""}
    return browser.post(reverse("membership_revoke", args=[person.public_id]), data, **options)


def roles(person):
    return sorted(
        (m.role, m.corpus.name if m.corpus else "") for m in person.memberships.select_related("corpus")
    )


@pytest.fixture
def local_admin(corpus):
    """Admin of the corpus "winter" only."""
    return MembershipFactory(person__username="wilma", role=Role.ADMIN, corpus=corpus).person


def test_an_admin_gives_a_role_in_one_corpus(admin, stranger, corpus, client_of):
    CorpusFactory(name="summer")

    response = give(client_of(admin), stranger, "researcher", corpus, follow=True)

    assert "sven is now researcher in winter." in response.content.decode()
    assert roles(stranger) == [("researcher", "winter")]
    assert [c.name for c in Corpus.objects.visible_to(stranger)] == ["winter"]


def test_a_role_in_the_whole_installation_counts_in_every_corpus(admin, stranger, corpus, client_of):
    CorpusFactory(name="summer")

    give(client_of(admin), stranger, "labeler")

    assert [c.name for c in Corpus.objects.visible_to(stranger)] == ["summer", "winter"]
    assert rights_of(stranger) == {Right.BROWSE, Right.REVIEW}


def test_an_admin_takes_a_role_away(admin, labeler, corpus, client_of):
    response = take(client_of(admin), labeler, follow=True)

    assert "lena is no longer labeler in the whole installation." in response.content.decode()
    assert roles(labeler) == []
    assert not Corpus.objects.visible_to(labeler).exists()


def test_giving_a_role_twice_is_said_and_not_written_down(admin, labeler, client_of):
    response = give(client_of(admin), labeler, follow=True)

    assert "lena is labeler there already." in response.content.decode()
    assert not AuditEntry.objects.exists()


def test_taking_a_role_that_was_taken_meanwhile_is_said(admin, labeler):
    membership = labeler.memberships.get()
    people.revoke_membership(by=admin, membership=membership)

    with pytest.raises(people.RoleMissing):
        people.revoke_membership(by=admin, membership=Membership(pk=10**9, person=labeler, role=Role.LABELER))


def test_an_admin_of_one_corpus_gives_and_takes_roles_in_it(local_admin, corpus, client_of):
    person = MembershipFactory(corpus=corpus).person
    browser = client_of(local_admin)

    give(browser, person, "adjudicator", corpus)
    take(browser, person, "labeler", corpus)

    assert roles(person) == [("adjudicator", "winter")]


def test_an_admin_of_one_corpus_gives_no_role_outside_of_it(local_admin, corpus, client_of):
    person = MembershipFactory(corpus=corpus).person
    other = CorpusFactory(name="secret")
    browser = client_of(local_admin)

    assert give(browser, person, corpus=other).status_code == 404
    assert give(browser, person, "admin").status_code == 403
    assert give(browser, local_admin, "admin").status_code == 403
    for place in (other, None):
        with pytest.raises(PermissionDenied):
            people.grant(by=local_admin, person=person, role=Role.LABELER, corpus=place)
    assert roles(person) == [("labeler", "winter")]


def test_an_admin_of_one_corpus_takes_no_role_outside_of_it(local_admin, labeler, corpus, client_of):
    other = CorpusFactory(name="secret")
    inside = MembershipFactory(corpus=corpus).person
    abroad = MembershipFactory(person=inside, corpus=other)
    browser = client_of(local_admin)

    assert take(browser, inside, corpus=other).status_code == 404
    assert take(browser, labeler).status_code == 403
    for membership in (abroad, labeler.memberships.get()):
        with pytest.raises(PermissionDenied):
            people.revoke_membership(by=local_admin, membership=membership)
    assert len(roles(inside)) == 2


def test_to_an_admin_of_one_corpus_a_stranger_is_not_there(local_admin, stranger, corpus, client_of):
    assert give(client_of(local_admin), stranger, corpus=corpus).status_code == 404


@pytest.mark.parametrize("role", [Role.LABELER, Role.ADJUDICATOR, Role.RESEARCHER])
def test_nobody_but_an_admin_gives_or_takes(role, stranger, admin, client_of):
    browser = client_of(MembershipFactory(role=role).person)

    assert give(browser, stranger).status_code == 403
    assert take(browser, admin, "admin").status_code == 403


def test_the_last_admin_of_the_installation_is_kept(admin, client_of):
    response = take(client_of(admin), admin, "admin", follow=True)

    assert "there must be one" in response.content.decode()
    assert roles(admin) == [("admin", "")]


def test_closed_accounts_and_admins_of_a_corpus_do_not_count_as_another_admin(admin, local_admin):
    MembershipFactory(role=Role.ADMIN, person__is_active=False)

    with pytest.raises(people.LastAdmin):
        people.revoke_membership(by=admin, membership=admin.memberships.get())


def test_one_of_two_admins_may_step_down_and_lands_on_the_home_page(admin, client_of):
    MembershipFactory(role=Role.ADMIN)

    response = take(client_of(admin), admin, "admin")

    assert response.headers["Location"] == reverse("home")
    assert roles(admin) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.database
def test_two_admins_who_revoke_each_other_at_once_leave_one(admin):
    other = MembershipFactory(role=Role.ADMIN, person__username="otto").person
    together = threading.Barrier(2)
    outcomes = []

    def revoke(by, whom):
        membership = whom.memberships.get()
        try:
            together.wait(timeout=10)
            people.revoke_membership(by=by, membership=membership)
            outcomes.append("done")
        except (people.LastAdmin, PermissionDenied) as refusal:
            outcomes.append(type(refusal).__name__)
        finally:
            connection.close()

    threads = [threading.Thread(target=revoke, args=pair) for pair in ((admin, other), (other, admin))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)

    assert outcomes.count("done") == 1
    assert Membership.objects.filter(role=Role.ADMIN).count() == 1


@pytest.mark.parametrize("role", ["", "owner", "ADMIN"])
def test_an_unknown_role_is_a_bad_request(admin, stranger, client_of, role):
    assert give(client_of(admin), stranger, role).status_code == 400


def test_giving_and_taking_need_a_post(admin, labeler, client_of):
    browser = client_of(admin)

    assert browser.get(reverse("membership_grant", args=[labeler.public_id])).status_code == 405
    assert browser.get(reverse("membership_revoke", args=[labeler.public_id])).status_code == 405


def test_the_database_refuses_a_role_twice_and_a_role_nobody_knows(labeler):
    with pytest.raises(IntegrityError, match="membership_once"), transaction.atomic():
        Membership.objects.create(person=labeler, role="labeler")
    with pytest.raises(IntegrityError, match="membership_role_known"), transaction.atomic():
        Membership.objects.create(person=labeler, role="owner")


@pytest.fixture
def first_person(monkeypatch, capsys):
    """`first_person(*options, password=...)` runs the command and returns what it prints."""

    def run(*options, email="first@example.org", password="nine green bottles"):
        monkeypatch.setattr("sys.stdin", io.StringIO(password + "\n"))
        call_command("create_person", "first", "--email", email, "--password-stdin", *options)
        return capsys.readouterr().out

    return run


def test_the_command_makes_the_first_admin(first_person):
    assert first_person("--role", "admin") == "first is admin in the whole installation.\n"

    person = User.objects.get(username="first")
    assert person.check_password("nine green bottles")
    assert roles(person) == [("admin", "")]
    assert not person.is_superuser


def test_the_command_gives_a_role_in_a_corpus_by_its_name(first_person, corpus):
    first_person("--role", "labeler", "--corpus", "winter")

    assert roles(User.objects.get(username="first")) == [("labeler", "winter")]


@pytest.mark.parametrize(
    ("options", "changes", "words"),
    [
        (["--role", "admin"], {"password": "short"}, "too short"),
        (["--role", "admin"], {"email": "nowhere"}, "valid email"),
        (["--role", "admin", "--corpus", "summer"], {}, "Corpora: winter"),
        (["--role", "owner"], {}, "invalid choice"),
    ],
)
def test_the_command_refuses_in_words(first_person, corpus, options, changes, words):
    with pytest.raises(CommandError, match=words):
        first_person(*options, **changes)
    assert not User.objects.exists()


def test_the_command_refuses_a_taken_name_and_address(first_person):
    UserFactory(username="FIRST", email="other@example.org")
    with pytest.raises(CommandError, match="name is taken"):
        first_person("--role", "admin")
    User.objects.update(username="other", email="FIRST@example.org")
    with pytest.raises(CommandError, match="email address"):
        first_person("--role", "admin")


def test_the_command_asks_for_the_password_twice(monkeypatch):
    answers = iter([PASSWORD, "another one"])
    monkeypatch.setattr("getpass.getpass", lambda prompt: next(answers))

    with pytest.raises(CommandError, match="differ"):
        call_command("create_person", "first", "--email", "first@example.org", "--role", "admin")
