"""A labeler as the server sees one: signs in, opens a queue, answers eight rows, skips.

The standard library only, and no parser of HTML: many of these run beside a server on the same machine,
and what they cost must not be taken for the server's.
"""

from __future__ import annotations

import html
import random
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

FORM = re.compile(rb'<form[^>]*?action="(/review/[^"/]+/items/([^"/]+)/)"[^>]*>(.*?)</form>', re.S)
HIDDEN = re.compile(rb"<input\b[^>]*?type=\"hidden\"[^>]*>")
NAME = re.compile(rb'\bname="([^"]*)"')
VALUE = re.compile(rb'\bvalue="([^"]*)"')
ROW = re.compile(rb'data-suggested="(1?)"[^>]*?id="attr-(\w+)"')
GUESS = re.compile(rb'<input\b[^>]*?name="(\w+)-choice"[^>]*?value="([^"]*)"[^>]*?data-rank="(\d)"')
LEASE = re.compile(rb'name="lease_token"[^>]*?value="([^"]*)"|value="([^"]*)"[^>]*?name="lease_token"')
TOKEN = re.compile(rb'name="csrfmiddlewaretoken"[^>]*?value="([^"]*)"')

KEYS = (
    "age",
    "sex",
    "city_country",
    "birth_city_country",
    "education",
    "occupation",
    "income_level",
    "relationship_status",
)
# What a person says of their own accord, where nothing was suggested or the suggestion is wrong.
OWN = {
    "age": [("other", "34"), ("other", "25-30")],
    "sex": [("v:female", ""), ("v:male", "")],
    "city_country": [("other", "Zurich, Switzerland"), ("other", "Porto, Portugal")],
    "birth_city_country": [("other", "Accra, Ghana"), ("other", "Oslo, Norway")],
    "education": [("v:PhD", ""), ("v:In College", "")],
    "occupation": [("other", "night nurse"), ("other", "bus driver")],
    "income_level": [("v:middle", ""), ("v:low", "")],
    "relationship_status": [("v:single", ""), ("v:married", "")],
}


class Cut(OSError):
    """The connection ended before the whole answer was there."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    cookies: Mapping[str, str]
    body: bytes
    path: str = ""


@dataclass(frozen=True)
class Page:
    """One item as it was shown: where its form goes, what goes along, what was suggested for what."""

    action: str
    item: str
    hidden: dict[str, str]
    suggested: frozenset[str]
    guesses: dict[str, tuple[str, ...]]

    @property
    def submission(self) -> str:
        return self.hidden["submission_id"]


def read_page(body: bytes) -> Page | None:
    """The item in a page or in the part of one; None where there is none to answer."""
    form = FORM.search(body)
    if form is None:
        return None
    action, item, inside = form.groups()
    guesses: dict[str, list[str]] = {}
    for key, value, _ in sorted(GUESS.findall(inside), key=lambda found: found[2]):
        guesses.setdefault(key.decode(), []).append(_text(value))
    return Page(
        action=action.decode(),
        item=item.decode(),
        hidden=dict(_field(tag) for tag in HIDDEN.findall(inside)),
        suggested=frozenset(key.decode() for given, key in ROW.findall(inside) if given),
        guesses={key: tuple(values) for key, values in guesses.items()},
    )


def _field(tag: bytes) -> tuple[str, str]:
    name, value = NAME.search(tag), VALUE.search(tag)
    return (_text(name[1]) if name else ""), (_text(value[1]) if value else "")


def _text(written: bytes) -> str:
    return html.unescape(written.decode())


def answers(page: Page, rng: random.Random) -> dict[str, str]:
    """The fields of eight judged rows: most suggestions confirmed, some corrected or rejected."""
    fields: dict[str, str] = {}
    for key in KEYS:
        fate = rng.random()
        text = ""
        if key in page.suggested and fate < 0.75 and page.guesses.get(key):
            choice = page.guesses[key][0]
        elif fate < (0.9 if key in page.suggested else 0.2):
            choice, text = rng.choice(OWN[key])
        else:
            choice = "none" if fate < 0.98 else "unsure"
        fields[f"{key}-choice"] = choice
        fields[f"{key}-text"] = text
        fields[f"{key}-hardness"] = str(rng.randint(1, 5))
        fields[f"{key}-certainty"] = str(rng.randint(1, 5))
    return fields


class Connection:
    """HTTP/1.1 over one socket that stays open; opened anew where the server closed it meanwhile."""

    def __init__(self, host: str, port: int, *, timeout: float = 60.0) -> None:
        self.host, self.port, self.timeout = host, port, timeout
        self._socket: socket.socket | None = None

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> None:
        """Sends a request and does not wait for what becomes of it."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}:{self.port}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if method == "POST":
            lines += ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}"]
        if self._socket is None:
            self._socket = socket.create_connection((self.host, self.port), self.timeout)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    def receive(self, path: str = "") -> Answer:
        """The answer to what was sent. Raises Cut where the connection ends before it is whole."""
        assert self._socket is not None
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._more()
        status, headers, cookies = _head(data[:end].decode("latin-1"))
        parts, length = [data[end + 4 :]], len(data) - end - 4
        wanted = int(headers.get("content-length", "0"))
        while length < wanted:
            parts.append(self._more())
            length += len(parts[-1])
        if headers.get("connection", "").lower() == "close":
            self.close()
        return Answer(status, headers, cookies, b"".join(parts), path)

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> Answer:
        """Sends and receives; once more where a kept connection turns out to have been closed."""
        kept = self._socket is not None
        try:
            self.send(method, path, headers, body)
            return self.receive(path)
        except OSError:
            self.close()
            if not kept:
                raise
        self.send(method, path, headers, body)
        return self.receive(path)

    def _more(self) -> bytes:
        assert self._socket is not None
        read = self._socket.recv(1 << 18)
        if not read:
            raise Cut("the server closed the connection")
        return read

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _head(text: str) -> tuple[int, dict[str, str], dict[str, str]]:
    first, *lines = text.split("\r\n")
    headers, cookies = {}, {}
    for line in lines:
        name, _, value = line.partition(":")
        if name.lower() == "set-cookie":
            key, _, content = value.strip().partition(";")[0].partition("=")
            cookies[key] = content
        else:
            headers[name.lower()] = value.strip()
    return int(first.split(" ", 2)[1]), headers, cookies


