"""The client of the docs when something goes wrong between it and the site."""

import http.server
import json
import sys
import threading
from pathlib import Path

import pytest
from django.conf import settings as site

from annotation.models import DataImport
from simulation.domain.roles import Role
from tests.api import token_of
from tests.factories.simulation import MembershipFactory

CLIENT = Path(site.BASE_DIR) / "static" / "client"
JSON = ("Content-Type", "application/json")


@pytest.fixture
def client_module(monkeypatch):
    monkeypatch.syspath_prepend(str(CLIENT))
    import synthpai_client  # noqa: PLC0415 - it is not on the path before

    monkeypatch.setattr(synthpai_client.time, "sleep", lambda _: None)
    yield synthpai_client
    sys.modules.pop("synthpai_client", None)


@pytest.fixture
def served():
    """`served(*answers)` -> (address, what was asked). Each answer is (status, headers, body); the last
    one is given from then on."""
    servers = []

    def serve(*answers):
        asked, waiting = [], list(answers)

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked.append((self.command, self.path, dict(self.headers), body))
                status, headers, said = waiting.pop(0) if len(waiting) > 1 else waiting[0]
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                if not any(name == "Content-Length" for name, _ in headers):
                    self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            do_GET = do_POST = do_PUT = answer

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}", asked

    yield serve
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


CUT = (200, [JSON, ("Content-Length", "100")], b'{"id": ')
FINE = (200, [JSON], b'{"id": "k7"}')


@pytest.mark.parametrize(
    "first",
    [
        CUT,
        (503, [("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")], b"busy"),
        (429, [("Retry-After", "7")], b"{}"),
    ],
)
def test_half_an_answer_and_a_busy_server_are_asked_again_with_the_same_key(client_module, served, first):
    url, asked = served(first, FINE)
    assert client_module.Studio(url, "x").post("corpora/", {"name": "a"}) == {"id": "k7"}
    assert len(asked) == 2
    assert asked[0][2]["Idempotency-Key"] == asked[1][2]["Idempotency-Key"]


def test_while_the_first_try_is_in_work_the_second_waits_for_its_answer(client_module, served):
    working = (409, [JSON, ("Retry-After", "1")], b'{"detail": "in work"}')
    url, asked = served(CUT, *[working] * 9, FINE)
    assert client_module.Studio(url, "x").post("corpora/", {"name": "a"}) == {"id": "k7"}
    assert len(asked) == 11


def test_a_conflict_is_said_at_once(client_module, served):
    url, asked = served((409, [JSON], b'{"detail": "taken"}'))
    with pytest.raises(client_module.Problem, match="409: taken"):
        client_module.Studio(url, "x").post("corpora/")
    assert len(asked) == 1


def test_a_download_that_is_cut_is_begun_anew_and_leaves_no_half_file(client_module, served, tmp_path):
    cut = (200, [("Content-Length", "10")], b"12345")
    url, _ = served(cut, (200, [], b"1234567890"))
    assert len(client_module.Studio(url, "x").download("files/a/", tmp_path / "a")) == 64
    assert (tmp_path / "a").read_bytes() == b"1234567890"
    url, asked = served(cut)
    with pytest.raises(ConnectionError, match="5 of 10"):
        client_module.Studio(url, "x").download("files/b/", tmp_path / "b")
    assert len(asked) == client_module.TRIES
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_a_page_in_place_of_an_answer_is_said_to_be_one(client_module, served):
    url, _ = served((200, [("Content-Type", "text/html")], b"<html>Sign in</html>"))
    with pytest.raises(client_module.Problem, match="address of an installation"):
        client_module.Studio(url, "x").get("me/")
    url, _ = served((500, [("Content-Type", "text/html")], b"<html>broken</html>"))
    with pytest.raises(client_module.Problem, match="500"):
        client_module.Studio(url, "x").get("me/")


def test_a_redirect_takes_no_token_along(client_module, served):
    elsewhere, asked_there = served(FINE)
    url, _ = served((301, [("Location", f"{elsewhere}/api/v1/me/")], b""))
    with pytest.raises(client_module.Problem, match="leads to"):
        client_module.Studio(url, "x").post("corpora/")
    with pytest.raises(client_module.Problem, match="leads to"):
        client_module.Studio(url, "x").get("me/")
    assert not asked_there


def test_what_is_not_set_is_said(client_module, monkeypatch):
    monkeypatch.delenv("SYNTHPAI_URL", raising=False)
    monkeypatch.delenv("SYNTHPAI_TOKEN", raising=False)
    with pytest.raises(LookupError, match="SYNTHPAI_URL"):
        client_module.Studio()
    with pytest.raises(LookupError, match="SYNTHPAI_TOKEN"):
        client_module.Studio("https://studio.example.org/api/v1/")
    studio = client_module.Studio("https://studio.example.org/api/v1/", " x\n")
    assert studio.url == "https://studio.example.org"


def test_a_form_is_read_piece_by_piece_and_anew_for_each_try(client_module, served, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"x" * (2 * client_module.CHUNK + 5))
    form = client_module._Form(path, {"dry_run": "true"})
    assert max(map(len, form)) == client_module.CHUNK
    assert sum(map(len, form)) == int(form.headers["Content-Length"])
    done = {"id": "i1", "asks_for_columns": False, "state": "done"}
    url, asked = served((503, [], b""), (202, [JSON], json.dumps(done).encode()))
    assert client_module.Studio(url, "x").import_file("k7", path)["state"] == "done"
    assert asked[0][3] == asked[1][3]
    assert b"x" * 100 in asked[1][3]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["häfen 2026.jsonl", "港.jsonl", "100%.jsonl", 'a "b".jsonl', "a;b'c.jsonl"])
def test_a_file_keeps_its_name(client_module, live_server, tmp_path, settings, name):
    settings.MEDIA_ROOT = tmp_path / "files"
    membership = MembershipFactory(role=Role.ADMIN.value)
    path = tmp_path / name
    path.write_text("{}\n")
    studio = client_module.Studio(live_server.url, token_of(membership.person))
    corpus = studio.post("corpora/", {"name": "harbour"})
    with pytest.raises(TimeoutError):
        studio.import_file(corpus["id"], path, wait=0)
    assert DataImport.objects.get().file_name == name
