from simulation.models.accounts import AuditEntry, Invitation, Membership, User
from simulation.models.calls import CallAttempt, ModelCall
from simulation.models.corpora import Corpus
from simulation.models.identity import PublicIdField, new_public_id
from simulation.models.profiles import Profile
from simulation.models.providers import Provider
from simulation.models.runs import Happening, PromptVersion, Run, RunThread, Step
from simulation.models.threads import Comment, Thread

__all__ = [
    "AuditEntry",
    "CallAttempt",
    "Comment",
    "Corpus",
    "Happening",
    "Invitation",
    "Membership",
    "ModelCall",
    "Profile",
    "PromptVersion",
    "Provider",
    "PublicIdField",
    "Run",
    "RunThread",
    "Step",
    "Thread",
    "User",
    "new_public_id",
]