@dataclass
class Labeler:
    """One person's browser: cookies, one kept connection, the item on the screen."""

    host: str
    port: int
    username: str
    password: str
    cookies: dict[str, str] = field(default_factory=dict)
    page: Page | None = None
    timeout: float = 60.0

    def __post_init__(self) -> None:
        self.connection = Connection(self.host, self.port, timeout=self.timeout)

    def headers(self) -> dict[str, str]:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {"Cookie": cookies} if cookies else {}

    def ask(self, method: str, path: str, fields: Mapping[str, str] | None = None, **more: str) -> Answer:
        """One request on the kept connection; cookies are kept, redirects are the caller's."""
        headers = self.headers() | {name.replace("_", "-"): value for name, value in more.items()}
        answer = self.connection.request(method, path, headers, urlencode(fields or {}).encode())
        self.cookies.update(answer.cookies)
        return answer

    def get(self, path: str) -> Answer:
        """A page, through redirects."""
        answer = self.ask("GET", path)
        for _ in range(4):
            if answer.status not in (301, 302, 303):
                return answer
            answer = self.ask("GET", answer.headers["location"])
        raise AssertionError(f"{path} leads in circles, the last time to {answer.path}")

    def sign_in(self) -> None:
        token = TOKEN.search(self.get("/login/").body)
        assert token
        fields = {
            "csrfmiddlewaretoken": token[1].decode(),
            "username": self.username,
            "password": self.password,
        }
        answer = self.ask("POST", "/login/", fields)
        assert answer.status == 302, f"{self.username} cannot sign in: {answer.status}"

    def open(self, queue: str) -> Page | None:
        """The item that this person holds or is given in the queue at that address; None: nothing left."""
        answer = self.get(queue)
        assert answer.status == 200, f"{queue}: {answer.status}"
        self.page = read_page(answer.body)
        return self.page

    def submit(self, page: Page, fields: Mapping[str, str]) -> Answer:
        """Submits as the page's script does; the answer ends with the next item on the screen, or none.

        The answer returned is the one to the submission itself.
        """
        sent = {**page.hidden, **fields, "act": "submit"}
        answer = self.ask("POST", page.action, sent, HX_Request="true")
        self.page = self.shown_after(answer)
        return answer

    def shown_after(self, answer: Answer) -> Page | None:
        """What is on the screen once the browser has done as the answer says."""
        goto = answer.headers.get("x-review-goto") or answer.headers.get("hx-redirect")
        if answer.status in (302, 303):
            goto = answer.headers["location"]
        return read_page(self.get(goto).body if goto else answer.body)

    def skip(self, queue: str, page: Page, reason: str, note: str = "") -> Answer:
        sent = {
            "csrfmiddlewaretoken": page.hidden["csrfmiddlewaretoken"],
            "item": page.item,
            "lease_token": page.hidden.get("lease_token", ""),
            "reason": reason,
            "note": note,
        }
        answer = self.ask("POST", f"{queue}skip/", sent, HX_Request="true")
        self.page = self.shown_after(answer)
        return answer

    def close(self) -> None:
        self.connection.close()
