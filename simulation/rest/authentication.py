"""Who asks: the person of a personal token, or of the browser's session."""

from __future__ import annotations

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from simulation.models import ApiToken, User
from simulation.services import api_tokens

SCHEME = "Bearer"


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`. A token for one corpus binds its person to that corpus."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        given = request.headers.get("Authorization", "")
        scheme, _, text = given.partition(" ")
        if scheme.casefold() != SCHEME.casefold():
            return None
        try:
            token = api_tokens.find(text=text.strip(), now=timezone.now())
        except api_tokens.TokenRefused as refusal:
            raise AuthenticationFailed(str(refusal)) from None
        token.person.bound_to = token.corpus_id
        return token.person, token

    def authenticate_header(self, request: Request) -> str:
        return SCHEME


class BrowserSession(SessionAuthentication):
    """The session of the pages, so that a person may look at the API in a browser. Whatever changes something
    needs the CSRF token too."""
