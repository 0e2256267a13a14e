"""A small client of the SynthPAI Studio API, in one file that needs nothing but Python 3.11.

    from synthpai_client import Studio

    studio = Studio("https://studio.example.org", token)  # or: SYNTHPAI_URL and SYNTHPAI_TOKEN
    for corpus in studio.all("corpora/"):
        print(corpus["name"], corpus["comments"])

Addresses are those of the API's description, without `/api/v1/` before them. A request that got no answer,
or half of one, or the answer that the server is too busy, is sent again; a POST carries a key, so that it is
done once. Nothing leads the token elsewhere: redirects are refused.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Problem", "Studio"]

TRIES = 5
BUSY = (429, 502, 503, 504)
LONGEST_PAUSE = 120
"""Seconds; a server that asks for more is asked again sooner."""
AWAY = (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError)
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
        """Raises LookupError where address or token are neither given nor set."""
        self.url = _given(url, "SYNTHPAI_URL").rstrip("/").removesuffix("/api/v1")
        self._token = _given(token, "SYNTHPAI_TOKEN")
        self.timeout = timeout
        self._opener = urllib.request.build_opener(_Stay)

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
        form = _Form(Path(path), {"dry_run": "true" if dry_run else "false"})
        headers = form.headers | {"Idempotency-Key": secrets.token_hex(16)}
        sent = self._json("POST", self._at(f"corpora/{corpus}/imports/"), form, headers)
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
        path = Path(path)
        growing = path.with_name(f".{path.name}.part")

        def store(answer: http.client.HTTPResponse) -> str:
            digest, stored = hashlib.sha256(), 0
            with growing.open("wb") as file:
                while chunk := answer.read(CHUNK):
                    digest.update(chunk)
                    stored += file.write(chunk)
            if (length := answer.headers.get("Content-Length")) and stored != int(length):
                raise ConnectionError(f"{address} ended after {stored} of {length} bytes")
            return digest.hexdigest()

        try:
            found = self._asked(store, "GET", self._at(address))
            growing.replace(path)
        finally:
            growing.unlink(missing_ok=True)
        return found

    # --- Below

    def _at(self, address: str, query: Mapping[str, Any] | None = None) -> str:
        said = {name: value for name, value in (query or {}).items() if value is not None}
        tail = f"?{urllib.parse.urlencode(said, doseq=True)}" if said else ""
        return f"{self.url}/api/v1/{address.lstrip('/')}{tail}"

    def _json(
        self,
        method: str,
        url: str,
        body: bytes | _Form | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        def read(answer: http.client.HTTPResponse) -> Any:
            said = answer.read()
            try:
                return json.loads(said) if said else None
            except ValueError:
                words = f"This is no answer of the API. Is {self.url} the address of an installation?"
                raise Problem(answer.status, {"detail": words}) from None

        return self._asked(read, method, url, body, headers)

    def _asked(
        self,
        take: Callable[[http.client.HTTPResponse], Any],
        method: str,
        url: str,
        body: bytes | _Form | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """What `take` makes of the answer, after as many tries as it takes. Raises Problem.

        While the server is still at work on the first of them (409 that says when to ask again), the others
        wait for its answer.
        """
        asked = urllib.request.Request(url, data=body, method=method)  # type: ignore[arg-type]  # noqa: S310
        asked.add_header("Authorization", f"Bearer {self._token}")
        asked.add_header("Accept", "application/json")
        for name, value in (headers or {}).items():
            asked.add_header(name, value)
        left, end = TRIES, time.monotonic() + TRIES * self.timeout
        while True:
            left -= 1
            pause = 2 ** (TRIES - left) / 10
            try:
                with self._opener.open(asked, timeout=self.timeout) as answer:
                    return take(answer)
            except urllib.error.HTTPError as error:
                with error:
                    problem = Problem(error.code, _body(error))
                    wait = _seconds(error.headers.get("Retry-After"))
                if error.code == 409 and wait and time.monotonic() < end:
                    left += 1
                elif left <= 0 or error.code not in BUSY:
                    raise problem from None
                pause = wait or pause
            except AWAY:
                if left <= 0:
                    raise
            time.sleep(pause)


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: it would take the token elsewhere, and make a GET of a POST."""

    def redirect_request(self, *_: Any) -> None:
        return None


ENDED_IMPORT = ("done", "invalid", "failed", "cancelled", "undone")


def _given(value: str, name: str) -> str:
    found = (value or os.environ.get(name, "")).strip()
    if not found:
        raise LookupError(f"{name} is not set. Set it, or write Studio(url, token).")
    return found


def _seconds(said: str | None) -> int:
    """Of a `Retry-After`; 0 for none, and for a date."""
    return min(int(said), LONGEST_PAUSE) if said and said.isascii() and said.isdecimal() else 0


def _body(error: urllib.error.HTTPError) -> Mapping[str, Any]:
    if elsewhere := error.headers.get("Location", "") if 300 <= error.code < 400 else "":
        return {"detail": f"This address leads to {elsewhere}. Say at once where the installation is."}
    try:
        said = json.loads(error.read())
    except (ValueError, *AWAY):
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


class _Form:
    """A form with one file, as multipart/form-data; the file is read piece by piece, anew for each try."""

    def __init__(self, path: Path, fields: Mapping[str, str]) -> None:
        edge = secrets.token_hex(16)
        plain = re.sub(r"[^A-Za-z0-9 ()_.-]", "_", path.name)
        whole = urllib.parse.quote(path.name, safe="")
        parts = [
            f'--{edge}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
            for key, value in fields.items()
        ]
        parts += [
            f'--{edge}\r\nContent-Disposition: form-data; name="file"; ',
            f"filename=\"{plain}\"; filename*=UTF-8''{whole}\r\n",
            "Content-Type: application/octet-stream\r\n\r\n",
        ]
        self.path, self.head, self.tail = path, "".join(parts).encode(), f"\r\n--{edge}--\r\n".encode()
        length = len(self.head) + path.stat().st_size + len(self.tail)
        self.headers = {
            "Content-Type": f"multipart/form-data; boundary={edge}",
            "Content-Length": str(length),
        }

    def __iter__(self) -> Iterator[bytes]:
        yield self.head
        with self.path.open("rb") as file:
            while piece := file.read(CHUNK):
                yield piece
        yield self.tail
