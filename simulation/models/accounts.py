"""People, what they may do where, how they came in, and what they did."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower

from simulation.domain.roles import Role
from simulation.models.corpora import Corpus
from simulation.models.identity import PublicIdField

ROLES = [(role.value, role.value) for role in Role]


class User(AbstractUser):
    """A person with an account. `username` is the name others see; it need not be a real one."""

    THEMES = [("system", "as the system"), ("light", "light"), ("dark", "dark")]

    public_id = PublicIdField()
    email = models.EmailField("email address")
    theme = models.CharField(max_length=10, choices=THEMES, default="system")
    review_keys = models.JSONField(default=dict, blank=True)
    """Keys of the review page that this person has changed: action -> key."""
    review_keys_on = models.BooleanField(default=True)
    erased_at = models.DateTimeField(null=True, blank=True)
    """When name and address were taken away for good; what they labelled stays."""

    bound_to: int | None = None
    """Key of the one corpus that a request may touch, where it came with a token for that corpus alone. Not
    stored: it is said of the person of one request, and whoever asks for rights here heeds it."""

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("email"), name="user_email_once"),
            models.UniqueConstraint(Lower("username"), name="user_name_once"),
        ]


class Membership(models.Model):
    """A role of a person in one corpus, or, without a corpus, in the whole installation."""

    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    corpus = models.ForeignKey(
        Corpus, on_delete=models.CASCADE, null=True, blank=True, related_name="memberships"
    )
    role = models.CharField(max_length=20, choices=ROLES)
    granted_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    granted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person", "corpus", "role"], name="membership_once", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=[role.value for role in Role]), name="membership_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.person_id} in {self.corpus_id or 'the installation'}"


class Invitation(models.Model):
    """A promise of a role to whoever holds the signed link; used once, revocable, ends by itself."""

    public_id = PublicIdField()
    email = models.EmailField()
    role = models.CharField(max_length=20, choices=ROLES)
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.OneToOneField(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="invitation"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(accepted_at__isnull=True, accepted_by__isnull=True)
                | models.Q(accepted_at__isnull=False, accepted_by__isnull=False),
                name="invitation_accepted_by_someone",
            ),
        ]

    def __str__(self) -> str:
        return f"invitation {self.public_id}"


class AuditEntry(models.Model):
    """One act of a person with power over others' work. Append-only: the database refuses changes."""

    actor = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    action = models.CharField(max_length=60)
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=40)
    corpus_id_text = models.CharField(max_length=40, blank=True)
    details = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["-at", "-id"], name="audit_latest")]

    def __str__(self) -> str:
        return f"{self.action} {self.object_type} {self.object_id}"
