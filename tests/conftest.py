"""The cast every test knows, and the way to act as one of them."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings as site
from django.core.management import CommandError
from django.test import Client, TransactionTestCase
from hypothesis import settings as hypothesis_settings

from simulation.domain.roles import Role
from simulation.models import Corpus, User
from simulation.services import asking, claiming, completions, engine, prompts, remembered
from tests.factories.simulation import CorpusFactory, MembershipFactory, UserFactory
from tests.fakes.llm import FakeGateway

# How fast an example is depends on what else the machine does.
hypothesis_settings.register_profile("studio", deadline=None)
hypothesis_settings.load_profile("studio")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long tests of trouble are counted as skipped, not hidden, where nobody asked for them."""
    if os.environ.get("RUN_FAULTS"):
        return
    for item in items:
        if item.get_closest_marker("faults"):
            item.add_marker(pytest.mark.skip(reason="LONG: make test-faults runs it"))


@pytest.fixture(autouse=True, scope="session")
def static_folder():
    """Nothing is collected for tests, but the middleware warns where the folder is missing."""
    Path(site.STATIC_ROOT).mkdir(parents=True, exist_ok=True)


@pytest.fixture(autouse=True, scope="session")
def emptied_at_the_second_try():
    """Emptying all tables takes every lock there is; a request that a closed page has left behind may stand
    in its way once."""
    empty = TransactionTestCase._fixture_teardown

    def patiently(case: TransactionTestCase) -> None:
        try:
            empty(case)
        except CommandError:
            time.sleep(1)
            empty(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", patiently)
        yield


@pytest.fixture(autouse=True)
def quick_password_hashes(settings):
    """A password hash is slow on purpose; tests need none of that."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def nothing_remembered():
    """What a process keeps for ever is rolled back, or truncated, between tests."""
    prompts.version.cache_clear()
    asking.cast_member.cache_clear()
    asking.persona_of.cache_clear()
    remembered.forget()
    claiming.forget()


def _with_role(username: str, role: Role) -> User:
    return MembershipFactory(person__username=username, role=role.value).person


@pytest.fixture
def admin(db: None) -> User:
    """Admin of the whole installation."""
    return _with_role("ada", Role.ADMIN)


@pytest.fixture
def researcher(db: None) -> User:
    """Researcher in the whole installation."""
    return _with_role("rosa", Role.RESEARCHER)


@pytest.fixture
def adjudicator(db: None) -> User:
    """Adjudicator in the whole installation."""
    return _with_role("juno", Role.ADJUDICATOR)


@pytest.fixture
def labeler(db: None) -> User:
    """Labeler in the whole installation."""
    return _with_role("lena", Role.LABELER)


@pytest.fixture
def stranger(db: None) -> User:
    """An account without any role."""
    return UserFactory(username="sven")


@pytest.fixture
def corpus(db: None) -> Corpus:
    return CorpusFactory(name="winter")


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    """`client_of(person)` is a browser in which `person` is signed in."""

    def signed_in(person: User) -> Client:
        client = Client()
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return signed_in


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> FakeGateway:
    """Answers every call of a run. No message is sent to workers: the test is the worker."""
    fake = FakeGateway()
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(completions, "_gateway", lambda *_: fake)
    return fake
