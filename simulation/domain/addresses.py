"""Which addresses a call may go to: the open internet by https, and the private endpoints that are listed.

A URL is text that people type; without a guard it could make the server read its own metadata service or
a neighbour's database. `check_url` judges it when it is saved, `addresses` again whenever a
connection is made, and the very address that passed is the one connected to: a name that changes its
address in between gains nothing.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Collection, Sequence
from urllib.parse import SplitResult, urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Sequence[str]]
NAT64 = ipaddress.ip_network("64:ff9b::/96")
SPECIAL = tuple(ipaddress.ip_network(one) for one in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20"))
"""For protocols and clouds within, relays, documentation; older Pythons take them for the open internet."""
PORTS = {"https": 443, "http": 80}


class BadAddress(ValueError):
    """An address that no call may go to; the message says what is wrong and what to do."""


class Unresolved(BadAddress):
    """A host without an address: a slip of the pen, or a name server that does not answer now."""


def resolve(host: str, port: int) -> list[str]:
    """The addresses the system's resolver gives for `host`. Raises OSError or UnicodeError for none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class AddressGuard:
    """`allowed` lists private endpoints as `host` (every port) or `host:port`; `[::1]:8000` for IPv6."""

    def __init__(self, allowed: Collection[str] = (), *, resolver: Resolve = resolve) -> None:
        self._allowed = frozenset(_endpoint(entry) for entry in allowed)
        self._resolve = resolver

    def check_url(self, url: str, *, whole: bool = False) -> None:
        """Raises BadAddress unless calls may go to `url`. Asks the name server."""
        self.addresses(*self.check_form(url, whole=whole))

    def check_form(self, url: str, *, whole: bool = False) -> tuple[str, int]:
        """Host and port of a URL whose form is right. Asks nobody. Raises BadAddress.

        It is a base to which paths are added, or with `whole` the very address that is called, where a
        query may be a part of it.
        """
        parts = _split(url)
        if parts.username is not None or parts.password is not None:
            instead = "the signature says who sends" if whole else "put the key into the environment variable"
            raise BadAddress(f"a name or password in the address is not allowed; {instead}")
        if whole and "#" in url:
            raise BadAddress("leave out everything from # on; it is never sent")
        if not whole and ("?" in url or "#" in url):
            raise BadAddress(
                "leave out everything from ? or # on; the address is a base such as https://host/v1"
            )
        host = _plain(parts.hostname or "")
        if not host:
            like = "hook" if whole else "v1"
            raise BadAddress(f"the address has no host; write it like https://host/{like}")
        port = parts.port or PORTS[parts.scheme]
        if parts.scheme == "http" and not self.listed(host, port):
            raise BadAddress(
                f"http is for listed private endpoints only; use https, or list {_shown(host, port)}"
            )
        return host, port

    def listed(self, host: str, port: int) -> bool:
        host = _plain(host)
        return (host, port) in self._allowed or (host, None) in self._allowed

    def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """The IP addresses to connect to for `host`, every one of them allowed.

        Raises Unresolved where there are none, BadAddress where one of them is not global and the
        endpoint is not listed.
        """
        try:
            found = [ipaddress.ip_address(text) for text in self._resolve(host, port)]
        except (OSError, UnicodeError) as error:
            raise Unresolved(f"{host} does not resolve ({error}); check the name") from None
        if not found:
            raise Unresolved(f"{host} does not resolve; check the name")
        if not self.listed(host, port):
            for address in found:
                if not is_global(address):
                    raise BadAddress(
                        f"{host} is at {address}, which is not on the open internet; if it is meant, an "
                        f"administrator lists {_shown(host, port)} among the private endpoints"
                    )
        return tuple(str(address) for address in found)


def is_global(address: Address) -> bool:
    """Whether `address`, or the IPv4 address it leads to, is on the open internet."""
    if inner := _inner(address):
        return is_global(inner)
    if address.is_multicast or not address.is_global or any(address in network for network in SPECIAL):
        return False
    return isinstance(address, ipaddress.IPv4Address) or not (address.is_site_local or address.is_reserved)


def _inner(address: Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to: mapped, 6to4, Teredo, NAT64."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)


def _split(url: str) -> SplitResult:
    if any(letter.isspace() or letter == "\\" or not letter.isprintable() for letter in url):
        raise BadAddress("the address has a blank, a backslash or an invisible character in it; remove it")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise BadAddress(f"the address cannot be read: {error}") from None
    if parts.scheme not in PORTS:
        raise BadAddress("the address must begin with https://")
    return parts


def _plain(host: str) -> str:
    """One spelling for every way to write a host."""
    host = host.lower().rstrip(".")
    try:
        return str(ipaddress.IPv6Address(host))
    except ValueError:
        return host


def _shown(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _endpoint(entry: str) -> tuple[str, int | None]:
    """Reads one listed endpoint. Raises BadAddress naming it."""
    try:
        return str(ipaddress.IPv6Address(entry)), None
    except ValueError:
        pass
    try:
        parts = urlsplit(f"//{entry}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    if not host or entry.lower() not in (host, f"{host}:{port}", f"[{host}]", f"[{host}]:{port}"):
        raise BadAddress(f"{entry!r} is not a private endpoint; write host or host:port")
    return _plain(host), port
