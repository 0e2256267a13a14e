"""What can go wrong with a call, in an error that says whether and when to try again."""

from __future__ import annotations

from enum import StrEnum

from simulation.llm.storable import text


class Trouble(StrEnum):
    RATE_LIMIT = "rate_limit"
    """Too fast: the lane shrinks and pauses; costs the call no attempt."""
    TRANSIENT = "transient"
    """A passing fault (408, 409, 5xx, timeout, cut connection): the same again after a while."""
    QUOTA = "quota"
    """The account is out of money: the run pauses until its owner acts."""
    PERMANENT = "permanent"
    """Wrong key, unknown model, malformed or too long a request: the same again fails again."""


class LLMError(Exception):
    """A call that brought no reply. `after` is how many seconds the provider asked to wait, if it did.

    `unheard` says that the question arrived and the answer did not: it may have been written, and billed.

    `detail` is the provider's own message with keys masked; it goes to people who run the
    installation, never into prompts or data.
    """

    def __init__(
        self,
        trouble: Trouble,
        detail: str,
        *,
        after: float | None = None,
        status: int | None = None,
        unheard: bool = False,
    ) -> None:
        detail = text(detail)
        super().__init__(f"{trouble.value}: {detail}")
        self.trouble = trouble
        self.detail = detail
        self.after = after
        self.status = status
        self.unheard = unheard

    @property
    def retry(self) -> bool:
        """Whether the same request may succeed later without anybody's help."""
        return self.trouble in (Trouble.RATE_LIMIT, Trouble.TRANSIENT)


def backoff(failures: int, *, chance: float) -> float:
    """Seconds to wait after the `failures`-th fault in a row (from 1): 1, 2, 4 .. 60, drawn down by up to a
    half with `chance` (0 to 1) so that many callers do not come back at once."""
    longest: float = min(60.0, 2.0 ** (failures - 1))
    return longest * (1 - chance / 2)
