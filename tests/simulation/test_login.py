"""Signing in and out, and what happens to somebody who guesses."""

import datetime
import logging

import pytest
import time_machine
from django.conf import settings
from django.test import Client
from django.urls import reverse

from tests.factories.simulation import PASSWORD, UserFactory

pytestmark = pytest.mark.django_db
LOGIN = "/login/"
NOW = datetime.datetime(2026, 3, 2, 9, 0, tzinfo=datetime.UTC)


def sign_in(client, username="lena", password=PASSWORD, **extra):
    return client.post(LOGIN, {"username": username, "password": password}, **extra)


def guess(client, times, **extra):
    for _ in range(times):
        response = sign_in(client, password="wrong", **extra)
    return response


def signed_in(client):
    return "_auth_user_id" in client.session


def test_the_right_password_lets_in_and_leads_home(client, labeler):
    response = sign_in(client)

    assert signed_in(client)
    assert response.headers["Location"] == reverse("home")


def test_the_page_that_was_asked_for_comes_after_the_login(client, labeler):
    asked = client.get("/account/")
    assert asked.headers["Location"] == "/login/?next=/account/"

    response = client.post(asked.headers["Location"], {"username": "lena", "password": PASSWORD})
    assert response.headers["Location"] == "/account/"


def test_the_login_page_works_without_scripts(client):
    page = client.get(LOGIN).content.decode()

    assert 'name="username"' in page
    assert "<script" not in page
    assert "style=" not in page


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_a_next_address_on_another_site_is_ignored(client, labeler, elsewhere):
    response = client.post(
        f"{LOGIN}?next={elsewhere}", {"username": "lena", "password": PASSWORD, "next": elsewhere}
    )

    assert response.headers["Location"] == reverse("home")


def test_a_wrong_password_is_refused_in_the_same_words_as_a_wrong_name(client, labeler):
    known = sign_in(client, password="wrong").context["form"].non_field_errors()
    unknown = sign_in(client, username="nobody", password="wrong").context["form"].non_field_errors()

    assert known == unknown
    assert not signed_in(client)


@pytest.mark.parametrize("name", ["n" * 1000, "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 100])
def test_a_name_longer_than_any_is_refused_by_the_form(client, name):
    """The second is a hundred characters as typed and 1,800 as Unicode spells them out."""
    form = sign_in(client, username=name, password="wrong").context["form"]

    assert form.errors["username"] == ["A name has at most 150 characters."]
    assert not form.non_field_errors()


@pytest.mark.parametrize("hop", ["8.8.8.8:1234", "[::1]:80", "unknown"])
def test_a_failed_login_from_an_odd_forwarded_address_is_just_a_failed_login(client, labeler, settings, hop):
    settings.PROXY_COUNT = 1

    assert sign_in(client, password="wrong", HTTP_X_FORWARDED_FOR=hop).status_code == 200


def test_the_error_summary_takes_the_focus(client, labeler):
    page = sign_in(client, password="wrong").content.decode()

    first = page.index(" autofocus")
    assert page.rindex("<", 0, first) == page.index('<section class="errors"')


def test_a_closed_account_is_refused(client):
    UserFactory(username="gone", is_active=False)

    assert sign_in(client, username="gone").status_code == 200
    assert not signed_in(client)


def test_who_is_signed_in_is_led_home_from_the_login_page(labeler, client_of):
    assert client_of(labeler).get(LOGIN).headers["Location"] == reverse("home")


def test_signing_in_makes_a_new_session_key(client, labeler):
    client.get(LOGIN)
    session = client.session
    session["before"] = True
    session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = before = session.session_key

    sign_in(client)

    assert client.session.session_key != before


def test_five_wrong_passwords_bring_a_pause(client, labeler):
    assert guess(client, 4).status_code == 200
    response = guess(client, 1)

    assert response.status_code == 429
    assert "Wait fifteen minutes" in response.content.decode()
    assert settings.AXES_COOLOFF_TIME * 60 == 15


def test_the_right_password_is_refused_during_the_pause(client, labeler):
    guess(client, 5)

    assert sign_in(client).status_code == 429
    assert not signed_in(client)


def test_after_fifteen_minutes_the_right_password_lets_in(client, labeler):
    with time_machine.travel(NOW, tick=False) as clock:
        guess(client, 5)
        clock.shift(datetime.timedelta(minutes=14))
        assert Client().get(LOGIN).status_code == 200
        clock.shift(datetime.timedelta(minutes=1, seconds=1))
        sign_in(client)

        assert signed_in(client)


def test_another_address_is_not_locked(client, labeler):
    guess(client, 5, REMOTE_ADDR="203.0.113.9")

    sign_in(client, REMOTE_ADDR="198.51.100.4")
    assert signed_in(client)


def test_another_name_from_the_same_address_is_not_locked(client, labeler, researcher):
    guess(client, 5)

    sign_in(client, username="rosa")
    assert signed_in(client)


def test_a_forged_forwarding_header_does_not_hide_a_guesser(client, labeler):
    for number in range(5):
        response = sign_in(client, password="wrong", HTTP_X_FORWARDED_FOR=f"203.0.113.{number}")

    assert response.status_code == 429


def test_a_success_forgets_earlier_wrong_tries(client, labeler):
    guess(client, 4)
    sign_in(client)
    client.post("/logout/")

    assert guess(client, 4).status_code == 200


def test_no_log_line_holds_a_name_or_a_password(client, caplog):
    UserFactory(username="quetzalcoatlus")
    caplog.set_level(logging.DEBUG)
    # pytest's handler sits at the root, where every record of the site arrives.
    guess_with_name = {"username": "quetzalcoatlus", "password": "xylophone-guess"}
    for _ in range(6):
        client.post(LOGIN, guess_with_name)

    assert "quetzalcoatlus" not in caplog.text
    assert "xylophone-guess" not in caplog.text


def test_signing_out_ends_the_session(labeler, client_of):
    client = client_of(labeler)

    assert client.post("/logout/").headers["Location"] == LOGIN
    assert not signed_in(client)


def test_signing_out_needs_a_post(labeler, client_of):
    client = client_of(labeler)

    assert client.get("/logout/").status_code == 405
    assert signed_in(client)


def test_signing_out_twice_is_no_error(client, db):
    assert client.post("/logout/").headers["Location"] == LOGIN


def test_signing_in_needs_the_csrf_token(labeler):
    client = Client(enforce_csrf_checks=True)

    assert sign_in(client).status_code == 403
