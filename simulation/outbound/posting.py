"""One message to an address that a person typed: guarded, not redirected, and over after a stated time."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

import httpx2

from simulation.domain.addresses import AddressGuard, BadAddress
from simulation.domain.version import VERSION
from simulation.outbound.network import Deadline, GuardedTransport

MOST_READ = 2048
"""Bytes of an answer that are looked at; the rest is left where it is."""
MOST_TOLD = 200
"""Characters of a refusal that are kept."""
OURS = {"User-Agent": f"SynthPAI-Studio/{VERSION}", "Accept": "*/*", "Accept-Encoding": "identity"}


@dataclass(frozen=True)
class Answer:
    """What became of a message. `status` is None where no answer came; `detail` says why, or what a refusal
    said, on one line."""

    status: int | None
    ms: int
    detail: str = ""


def post(url: str, body: bytes, headers: Mapping[str, str], *, guard: AddressGuard, timeout: float) -> Answer:
    """Sends `body` and waits at most `timeout` seconds for all of it: the name server, the connection and
    the answer. What goes wrong is an answer, not an exception."""
    began = monotonic()
    status, detail = _sent(url, body, {**OURS, **headers}, guard, Deadline(timeout))
    return Answer(status, round(1000 * (monotonic() - began)), detail)


def _sent(
    url: str, body: bytes, headers: Mapping[str, str], guard: AddressGuard, deadline: Deadline
) -> tuple[int | None, str]:
    try:
        guard.check_form(url, whole=True)
        with (
            _client(guard, deadline) as client,
            client.stream("POST", url, content=body, headers=headers) as answer,
        ):
            return answer.status_code, _said(answer)
    except BadAddress as error:
        return None, f"not sent: {error}"
    except httpx2.InvalidURL as error:
        return None, f"not sent: the address cannot be read: {error}"
    except httpx2.TimeoutException:
        return None, f"no answer within {deadline.seconds:g} s"
    except httpx2.HTTPError as error:
        return None, _line(f"no answer: {error or type(error).__name__}")


def _client(guard: AddressGuard, deadline: Deadline) -> httpx2.Client:
    """Proxies of the environment are not used: a proxy would connect where the guard cannot see."""
    return httpx2.Client(
        transport=GuardedTransport(guard, deadline),
        timeout=deadline.seconds,
        follow_redirects=False,
        trust_env=False,
    )


def _said(answer: httpx2.Response) -> str:
    """Why it is no success, in the words of the answer; empty for one that is."""
    if answer.is_success:
        return ""
    if answer.has_redirect_location:
        return "redirects are not followed; give the address that it leads to"
    return _line(_beginning(answer).decode(errors="replace"))


def _beginning(answer: httpx2.Response) -> bytes:
    """As it came, not unpacked: a small answer cannot become a large one. A body that breaks off or does not
    end takes nothing from the status."""
    found = b""
    with suppress(httpx2.HTTPError):
        for part in answer.iter_raw():
            found += part
            if len(found) >= MOST_READ:
                break
    return found[:MOST_READ]


def _line(text: str) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(plain.split())[:MOST_TOLD]
