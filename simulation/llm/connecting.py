"""From a stored connection to a gateway: the key is read from the environment here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping

from simulation.domain.addresses import AddressGuard
from simulation.llm.errors import LLMError, Trouble
from simulation.llm.gateway import KEY_VARIABLE, Connection, Gateway
from simulation.llm.openai_compatible import NO_KEY, OpenAICompatible
from simulation.llm.scripted import ScriptedModel

SCRIPTED = "scripted:"
"""The base URL of the scripted model in this process."""


class BadConnection(ValueError):
    """A connection that cannot be used whatever the environment holds; the message says what to change."""


def gateway_for(connection: Connection, *, guard: AddressGuard, environ: Mapping[str, str]) -> Gateway:
    """Raises BadConnection for a wrong name of a variable, LLMError (permanent) for a variable without a
    value and for an address that the guard refuses. No value of a variable is ever part of a message."""
    if connection.base_url == SCRIPTED:
        return ScriptedModel()
    return OpenAICompatible(connection, key_of(connection, environ), guard=guard)


def key_of(connection: Connection, environ: Mapping[str, str]) -> str:
    """The key of a connection; "none" for one that has no key. Raises like `gateway_for`."""
    name = connection.key_variable
    if not name:
        return NO_KEY
    if not KEY_VARIABLE.fullmatch(name):
        raise BadConnection(
            "the key variable must be a name in capitals that ends in _API_KEY, such as OPENAI_API_KEY; "
            "never the key itself"
        )
    key = environ.get(name, "").strip()
    if not key:
        raise LLMError(
            Trouble.PERMANENT, f"the environment variable {name} is not set; set it for the workers"
        )
    return key
