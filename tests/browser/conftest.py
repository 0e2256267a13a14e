"""A real Chromium against the real site. Set CHROMIUM to its path where it is not on the path."""

import os
import shutil
import time
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.core.signals import request_finished, request_started
from playwright.sync_api import Browser, Page, sync_playwright

from simulation.models import User

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def chromium() -> str | None:
    wanted = os.environ.get("CHROMIUM", "")
    return (
        wanted
        or shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/tests/browser/" in str(item.path):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium is missing: install the package chromium, or set CHROMIUM")
        pytest.skip("NO CHROMIUM: install the package chromium, or set CHROMIUM to its path")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def idle(live_server) -> Iterator[Callable[[], None]]:
    """`idle()` waits until the site has answered everything that was asked."""
    under_way: list[int] = [0]

    def began(**_: object) -> None:
        under_way[0] += 1

    def ended(**_: object) -> None:
        under_way[0] -= 1

    def wait() -> None:
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < 0.15:
            if under_way[0] > 0:
                quiet_since = time.monotonic()
            time.sleep(0.01)

    request_started.connect(began)
    request_finished.connect(ended)
    yield wait
    request_started.disconnect(began)
    request_finished.disconnect(ended)


@pytest.fixture
def open_as(browser: Browser, live_server, idle) -> Iterator[Callable[..., Page]]:
    """`open_as(person, **context)` is a page in which the person is signed in.

    Whatever the page complains about in its console (a blocked script, a missing file) fails the test,
    except for what holds one of the words of `expects`.
    """
    contexts, complaints = [], []
    expected = ["422 (Unprocessable"]

    def opened(person: User | None, *, expects: tuple[str, ...] = (), **options: object) -> Page:
        expected.extend(expects)
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        contexts.append(context)
        if person is not None:
            context.add_cookies(
                [{"name": settings.SESSION_COOKIE_NAME, "value": _session(person), "url": live_server.url}]
            )
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield opened
    heard = list(complaints)
    for context in contexts:
        context.set_offline(True)  # a page that is left would still send its draft, into the next test
    idle()
    for context in contexts:
        context.close()
    assert [one for one in heard if not any(words in one for words in expected)] == []


def _session(person: User) -> str:
    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.create()
    assert session.session_key
    return session.session_key
