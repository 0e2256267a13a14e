"""Under whose name PostgreSQL runs, and which folders that account may pass through.

PostgreSQL refuses to run as root. An ordinary user runs it under the own name. Root runs it under the system
account `synthpai-db`, made on first use with `useradd`; where that cannot be done (no useradd, a read-only
/etc) an existing `nobody` serves. A cluster which is there already is run by its owner, so the choice made at
first holds, and root can continue with a cluster which an ordinary user began.

Folders that existed before are never opened for the account: the rest of the package goes elsewhere instead.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .errors import OWN_SERVER, EmbeddedServerError

SYSTEM_ACCOUNT = "synthpai-db"


@dataclass(frozen=True)
class Account:
    """A user and primary group. `is_other` is true when running as it means to change credentials."""

    name: str
    uid: int
    gid: int

    @property
    def is_other(self) -> bool:
        """Credentials are changed by root alone; everybody else is the account already."""
        return self.uid != os.geteuid()


def current() -> Account:
    """The account of this process."""
    return Account(_name_of(os.geteuid()), os.geteuid(), os.getegid())


def known_system_account() -> Account | None:
    """The account which root uses, if it exists already. Changes nothing."""
    return _look_up(SYSTEM_ACCOUNT)


def owner_of_cluster(data_dir: Path) -> Account:
    """Who runs the cluster that exists in `data_dir`."""
    if os.geteuid() != 0:
        return current()
    status = data_dir.stat()
    if status.st_uid == 0:
        raise EmbeddedServerError(
            f"The PostgreSQL cluster {data_dir} belongs to root (a copy, or a chown?), and "
            f"PostgreSQL does not run as root. Give it to the account that ran it: "
            f"chown -R {SYSTEM_ACCOUNT} '{data_dir}'"
        )
    return Account(_name_of(status.st_uid), status.st_uid, status.st_gid)


def account_for_new_cluster() -> Account:
    """Who shall own a new cluster; makes the system account when root needs it and it is missing."""
    if os.geteuid() != 0:
        account = current()
        if account.name == str(account.uid):
            raise EmbeddedServerError(
                f"User {account.uid} has no entry in /etc/passwd, and PostgreSQL's initdb needs one. Add it, "
                f"or {OWN_SERVER['postgres']}."
            )
        return account
    return _look_up(SYSTEM_ACCOUNT) or _make_system_account() or _nobody()


def first_closed_folder(folder: Path, account: Account | None) -> Path | None:
    """The outermost existing folder on the way to and including `folder` which the account may not enter.

    None when all are open. `account=None` asks for an account that owns nothing, as a new system account
    does. Folders which do not exist yet are no obstacle: this package makes them, and makes them open.
    """
    for step in [*reversed(folder.parents), folder]:
        try:
            status = step.stat()
        except FileNotFoundError:
            return None
        except PermissionError:
            return step
        if not _permissions(status, account) & 0o1:
            return step
    return None


def may_read(file: Path, account: Account) -> bool:
    """Whether the account can read the file. Wheels see to it that programs are executable."""
    real = file.resolve()
    if first_closed_folder(real.parent, account) is not None:
        return False
    return bool(_permissions(real.stat(), account) & 0o4)


def _permissions(status: os.stat_result, account: Account | None) -> int:
    """The rwx bits that the kernel applies: the owner's, or else the group's, or else the others'."""
    mode = stat.S_IMODE(status.st_mode)
    if account is not None and status.st_uid == account.uid:
        return mode >> 6 & 0o7
    if account is not None and status.st_gid == account.gid:
        return mode >> 3 & 0o7
    return mode & 0o7


def _make_system_account() -> Account | None:
    tool = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if tool is None:
        return None
    options = ["--system", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin"]
    # The exit status does not matter: another process may have made the account at the same moment.
    subprocess.run([tool, *options, SYSTEM_ACCOUNT], stdin=subprocess.DEVNULL, check=False, timeout=60)
    return _look_up(SYSTEM_ACCOUNT)


def _nobody() -> Account:
    account = _look_up("nobody")
    if account is None:
        raise EmbeddedServerError(
            f"PostgreSQL does not run as root, and the system account {SYSTEM_ACCOUNT} could not be made. "
            f"Make it (useradd --system {SYSTEM_ACCOUNT}), run as an ordinary user, or set DATABASE_URL."
        )
    return account


def _look_up(name: str) -> Account | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(name, entry.pw_uid, entry.pw_gid)


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
