from simulation.models.accounts import AuditEntry, Invitation, Membership, User
from simulation.models.corpora import Corpus
from simulation.models.identity import PublicIdField, new_public_id
from simulation.models.profiles import Profile
from simulation.models.threads import Comment, Thread

__all__ = [
    "AuditEntry",
    "Comment",
    "Corpus",
    "Invitation",
    "Membership",
    "Profile",
    "PublicIdField",
    "Thread",
    "User",
    "new_public_id",
]
