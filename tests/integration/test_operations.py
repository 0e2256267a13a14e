"""The page that tells admins of the installation how it is, and what is forgotten by itself."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from simulation.domain.roles import Role
from simulation.models import Invitation
from synthpai_web import retention
from synthpai_web.backups import nightly
from synthpai_web.tasks import nightly as tonight
from tests.factories.simulation import CorpusFactory, MembershipFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_folders(settings, tmp_path):
    settings.BACKUP_DIR = tmp_path / "backups"
    settings.MEDIA_ROOT = tmp_path / "files"


def test_an_admin_of_the_installation_sees_parts_backups_and_rules(client_of, admin):
    nightly.back_up(now=timezone.now())
    answer = client_of(admin).get(reverse("operations"))
    text = answer.content.decode()
    assert "read back and compared" in text
    assert "sessions that have ended" in text.lower()
    assert not answer.context["warning"]
    assert [name for name, _ in answer.context["waiting"]] == ["llm", "io", "stats"]


def test_without_a_backup_the_page_warns(client_of, admin):
    assert "There is no backup yet" in client_of(admin).get(reverse("operations")).content.decode()


def test_nobody_else_sees_it(client_of, researcher, labeler):
    of_a_corpus = MembershipFactory(role=Role.ADMIN.value, corpus=CorpusFactory()).person
    for person in (researcher, labeler, of_a_corpus):
        assert client_of(person).get(reverse("operations")).status_code == 403


def test_the_page_asks_no_more_with_more_backups(client_of, admin):
    def queries():
        with CaptureQueriesContext(connection) as captured:
            client_of(admin).get(reverse("operations"))
        return len(captured)

    before = queries()
    for minutes in range(3):
        nightly.back_up(now=timezone.now() + timedelta(minutes=minutes))
    assert queries() == before


def test_the_night_backs_up_and_then_forgets(settings):
    Session.objects.create(
        session_key="old", session_data="x", expire_date=timezone.now() - timedelta(days=1)
    )
    Session.objects.create(
        session_key="new", session_data="x", expire_date=timezone.now() + timedelta(days=1)
    )
    tonight()
    assert nightly.last_night().ok
    assert list(Session.objects.values_list("session_key", flat=True)) == ["new"]


def test_after_a_bad_backup_nothing_is_forgotten(monkeypatch):
    ended = timezone.now() - timedelta(days=1)
    Session.objects.create(session_key="old", session_data="x", expire_date=ended)
    monkeypatch.setattr(nightly, "back_up", lambda now: nightly.Night(now.isoformat(), False, "no room"))
    tonight()
    assert Session.objects.count() == 1


def test_no_backup_is_made_where_that_is_switched_off(settings):
    settings.BACKUP = False
    tonight()
    assert nightly.last_night() is None
    assert "BACKUP=0" in nightly.warning(timezone.now())


def test_addresses_of_ended_invitations_go_after_ninety_days(admin):
    now = timezone.now()

    def invited(email, **fields):
        given = {
            "email": email,
            "role": "labeler",
            "invited_by": admin,
            "expires_at": now + timedelta(days=9),
        }
        return Invitation.objects.create(**given | fields)

    invited("open@example.org")
    invited("young@example.org", revoked_at=now - timedelta(days=80))
    invited("revoked@example.org", revoked_at=now - timedelta(days=91))
    invited("expired@example.org", expires_at=now - timedelta(days=91))
    outcome = {one.rule.key: one.count for one in retention.run(now=now, dry=True)}
    assert outcome["invitations"] == 2
    assert Invitation.objects.filter(email="").count() == 0
    retention.run(now=now)
    kept = set(Invitation.objects.exclude(email="").values_list("email", flat=True))
    assert kept == {"open@example.org", "young@example.org"}


def test_the_command_says_what_goes(capsys):
    call_command("retention", dry_run=True)
    assert "sessions: 0 would go" in capsys.readouterr().out
