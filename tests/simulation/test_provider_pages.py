"""The providers: who sees them, how one is added, and that no key is ever shown."""

import pytest
from django.urls import reverse

from simulation.domain.roles import Role
from simulation.models import AuditEntry, Provider
from simulation.services import completions
from tests.factories.simulation import MembershipFactory, ProviderFactory

pytestmark = pytest.mark.django_db
GOOD = {
    "name": "OpenAI",
    "base_url": "https://api.openai.com/v1",
    "key_variable": "OPENAI_API_KEY",
    "default_model": "gpt-4o-mini",
    "timeout_seconds": 90,
}


@pytest.fixture(autouse=True)
def no_name_server(monkeypatch):
    """Every host is at a public address, except those in .lan."""
    guard = completions.guard()
    monkeypatch.setattr(
        guard, "_resolve", lambda host, port: ["10.0.0.7" if host.endswith(".lan") else "93.184.215.14"]
    )


def add(browser, **changes):
    return browser.post(reverse("provider_new"), GOOD | changes)


def test_an_admin_of_the_installation_adds_a_provider(client_of, admin):
    answer = add(client_of(admin))
    assert answer.headers["Location"] == reverse("providers")
    provider = Provider.objects.get()
    assert (provider.name, provider.base_url, provider.key_variable) == (
        "OpenAI",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
    )
    assert (provider.timeout_seconds, provider.created_by) == (90, admin)
    assert AuditEntry.objects.get().action == "provider.added"


def test_the_list_says_whether_the_key_is_there_and_never_the_key(client_of, admin, monkeypatch):
    monkeypatch.setenv("HERE_API_KEY", "sk-very-secret")
    monkeypatch.delenv("AWAY_API_KEY", raising=False)
    ProviderFactory(name="here", key_variable="HERE_API_KEY")
    ProviderFactory(name="away", key_variable="AWAY_API_KEY")
    ProviderFactory(name="open", key_variable="")
    body = client_of(admin).get(reverse("providers")).content.decode()
    assert body.count("key present") == 1
    assert body.count("variable not set in this process") == 1
    assert body.count("no key needed") == 1
    assert "sk-very-secret" not in body


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"name": ""}, "name", "required"),
        ({"base_url": "api.openai.com"}, "base_url", "must begin with https://"),
        ({"base_url": "http://api.openai.com/v1"}, "base_url", "http is for listed private endpoints"),
        ({"base_url": "https://me:pw@api.openai.com"}, "base_url", "name or password"),
        ({"base_url": "https://model.lan/v1"}, "base_url", "not on the open internet"),
        ({"key_variable": "sk-very-secret"}, "key_variable", "never the key itself"),
        ({"key_variable": "SECRET_KEY"}, "key_variable", "ends in _API_KEY"),
        ({"default_model": ""}, "default_model", "required"),
        ({"timeout_seconds": 0}, "timeout_seconds", "greater than or equal to 1"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(client_of, admin, changes, field, said):
    answer = add(client_of(admin), **changes)
    assert answer.status_code == 422
    assert said in " ".join(answer.context["form"].errors[field])
    assert not Provider.objects.exists()


def test_a_name_is_taken_once(client_of, admin):
    ProviderFactory(name="OpenAI")
    answer = add(client_of(admin))
    assert answer.status_code == 422
    assert answer.context["form"].errors["name"]


def test_the_form_says_which_private_addresses_are_listed(client_of, admin, settings):
    settings.LLM_PRIVATE_ADDRESSES = ("model.lan:8000",)
    body = client_of(admin).get(reverse("provider_new")).content.decode()
    assert "LLM_PRIVATE_ADDRESSES" in body
    assert "model.lan:8000" in body


def test_an_admin_of_a_corpus_alone_and_a_researcher_are_refused(client_of, researcher, corpus):
    local = MembershipFactory(role=Role.ADMIN, corpus=corpus).person
    for person in (local, researcher):
        browser = client_of(person)
        assert browser.get(reverse("providers")).status_code == 403
        assert add(browser).status_code == 403
        assert reverse("providers") not in browser.get(reverse("runs")).content.decode()
    assert not Provider.objects.exists()
