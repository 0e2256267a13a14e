"""In which of four states an invitation is."""

from datetime import datetime
from enum import StrEnum


class InvitationState(StrEnum):
    OPEN = "open"
    USED = "used"
    REVOKED = "revoked"
    EXPIRED = "expired"


def state_of(
    *, accepted_at: datetime | None, revoked_at: datetime | None, expires_at: datetime, now: datetime
) -> InvitationState:
    """What happened to it comes before what the clock says: a used one stays used after its last day."""
    if accepted_at is not None:
        return InvitationState.USED
    if revoked_at is not None:
        return InvitationState.REVOKED
    return InvitationState.OPEN if now < expires_at else InvitationState.EXPIRED
