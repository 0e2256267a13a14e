"""One's own tokens: made, shown once, revoked; on the page and by a command."""

import hashlib
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from simulation.models import ApiToken, AuditEntry, User
from simulation.services import api_tokens, leaving
from tests.api import Api, api_of
from tests.factories.simulation import CorpusFactory, UserFactory

pytestmark = pytest.mark.django_db
PAGE = "/account/tokens/"
TOKEN = re.compile(r"spai_[\w-]{43}")


def make(browser, **changes):
    return browser.post(PAGE, {"name": "notebook", "scopes": ["read"], "days": 90, "corpus": ""} | changes)


def test_a_new_token_is_shown_once_and_works(client_of, labeler, corpus):
    browser = client_of(labeler)
    answer = make(browser, scopes=["read", "label"])
    text = TOKEN.search(answer.content.decode())[0]
    token = ApiToken.objects.get()
    assert (token.person, token.scopes, token.corpus) == (labeler, ["read", "label"], None)
    assert token.digest == hashlib.sha256(text.encode()).hexdigest()
    assert text.startswith(token.prefix)
    assert "no-store" in answer["Cache-Control"]
    assert Api(text).get("corpora/").status_code == 200
    again = browser.get(PAGE).content.decode()
    assert not TOKEN.search(again)
    assert token.prefix in again


def test_neither_the_database_nor_the_session_nor_the_audit_holds_it(client_of, labeler):
    browser = client_of(labeler)
    text = TOKEN.search(make(browser).content.decode())[0]
    entry = AuditEntry.objects.get(action="token.made")
    assert entry.details == {"person": labeler.public_id, "scopes": ["read"], "days": 90}
    kept = [str(ApiToken.objects.values().get()), str(entry.details), str(dict(browser.session))]
    assert not any(text[12:] in one for one in kept)


def test_it_is_bound_to_a_corpus_that_one_may_browse(client_of, labeler, corpus):
    make(client_of(labeler), corpus=corpus.public_id)
    assert ApiToken.objects.get().corpus == corpus
    trashed = CorpusFactory(trashed_at=timezone.now())
    assert make(client_of(labeler), name="other", corpus=trashed.public_id).status_code == 422
    assert ApiToken.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": " "}, "This field is required"),
        ({"name": "x" * 81}, "80 characters"),
        ({"scopes": []}, "Choose at least one"),
        ({"scopes": ["everything"]}, "Select a valid choice"),
        ({"days": 0}, "greater than or equal to 1"),
        ({"days": 366}, "less than or equal to 365"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(client_of, labeler, changes, says):
    answer = make(client_of(labeler), **changes)
    assert answer.status_code == 422
    assert says in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_a_name_is_given_once(client_of, labeler, researcher):
    browser = client_of(labeler)
    make(browser)
    assert "Choose another" in make(browser).content.decode()
    assert make(client_of(researcher)).status_code == 200
    assert ApiToken.objects.count() == 2


def test_no_more_than_fifty_work_at_a_time(labeler, monkeypatch):
    monkeypatch.setattr(api_tokens, "MOST_ALIVE", 1)
    api_of(labeler)
    with pytest.raises(api_tokens.BadToken, match="Revoke one"):
        api_of(labeler)


def test_a_revoked_one_is_worthless_at_once_and_stays_in_the_list(client_of, labeler, corpus):
    api = api_of(labeler)
    token = ApiToken.objects.get()
    answer = client_of(labeler).post(f"{PAGE}{token.public_id}/revoke/", follow=True)
    assert "is revoked" in answer.content.decode()
    assert api.get("corpora/").status_code == 401
    first = ApiToken.objects.get().revoked_at
    client_of(labeler).post(f"{PAGE}{token.public_id}/revoke/")
    assert ApiToken.objects.get().revoked_at == first
    assert AuditEntry.objects.filter(action="token.revoked").count() == 1


def test_that_of_another_person_is_not_there(client_of, labeler, admin):
    api_of(labeler)
    token = ApiToken.objects.get()
    assert client_of(admin).post(f"{PAGE}{token.public_id}/revoke/").status_code == 404
    assert token.prefix not in client_of(admin).get(PAGE).content.decode()


def test_the_account_page_counts_those_that_work(client_of, labeler):
    assert "Make a token" in client_of(labeler).get("/account/").content.decode()
    api_of(labeler)
    assert "1 token of yours works" in client_of(labeler).get("/account/").content.decode()


def command(*options):
    out = StringIO()
    call_command("make_token", *options, stdout=out, stderr=StringIO())
    return out.getvalue().strip()


def test_the_command_writes_a_token_and_nothing_else(labeler, corpus):
    text = command("lena", "--name", "cron", "--scopes", "read, label", "--days", "7", "--corpus", "winter")
    assert TOKEN.fullmatch(text)
    token = ApiToken.objects.get()
    assert (token.person, token.scopes, token.corpus) == (labeler, ["read", "label"], corpus)
    assert AuditEntry.objects.get(action="token.made").actor is None
    assert Api(text).get("corpora/").status_code == 200


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("nobody", "--name", "x"), "no account"),
        (("lena", "--name", "x", "--scopes", "fly"), "there are: read"),
        (("lena", "--name", "x", "--scopes", ","), "At least one scope"),
        (("lena", "--name", "x", "--days", "366"), "365 days"),
        (("lena", "--name", "x", "--corpus", "nowhere"), "Corpora: winter"),
    ],
)
def test_the_command_says_what_is_wrong(labeler, corpus, options, says):
    with pytest.raises(CommandError, match=says) as caught:
        command(*options)
    assert caught.value.returncode == 2


def test_a_closed_account_gets_none():
    UserFactory(username="gone", is_active=False)
    with pytest.raises(CommandError, match="closed"):
        command("gone", "--name", "x")


def test_who_leaves_takes_no_token_along(labeler, admin, corpus):
    api = api_of(labeler)
    leaving.deactivate(by=admin, person=labeler)
    leaving.reactivate(by=admin, person=labeler)
    assert "revoked" in api.get("corpora/").json()["detail"]
    again = api_of(User.objects.get(pk=labeler.pk))
    assert again.get("corpora/").status_code == 200
    leaving.erase(by=admin, person=labeler, typed="lena")
    assert again.get("corpora/").status_code == 401
    assert not ApiToken.objects.exists()
