"""Settings of the API's framework and of its description."""

from typing import Any

from simulation.domain.version import VERSION

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "simulation.rest.authentication.TokenAuthentication",
        "simulation.rest.authentication.BrowserSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["simulation.rest.access.Declared"],
    "DEFAULT_RENDERER_CLASSES": ["simulation.rest.rendering.Json", "simulation.rest.rendering.Page"],
    "DEFAULT_PARSER_CLASSES": ["simulation.rest.parsing.JsonBody"],
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "simulation.rest.describing.Described",
    "EXCEPTION_HANDLER": "simulation.rest.problems.handler",
    "URL_FORMAT_OVERRIDE": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "SynthPAI Studio",
    "VERSION": VERSION,
    "DESCRIPTION": (
        "Corpora, threads, suggestions, annotations, runs, evaluations and releases, for scripts. A token of"
        " your account page opens it: `Authorization: Bearer spai_…`. It may do what its scopes say and what"
        " you may do yourself. Errors are `application/problem+json`."
    ),
    "OAS_VERSION": "3.1.0",
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "AUTHENTICATION_WHITELIST": ["simulation.rest.authentication.TokenAuthentication"],
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [],
    "SORT_OPERATIONS": False,
}
