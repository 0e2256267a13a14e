"""How often one may ask in a minute."""

import pytest
import time_machine
from redis.exceptions import RedisError

from simulation.rest import throttling
from tests.api import api_of, problem_in

pytestmark = pytest.mark.django_db
MOMENT = "2031-05-05T12:00:15Z"


@pytest.fixture(autouse=True)
def broker_was_not_silent(monkeypatch):
    monkeypatch.setattr(throttling.PerMinute, "silent_until", 0.0)


@pytest.fixture
def slow(settings):
    settings.API_RATE = 3


def test_too_many_requests_are_told_how_long_to_wait(researcher, slow):
    api = api_of(researcher)
    with time_machine.travel(MOMENT, tick=False):
        api = api_of(researcher)
        left = [api.get("corpora/")["RateLimit"] for _ in range(3)]
        assert left == [f'"minute";r={n};t=45' for n in (2, 1, 0)]
        refused = api.get("corpora/")
    assert "3 requests" in problem_in(refused, 429)["detail"]
    assert refused["Retry-After"] == "45"
    assert refused["RateLimit-Policy"] == '"minute";q=3;w=60'


def test_the_next_minute_begins_anew_and_other_tokens_count_for_themselves(researcher, slow):
    with time_machine.travel(MOMENT, tick=False):
        api, other = api_of(researcher), api_of(researcher)
        assert [api.get("corpora/").status_code for _ in range(4)] == [200, 200, 200, 429]
        assert other.get("corpora/").status_code == 200
    with time_machine.travel("2031-05-05T12:01:00Z", tick=False):
        assert api.get("corpora/").status_code == 200


def test_nobody_is_refused_while_the_broker_is_silent_and_it_is_asked_once(
    researcher, slow, monkeypatch, caplog
):
    asked = []

    def silent():
        asked.append(1)
        raise RedisError("no answer")

    monkeypatch.setattr(throttling, "broker", silent)
    api = api_of(researcher)
    assert [api.get("corpora/").status_code for _ in range(5)] == [200] * 5
    assert "not counted" in caplog.text
    assert len(asked) == 1
    monkeypatch.setattr(throttling.PerMinute, "silent_until", 0.0)  # a while later
    assert api.get("corpora/").status_code == 200
    assert len(asked) == 2
