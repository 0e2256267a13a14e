"""The served model: faults are a pure function, the wire is OpenAI's, a hundred at a time is no trouble."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from simulation.llm.errors import LLMError, Trouble
from simulation.llm.gateway import Connection
from simulation.llm.messages import ChatReply, ChatRequest, Finish, Form, Message
from simulation.llm.openai_compatible import OpenAICompatible
from simulation.llm.openai_wire import fields_of
from simulation.llm.scripted import ScriptedModel
from simulation.llm.serving.background import in_background
from simulation.llm.serving.faults import Fault, Faults, Latency, digest_of
from simulation.llm.serving.server import Behaviour
from simulation.llm.serving.spoiling import spoilt
from simulation.llm.serving.wire import chat_request
from tests.finishing import finish
from tests.simulation.llm.talking import KEY, OBJECT, Stub, asked, call, guard_for

ROOT = Path(__file__).resolve().parents[3]
DIGESTS = [digest_of({"n": number}) for number in range(4000)]
HELLO = {"model": "stub", "messages": [{"role": "user", "content": "Hello?"}]}


def post(
    url: str, body: object, path: str = "/chat/completions", **headers: str
) -> tuple[int, dict[str, object]]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    try:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", parts.path + path, sent, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def get(url: str) -> dict[str, object]:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


def test_the_same_request_and_attempt_meet_the_same_fault():
    faults = Faults.parse("429=0.3,cut=0.3", seed=4)
    assert [faults.of(digest, 0) for digest in DIGESTS] == [faults.of(digest, 0) for digest in DIGESTS]
    assert faults.of(DIGESTS[0], 0) == Faults.parse("429=0.3, cut=0.3,", seed=4).of(DIGESTS[0], 0)


def test_another_attempt_and_another_seed_draw_anew():
    faults, others = Faults.parse("429=0.5", seed=1), Faults.parse("429=0.5", seed=2)
    first = [faults.of(digest, 0) for digest in DIGESTS]
    assert first != [faults.of(digest, 1) for digest in DIGESTS]
    assert first != [others.of(digest, 0) for digest in DIGESTS]
    assert all(any(faults.of(digest, attempt) is None for attempt in range(40)) for digest in DIGESTS[:100])


def test_faults_come_as_often_as_asked():
    faults = Faults.parse("429=0.1,500=0.2,prose=0.05")
    drawn = [faults.of(digest, 0) for digest in DIGESTS]
    shares = {
        fault: drawn.count(fault) / len(drawn)
        for fault in (Fault.RATE_LIMIT, Fault.SERVER_ERROR, Fault.PROSE, None)
    }
    assert shares == pytest.approx(
        {Fault.RATE_LIMIT: 0.1, Fault.SERVER_ERROR: 0.2, Fault.PROSE: 0.05, None: 0.65}, abs=0.03
    )


def test_no_faults_and_nothing_but_one():
    assert {Faults.parse("").of(digest, 0) for digest in DIGESTS[:50]} == {None}
    assert {Faults.parse("cut=1").of(digest, 0) for digest in DIGESTS[:50]} == {Fault.CUT}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("503=0.1", "no such fault; there are 429, 500, timeout"),
        ("cut", "share must be a number"),
        ("cut=", "share must be a number"),
        ("cut=lots", "share must be a number"),
        ("cut=nan", "share must be a number"),
        ("cut=1.5", "share must be a number"),
        ("cut=-0.1", "share must be a number"),
        ("cut=0.1,cut=0.2", "cut is there twice"),
        ("cut=0.6,500=0.6", "add up to 1.2"),
    ],
)
def test_a_wrong_fault_is_named(text, problem):
    with pytest.raises(ValueError, match=problem):
        Faults.parse(text)


def test_latency_is_drawn_between_its_bounds_and_the_same_every_time():
    latency = Latency(0.1, 0.2)
    drawn = [latency.of(digest, 0) for digest in DIGESTS]
    assert 0.1 <= min(drawn) < 0.11
    assert 0.29 < max(drawn) <= 0.3
    assert drawn == [latency.of(digest, 0) for digest in DIGESTS]


def test_the_digest_does_not_hang_on_the_order_of_keys():
    assert digest_of({"a": 1, "b": [1, 2]}) == digest_of({"b": [1, 2], "a": 1})
    assert digest_of({"b": [1, 2]}) != digest_of({"b": [2, 1]})


def test_malformed_json_is_broken_and_a_malformed_text_lacks_its_end():
    def broken(text: str) -> str:
        return spoilt(ChatReply(text, Finish.STOP), Fault.MALFORMED).text

    with pytest.raises(json.JSONDecodeError):
        json.loads(broken(OBJECT))
    assert broken("Reasoning: so\nMy comment: hello") == "Reasoning: so"
    assert broken("My comment: hello") == "(nothing)"
    assert broken("no labels at all") == "no label"
    assert broken("") == "(nothing)"


def test_prose_stands_around_the_answer():
    reply = spoilt(ChatReply("Yes.", Finish.STOP), Fault.PROSE)
    assert reply.text.endswith("\n\nYes.")
    assert reply.text != "Yes."


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"form": Form.OBJECT, "temperature": 1.0, "seed": 5},
        {"form": Form.SCHEMA, "schema": {"title": "X", "type": "object"}, "max_tokens": 9},
        {"frequency_penalty": 0.5, "top_logprobs": 3},
        {"top_logprobs": 0},
    ],
)
def test_the_server_reads_the_request_the_client_was_given(fields):
    request = ChatRequest("scripted", (Message("system", "Be."), Message("user", "Hi ☕")), **fields)
    assert chat_request(json.loads(json.dumps(fields_of(request)))) == request


def test_the_scripted_model_says_the_same_over_http_as_in_this_process():
    request = ChatRequest("scripted", (Message("user", "Hello?"),), temperature=1.0, seed=3)
    with in_background(ScriptedModel()) as (url, _):
        served = call(url, request)
    here = ScriptedModel().reply(request)
    assert (served.text, served.finish, served.usage) == (here.text, here.finish, here.usage)
    assert "not a language model" in served.served_model


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({**HELLO, "stream": True}, "stream"),
        ({**HELLO, "n": 2}, "n:"),
        ({**HELLO, "temperature": 3}, "temperature"),
        ({**HELLO, "messages": []}, "messages"),
        ({**HELLO, "messages": [{"role": "tool", "content": "x"}]}, "messages.0.role"),
        ({**HELLO, "response_format": {"type": "json_schema"}}, "response_format.json_schema"),
        ({**HELLO, "response_format": {"type": "xml"}}, "response_format.type"),
        ({"messages": HELLO["messages"]}, "model"),
        ([], "body"),
        (b"{", "line 1"),
        (b"\xff", "decode"),
        (b"", "line 1"),
    ],
)
def test_a_bad_request_is_answered_in_openai_s_words(body, problem):
    with in_background(Stub()) as (url, server):
        status, answer = post(url, body)
        assert server.stats()["replies"] == {"bad_request": 1}
    assert status == 400
    assert answer["error"]["type"] == "invalid_request_error"
    assert problem in answer["error"]["message"]


def test_moderations_models_health_and_what_is_not_there():
    with in_background(Stub()) as (url, _):
        status, judged = post(url, {"input": ["kill it", "fine"]}, "/moderations")
        assert (status, [result["flagged"] for result in judged["results"]]) == (200, [True, False])
        assert post(url, {"input": "fine"}, "/moderations")[0] == 200
        assert post(url, {"input": 5}, "/moderations")[0] == 400
        assert "scripted" in {row["id"] for row in get(f"{url}/models")["data"]}
        assert get(f"{url.removesuffix('/v1')}/healthz") == {"status": "ok"}
        assert post(url, {}, "/embeddings")[0] == 404
        assert post(url, {}, "/models")[0] == 405


def test_stats_count_completed_answers_by_request():
    with in_background(Stub(), Behaviour(faults=Faults.parse("500=0.5"))) as (url, _):
        statuses = [post(url, HELLO, **{"x-stainless-retry-count": str(n)})[0] for n in range(12)]
        stats = get(f"{url.removesuffix('/v1')}/stats")
    assert set(statuses) == {200, 500}
    assert stats["requests"] == 12
    assert stats["completed"] == {digest_of(HELLO): statuses.count(200)}
    assert stats["replies"] == {"ok": statuses.count(200), "500": statuses.count(500)}
    assert (stats["in_flight"], stats["max_in_flight"]) == (0, 1)


def test_a_client_that_leaves_is_counted_apart():
    behaviour = Behaviour(faults=Faults.parse("timeout=1"), timeout=0.4)
    with in_background(Stub(), behaviour) as (url, server):
        assert call(url, asked(), timeout=0.1).trouble is Trouble.TRANSIENT
        time.sleep(0.6)
        assert server.stats()["replies"] == {"gone": 1}
        assert (server.in_flight, server.stats()["completed"]) == (0, {})


def at_once(url: str, count: int) -> tuple[list[ChatReply | LLMError], float]:
    async def one(gateway: OpenAICompatible, number: int) -> ChatReply | LLMError:
        try:
            return await gateway.complete(asked(f"Question {number}"))
        except LLMError as error:
            return error

    async def everyone() -> tuple[list[ChatReply | LLMError], float]:
        gateway = OpenAICompatible(Connection(url, timeout=30), KEY, guard=guard_for(url))
        began = time.monotonic()
        answers = await asyncio.gather(*(one(gateway, number) for number in range(count)))
        await gateway.close()
        return list(answers), time.monotonic() - began

    return finish(everyone())


def test_a_hundred_and_twenty_eight_at_a_time():
    with in_background(Stub(), Behaviour(latency=Latency(1.0))) as (url, server):
        answers, _ = at_once(url, 128)
        stats = server.stats()
    assert all(isinstance(answer, ChatReply) for answer in answers)
    assert (stats["max_in_flight"], len(stats["completed"])) == (128, 128)


def test_more_than_the_limit_are_told_to_wait():
    with in_background(Stub(), Behaviour(latency=Latency(0.5), limit=10, retry_after=0.7)) as (url, server):
        answers, _ = at_once(url, 25)
        stats = server.stats()
    late = [answer for answer in answers if isinstance(answer, LLMError)]
    assert {(error.trouble, error.after) for error in late} == {(Trouble.RATE_LIMIT, 0.7)}
    assert len(late) == 15
    assert stats["max_in_flight"] == 10
    assert stats["replies"] == {"ok": 10, "limited": 15}


def test_a_connection_is_kept_and_answers_without_delay():
    with in_background(Stub()) as (url, _):
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)

        def fifty() -> float:
            began = time.monotonic()
            for _ in range(50):
                connection.request("POST", "/v1/chat/completions", json.dumps(HELLO))
                assert connection.getresponse().read()
            return time.monotonic() - began

        # An answer held back for the other side's acknowledgement costs 40 ms each; a machine may be busy.
        assert any(fifty() < 50 * 0.04 for _ in range(3))
        connection.close()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"hello\r\n\r\n", 400),
        (b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 411),
        (b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", 431),
    ],
)
def test_what_is_no_proper_request_is_refused(sent, status):
    async def talk(host: str, port: int) -> bytes:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(sent)
        answer = await reader.readline()
        writer.close()
        return answer

    with in_background(Stub()) as (url, _):
        parts = urlsplit(url)
        assert finish(talk(parts.hostname, parts.port)).split()[1] == str(status).encode()


def command(*options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "manage.py", "serve_scripted_model", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_the_command_serves_until_it_is_told_to_stop(sign):
    with command("--port", "0", "--latency", "0", "--faults", "cut=0") as process:
        try:
            assert "rules, not a language model" in process.stdout.readline()
            url = process.stdout.readline().split()[-1]
            assert post(url, HELLO)[0] == 200
        finally:
            process.send_signal(sign)
        assert process.wait(10) == 0
        assert process.stdout.read() == "Stopped after 1 requests.\n"
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("options", "problem"),
    [(["--faults", "x=1"], "no such fault"), (["--latency", "-1"], "not a number of seconds")],
)
def test_the_command_names_a_wrong_option(options, problem):
    with command("--port", "0", *options) as process:
        assert problem in process.communicate(timeout=20)[1]
        assert process.returncode != 0
