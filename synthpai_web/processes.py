"""The processes that make up the site on one machine, and the questions one asks of it from outside."""

import json
import socket
import sys
import urllib.error
import urllib.request

from synthpai_web.supervisor import Process, Supervisor

HOST = "127.0.0.1"
FIRST_PORT = 8000
LAST_PORT = 65_535
MODEL_PORT = 8900


def free_port(wanted: int = FIRST_PORT, *, but: int | None = None) -> int:
    """`wanted`, or the next free one within a hundred, or any; never `but`, which is promised already."""
    for port in (*range(wanted, min(wanted + 100, LAST_PORT + 1)), 0):
        if port == but:
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("no free port")


def scripted_model(port: int, *, latency: float = 0.0) -> Process:
    """The scripted model over HTTP; `latency` is how many seconds an answer takes."""
    command = [sys.executable, "manage.py", "serve_scripted_model", "--host", HOST, "--port", str(port)]
    return Process("model", [*command, "--latency", str(latency), "--spread", str(latency / 2)])


def answers(port: int) -> bool:
    """Whether something takes connections at a port of this machine."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def site(port: int) -> list[Process]:
    """Web, worker and clock, as `docker-compose.yml` runs them too."""
    celery = [sys.executable, "-m", "celery", "-A", "synthpai_web"]
    web = [sys.executable, "-m", "gunicorn", "synthpai_web.wsgi", "--bind", f"{HOST}:{port}"]
    web += ["--workers", "2", "--worker-class", "gthread", "--threads", "4", "--preload"]
    web += ["--no-control-socket", "--log-level", "warning"]
    worker = [*celery, "worker", "--pool", "threads", "--concurrency", "12", "-Q", "llm,io,stats"]
    worker += ["--loglevel", "WARNING", "--hostname", f"worker-{port}@%h"]
    beat = [*celery, "beat", "--loglevel", "WARNING", "--scheduler", "celery.beat:Scheduler"]
    return [Process("web", web), Process("worker", worker), Process("beat", beat)]


def ready(port: int) -> bool:
    """Whether `/readyz` says that database, broker, migrations and a worker are there."""
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}/readyz", timeout=5) as answer:
            return bool(json.load(answer)["ok"])
    except (urllib.error.URLError, OSError, ValueError, KeyError):
        return False


def start(supervisor: Supervisor, port: int) -> None:
    for process in site(port):
        supervisor.start(process)
    supervisor.wait_until(lambda: ready(port), seconds=60, what="The site")
