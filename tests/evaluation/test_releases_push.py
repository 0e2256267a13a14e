"""A copy of a release becomes a repository of a hub: the hub's own client, and a hub on this machine."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from evaluation.exchange import release_push
from evaluation.models import Release
from evaluation.services.releases import Refused, withdraw
from evaluation.tasks import push_release
from simulation.models import AuditEntry
from tests.evaluation import releases_by_hand as scene
from tests.evaluation.a_hub import hub

huggingface_hub = pytest.importorskip("huggingface_hub")
constants = pytest.importorskip("huggingface_hub.constants")
pytestmark = [
    pytest.mark.django_db,
    # The hub's client has not followed the newest release of its own HTTP library.
    pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning"),
]


@pytest.fixture
def there(settings, monkeypatch):
    """The hub; its token stands in the variable that is asked for by default."""
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with hub() as made:
        settings.HUB_ENDPOINT = made.address
        monkeypatch.setenv("HF_TOKEN", made.token)
        yield made
        huggingface_hub.close_session()


@pytest.fixture
def release(corpus, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    more = {"README.md": "# Card\n", "labels.parquet": "PAR1 as it were"}
    return scene.ready(corpus, tmp_path, more=more, labels=[scene.label(1, "30")])


def test_every_file_arrives_as_it_is_and_the_repository_is_private(there, release, tmp_path):
    release_push.ask(release, by=None, repository="me/winter")
    push_release(release.pk, "me/winter", "HF_TOKEN", False)
    assert there.repositories == {"me/winter": True}
    assert there.files == {path.name: path.read_bytes() for path in (tmp_path / release.folder).iterdir()}
    release.refresh_from_db()
    (entry,) = release.pushed
    assert (entry["repository"], entry["state"], entry["public"]) == ("me/winter", "sent", False)
    assert entry["url"] == f"{there.address}/datasets/me/winter"


def test_the_token_is_kept_nowhere(there, release, caplog):
    release_push.ask(release, by=None, repository="me/winter", public=True)
    release_push.push(release.pk, repository="me/winter", public=True)
    kept = json.dumps([*Release.objects.values_list("pushed"), *AuditEntry.objects.values_list("details")])
    assert there.token not in kept + caplog.text
    assert there.repositories == {"me/winter": False}


def test_sending_again_is_one_entry(there, release):
    for _ in range(2):
        release_push.push(release.pk, repository="me/winter")
    release.refresh_from_db()
    assert [one["state"] for one in release.pushed] == ["sent"]


def test_a_token_that_is_refused_is_said(there, release, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "another")
    said = release_push.push(release.pk, repository="me/winter")
    assert (said["state"], said["problem"]) == (
        "failed",
        "The hub refuses the token: it is wrong, or may not write there.",
    )
    assert there.files == {}


def test_what_the_hub_does_not_take_is_said(there, corpus, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    one = scene.ready(corpus, tmp_path, more={"README.md": "---\nBAD: x\n---\n"})
    said = release_push.push(one.pk, repository="me/winter")
    assert said["state"] == "failed"
    assert "the head is wrong" in said["problem"]


def test_a_hub_that_is_away_is_said(there, release, settings):
    settings.HUB_ENDPOINT = "http://127.0.0.1:9"
    said = release_push.push(release.pk, repository="me/winter")
    assert said["state"] == "failed"
    assert said["problem"].startswith("The hub cannot be reached")


def test_a_withdrawal_meanwhile_stops_it(there, release, researcher):
    release_push.ask(release, by=researcher, repository="me/winter")
    withdraw(release, by=researcher, notice="Wrong.", typed="1.0")
    said = release_push.push(release.pk, repository="me/winter")
    assert "was withdrawn" in said["problem"]
    assert there.asked == []


def test_a_file_that_is_gone_stops_it(there, release, tmp_path):
    (tmp_path / release.folder / "README.md").unlink()
    with pytest.raises(Refused, match=r"README\.md is not on the server"):
        release_push.plan(release, repository="me/winter")


def test_the_command_looks_and_sends(there, release):
    out = io.StringIO()
    common = {"corpus": "winter", "repository": "me/winter", "stdout": out}
    call_command("push_release", "1.0", dry_run=True, **common)
    assert "to me/winter, private" in out.getvalue()
    assert there.asked == []
    call_command("push_release", "1.0", **common)
    assert "Sent: " in out.getvalue()
    assert "labels.parquet" in there.files
    with pytest.raises(CommandError) as refused:
        call_command("push_release", "1.0", **common | {"repository": "winter"})
    assert refused.value.returncode == 2
