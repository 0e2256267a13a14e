"""What each address answers, before faults of the connection come into it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from simulation.llm.messages import ChatReply, ChatRequest, ModerationReply, ModerationRequest
from simulation.llm.serving import wire
from simulation.llm.serving.faults import Fault
from simulation.llm.serving.http import Answer
from simulation.llm.serving.spoiling import spoilt


class Rules(Protocol):
    """A model that answers at once."""

    def reply(self, request: ChatRequest) -> ChatReply: ...

    def judged(self, request: ModerationRequest) -> ModerationReply: ...


Handle = Callable[[Rules, object, str, Fault | None], Answer]
"""Model, body, its digest, fault -> answer. Raises wire.BadRequest."""


def chat(model: Rules, body: object, digest: str, fault: Fault | None) -> Answer:
    reply = spoilt(model.reply(wire.chat_request(body)), fault)
    return Answer(200, wire.completion(reply, digest=digest))


def moderation(model: Rules, body: object, digest: str, fault: Fault | None) -> Answer:
    return Answer(200, wire.moderation(model.judged(wire.moderation_request(body)), digest=digest))


POSTS: dict[str, Handle] = {"/chat/completions": chat, "/moderations": moderation}
LOOKS = ("/models", "/stats", "/healthz")


def look(method: str, path: str, stats: wire.Json) -> Answer:
    """What is answered to anything that is not a call to a model."""
    if method == "GET" and path in LOOKS:
        return Answer(200, {"/models": wire.models(), "/stats": stats, "/healthz": {"status": "ok"}}[path])
    problem = wire.error(f"{method} {path}: there is nothing here", "invalid_request_error")
    return Answer(405 if path in POSTS or path in LOOKS else 404, problem)


def bad_request(problem: Exception) -> Answer:
    return Answer(400, wire.error(str(problem), "invalid_request_error"))


def server_error() -> Answer:
    return Answer(500, wire.error("the server had an error", "server_error"))


def too_fast(why: str, retry_after: float | None) -> Answer:
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    return Answer(429, wire.error(why, "requests", "rate_limit_exceeded"), headers)
