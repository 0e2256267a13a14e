"""What is added to a release that is ready: a withdrawal, a DOI; and what the database refuses."""

import pytest
from django.db import IntegrityError, transaction

from evaluation.models import Release
from evaluation.services.releases import Refused, set_doi, withdraw
from simulation.domain.typed import NotConfirmed
from simulation.models import AuditEntry
from tests.evaluation import releases_by_hand as scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def release(corpus, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    return scene.ready(corpus, tmp_path, comments=[scene.comment(1)])


def test_a_withdrawal_says_why_and_leaves_the_files(release, researcher, tmp_path):
    before = sorted(path.read_bytes() for path in (tmp_path / release.folder).iterdir())
    withdraw(release, by=researcher, notice=" Wrong ages. Use 1.1. ", typed="1.0")
    release.refresh_from_db()
    assert (release.notice, release.withdrawn_by, release.state) == (
        "Wrong ages. Use 1.1.",
        researcher,
        "ready",
    )
    assert sorted(path.read_bytes() for path in (tmp_path / release.folder).iterdir()) == before
    assert AuditEntry.objects.filter(action="release.withdrawn", object_id=release.public_id).exists()


def test_it_needs_a_notice_the_name_and_a_release_that_is_ready(release, researcher, corpus):
    with pytest.raises(Refused) as refused:
        withdraw(release, by=researcher, notice=" ", typed="1.0")
    assert refused.value.field == "notice"
    with pytest.raises(NotConfirmed):
        withdraw(release, by=researcher, notice="x", typed="1")
    waiting = Release.objects.create(corpus=corpus, name="2.0")
    with pytest.raises(Refused, match=r"2\.0 is queued"):
        withdraw(waiting, by=researcher, notice="x", typed="2.0")
    withdraw(release, by=researcher, notice="x", typed="1.0")
    with pytest.raises(Refused, match="was withdrawn already"):
        withdraw(release, by=researcher, notice="y", typed="1.0")


def test_a_doi_is_set_once_and_corrected_by_who_types_the_name(release, researcher):
    set_doi(release, by=researcher, doi="https://doi.org/10.5281/zenodo.1")
    set_doi(release, by=researcher, doi="10.5281/zenodo.1")
    release.refresh_from_db()
    assert release.doi == "10.5281/zenodo.1"
    with pytest.raises(NotConfirmed):
        set_doi(release, by=researcher, doi="10.5281/zenodo.2")
    set_doi(release, by=researcher, doi="10.5281/zenodo.2", typed="1.0")
    with pytest.raises(Refused, match="never taken back"):
        set_doi(release, by=researcher, doi="", typed="1.0")
    actions = AuditEntry.objects.filter(object_id=release.public_id).order_by("id")
    assert [(one.action, one.details) for one in actions] == [
        ("release.doi_set", {"doi": "10.5281/zenodo.1"}),
        ("release.doi_changed", {"doi": "10.5281/zenodo.2", "before": "10.5281/zenodo.1"}),
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "9"),
        ("query", {"x": 1}),
        ("digest", "0"),
        ("manifest", {}),
        ("folder", "x"),
        ("state", "failed"),
    ],
)
def test_what_it_is_made_of_never_changes(release, field, value):
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        Release.objects.filter(pk=release.pk).update(**{field: value})


def test_it_is_never_deleted(release):
    with pytest.raises(IntegrityError, match="never deleted"), transaction.atomic():
        release.delete()
