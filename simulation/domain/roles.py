"""Who may do what: four roles and the rights they give."""

from enum import StrEnum


class Role(StrEnum):
    LABELER = "labeler"
    ADJUDICATOR = "adjudicator"
    RESEARCHER = "researcher"
    ADMIN = "admin"


class Right(StrEnum):
    BROWSE = "browse"
    """See a corpus, its threads and the text of its comments."""
    REVIEW = "review"
    """Label comments that a queue hands out."""
    SEE_LABELS = "see labels"
    """See what models and other people said about a comment."""
    ADJUDICATE = "adjudicate"
    """Settle what annotators see differently; open an author's truth after deciding."""
    SEE_PROFILES = "see profiles"
    """See the true attributes of an author."""
    EVALUATE = "evaluate"
    """Make label sets, score predictions, settle what rules leave open. Profiles are seen by it."""
    IMPORT = "import"
    EXPORT = "export"
    MANAGE_QUEUES = "manage queues"
    MANAGE_PEOPLE = "manage people"
    CONNECT = "connect"
    """Name addresses elsewhere that are told what happens in a corpus (webhooks)."""
    SEE_RUNS = "see runs"
    """Watch what runs do: the threads as they grow, states, tokens, cost, time and failures."""
    START_RUNS = "start runs"
    """Start, pause and cancel runs: they may cost money. Name the providers that they call, and read the
    prompts, thoughts and raw answers behind them."""


_LABELER = {Right.BROWSE, Right.REVIEW}
_RESEARCHER = {
    Right.BROWSE,
    Right.SEE_LABELS,
    Right.SEE_PROFILES,
    Right.EVALUATE,
    Right.IMPORT,
    Right.EXPORT,
    Right.MANAGE_QUEUES,
    Right.SEE_RUNS,
}
RIGHTS: dict[Role, frozenset[Right]] = {
    Role.LABELER: frozenset(_LABELER),
    # Labels of others, but not the persona's truth: that stays sealed until a decision is made.
    Role.ADJUDICATOR: frozenset(_LABELER | {Right.SEE_LABELS, Right.ADJUDICATE}),
    Role.RESEARCHER: frozenset(_RESEARCHER),
    Role.ADMIN: frozenset(Right),
}

# The order in which a person's strongest role is named.
STRENGTH = (Role.ADMIN, Role.RESEARCHER, Role.ADJUDICATOR, Role.LABELER)


def roles_with(right: Right) -> tuple[Role, ...]:
    return tuple(role for role in Role if right in RIGHTS[role])
