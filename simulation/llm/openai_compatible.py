"""One adapter for every provider that speaks the OpenAI format: a base URL and a key.

It makes one attempt a call; trying again is the caller's business. Nothing of the key is ever part of
an error: the key is checked here before a client can complain about it, and details are masked.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from typing import Any, Protocol

import openai
from openai import AsyncOpenAI

from simulation.llm.addresses import AddressGuard, BadAddress
from simulation.llm.errors import LLMError, Trouble
from simulation.llm.gateway import Connection
from simulation.llm.messages import ChatReply, ChatRequest, ModerationReply, ModerationRequest
from simulation.llm.openai_errors import classify
from simulation.llm.openai_wire import fields_of, moderation_of, reply_of
from simulation.llm.storable import storable
from simulation.llm.transport import guarded_client

KEY = re.compile(r"[!-~]+")
NO_KEY = "none"
"""Sent where a connection has no key: local servers want the header but do not read it."""


class _Raw(Protocol):
    """What the client gives back for a call with a raw response."""

    @property
    def http_response(self) -> Any: ...


class OpenAICompatible:
    """A Gateway. Belongs to the event loop in which it is first used."""

    def __init__(self, connection: Connection, key: str, *, guard: AddressGuard) -> None:
        """Raises LLMError (permanent) for an address the guard refuses and for a key no header can carry."""
        try:
            guard.check_form(connection.base_url)
        except BadAddress as error:
            raise classify(error) from None
        if key and not KEY.fullmatch(key):
            raise LLMError(Trouble.PERMANENT, "the key has a blank or another character that no key has")
        self._key = key
        self._timeout = connection.timeout
        self._client = AsyncOpenAI(
            api_key=key or NO_KEY,
            base_url=connection.base_url,
            timeout=connection.timeout,
            max_retries=0,
            http_client=guarded_client(guard, connection.timeout),
        )
        # The client takes these from the environment; another provider has no business to see them.
        self._client.organization = self._client.project = None

    async def complete(self, request: ChatRequest, *, attempt: int = 0) -> ChatReply:
        create = self._client.chat.completions.with_raw_response.create
        call = create(**fields_of(request), extra_headers=_headers(attempt))
        return reply_of(await self._body(call))

    async def moderate(self, request: ModerationRequest, *, attempt: int = 0) -> ModerationReply:
        create = self._client.moderations.with_raw_response.create
        call = create(model=request.model, input=list(request.texts), extra_headers=_headers(attempt))
        return moderation_of(await self._body(call), len(request.texts))

    async def close(self) -> None:
        await self._client.close()

    async def _body(self, call: Awaitable[_Raw]) -> object:
        """The JSON of the answer. The whole call, the body's last byte included, has `timeout` seconds."""
        try:
            async with asyncio.timeout(self._timeout):
                body = (await call).http_response.json()
        except (openai.OpenAIError, BadAddress, TimeoutError, ValueError) as error:
            raise classify(error, key=self._key) from None
        except RecursionError:
            raise LLMError(
                Trouble.TRANSIENT, "the answer cannot be read: nested too deeply", unheard=True
            ) from None
        return storable(body, key="" if self._key == NO_KEY else self._key)


def _headers(attempt: int) -> dict[str, str]:
    return {"x-stainless-retry-count": str(attempt)}
