"""Bodies of requests: JSON up to a stated size, or a form with files."""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import APIException, ParseError, ValidationError
from rest_framework.parsers import BaseParser, MultiPartParser

from simulation.rest.strict import unstorable

LARGEST = 2_500_000
"""Bytes of a JSON body; a view may say `largest` for itself."""


class TooLarge(APIException):
    status_code = 413
    default_code = "too-large"


class JsonBody(BaseParser):
    """JSON in UTF-8. Refuses what is larger than it may be, nested without end, or cannot be stored."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        view = (parser_context or {}).get("view")
        largest = getattr(view, "largest", LARGEST)
        body = stream.read(largest + 1)
        if len(body) > largest:
            raise TooLarge(f"The body is larger than {largest:,} bytes. Send it in several requests.")
        try:
            text = body.removeprefix(codecs.BOM_UTF8).decode()
            sent = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        except UnicodeDecodeError as error:
            raise ParseError(f"The body is not UTF-8 (byte {error.start}).") from None
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise ParseError(f"The body is not JSON: {error.msg}, {where}.") from None
        except (ValueError, RecursionError):
            raise ParseError(
                "The body is no JSON that can be read: a number or a nesting too large."
            ) from None
        if problems := dict(unstorable(sent)):
            raise ValidationError(problems)
        return sent


class FormWithFiles(MultiPartParser):
    """A form with files, streamed to disk by Django; its texts are looked through as those of JSON are."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        parsed = super().parse(stream, media_type, parser_context)
        fields = {name: [str(one) for one in values] for name, values in parsed.data.lists()}
        if problems := dict(unstorable(fields)):
            raise ValidationError(problems)
        return parsed


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number
