"""Answers as JSON, and as a page for a person who looks at the API in a browser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.template.loader import render_to_string
from rest_framework.renderers import BaseRenderer, JSONRenderer

MOST_SHOWN = 200_000
"""Signs of an answer that the page shows."""


class Json(JSONRenderer):
    """JSON in UTF-8, as short as it can be and always the same, so that its ETag is."""

    def get_indent(self, *_: Any) -> None:
        return None


class Page(BaseRenderer):
    """The answer as a page of the site; nothing can be sent from it."""

    media_type = "text/html"
    format = "page"
    charset = "utf-8"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> str:
        context = renderer_context or {}
        request, response = context["request"], context["response"]
        text = json.dumps(json.loads(Json().render(data) or b"null"), indent=2, ensure_ascii=False)
        headers = [(name, value) for name, value in response.items() if name not in ("Cookie", "Set-Cookie")]
        shown = {
            "section": "account",
            "method": request.method,
            "address": request.get_full_path(),
            "status": f"{response.status_code} {response.reason_phrase}",
            "fine": response.status_code < 400,
            "signed_out": response.status_code == 401,
            "headers": sorted(headers),
            "text": text[:MOST_SHOWN],
            "cut": len(text) > MOST_SHOWN,
        }
        return render_to_string("api/answer.html", shown, request=request._request)
