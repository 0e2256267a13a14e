"""The one door by which a release is sent to a hub of data sets. Opt-in: `pip install '.[hub]'`.

What is sent is the folder as it is. The token is read, at the moment of sending, from an environment variable
whose name is given, and is kept nowhere. A repository is made private unless somebody says otherwise.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from evaluation.exchange.release_reading import File, files, path_of, place_of
from evaluation.models import Release
from evaluation.services.releases import Refused
from simulation.models import User
from simulation.services import audit

try:
    import huggingface_hub
    from huggingface_hub.errors import HTTPError
except ImportError:  # the extra is not installed: `missing` says so
    HTTPError = OSError  # type: ignore[assignment,misc]

HOW = "pip install '.[hub]'"
TOKEN = "HF_TOKEN"  # noqa: S105  (a name)
"""The variable that holds the token where nobody names another."""
WAITING, SENT, FAILED = "waiting", "sent", "failed"
REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_TOKEN")
LONGEST = 400
"""Characters of what a hub answered that are kept."""
STOPPED = "It stopped on an error of ours. The server's log has the details."
log = logging.getLogger("synthpai.releases")


@dataclass(frozen=True)
class Plan:
    """What would be sent, and where to."""

    repository: str
    public: bool
    endpoint: str
    """Address of the hub; "" where it is the library's own."""
    files: Sequence[File]

    @property
    def size(self) -> int:
        return sum(one.size for one in self.files)


def missing() -> str:
    """How to install what is missing; "" where nothing is."""
    return "" if importlib.util.find_spec("huggingface_hub") else HOW


def plan(release: Release, *, repository: str, variable: str = TOKEN, public: bool = False) -> Plan:
    """What sending would do; nothing is sent, nobody is asked. Raises Refused, which names the field."""
    if how := missing():
        raise Refused("", f"Sending to a hub is not installed here. Install it with: {how}")
    if release.state != Release.READY:
        raise Refused("", f"Release {release.name} is {release.state}: it has no files to send.")
    if release.withdrawn_at:
        raise Refused("", f"Release {release.name} was withdrawn: it is not sent anywhere any more.")
    if not REPOSITORY.fullmatch(repository):
        raise Refused("repository", "A repository reads owner/name: letters, digits, and . _ - between them.")
    if not VARIABLE.fullmatch(variable):
        raise Refused("variable", "The name of a variable has capitals, digits and _, and ends in _TOKEN.")
    if not os.environ.get(variable):
        raise Refused(
            "variable",
            f"The variable {variable} is empty or not set where this runs. Put the token into it, for web and"
            " workers.",
        )
    sent = files(release)
    if gone := [one.name for one in sent if path_of(release, one.name) is None]:
        raise Refused("", f"{gone[0]} is not on the server any more: nothing is sent.")
    return Plan(repository, public, settings.HUB_ENDPOINT, sent)


def ask(
    release: Release, *, by: User | None, repository: str, variable: str = TOKEN, public: bool = False
) -> None:
    """Writes down that it is to be sent; the caller tells the worker. Raises Refused."""
    plan(release, repository=repository, variable=variable, public=public)
    with transaction.atomic():
        now = (
            Release.objects.select_for_update(no_key=True, of=("self",))
            .select_related("corpus")
            .get(pk=release.pk)
        )
        if any(one["repository"] == repository and one.get("state") == WAITING for one in now.pushed):
            raise Refused("repository", f"It is being sent to {repository} already.")
        _note(now, repository, state=WAITING, public=public)
        details = {"public": public}
        audit.record(by=by, action="release.push_asked", target=now, corpus=now.corpus, details=details)


def not_sent(release: Release, *, repository: str, public: bool) -> None:
    """Writes down that no worker could be told."""
    with transaction.atomic():
        now = Release.objects.select_for_update(no_key=True).get(pk=release.pk)
        problem = "No worker could be told: the broker does not answer. Try again."
        _note(now, repository, public=public, state=FAILED, problem=problem)


def push(release_id: int, *, repository: str, variable: str = TOKEN, public: bool = False) -> dict[str, Any]:
    """Sends the folder and says where it is now; what came of it stands on the row. Can be repeated."""
    release = Release.objects.select_related("corpus").get(pk=release_id)
    try:
        plan(release, repository=repository, variable=variable, public=public)
        url = _send(release, repository, os.environ[variable], public=public)
    except Refused as error:
        said = {"state": FAILED, "problem": str(error)}
    except (HTTPError, OSError, ValueError) as error:
        log.warning("release %s was not sent: %s", release.public_id, type(error).__name__)
        said = {"state": FAILED, "problem": _words(error)}
    except Exception:  # the library has errors of its own parts; the row must say that it ended
        log.exception("release %s was not sent", release.public_id)
        said = {"state": FAILED, "problem": STOPPED}
    else:
        said = {"state": SENT, "url": url}
    with transaction.atomic():
        now = (
            Release.objects.select_for_update(no_key=True, of=("self",))
            .select_related("corpus")
            .get(pk=release_id)
        )
        return _note(now, repository, public=public, **said)


def _send(release: Release, repository: str, token: str, *, public: bool) -> str:
    hub = huggingface_hub.HfApi(
        endpoint=settings.HUB_ENDPOINT or None, token=token, library_name="synthpai-studio"
    )
    huggingface_hub.utils.disable_progress_bars()
    made = hub.create_repo(repository, repo_type="dataset", private=not public, exist_ok=True)
    hub.upload_folder(
        repo_id=repository,
        repo_type="dataset",
        folder_path=place_of(release),
        allow_patterns=[one.name for one in files(release)],
        commit_message=f"Release {release.name}",
        commit_description=f"SHA-256 of manifest.json: {release.digest}",
    )
    return str(made)


def _words(error: Exception) -> str:
    """What the hub answered, without addresses that carry a key."""
    answer = getattr(error, "response", None)
    status = getattr(answer, "status_code", None)
    if status in (401, 403):
        return "The hub refuses the token: it is wrong, or may not write there."
    if status is not None:
        return f"The hub answered with status {status}. {getattr(error, 'server_message', None) or ''}"[
            :LONGEST
        ].strip()
    if isinstance(error, ValueError):
        return f"The hub does not take it: {error}"[:LONGEST]
    return f"The hub cannot be reached ({type(error).__name__})."


def _note(release: Release, repository: str, **said: Any) -> dict[str, Any]:
    """One entry a repository, the latest word of it."""
    entry = {"repository": repository, "url": "", "at": timezone.now().isoformat(timespec="seconds"), **said}
    release.pushed = [one for one in release.pushed if one["repository"] != repository] + [entry]
    release.save(update_fields=["pushed"])
    return entry
