"""Where models are reached: an address and the name of the variable that holds the key."""

from __future__ import annotations

import os

from django.core.exceptions import ValidationError
from django.db import transaction

from simulation.domain.addresses import BadAddress
from simulation.llm.connecting import SCRIPTED
from simulation.llm.gateway import KEY_VARIABLE
from simulation.models import Provider, User
from simulation.services import audit
from simulation.services.completions import guard


@transaction.atomic
def add(
    *,
    by: User | None,
    name: str,
    base_url: str,
    key_variable: str = "",
    default_model: str,
    timeout_seconds: int = 120,
) -> Provider:
    """A new provider. Raises ValidationError, field by field, for an address that may not be reached, a
    variable that may not be read, or a name that is taken."""
    problems: dict[str, str] = {}
    try:
        if base_url.strip() != SCRIPTED:
            guard().check_url(base_url.strip())
    except BadAddress as error:
        problems["base_url"] = str(error)
    if key_variable and not KEY_VARIABLE.fullmatch(key_variable):
        problems["key_variable"] = (
            "The name of an environment variable that ends in _API_KEY, such as OPENAI_API_KEY;"
            " never the key itself."
        )
    if not 1 <= timeout_seconds <= 3600:
        problems["timeout_seconds"] = "From 1 to 3600 seconds."
    if problems:
        raise ValidationError(problems)
    provider = Provider(
        name=name.strip(),
        base_url=base_url.strip(),
        key_variable=key_variable,
        default_model=default_model.strip(),
        timeout_seconds=timeout_seconds,
        created_by=by,
    )
    provider.full_clean(exclude=["created_by"])
    provider.save()
    audit.record(by=by, action="provider.added", target=provider)
    return provider


def key_present(provider: Provider) -> bool:
    """Whether this process has the key, or none is needed. The value is never looked at."""
    return not provider.key_variable or bool(os.environ.get(provider.key_variable))
