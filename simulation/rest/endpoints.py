"""The class below which every endpoint stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, TypeVar, cast

from django.conf import settings
from django.db.models import Model, QuerySet
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.cache import patch_vary_headers
from django.utils.functional import cached_property
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from simulation.models import ApiToken, User
from simulation.rest import etags, paging, repeats
from simulation.rest.access import Access, access_of
from simulation.rest.parsing import FormWithFiles, JsonBody
from simulation.rest.problems import CONTENT_TYPE, UNENCRYPTED, LengthMissing, TooFast
from simulation.rest.rendering import Json
from simulation.rest.strict import Strict, in_query
from simulation.rest.throttling import PerMinute

Found = TypeVar("Found", bound=Model)


class Endpoint(APIView):
    """An address of the API. Says in `access` what each of its methods takes and gives.

    A handler reads `self.asked` (the query) and `self.sent` (the body), calls one selector or service with
    `self.person`, and returns `self.answer(...)` or `self.page(...)`. It refuses by raising.
    """

    noun: ClassVar[str]
    """Under which word it stands in the description: corpora, runs."""
    access: ClassVar[Mapping[str, Access]] = {}
    hidden: ClassVar[bool] = False
    """Whether the description leaves it out."""
    refusals: ClassVar[Mapping[type[Exception], int]] = {}
    """Errors of services that are an answer: class -> status. Their `field`, where they have one, is said."""

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:
        view = super().as_view(**initkwargs)
        view.access = cls.access  # type: ignore[attr-defined]
        return view

    @property
    def allowed_methods(self) -> list[str]:
        return sorted({*self.access, *(["HEAD"] if "GET" in self.access else [])})

    @property
    def declared(self) -> Access:
        found = access_of(self, str(self.request.method))
        assert found is not None  # the permission refused before
        return found

    @property
    def person(self) -> User:
        """Who asks, bound to the corpus of the token where it has one."""
        return cast(User, self.request.user)

    @property
    def token(self) -> ApiToken | None:
        """None for a browser's session."""
        return self.request.auth if isinstance(self.request.auth, ApiToken) else None

    @cached_property
    def asked(self) -> dict[str, Any]:
        """The query of the address, read as declared."""
        kind = self.declared.query or (paging.PageQuery if self.declared.paged else Strict)
        return in_query(self.request.query_params, kind(context={"view": self}))

    @cached_property
    def sent(self) -> dict[str, Any]:
        """The body, read as declared."""
        if self.declared.body is None:
            return {}
        body = self.declared.body(data=self.request.data, context={"view": self})
        body.is_valid(raise_exception=True)
        return dict(body.validated_data)

    def get_parsers(self) -> Any:
        declared = access_of(self, self.request.method or "") if self.request else None
        return [FormWithFiles()] if declared and declared.upload else [JsonBody()]

    def get_throttles(self) -> Any:
        self.counted = PerMinute()
        return [self.counted]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """After the checks: query and body are read before anything is done, and a POST is done once."""
        if settings.SECURE_SSL_REDIRECT and not request.is_secure():
            raise PermissionDenied(UNENCRYPTED)
        super().initial(request, *args, **kwargs)
        _ = self.asked
        if request.method not in ("GET", "HEAD"):
            if "Transfer-Encoding" in request.headers and not request.META.get("CONTENT_LENGTH"):
                raise LengthMissing
            _ = self.sent
        if request.method == "POST" and (key := repeats.key_of(request)):
            setattr(self, "post", repeats.once(self, getattr(self, "post"), key))  # noqa: B009, B010

    def finalize_response(  # type: ignore[override]
        self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        final: HttpResponseBase = super().finalize_response(request, response, *args, **kwargs)  # type: ignore[arg-type]
        if (counted := getattr(self, "counted", None)) and counted.seconds:
            for name, value in counted.headers().items():
                final[name] = value
        final.setdefault("Cache-Control", "private, no-cache")
        patch_vary_headers(final, ["Authorization", "Cookie"])
        if isinstance(final, Response) and isinstance(getattr(final, "accepted_renderer", None), Json):
            if final.status_code >= 400:
                final.content_type = CONTENT_TYPE
            elif request.method in ("GET", "HEAD") and final.status_code == 200:
                return etags.tagged(request, final)
        return final

    def throttled(self, request: Request, wait: float | None) -> NoReturn:
        raise TooFast(limit=self.counted.limit, wait=int(wait or 1))

    # What handlers answer with.

    def one(self, among: QuerySet[Found], public_id: str) -> Found:
        """The object with that public id among those that the person may see; 404 for any other."""
        return get_object_or_404(among, public_id=public_id)

    def answer(self, found: Any, *, headers: Mapping[str, str] | None = None, **context: Any) -> Response:
        """`found` as declared; without it an empty answer."""
        declared = self.declared
        if declared.answer is None:
            return Response(status=204, headers=dict(headers or {}))
        return Response(self.drawn(found, **context), status=declared.status, headers=dict(headers or {}))

    def drawn(self, found: Any, **context: Any) -> Any:
        kind = self.declared.answer
        assert kind is not None
        return kind(found, context={"view": self, **context}).data

    def page(
        self,
        rows: QuerySet[Any],
        *,
        order: Sequence[str] = ("id",),
        draw: Callable[[Sequence[Any]], Sequence[Any]] = list,
        **context: Any,
    ) -> Response:
        """A page of `rows`, and in `Link` the address of the next one. `draw` makes of all rows of the page
        at once what the answer is drawn from."""
        kind = self.declared.answer
        assert kind is not None
        found = paging.page(
            rows,
            order=order,
            limit=self.asked["limit"],
            cursor=self.asked.get("cursor"),
            listing=paging.listing_of(self.request),
        )
        drawn = kind(draw(found.rows), many=True, context={"view": self, **context}).data
        headers = {}
        if found.next:
            query = self.request.query_params.copy()
            query["cursor"] = found.next
            address = self.request.build_absolute_uri(f"{self.request.path}?{query.urlencode()}")
            headers["Link"] = f'<{address}>; rel="next"'
        return Response({"results": drawn, "next": found.next}, headers=headers)

    def require_match(self, data: Any) -> None:
        """Heeds `If-Match`: `data` is what GET would answer now. Raises ChangedMeanwhile (412)."""
        etags.require_match(self.request, data)
