"""The recipes of the docs, as they stand there, against the real site and a real worker."""

import contextlib
import io
import json
import os
import re
import runpy
import sys
from pathlib import Path

import pytest
from django.conf import settings as site

from evaluation.models import Release
from simulation.domain.roles import Role
from simulation.models import Corpus, Run
from tests.api import token_of
from tests.factories.simulation import MembershipFactory, ProfileFactory, ProviderFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

DOCS = Path(site.BASE_DIR) / "docs" / "recipes.md"
CLIENT = Path(site.BASE_DIR) / "static" / "client"


def recipes():
    return re.findall(r"^```python\n(.*?)^```$", DOCS.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def cook(live_server, worker, tmp_path, settings, monkeypatch):
    """`cook(recipe)` runs it as a script in a folder of its own, as an admin; what it printed."""
    settings.MEDIA_ROOT = tmp_path / "files"
    worker.start(MEDIA_ROOT=str(settings.MEDIA_ROOT))
    admin = MembershipFactory(role=Role.ADMIN.value).person
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(CLIENT))
    monkeypatch.setitem(os.environ, "SYNTHPAI_URL", live_server.url)
    monkeypatch.setitem(os.environ, "SYNTHPAI_TOKEN", token_of(admin))
    rows = [
        {"id": f"c{n}", "thread_id": "quay", "parent_id": f"c{n - 1}" if n else None, "username": f"user{n}",
         "text": f"Number {n}: I was a pilot of the ferry, then a sailor."}
        for n in range(4)
    ]  # fmt: skip
    (folder / "harbour.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    (folder / "forum.csv").write_text("body;user\nThe sailor was late.;Gull\n")

    def cooked(recipe):
        (folder / "recipe.py").write_text(recipe)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            runpy.run_path(str(folder / "recipe.py"))
        return out.getvalue()

    yield cooked
    sys.modules.pop("synthpai_client", None)


def test_the_docs_have_five_recipes():
    assert len(recipes()) == 5


def test_the_recipes_work_one_after_the_other(cook):
    first, second, third, fourth, fifth = recipes()
    assert "quay" in cook(first)
    assert cook(second) == "{'new': 5, 'same': 0}\n"
    assert cook(second) == "{'new': 0, 'same': 5}\n"
    assert cook(third) == "5 done\n"
    corpus = Corpus.objects.get(name="harbour")
    for number in range(12):
        facts = {"age": 20 + number, "occupation": "ferry pilot"}
        ProfileFactory(corpus=corpus, username=f"agent{number}", facts=facts)
    ProviderFactory()
    said = cook(fourth)
    assert Run.objects.get().state in ("done", "partial"), said
    assert "calls" in said
    assert cook(fifth).startswith("release 1.0,")
    assert Release.objects.get().state == "ready"


def test_a_server_that_is_away_is_asked_again_and_then_given_up(monkeypatch):
    monkeypatch.syspath_prepend(str(CLIENT))
    import synthpai_client  # noqa: PLC0415 - it is not on the path before

    monkeypatch.setattr(synthpai_client.time, "sleep", lambda _: None)
    studio = synthpai_client.Studio("http://127.0.0.1:9", "x", timeout=1)
    with pytest.raises(OSError, match=r"refused|111"):
        studio.get("me/")
    sys.modules.pop("synthpai_client", None)
