"""What the demo begins with: one account a role, the starter corpus, a queue over it."""

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from annotation.exchange import dataset
from annotation.models import Queue
from annotation.services import queues
from simulation.domain.roles import Role
from simulation.models import Corpus, User
from simulation.services import people

FOLDER = settings.BASE_DIR / "simulation" / "starter_corpus"
CORPUS = "starter"
QUEUE = "round 1"
WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heron",
    "kelp",
    "lilac",
    "ocean",
    "river",
]


@dataclass(frozen=True)
class Account:
    role: str
    username: str
    password: str


def _pass_phrase() -> str:
    return "-".join([*(secrets.choice(WORDS) for _ in range(3)), str(secrets.randbelow(9000) + 1000)])


def accounts(var_dir: Path) -> list[Account]:
    """One a role; the passwords are drawn at the first start and kept in `var_dir/accounts.json` (0600)."""
    path = var_dir / "accounts.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for role in Role:
        known.setdefault(role.value, _pass_phrase())
    draft = path.with_suffix(".new")
    with os.fdopen(
        os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
    ) as file:
        json.dump(known, file)
    draft.replace(path)
    return [Account(role, role, password) for role, password in known.items()]


def sow(var_dir: Path) -> tuple[list[Account], Corpus]:
    """Makes what is missing and leaves what is there: a second call changes nothing."""
    made = accounts(var_dir)
    for account in made:
        _person(account)
    admin = User.objects.get(username=Role.ADMIN.value)
    dataset.import_paths(
        paths=[FOLDER],
        corpus_name=CORPUS,
        by=admin,
        licence="CC0-1.0",
        description="Four hand-written threads and their invented authors, to try everything on.",
    )
    corpus = Corpus.objects.get(name=CORPUS)
    if not Queue.objects.filter(corpus=corpus).exists():
        queues.create(by=admin, corpus=corpus, name=QUEUE, people_per_item=2)
    return made, corpus


def _person(account: Account) -> None:
    person = User.objects.filter(username=account.username).first()
    if person is None:
        people.create_user(
            username=account.username,
            email=f"{account.username}@demo.invalid",
            password=account.password,
            role=Role(account.role),
        )
    elif not person.check_password(account.password):
        # The database outlived the file with the passwords: the file is what gets printed.
        person.set_password(account.password)
        person.save(update_fields=["password"])
