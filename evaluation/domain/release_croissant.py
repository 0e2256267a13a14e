"""`croissant.json`: what MLCommons' format says of a release, made from the tables' own schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.domain.release_card import About
from evaluation.domain.release_schema import TABLES, Column, Table, Type

CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
CONFORMS = "http://mlcommons.org/croissant/1.0"
PARQUET, LINES = "application/x-parquet", "application/jsonlines"
_TYPES = {
    Type.TEXT: "sc:Text",
    Type.INTEGER: "sc:Integer",
    Type.NUMBER: "sc:Float",
    Type.BOOLEAN: "sc:Boolean",
    Type.TEXTS: "sc:Text",
    Type.NUMBERS: "sc:Float",
}
_QUOTE = (
    Column("comment_id", Type.TEXT, "the quoted comment"),
    Column("start", Type.INTEGER, "first code point of the quote"),
    Column("end", Type.INTEGER, "code point behind the quote"),
    Column("quote", Type.TEXT, "the words"),
)


def croissant(about: About, digests: Mapping[str, tuple[str, int]]) -> dict[str, Any]:
    """The description. `digests`: name of a file -> (SHA-256, bytes). No time is said."""
    said = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": about.called,
        "description": about.description.strip()
        or "Comments of synthetic authors with labels of their attributes.",
        "version": _version(about.name),
        "inLanguage": about.language,
        "isLiveDataset": False,
        "license": about.licence or None,
        "citeAs": f"{about.called}, release {about.name}",
        "url": "README.md",
        "distribution": [
            _file(name, sha256, size)
            for name, (sha256, size) in digests.items()
            if name.endswith((".parquet", ".jsonl"))
        ],
        "recordSet": [_records(table) for table in TABLES],
    }
    return {key: value for key, value in said.items() if value is not None}


def _version(name: str) -> str:
    """Three numbers, as the format asks for: 1.0 is 1.0.0; what begins with no number is 1.0.0 too."""
    numbers = [part for part in name.lstrip("v").split(".") if part.isdecimal()][:3]
    return ".".join([*numbers, "0", "0", "0"][:3]) if numbers else "1.0.0"


def _file(name: str, sha256: str, size: int) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{size} B",
        "encodingFormat": PARQUET if name.endswith(".parquet") else LINES,
        "sha256": sha256,
    }


def _records(table: Table) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.about,
        "field": [_field(table, column) for column in table.columns],
    }


def _field(table: Table, column: Column) -> dict[str, Any]:
    source = {"fileObject": {"@id": f"{table.name}.parquet"}, "extract": {"column": column.name}}
    said: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{table.name}/{column.name}",
        "name": column.name,
        "description": column.meaning,
    }
    if column.type in (Type.TEXTS, Type.NUMBERS, Type.QUOTES):
        said["repeated"] = True
    if column.type is not Type.QUOTES:
        return {**said, "dataType": _TYPES[column.type], "source": source}
    return {
        **said,
        "source": source,
        "subField": [
            {
                "@type": "cr:Field",
                "@id": f"{said['@id']}/{one.name}",
                "name": one.name,
                "description": one.meaning,
                "dataType": _TYPES[one.type],
                "source": {**source, "transform": {"jsonPath": f"$.{one.name}"}},
            }
            for one in _QUOTE
        ],
    }
