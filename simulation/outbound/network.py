"""Under the client: addresses that the guard allows, and one end of time for everything that waits.

It does what `simulation/llm/transport.py` does for calls to models, for a caller that waits in its thread.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from threading import Thread
from time import monotonic
from typing import Any, TypeVar

import httpcore2
import httpx2

from simulation.domain.addresses import AddressGuard, BadAddress, Unresolved

Found = TypeVar("Found")


class Deadline:
    """Begins when it is made."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = monotonic() + seconds

    def left(self, late: type[httpcore2.TimeoutException]) -> float:
        """Seconds left. Raises `late` where there are none."""
        seconds = self._end - monotonic()
        if seconds <= 0:
            raise late("the time is over")
        return seconds

    def within(self, ask: Callable[[], Found]) -> Found:
        """What `ask` returns, or the BadAddress it raises; asked in a thread, because a name server that
        does not answer cannot be interrupted. Raises httpcore2.ConnectTimeout in place of waiting longer."""
        told: Future[Found] = Future()

        def run() -> None:
            try:
                told.set_result(ask())
            except BadAddress as refusal:
                told.set_exception(refusal)

        Thread(target=run, daemon=True).start()
        try:
            return told.result(self.left(httpcore2.ConnectTimeout))
        except TimeoutError:
            raise httpcore2.ConnectTimeout("the name server does not answer") from None


class _Stream(httpcore2.NetworkStream):
    """Each wait gets what is left of the whole, whatever was set for the single one: who sends a byte a
    second gains nothing."""

    def __init__(self, inner: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.left(httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._deadline.left(httpcore2.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = self._deadline.left(httpcore2.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class GuardedNetwork(httpcore2.NetworkBackend):
    """Resolves a name, has the guard judge the addresses, and connects to those: no second look-up."""

    def __init__(self, guard: AddressGuard, deadline: Deadline) -> None:
        self._guard = guard
        self._deadline = deadline
        self._network = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Raises BadAddress for a refused host, httpcore2's errors where nobody answers."""
        try:
            found = self._deadline.within(lambda: self._guard.addresses(host, port))
        except Unresolved as error:
            raise httpcore2.ConnectError(str(error)) from None
        share = self._deadline.left(httpcore2.ConnectTimeout) / len(found)
        for address in found[:-1]:
            try:
                return self._connected(address, port, share, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        left = self._deadline.left(httpcore2.ConnectTimeout)
        return self._connected(found[-1], port, left, local_address, socket_options)

    def _connected(self, address: str, port: int, seconds: float, *options: Any) -> httpcore2.NetworkStream:
        return _Stream(self._network.connect_tcp(address, port, seconds, *options), self._deadline)


class GuardedTransport(httpx2.HTTPTransport):
    """httpx2's transport over a guarded pool. Certificates are checked against the name, not the address."""

    def __init__(self, guard: AddressGuard, deadline: Deadline) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context(),
            max_connections=1,
            network_backend=GuardedNetwork(guard, deadline),
        )
