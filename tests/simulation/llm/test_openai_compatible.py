"""The adapter against real sockets: every fault becomes the right verdict, every odd body the right reply."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from simulation.llm.catalog import CATALOG
from simulation.llm.errors import LLMError, Trouble
from simulation.llm.gateway import Connection
from simulation.llm.messages import ChatReply, Finish, Form, ModerationRequest, Usage
from simulation.llm.openai_compatible import OpenAICompatible
from simulation.llm.openai_errors import classify, retry_after
from simulation.llm.secrets import mask
from simulation.llm.serving.background import in_background
from simulation.llm.serving.faults import Fault, Faults
from simulation.llm.serving.server import Behaviour, ModelServer
from tests.finishing import finish
from tests.simulation.llm.talking import KEY, OBJECT, WORDS, Stub, asked, call, canned, guard_for

SCHEMA = {"title": "Comment Answer", "type": "object", "properties": {}, "additionalProperties": False}


@pytest.fixture(scope="module")
def healthy() -> Iterator[tuple[str, ModelServer]]:
    with in_background(Stub()) as served:
        yield served


def faulty(fault: Fault, **request: object) -> tuple[ChatReply | LLMError, ModelServer]:
    with in_background(Stub(), Behaviour(faults=Faults({fault: 1.0}), timeout=1.0)) as (url, server):
        return call(url, asked(**request), timeout=0.3 if fault is Fault.TIMEOUT else 10), server


def completion(content: object, finish: str = "stop", **message: object) -> dict[str, object]:
    said = {"role": "assistant", "content": content, **message}
    return {"model": "m-1", "choices": [{"index": 0, "message": said, "finish_reason": finish}]}


def replied(body: object) -> ChatReply:
    with canned(body) as server:
        reply = call(server.url, asked())
    assert isinstance(reply, ChatReply), reply
    return reply


def refused(body: object, status: int = 200, **headers: str) -> LLMError:
    with canned(body, status, **headers) as server:
        error = call(server.url, asked())
        assert len(server.seen) == 1
    assert isinstance(error, LLMError), error
    return error


def test_a_reply_carries_text_usage_model_and_the_whole_body(healthy):
    reply = call(healthy[0], asked())
    assert (reply.text, reply.finish, reply.served_model) == (WORDS, Finish.STOP, "stub-1")
    assert reply.usage == Usage(input=12, output=8, cached=5, reasoning=3)
    assert reply.raw["choices"][0]["message"]["content"] == WORDS
    assert ChatReply.from_dict(reply.as_dict()) == reply


@pytest.mark.parametrize(
    ("fault", "trouble", "after"),
    [
        (Fault.RATE_LIMIT, Trouble.RATE_LIMIT, 0.2),
        (Fault.SERVER_ERROR, Trouble.TRANSIENT, None),
        (Fault.TIMEOUT, Trouble.TRANSIENT, None),
        (Fault.CUT, Trouble.TRANSIENT, None),
    ],
)
def test_a_fault_of_the_connection_is_one_attempt_and_one_verdict(fault, trouble, after):
    error, server = faulty(fault)
    assert isinstance(error, LLMError)
    assert (error.trouble, error.after) == (trouble, after)
    assert server.stats()["requests"] == 1
    assert not server.stats()["completed"]


def test_a_spoilt_answer_is_a_reply_that_tells_of_it():
    assert faulty(Fault.EMPTY)[0].text == ""
    cut = faulty(Fault.TRUNCATED)[0]
    assert (cut.finish, cut.text) == (Finish.LENGTH, WORDS[: len(WORDS) // 2].strip())
    no = faulty(Fault.REFUSED)[0]
    assert (no.finish, no.text) == (Finish.REFUSAL, "")
    assert "can't help" in no.refusal
    assert faulty(Fault.MALFORMED)[0].text == "Reasoning: it is late"
    assert faulty(Fault.MALFORMED, form=Form.OBJECT)[0].text != OBJECT
    chatty = faulty(Fault.PROSE, form=Form.OBJECT)[0].text
    assert chatty.startswith("Sure!")
    assert f"```json\n{OBJECT}\n```" in chatty


def test_every_fault_kind_was_tried():
    tried = {Fault.RATE_LIMIT, Fault.SERVER_ERROR, Fault.TIMEOUT, Fault.CUT, Fault.EMPTY, Fault.TRUNCATED}
    assert tried | {Fault.REFUSED, Fault.MALFORMED, Fault.PROSE} == set(Fault)


def test_only_fields_that_are_set_are_sent():
    with canned(completion("x")) as server:
        call(server.url, asked("a"), attempt=2)
        call(server.url, asked("b", form=Form.OBJECT, temperature=0.5, frequency_penalty=0.1, seed=7))
        call(server.url, asked("c", form=Form.SCHEMA, schema=SCHEMA, max_tokens=50))
        bodies = [body for _, body in server.seen]
        headers = server.seen[0][0]
    assert bodies[0] == {"model": "stub", "messages": [{"role": "user", "content": "a"}]}
    assert bodies[1]["response_format"] == {"type": "json_object"}
    assert (bodies[1]["temperature"], bodies[1]["frequency_penalty"], bodies[1]["seed"]) == (0.5, 0.1, 7)
    form = bodies[2]["response_format"]["json_schema"]
    assert (form["name"], form["strict"], form["schema"]) == ("comment_answer", True, SCHEMA)
    assert bodies[2]["max_tokens"] == 50
    assert headers["x-stainless-retry-count"] == "2"
    assert headers["authorization"] == f"Bearer {KEY}"


def test_the_catalogue_says_what_a_model_takes(monkeypatch):
    row = CATALOG["default"].__class__(
        forms=(Form.TEXT,),
        seed=False,
        logprobs=True,
        penalty=False,
        max_output=9,
        cap_field="max_completion_tokens",
    )
    monkeypatch.setitem(CATALOG, "stub", row)
    with canned(completion("x")) as server:
        call(server.url, asked(seed=1, frequency_penalty=1.0, max_tokens=5, top_logprobs=2))
        body = server.seen[0][1]
    assert not {"seed", "frequency_penalty", "max_tokens"} & set(body)
    assert (body["max_completion_tokens"], body["logprobs"], body["top_logprobs"]) == (5, True, 2)


def test_settings_of_openai_in_the_environment_do_not_reach_another_provider(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with canned(completion("x")) as server:
        assert isinstance(call(server.url, asked()), ChatReply)
        assert not [value for value in server.seen[0][0].values() if "secret" in value or "other" in value]


def test_thinking_is_kept_apart_wherever_the_server_puts_it():
    assert replied(completion("<think>a walk</think>\n\nGo.")).text == "Go."
    assert replied(completion("<think>a walk</think>\n\nGo.")).reasoning == "a walk"
    assert replied(completion("Go.", reasoning_content="a walk")).reasoning == "a walk"
    assert replied(completion("Go.", reasoning="a walk")).reasoning == "a walk"
    parts = [{"type": "thinking", "thinking": "a walk"}, {"type": "text", "text": "Go."}]
    assert (replied(completion(parts)).text, replied(completion(parts)).reasoning) == ("Go.", "a walk")


def test_no_content_is_an_empty_text():
    reply = replied(completion(None, reasoning_content="hm"))
    assert (reply.text, reply.reasoning, reply.usage) == ("", "hm", Usage())


@pytest.mark.parametrize(
    ("said", "finish"),
    [
        ("stop", Finish.STOP),
        ("length", Finish.LENGTH),
        ("content_filter", Finish.FILTER),
        ("tool_calls", Finish.OTHER),
    ],
)
def test_finish_reasons_in_our_words(said, finish):
    assert replied(completion("x", said)).finish is finish


def test_a_refusal_is_one_whatever_the_finish_reason():
    reply = replied(completion(None, refusal="I will not."))
    assert (reply.finish, reply.refusal) == (Finish.REFUSAL, "I will not.")


@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"model": "m"},
        {"choices": None},
        {"choices": [{"message": None}]},
        completion("x", "error"),
        [],
        "hello",
        b"{broken",
        b"",
        b"\xff\xfe",
    ],
)
def test_a_body_without_an_answer_is_a_passing_fault(body):
    assert refused(body).trouble is Trouble.TRANSIENT


def test_a_page_of_a_proxy_is_a_passing_fault():
    assert refused(b"<html>hello</html>", Content_Type="text/html").trouble is Trouble.TRANSIENT


def test_an_error_in_a_200_counts_by_its_code():
    assert refused({"error": {"code": 429, "message": "slow"}}).trouble is Trouble.RATE_LIMIT
    assert refused({"error": {"message": "upstream died"}}).trouble is Trouble.TRANSIENT
    assert refused({"error": {"code": 400, "message": "bad"}}).trouble is Trouble.PERMANENT


@pytest.mark.parametrize(
    ("status", "error", "trouble"),
    [
        (400, {"code": "context_length_exceeded"}, Trouble.PERMANENT),
        (401, {"code": "invalid_api_key"}, Trouble.PERMANENT),
        (403, {}, Trouble.PERMANENT),
        (404, {"code": "model_not_found"}, Trouble.PERMANENT),
        (413, {}, Trouble.PERMANENT),
        (422, {}, Trouble.PERMANENT),
        (402, {}, Trouble.QUOTA),
        (429, {"code": "insufficient_quota"}, Trouble.QUOTA),
        (429, {"type": "insufficient_quota"}, Trouble.QUOTA),
        (400, {"code": "billing_hard_limit_reached"}, Trouble.QUOTA),
        (429, {"code": "rate_limit_exceeded"}, Trouble.RATE_LIMIT),
        (408, {}, Trouble.TRANSIENT),
        (409, {}, Trouble.TRANSIENT),
        (500, {}, Trouble.TRANSIENT),
        (503, {}, Trouble.TRANSIENT),
        (529, {}, Trouble.TRANSIENT),
    ],
)
def test_a_status_and_a_body_make_a_verdict(status, error, trouble):
    verdict = refused({"error": {"message": "said so", **error}}, status)
    assert (verdict.trouble, verdict.status) == (trouble, status)
    assert verdict.detail == f"HTTP {status}: said so"


@pytest.mark.parametrize(
    "body", [[{"error": {"message": "said so"}}], {"error": "said so"}, {"detail": "said so"}]
)
def test_the_message_is_found_in_other_shapes_of_an_error(body):
    assert "said so" in refused(body, 400).detail


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"<html>", b'"x"'])
def test_an_error_without_an_object_still_has_a_verdict(body):
    assert refused(body, 503).trouble is Trouble.TRANSIENT


def test_what_the_provider_asks_to_wait_is_honoured():
    assert refused({}, 429, Retry_After="7").after == 7
    assert refused({}, 503, Retry_After="7").after == 7
    assert refused({}, 400, Retry_After="7").after is None
    assert retry_after({"retry-after": "99", "retry-after-ms": "1500"}) == 1.5
    now = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
    assert retry_after({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, now=now) == 30
    assert retry_after({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, now=now) == 0
    assert retry_after({"retry-after": "1e99"}) == 86_400
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({"retry-after": "nan"}) is None
    assert retry_after({}) is None


def test_a_redirect_is_not_followed(healthy):
    url, server = healthy
    before = server.stats()["requests"]
    error = refused(b"", 307, Location=f"{url}/chat/completions")
    assert (error.trouble, server.stats()["requests"]) == (Trouble.PERMANENT, before)
    assert "redirect" in error.detail


def test_a_closed_port_is_a_passing_fault():
    with canned({}) as server:
        url = server.url
    error = call(url, asked())
    assert error.trouble is Trouble.TRANSIENT
    assert "connection failed" in error.detail


def test_an_address_that_is_not_listed_is_refused_before_a_byte_is_sent():
    with canned({}) as server:
        error = call(server.url, asked(), guard=guard_for())
        assert not server.seen
    assert error.trouble is Trouble.PERMANENT
    assert "address refused" in error.detail


def test_the_key_is_in_no_log_and_in_no_error(caplog):
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="httpx2")
    message = f"Incorrect API key provided: {KEY}. Also Bearer {KEY}"
    with canned({"error": {"message": message}}, 401) as server:
        error = call(server.url, asked())
    with canned(completion("x")) as server:
        call(server.url, asked())
    assert {"openai._base_client", "httpx2", "httpcore2.http11"} <= {record.name for record in caplog.records}
    assert KEY not in caplog.text
    assert not [record for record in caplog.records if KEY in str(record.__dict__)]
    assert KEY not in f"{error} {error.detail} {error!r} {error.__cause__}"
    assert "Incorrect API key provided: ***" in error.detail


@pytest.mark.parametrize("key", ["sk-\nX", "sk with blank", "schlüssel-123", "x\r\nHost: evil"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key):
    with pytest.raises(LLMError) as error:
        OpenAICompatible(Connection("https://x.test/v1"), key, guard=guard_for())
    assert error.value.trouble is Trouble.PERMANENT
    assert key not in str(error.value)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("provided: sk-proj-abcDEF123456. See https://x.com/keys", "provided: ***. See https://x.com/keys"),
        ("Authorization: Bearer abc123def456", "Authorization: Bearer ***"),
        ("api_key='abcdef123456'", "api_key=***"),
        ("token 0123456789abcdefghijklmn!", "token ***!"),
        ("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "***"),
        ("my-own-key is wrong", "*** is wrong"),
    ],
)
def test_what_looks_like_a_key_is_masked(text, masked):
    assert mask(text, "my-own-key") == masked


@pytest.mark.parametrize(
    "text",
    [
        "The model `gpt-4o-mini-2024-07-18-preview` does not exist",
        "meta-llama/Llama-3.3-70B-Instruct-Turbo-Free",
        "maximum context length is 128000 tokens; token limit exceeded",
        "Invalid API key",
    ],
)
def test_words_and_names_of_models_are_not_masked(text):
    assert mask(text) == text


def test_a_detail_is_short():
    assert len(refused({"error": {"message": "long " * 1000}}, 400).detail) == 500


def test_an_error_nobody_foresaw_is_permanent():
    assert classify(RuntimeError("what")).trouble is Trouble.PERMANENT
    known = LLMError(Trouble.QUOTA, "no money")
    assert classify(known) is known


def test_moderation_gives_a_verdict_a_text(healthy):
    async def ask() -> object:
        gateway = OpenAICompatible(Connection(healthy[0]), KEY, guard=guard_for(healthy[0]))
        try:
            return await gateway.moderate(ModerationRequest("stub", ("kill it", "hello")))
        finally:
            await gateway.close()

    reply = finish(ask())
    assert reply.flagged == (True, False)
    assert reply.scores == ({"violence": 1.0}, {"violence": 0.0})
    assert reply.served_model == "stub-mod"


def test_the_whole_call_ends_in_time_even_if_the_body_trickles():
    async def ask() -> tuple[LLMError, float]:
        async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n")
            while not reader.at_eof() and not writer.is_closing():
                writer.write(b" ")
                await asyncio.sleep(0.05)
            writer.close()

        server = await asyncio.start_server(drip, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        gateway = OpenAICompatible(Connection(url, timeout=0.4), KEY, guard=guard_for(url))
        began = asyncio.get_running_loop().time()
        with pytest.raises(LLMError) as error:
            await gateway.complete(asked())
        took = asyncio.get_running_loop().time() - began
        await gateway.close()
        server.close()
        await asyncio.sleep(0.1)
        return error.value, took

    error, took = finish(ask())
    assert error.trouble is Trouble.TRANSIENT
    assert took < 2


def test_a_key_that_comes_back_is_masked_in_the_reply_and_in_an_error():
    key = "correct-horse-77"
    echo = completion("fine") | {"debug": {"authorization": f"Bearer {key}", key: [key]}}
    with canned(echo) as server:
        kept = call(server.url, asked(), key=key)
    assert isinstance(kept, ChatReply)
    assert kept.text == "fine"
    assert key not in str(kept.as_dict())
    with canned({"error": {"message": f"bad key {key}", "code": 99999}}) as server:
        failed = call(server.url, asked(), key=key)
    assert isinstance(failed, LLMError)
    assert key not in failed.detail
    assert failed.status == 502


@pytest.mark.parametrize("depth", [2_000, 200_000])
def test_a_bottomless_answer_is_a_passing_fault_or_is_cut(depth):
    whole = json.dumps(completion("fine"))
    body = f'{whole[:-1]}, "x": {"[" * depth}{"]" * depth}}}'.encode()
    with canned(body) as server:
        answer = call(server.url, asked())
    if isinstance(answer, LLMError):
        assert answer.trouble is Trouble.TRANSIENT
    else:
        assert answer.text == "fine"
