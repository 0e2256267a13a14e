from simulation.models.accounts import AuditEntry, Invitation, Membership, User
from simulation.models.artefacts import Artefact, CommentEdit
from simulation.models.calls import CallAttempt, ModelCall
from simulation.models.corpora import Corpus
from simulation.models.identity import PublicIdField, new_public_id
from simulation.models.money import Price, Workspace
from simulation.models.profiles import Profile, ProfileVersion
from simulation.models.providers import Provider
from simulation.models.runs import (
    CastMember,
    Happening,
    PromptVersion,
    Run,
    RunPreset,
    RunThread,
    Step,
)
from simulation.models.threads import Comment, Thread
from simulation.models.tokens import ApiToken, KeptAnswer
from simulation.models.webhooks import Delivery, Webhook

__all__ = [
    "ApiToken",
    "Artefact",
    "AuditEntry",
    "CallAttempt",
    "CastMember",
    "Comment",
    "CommentEdit",
    "Corpus",
    "Delivery",
    "Happening",
    "Invitation",
    "KeptAnswer",
    "Membership",
    "ModelCall",
    "Price",
    "Profile",
    "ProfileVersion",
    "PromptVersion",
    "Provider",
    "PublicIdField",
    "Run",
    "RunPreset",
    "RunThread",
    "Step",
    "Thread",
    "User",
    "Webhook",
    "Workspace",
    "new_public_id",
]
