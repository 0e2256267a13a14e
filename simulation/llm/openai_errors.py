"""What the `openai` client raises, and error bodies, -> LLMError: whether to try again, and when."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2
import openai

from simulation.domain.addresses import BadAddress
from simulation.llm.errors import LLMError, Trouble
from simulation.llm.secrets import mask

LONGEST_DETAIL = 500
LONGEST_WAIT = 86_400.0
NO_MONEY = ("insufficient_quota", "billing", "exceeded_current_quota", "insufficient_balance", "credits")
"""In the code or type of an error body: the account is out of money, whatever the status says."""
PASSING = (408, 409, 425)


def classify(error: Exception, *, key: str = "") -> LLMError:
    """The verdict on an exception of a call; `key` is masked in its detail."""
    if isinstance(error, LLMError):
        return error
    if isinstance(error, BadAddress):
        return LLMError(Trouble.PERMANENT, _detail(f"address refused: {error}", key))
    if isinstance(error, openai.APIStatusError):
        return of_status(
            error.status_code, _error_object(error.body), headers=error.response.headers, key=key
        )
    if isinstance(error, (openai.APITimeoutError, TimeoutError)):
        return LLMError(Trouble.TRANSIENT, "no answer within the time allowed", unheard=True)
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__
        said = f": {cause}" if cause is not None and str(cause) else ""
        arrived = not isinstance(cause, httpx2.ConnectError)
        return LLMError(Trouble.TRANSIENT, _detail(f"connection failed{said}", key), unheard=arrived)
    if isinstance(error, ValueError):
        return LLMError(Trouble.TRANSIENT, _detail(f"the answer cannot be read: {error}", key), unheard=True)
    return LLMError(Trouble.PERMANENT, _detail(f"{type(error).__name__}: {error}", key))


def of_status(
    status: int, body: Mapping[str, object], *, headers: Mapping[str, str] | None = None, key: str = ""
) -> LLMError:
    """The verdict on an HTTP status and the error object of its body."""
    said = body.get("message") or body.get("detail") or body.get("error") or (dict(body) if body else "")
    if 300 <= status < 400:
        said = "the address redirects, which is not followed; write the address it leads to"
    detail = _detail(f"HTTP {status}: {said}" if said else f"HTTP {status}", key)
    trouble = _trouble(status, body)
    after = retry_after(headers or {}) if trouble in (Trouble.RATE_LIMIT, Trouble.TRANSIENT) else None
    return LLMError(trouble, detail, after=after, status=status)


def _error_object(body: object) -> Mapping[str, object]:
    """The error of a body in whatever shape it came: an object, a list with one, or words."""
    if isinstance(body, list) and body:
        body = body[0].get("error", body[0]) if isinstance(body[0], Mapping) else body[0]
    if isinstance(body, Mapping):
        return body
    return {"message": str(body)} if body else {}


def _trouble(status: int, body: Mapping[str, object]) -> Trouble:
    words = f"{body.get('code')} {body.get('type')}".lower()
    if status == 402 or any(word in words for word in NO_MONEY):
        return Trouble.QUOTA
    if status == 429:
        return Trouble.RATE_LIMIT
    if status in PASSING or status >= 500:
        return Trouble.TRANSIENT
    return Trouble.PERMANENT


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Seconds to wait, a day at most: from `retry-after-ms`, else `Retry-After` (seconds or a date)."""
    seconds = _number(headers.get("retry-after-ms"))
    if seconds is not None:
        return _wait(seconds / 1000)
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return None if seconds is None else _wait(seconds)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return _wait((at - (now or datetime.now(UTC))).total_seconds())


def _wait(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_WAIT)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _detail(text: str, key: str) -> str:
    return mask(text[: 20 * LONGEST_DETAIL], key)[:LONGEST_DETAIL]
