"""One adapter for every provider that speaks the OpenAI format: a base URL and a key.

It makes one attempt a call; trying again is the caller's business. Nothing of the key is ever part of
an error: the key is checked here before a client can complain about it, and details are masked.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

import httpx2
import openai
from openai import AsyncOpenAI, RequestOptions

from simulation.domain.addresses import AddressGuard, BadAddress
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
        return reply_of(await self._body("/chat/completions", fields_of(request), attempt))

    async def moderate(self, request: ModerationRequest, *, attempt: int = 0) -> ModerationReply:
        body = {"model": request.model, "input": list(request.texts)}
        return moderation_of(await self._body("/moderations", body, attempt), len(request.texts))

    async def close(self) -> None:
        await self._client.close()

    async def _body(self, path: str, body: dict[str, Any], attempt: int) -> object:
        """The JSON of the answer. The whole call, the body's last byte included, has `timeout` seconds.

        By the client's `post` rather than its typed methods, which would turn a checked body into itself.
        """
        options: RequestOptions = {"headers": {"x-stainless-retry-count": str(attempt)}}
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._client.post(path, cast_to=httpx2.Response, body=body, options=options)
                said = answer.json()
        except (openai.OpenAIError, BadAddress, TimeoutError, ValueError) as error:
            raise classify(error, key=self._key) from None
        except RecursionError:
            raise LLMError(
                Trouble.TRANSIENT, "the answer cannot be read: nested too deeply", unheard=True
            ) from None
        return storable(said, key="" if self._key == NO_KEY else self._key)
