"""Who may make a corpus."""

from simulation.domain.roles import Right, roles_with
from simulation.models import User

MAKING = (Right.IMPORT, Right.START_RUNS)
"""Either of them fills a corpus, and so is reason enough to make one."""


def may_make(person: User) -> bool:
    """Whether a role of `person` in the whole installation gives one of the two rights."""
    if not person.is_authenticated or not person.is_active or person.bound_to is not None:
        return False
    roles = {role.value for right in MAKING for role in roles_with(right)}
    return person.is_superuser or person.memberships.filter(corpus=None, role__in=roles).exists()
