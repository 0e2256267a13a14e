"""The HTTP client under the adapter: no redirects, no proxies, and only to addresses the guard allows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import httpcore2
import httpx2

from simulation.domain.addresses import AddressGuard, Unresolved

MOST_CONNECTIONS = 512
"""More than the most places of a lane, so that a call never waits for a connection."""
CONNECT_SECONDS = 10.0


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Resolves a name, has the guard judge the addresses, and connects to those: no second look-up."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Raises BadAddress for a refused host, httpcore2's errors where nobody answers."""
        try:
            async with asyncio.timeout(timeout):
                found = await asyncio.to_thread(self._guard.addresses, host, port)
        except Unresolved as error:
            raise httpcore2.ConnectError(str(error)) from None
        except TimeoutError:
            raise httpcore2.ConnectTimeout(f"{host}: the name server does not answer") from None
        share = timeout / len(found) if timeout else timeout
        for address in found[:-1]:
            try:
                return await self._network.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._network.connect_tcp(found[-1], port, share, local_address, socket_options)


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """httpx2's transport over a guarded pool. Certificates are checked against the name, not the address."""

    def __init__(self, guard: AddressGuard) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=httpx2.create_ssl_context(),
            max_connections=MOST_CONNECTIONS,
            max_keepalive_connections=MOST_CONNECTIONS,
            keepalive_expiry=15.0,
            network_backend=GuardedNetwork(guard),
        )


def guarded_client(guard: AddressGuard, timeout: float) -> httpx2.AsyncClient:
    """A client bound to the event loop that first uses it. Proxies of the environment are not used: a
    proxy would connect where the guard cannot see."""
    return httpx2.AsyncClient(
        transport=GuardedTransport(guard),
        timeout=httpx2.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)),
        follow_redirects=False,
        trust_env=False,
    )
