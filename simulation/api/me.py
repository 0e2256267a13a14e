"""Who asks, and what they may: what a script looks at first."""

from __future__ import annotations

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from simulation.domain.roles import Right, Role
from simulation.domain.scopes import Scope
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.selectors.access import rights_of
from simulation.selectors.people import roles_held


class HeldRole(serializers.Serializer):
    role = serializers.ChoiceField(choices=[role.value for role in Role])
    corpus = serializers.CharField(
        source="corpus.public_id", allow_null=True, default=None, help_text="null: the whole installation."
    )


class TokenSheet(serializers.Serializer):
    name = serializers.CharField()
    prefix = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=[scope.value for scope in Scope]))
    corpus = serializers.CharField(source="corpus.public_id", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class Myself(serializers.Serializer):
    """The person behind a request. `rights` are held in at least one corpus."""

    id = serializers.CharField(source="public_id")
    username = serializers.CharField()
    roles = HeldRole(many=True)
    rights = serializers.ListField(child=serializers.ChoiceField(choices=[right.value for right in Right]))
    token = TokenSheet(allow_null=True, help_text="null: a browser's session.")

    example = {
        "id": "u2f7x9c4k8ne",
        "username": "rosa",
        "roles": [{"role": "researcher", "corpus": None}],
        "rights": ["browse", "see labels"],
        "token": {
            "name": "notebook",
            "prefix": "spai_x7Qm2L",
            "scopes": ["read", "run"],
            "corpus": None,
            "created_at": "2026-11-28T10:00:00Z",
            "expires_at": "2027-02-26T10:00:00Z",
        },
    }


class Me(Endpoint):
    noun = "me"
    access = {"GET": Access(None, None, "Who you are, and what you may do.", Myself)}

    def get(self, request: Request) -> Response:
        """A token for one corpus tells what may be done in that one."""
        person = self.person
        rights = rights_of(person)
        return self.answer(
            {
                "public_id": person.public_id,
                "username": person.username,
                "roles": roles_held(person),
                "rights": [right.value for right in Right if right in rights],
                "token": self.token,
            }
        )
