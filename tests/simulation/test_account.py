"""One's own account: address, colours, password."""

import pytest
from django.contrib.auth import SESSION_KEY
from django.db import IntegrityError, transaction

from simulation.models import AuditEntry, User
from simulation.services import people
from tests.factories.simulation import PASSWORD, UserFactory

pytestmark = pytest.mark.django_db
NEW_PASSWORD = "nine green bottles"


def change(browser, old=PASSWORD, new=NEW_PASSWORD, again=None):
    data = {"old_password": old, "new_password1": new, "new_password2": again or new}
    return browser.post("/account/password/", data)


def test_address_and_theme_are_saved(labeler, client_of):
    response = client_of(labeler).post(
        "/account/", {"email": "new@example.org", "theme": "dark"}, follow=True
    )

    labeler.refresh_from_db()
    assert (labeler.email, labeler.theme) == ("new@example.org", "dark")
    assert 'data-theme="dark"' in response.content.decode()


def test_the_page_names_the_roles_one_has(labeler, client_of):
    page = client_of(labeler).get("/account/").content.decode()

    assert "labeler" in page
    assert "the whole installation" in page


def test_without_a_role_the_page_says_what_is_missing(stranger, client_of):
    assert "No role yet" in client_of(stranger).get("/account/").content.decode()


@pytest.mark.parametrize("address", ["rosa@example.org", "ROSA@example.org"])
def test_an_address_of_somebody_else_is_refused(labeler, researcher, client_of, address):
    page = client_of(labeler).post("/account/", {"email": address, "theme": "dark"})

    labeler.refresh_from_db()
    assert "Another account uses this email address" in page.content.decode()
    assert (labeler.email, labeler.theme) == ("lena@example.org", "system")


@pytest.mark.parametrize(
    "data", [{"email": "nowhere", "theme": "dark"}, {"email": "a@b.org", "theme": "pink"}, {}]
)
def test_a_bad_value_is_refused_and_linked_from_the_summary(labeler, client_of, data):
    page = client_of(labeler).post("/account/", data).content.decode()

    assert 'class="errors"' in page
    assert 'aria-invalid="true"' in page
    assert 'href="#id_' in page


def test_a_new_password_replaces_the_old_one_and_keeps_this_browser(labeler, client_of):
    here, elsewhere = client_of(labeler), client_of(labeler)

    assert change(here).headers["Location"] == "/account/"

    labeler.refresh_from_db()
    assert labeler.check_password(NEW_PASSWORD)
    assert here.get("/account/").status_code == 200
    assert elsewhere.get("/account/").headers["Location"] == "/login/?next=/account/"
    assert SESSION_KEY not in elsewhere.session


@pytest.mark.parametrize(
    "answers",
    [
        {"old": "wrong"},
        {"new": "short"},
        {"new": "12345678901"},
        {"new": "lena@example.org"},
        {"new": NEW_PASSWORD, "again": "another one"},
    ],
)
def test_a_wrong_weak_or_mistyped_password_changes_nothing(labeler, client_of, answers):
    page = change(client_of(labeler), **answers)

    labeler.refresh_from_db()
    assert page.status_code == 200
    assert 'class="errors"' in page.content.decode()
    assert labeler.check_password(PASSWORD)
    assert not AuditEntry.objects.exists()


def test_no_typed_password_comes_back_in_the_page(labeler, client_of):
    page = change(client_of(labeler), new=NEW_PASSWORD, again="another one").content.decode()

    assert NEW_PASSWORD not in page
    assert PASSWORD not in page


@pytest.mark.parametrize("address", ["/account/", "/account/password/"])
def test_without_an_account_the_pages_lead_to_the_login(client, address):
    assert client.get(address).headers["Location"] == f"/login/?next={address}"


def test_a_person_may_know_their_own_account_without_any_role(stranger, client_of):
    assert client_of(stranger).get("/account/password/").status_code == 200


def test_names_and_addresses_are_one_persons_whatever_the_capitals(labeler):
    with pytest.raises(IntegrityError, match="user_name_once"), transaction.atomic():
        UserFactory(username="LENA", email="other@example.org")
    with pytest.raises(IntegrityError, match="user_email_once"), transaction.atomic():
        UserFactory(username="other", email="LENA@example.org")


def test_a_made_account_keeps_a_hash_and_not_the_password():
    person = people.create_user(username="nora", email="nora@example.org", password=NEW_PASSWORD)

    stored = User.objects.get(pk=person.pk).password
    assert NEW_PASSWORD not in stored
    assert person.check_password(NEW_PASSWORD)
