"""A stored connection becomes a gateway; the environment's values stay out of every message."""

from __future__ import annotations

import pytest

from simulation.domain.addresses import AddressGuard
from simulation.llm.connecting import BadConnection, gateway_for, key_of
from simulation.llm.errors import LLMError, Trouble
from simulation.llm.gateway import Connection
from simulation.llm.openai_compatible import OpenAICompatible
from simulation.llm.scripted import ScriptedModel
from tests.finishing import finish

GUARD = AddressGuard()
URL = "https://api.example.org/v1"


def test_scripted_is_the_model_in_this_process():
    assert isinstance(gateway_for(Connection("scripted:"), guard=GUARD, environ={}), ScriptedModel)


def test_another_address_is_spoken_to_with_the_key_the_environment_holds():
    connection = Connection(URL, "MY_API_KEY")
    gateway = gateway_for(connection, guard=GUARD, environ={"MY_API_KEY": "sk-1\n"})
    assert isinstance(gateway, OpenAICompatible)
    finish(gateway.close())
    assert key_of(connection, {"MY_API_KEY": " sk-1\n"}) == "sk-1"


def test_no_key_variable_means_no_key():
    assert key_of(Connection(URL), {"OPENAI_API_KEY": "sk-1"}) == "none"


@pytest.mark.parametrize("environ", [{}, {"MY_API_KEY": ""}, {"MY_API_KEY": "  "}])
def test_a_variable_without_a_value_is_named(environ):
    with pytest.raises(LLMError, match="MY_API_KEY") as error:
        gateway_for(Connection(URL, "MY_API_KEY"), guard=GUARD, environ=environ)
    assert error.value.trouble is Trouble.PERMANENT


@pytest.mark.parametrize(
    "name", ["sk-1234567890", "SECRET_KEY", "DATABASE_URL", "my_api_key", "_API_KEY", "A_API_KEY\n"]
)
def test_only_names_of_keys_are_read(name):
    with pytest.raises(BadConnection, match="_API_KEY") as error:
        gateway_for(Connection(URL, name), guard=GUARD, environ={name: "hidden"})
    assert "hidden" not in str(error.value)
    assert "1234567890" not in str(error.value)


def test_a_refused_address_is_a_permanent_error():
    with pytest.raises(LLMError, match="use https") as error:
        gateway_for(Connection("http://10.0.0.1/v1"), guard=GUARD, environ={})
    assert error.value.trouble is Trouble.PERMANENT
