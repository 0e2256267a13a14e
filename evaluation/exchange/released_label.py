"""One row of a release's labels, found by streaming its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings

from evaluation.models import Release

LABELS = "labels.jsonl"


def released_label(release: Release, comment: str, attribute: str) -> dict[str, Any] | None:
    """What `labels.jsonl` of a ready release says about an attribute of a comment; None where nothing.

    `comment` is the external id. The file is read line by line; only lines that hold the id are parsed.
    """
    path = Path(settings.MEDIA_ROOT) / release.folder / LABELS
    if release.state != Release.READY or not path.is_file():
        return None
    wanted = json.dumps(comment, ensure_ascii=False).encode()
    with path.open("rb") as lines:
        for line in lines:
            if wanted not in line:
                continue
            row: dict[str, Any] = json.loads(line)
            if row.get("comment_id") == comment and row.get("attribute") == attribute:
                return row
    return None
