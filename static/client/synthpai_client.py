"""A small client of the SynthPAI Studio API, in one file that needs nothing but Python 3.11.

    from synthpai_client import Studio

    studio = Studio("https://studio.example.org", token)  # or: SYNTHPAI_URL and SYNTHPAI_TOKEN
    for corpus in studio.all("corpora/"):
        print(corpus["name"], corpus["comments"])

Addresses are those of the API's description, without `/api/v1/` before them. A request that got no answer,
or the answer that the server is too busy, is sent again; a POST carries a key, so that it is done once.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Problem", "Studio"]

TRIES = 5
PUSH = 1000
"""Suggestions of one push, at most."""
CHUNK = 1 << 20


class Problem(Exception):
    """The server refused. `status`, `detail`, and `errors`: [{"field", "message"}]."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        self.status = status
        self.detail = str(body.get("detail", "no words"))
        self.errors: list[dict[str, str]] = list(body.get("errors", ()))
        said = "; ".join(f"{one['field']}: {one['message']}" for one in self.errors)
        super().__init__(f"{status}: {self.detail}" + (f" ({said})" if said else ""))


class Studio:
    """One installation, and one person's token for it."""

    def __init__(self, url: str = "", token: str = "", *, timeout: float = 60) -> None:
        self.url = (url or os.environ["SYNTHPAI_URL"]).rstrip("/")
        self._token = token or os.environ["SYNTHPAI_TOKEN"]
        self.timeout = timeout

    # --- Any address

    def get(self, address: str, **query: Any) -> Any:
        """The answer of one address."""
        return self._json("GET", self._at(address, query))

    def all(self, address: str, **query: Any) -> Iterator[Any]:
        """Every row of a listing, page after page."""
        cursor: str | None = ""
        while cursor is not None:
            page = self.get(address, **query, **({"cursor": cursor} if cursor else {}))
            yield from page["results"]
            cursor = page["next"]

    def post(self, address: str, body: Any = None, *, key: str = "") -> Any:
        """Does something once, however often it has to be sent. `key`: your own Idempotency-Key."""
        headers = {"Idempotency-Key": key or secrets.token_hex(16), "Content-Type": "application/json"}
        return self._json("POST", self._at(address), json.dumps(body or {}).encode(), headers)

    def put(self, address: str, body: Any) -> Any:
        return self._json(
            "PUT", self._at(address), json.dumps(body).encode(), {"Content-Type": "application/json"}
        )

    def patch(self, address: str, body: Any) -> Any:
        return self._json(
            "PATCH", self._at(address), json.dumps(body).encode(), {"Content-Type": "application/json"}
        )

    # --- What scripts do most

    def corpus(self, name: str) -> dict[str, Any]:
        """The corpus of this name. Raises LookupError."""
        for one in self.all("corpora/"):
            if one["name"] == name:
                return dict(one)
        raise LookupError(f"There is no corpus “{name}” that this token may see.")

    def import_file(
        self,
        corpus: str,
        path: str | Path,
        *,
        mapping: Mapping[str, Any] | None = None,
        dry_run: bool = False,
        wait: float = 600,
    ) -> dict[str, Any]:
        """Sends a file into a corpus (its id) and waits for what came of it.

        `mapping` says what the columns of a foreign table stand for: {"text": "body", "username": "user",
        "thread_id": {"constant": "forum"}}. Raises Problem where the file is refused, LookupError where its
        columns have to be explained, RuntimeError where the import did not end well.
        """
        headers, body = _form(Path(path), {"dry_run": "true" if dry_run else "false"})
        headers["Idempotency-Key"] = secrets.token_hex(16)
        sent = self._json("POST", self._at(f"corpora/{corpus}/imports/"), body, headers)
        if sent["asks_for_columns"]:
            sent = self._explained(sent["id"], mapping, dry_run=dry_run)
        done = self.wait(f"imports/{sent['id']}/", until=ENDED_IMPORT, wait=wait)
        if done["state"] != "done":
            said = [
                f"{one['file']}, line {one['line']}, {one['field']}: {one['message']}"
                for one in done["problems"]
            ]
            raise RuntimeError("\n".join([f"The import is {done['state']}. {done['reason']}", *said]))
        return done

    def _explained(self, one: str, mapping: Mapping[str, Any] | None, *, dry_run: bool) -> dict[str, Any]:
        found = self.get(f"imports/{one}/columns/")
        if mapping is None:
            raise LookupError(f"Say what the columns stand for; proposed is mapping={found['mapping']}")
        return dict(self.post(f"imports/{one}/columns/", {"mapping": mapping, "dry_run": dry_run}))

    def push(
        self, corpus: str, *, tagger: str, batch: str, suggestions: Iterable[Mapping[str, Any]]
    ) -> dict[str, int]:
        """What your tagger says about comments of a corpus (its id), in as many requests as that takes."""
        total = {"new": 0, "same": 0}
        for part in _parts(suggestions, PUSH):
            body = {"tagger": tagger, "batch": batch, "suggestions": part}
            done = self.post(f"corpora/{corpus}/suggestions/", body)
            total = {key: total[key] + done[key] for key in total}
        return total

    def wait(self, address: str, *, until: Sequence[str], wait: float = 600) -> dict[str, Any]:
        """Asks until its `state` is one of `until`. Raises TimeoutError."""
        end, pause = time.monotonic() + wait, 0.2
        while True:
            found = dict(self.get(address))
            if found["state"] in until:
                return found
            if time.monotonic() > end:
                raise TimeoutError(f"{address} is still {found['state']}")
            time.sleep(pause)
            pause = min(pause * 1.5, 10)

    def download(self, address: str, path: str | Path) -> str:
        """Writes a file to `path`, and gives its SHA-256. It is there as a whole or not at all."""
        path, digest = Path(path), hashlib.sha256()
        growing = path.with_name(f".{path.name}.part")
        with self._open("GET", self._at(address)) as answer, growing.open("wb") as stored:
            while chunk := answer.read(CHUNK):
                digest.update(chunk)
                stored.write(chunk)
        growing.replace(path)
        return digest.hexdigest()

    # --- Below

    def _at(self, address: str, query: Mapping[str, Any] | None = None) -> str:
        said = {name: value for name, value in (query or {}).items() if value is not None}
        tail = f"?{urllib.parse.urlencode(said, doseq=True)}" if said else ""
        return f"{self.url}/api/v1/{address.lstrip('/')}{tail}"

    def _json(
        self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        with self._open(method, url, body, headers) as answer:
            said = answer.read()
        return json.loads(said) if said else None

    def _open(
        self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        """The answer, after as many tries as it takes. Raises Problem."""
        asked = urllib.request.Request(url, data=body, method=method)  # noqa: S310 - the address is the caller's
        asked.add_header("Authorization", f"Bearer {self._token}")
        asked.add_header("Accept", "application/json")
        for name, value in (headers or {}).items():
            asked.add_header(name, value)
        for left in reversed(range(TRIES)):
            try:
                return urllib.request.urlopen(asked, timeout=self.timeout)  # noqa: S310
            except urllib.error.HTTPError as error:
                with error:
                    problem = Problem(error.code, _body(error))
                    pause = float(error.headers.get("Retry-After") or 0)
                if not left or error.code not in (429, 502, 503, 504):
                    raise problem from None
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                if not left:
                    raise
                pause = 0
            time.sleep(pause or 2 ** (TRIES - left) / 10)
        raise AssertionError("unreachable")


ENDED_IMPORT = ("done", "invalid", "failed", "cancelled", "undone")


def _body(error: urllib.error.HTTPError) -> Mapping[str, Any]:
    try:
        said = json.loads(error.read())
    except ValueError:
        said = None
    return said if isinstance(said, dict) else {"detail": error.reason}


def _parts(rows: Iterable[Mapping[str, Any]], size: int) -> Iterator[list[Mapping[str, Any]]]:
    part: list[Mapping[str, Any]] = []
    for row in rows:
        part.append(row)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def _form(path: Path, fields: Mapping[str, str]) -> tuple[dict[str, str], bytes]:
    """A form with one file, as multipart/form-data."""
    edge = secrets.token_hex(16)
    name = urllib.parse.quote(path.name, safe=" ()[]-_.~")
    parts = [
        f'--{edge}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in fields.items()
    ]
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    parts += [head.encode(), b"Content-Type: application/octet-stream\r\n\r\n", path.read_bytes()]
    parts.append(f"\r\n--{edge}--\r\n".encode())
    return {"Content-Type": f"multipart/form-data; boundary={edge}"}, b"".join(parts)
