"""Walks the running site over HTTP as each role, as a browser without JavaScript would."""

import html
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


class WalkFailed(Exception):
    """A page was not what it must be; the message says which and how."""


@dataclass(frozen=True)
class Page:
    url: str
    status: int
    text: str

    def token(self) -> str:
        """What a form of this page carries against forgery."""
        found = TOKEN.search(self.text)
        if not found:
            raise WalkFailed(f"{self.url} has no form to send")
        return found[1]

    def hidden(self) -> dict[str, str]:
        return {name: html.unescape(value) for name, value in HIDDEN.findall(self.text)}


class Visitor:
    """A person at a browser (cookies, forms with their tokens, redirects), or a script with a token."""

    def __init__(self, base: str, *, token: str = "") -> None:
        self.base = base.rstrip("/")
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def _open(self, request: urllib.request.Request, expect: int) -> Page:
        try:
            with self.opener.open(request, timeout=30) as answer:
                page = Page(answer.url, answer.status, answer.read().decode())
        except urllib.error.HTTPError as error:
            page = Page(error.url or request.full_url, error.code, error.read().decode())
        if page.status != expect:
            raise WalkFailed(
                f"{request.get_method()} {request.full_url}: status {page.status}, expected {expect}"
            )
        return page

    def get(self, path: str, expect: int = 200) -> Page:
        asked = urllib.request.Request(self.base + path, headers=self.headers)  # noqa: S310 - loopback
        return self._open(asked, expect)

    def content(self, path: str) -> bytes:
        """A file as it is."""
        asked = urllib.request.Request(self.base + path, headers=self.headers)  # noqa: S310 - loopback
        with self.opener.open(asked, timeout=30) as answer:
            return bytes(answer.read())

    def post(self, path: str, fields: dict[str, str], *, on: Page, expect: int = 200) -> Page:
        """Sends a form of the page `on`, with its token."""
        body = urllib.parse.urlencode({**fields, "csrfmiddlewaretoken": on.token()}).encode()
        headers = {"Referer": on.url}
        return self._open(urllib.request.Request(self.base + path, body, headers), expect)  # noqa: S310

    def upload(self, path: str, name: str, content: bytes, *, on: Page) -> Page:
        """Sends a file by the form of the page `on`."""
        mark, part = "walk-8f2d61c0", "Content-Disposition: form-data;"
        token = on.token()
        parts = [
            f'--{mark}\r\n{part} name="csrfmiddlewaretoken"\r\n\r\n{token}\r\n'.encode(),
            f'--{mark}\r\n{part} name="file"; filename="{name}"\r\n\r\n'.encode(),
            content,
            f"\r\n--{mark}--\r\n".encode(),
        ]
        headers = {"Referer": on.url, "Content-Type": f"multipart/form-data; boundary={mark}"}
        return self._open(urllib.request.Request(self.base + path, b"".join(parts), headers), 200)  # noqa: S310

    def sign_in(self, username: str, password: str) -> Page:
        page = self.post("/login/", {"username": username, "password": password}, on=self.get("/login/"))
        if "/login/" in page.url:
            raise WalkFailed(f"{username} could not sign in")
        return page


def review_one(visitor: Visitor, queue_id: str) -> str:
    """Answers the next item of a queue through the form; the address of the item."""
    page = visitor.get(f"/review/{queue_id}/")
    action = re.search(r'action="(/review/[^"]+/items/[^"]+)"', page.text)
    if not action:
        raise WalkFailed(f"{page.url} shows no item to review")
    fields = page.hidden()
    fields.update({"act": "rest", "occupation-choice": "other", "occupation-text": "smoke tester"})
    fields.update({"occupation-hardness": "3", "occupation-certainty": "4"})
    for key in re.findall(r'data-suggested="1"[^>]*id="attr-(\w+)"', page.text):
        if key != "occupation":
            fields[f"{key}-choice"] = "none"
    done = visitor.post(action[1], fields, on=page)
    if "Submitted" not in done.text and "left" not in done.text:
        raise WalkFailed(f"submitting {action[1]} was not acknowledged")
    return action[1]


def import_one(visitor: Visitor, home: str, file: Path, *, seconds: float = 30) -> None:
    """Uploads a file on a corpus' page and waits until its own page says that the worker has imported it."""
    page = visitor.upload(f"{home}import/", file.name, file.read_bytes(), on=visitor.get(f"{home}import/"))
    path = urllib.parse.urlsplit(page.url).path
    end = time.monotonic() + seconds
    while "<h2>Imported</h2>" not in page.text:
        if time.monotonic() > end:
            raise WalkFailed(f"{path} did not say within {seconds:.0f} s that the file is imported")
        time.sleep(0.3)
        page = visitor.get(path)


def check_export(layout: str, text: str, *, comments: int) -> int:
    """Checks an exported file's shape and that the review is in it; the number of its rows."""
    lines = text.splitlines()
    if layout == "csv":
        if not lines or not lines[0].startswith("comment_id,"):
            raise WalkFailed("the CSV export has no header")
        if "smoke tester" not in text:
            raise WalkFailed("the CSV export lacks the reviewed label")
        return len(lines) - 1
    rows = [json.loads(line) for line in lines]
    if len(rows) != comments:
        raise WalkFailed(f"the {layout} export has {len(rows)} rows for {comments} comments")
    if layout == "synthpai":
        estimates = [
            review.get("occupation", {}).get("estimate")
            for row in rows
            for review in (row["reviews"] or {}).values()
        ]
        if "smoke tester" not in estimates:
            raise WalkFailed("the SynthPAI export lacks the reviewed label")
    return len(rows)
