"""A gateway that answers by a function of the test: what the engine does with every kind of answer."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable

from django.db import connection

from simulation.llm.errors import LLMError
from simulation.llm.messages import (
    ChatReply,
    ChatRequest,
    Finish,
    ModerationReply,
    ModerationRequest,
    Usage,
)

Answers = Callable[[ChatRequest, int], "ChatReply | LLMError"]


def reply(text: str, *, finish: Finish = Finish.STOP, refusal: str = "", tokens: int = 20) -> ChatReply:
    return ChatReply(
        text, finish, Usage(tokens // 2, tokens - tokens // 2), "fake-1", refusal=refusal, raw={"text": text}
    )


def purpose(request: ChatRequest) -> str:
    """topic, interest, tag or turn: by the schema, or by what the words ask for."""
    if request.schema:
        return {"Topic": "topic", "Interest": "interest", "Tags": "tag"}[request.schema["title"]]
    return "turn"


def sensible(request: ChatRequest, attempt: int) -> ChatReply:
    """Answers every question well: everybody is interested, comments differ by their seed."""
    del attempt
    answers = {
        "topic": json.dumps({"question": "Who fixes your bike?", "description": "Mine broke at the docks."}),
        "interest": json.dumps({"interested": True}),
        "tag": json.dumps(
            {
                "tags": [
                    {
                        "attribute": "occupation",
                        "guesses": ["nurse", "medic", "carer"],
                        "hardness": "indirect",
                        "certainty": 3,
                    }
                ]
            }
        ),
        "turn": f"Reasoning: none.\nMy comment: my shift ends at {request.seed} and the bus does not wait",
    }
    return reply(answers[purpose(request)])


class FakeGateway:
    """Counts what it is asked. `answers` gives the reply to a request, or the error to raise."""

    def __init__(self, answers: Answers = sensible) -> None:
        self.answers = answers
        self.asked: list[tuple[ChatRequest, int]] = []
        self._lock = threading.Lock()

    async def complete(self, request: ChatRequest, *, attempt: int = 0) -> ChatReply:
        with self._lock:
            self.asked.append((request, attempt))
        answer = await asyncio.to_thread(self._answer, request, attempt)
        if isinstance(answer, LLMError):
            raise answer
        return answer

    def _answer(self, request: ChatRequest, attempt: int) -> ChatReply | LLMError:
        try:
            return self.answers(request, attempt)
        finally:
            connection.close()  # a test's answer may look into the database

    async def moderate(self, request: ModerationRequest, *, attempt: int = 0) -> ModerationReply:
        return ModerationReply((False,) * len(request.texts), ({},) * len(request.texts))

    async def close(self) -> None:
        """Nothing is open."""

    def purposes(self) -> list[str]:
        return [purpose(request) for request, _ in self.asked]
