"""What every caller depends on: something that answers requests. And the connections it is made from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from simulation.llm.messages import ChatReply, ChatRequest, ModerationReply, ModerationRequest

KEY_VARIABLE = re.compile(r"^[A-Z][A-Z0-9_]{0,60}_API_KEY$")


@dataclass(frozen=True)
class Connection:
    """A provider: where it is and the *name* of the environment variable that holds its key.

    `timeout` is how many seconds one call may take.
    """

    base_url: str
    key_variable: str = ""
    timeout: float = 120.0


class Gateway(Protocol):
    """One provider. Makes exactly one attempt a call and raises LLMError where it brings no reply.

    `attempt` counts from 0 the tries of the same request; it is told to the provider the way the
    `openai` client tells it its own retries (header x-stainless-retry-count), and changes nothing else.
    """

    async def complete(self, request: ChatRequest, *, attempt: int = 0) -> ChatReply: ...

    async def moderate(self, request: ModerationRequest, *, attempt: int = 0) -> ModerationReply: ...

    async def close(self) -> None: ...
