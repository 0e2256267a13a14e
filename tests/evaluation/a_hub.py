"""A hub of data sets on this machine: as much of its protocol as its own client needs to make a repository
and to put files into it."""

import base64
import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Hub(ThreadingHTTPServer):
    """`repositories`: name -> whether it is private; `files`: what was committed."""

    daemon_threads = True

    def __init__(self, token):
        super().__init__(("127.0.0.1", 0), Handler)
        self.token = token
        self.repositories, self.files, self.large = {}, {}, {}
        self.asked = []
        self.address = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._answer()

    def do_POST(self):
        self._answer()

    def do_PUT(self):
        self._answer()

    def do_HEAD(self):
        self._answer()

    def _answer(self):
        hub = self.server
        body = self._body()
        path = self.path.partition("?")[0]
        hub.asked.append(f"{self.command} {path}")
        status, said = 404, {"error": path}
        if path.startswith("/lfs/"):
            hub.large[path.removeprefix("/lfs/")] = body
            status, said = 200, {}
        elif self.headers.get("Authorization") != f"Bearer {hub.token}":
            status, said = 401, {"error": "Invalid credentials"}
        elif (act := self._act(path)) is not None:
            said = act(body)
            status = 400 if said.get("errors") else 200
        text = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def _body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            found = b""
            while size := int(self.rfile.readline(), 16):
                found += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return found
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _act(self, path):
        endings = {
            "/api/repos/create": self._create,
            "/api/validate-yaml": self._validate,
            "/preupload/main": self._modes,
            "/info/lfs/objects/batch": self._batch,
            "/commit/main": self._commit,
        }
        return next((act for ending, act in endings.items() if path.endswith(ending)), None)

    def _repository(self):
        return self.path.removeprefix("/api").partition("/commit/")[0]

    def _create(self, body):
        said = json.loads(body)
        name = f"{said['organization']}/{said['name']}"
        self.server.repositories[name] = said.get("visibility") == "private"
        return {"url": f"{self.server.address}/datasets/{name}", "id": "1"}

    def _validate(self, body):
        wrong = "BAD" in json.loads(body)["content"]
        return {"errors": [{"message": "the head is wrong"}] if wrong else [], "warnings": []}

    def _modes(self, body):
        return {
            "files": [
                {
                    "path": one["path"],
                    "uploadMode": "lfs" if one["path"].endswith(".parquet") else "regular",
                    "shouldIgnore": False,
                }
                for one in json.loads(body)["files"]
            ]
        }

    def _batch(self, body):
        objects = [
            {
                "oid": one["oid"],
                "size": one["size"],
                "actions": {"upload": {"href": f"{self.server.address}/lfs/{one['oid']}"}},
            }
            for one in json.loads(body)["objects"]
        ]
        return {"transfer": "basic", "objects": objects}

    def _commit(self, body):
        for line in body.splitlines():
            said = json.loads(line)
            value = said["value"]
            if said["key"] == "file":
                self.server.files[value["path"]] = base64.b64decode(value["content"])
            elif said["key"] == "lfsFile":
                found = self.server.large[value["oid"]]
                assert hashlib.sha256(found).hexdigest() == value["oid"]
                self.server.files[value["path"]] = found
        return {"commitUrl": f"{self.server.address}{self._repository()}/commit/1", "commitOid": "1" * 40}


@contextmanager
def hub(token="token of a test"):
    """A hub that listens until the end."""
    made = Hub(token)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.shutdown()
        made.server_close()
        thread.join()
