"""Whether files are still those of the manifest; and the same files in one ZIP."""

import io
import json
import zipfile

import pytest
from django.core.management import CommandError, call_command

from evaluation.exchange import release_reading
from evaluation.exchange.release_verifying import BadManifest, problems
from evaluation.services.releases import withdraw
from tests.evaluation import releases_by_hand as scene


@pytest.fixture
def folder(tmp_path):
    scene.written(tmp_path / "r", comments=[scene.comment(1), scene.comment(2)])
    return tmp_path / "r"


def verify(folder):
    out = io.StringIO()
    call_command("verify_release", str(folder), stdout=out)
    return out.getvalue()


def test_untouched_files_are_as_they_were(folder):
    assert "all 5 files" in verify(folder)


def test_a_changed_a_missing_and_a_strange_file_are_named(folder):
    with (folder / "comments.jsonl").open("ab") as file:
        file.write(b" ")
    (folder / "labels.jsonl").unlink()
    (folder / "more.txt").write_text("")
    with pytest.raises(CommandError) as failed:
        verify(folder)
    assert failed.value.returncode == 1
    said = str(failed.value).splitlines()
    assert [line.split(":")[0] for line in said] == ["comments.jsonl", "labels.jsonl", "more.txt"]


def test_a_manifest_that_is_another_is_named(folder):
    assert next(problems(folder, digest="0" * 64)).startswith("manifest.json: has SHA-256")


@pytest.mark.parametrize(
    "text", ["{", "[]", json.dumps({"files": {"../x": {"sha256": "0"}}}), json.dumps({"files": {"x": {}}})]
)
def test_a_manifest_that_cannot_be_read_says_so(folder, text):
    (folder / "manifest.json").write_text(text)
    with pytest.raises(BadManifest):
        list(problems(folder))


def test_without_a_release_it_says_which_there_are(db, corpus):
    with pytest.raises(CommandError, match="There is no release") as failed:
        verify("1.0")
    assert failed.value.returncode == 2


@pytest.fixture
def release(corpus, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    return scene.ready(corpus, tmp_path, more={"README.md": "---\nlicense: x\n---\n# Card\n"})


def unzipped(release):
    found = zipfile.ZipFile(io.BytesIO(b"".join(release_reading.as_zip(release))))
    assert found.testzip() is None
    return {name: found.read(name) for name in found.namelist()}


@pytest.mark.django_db
def test_a_zip_holds_every_file_and_is_the_same_each_time(release, tmp_path):
    found = unzipped(release)
    assert {name.split("/")[1]: text for name, text in found.items()} == {
        path.name: path.read_bytes() for path in (tmp_path / release.folder).iterdir()
    }
    assert b"".join(release_reading.as_zip(release)) == b"".join(release_reading.as_zip(release))


@pytest.mark.django_db
def test_the_zip_of_a_withdrawn_release_carries_the_notice(release, researcher):
    withdraw(release, by=researcher, notice="Wrong ages.", typed="1.0")
    release.refresh_from_db()
    found = unzipped(release)
    assert b"Wrong ages." in found["withdrawn-winter-1.0/WITHDRAWN.txt"]


@pytest.mark.django_db
def test_memory_holds_a_piece_of_a_zip_not_a_file(corpus, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    big = "".join(f"{number} {number * 7919 % 104729}\n" for number in range(400_000))
    release = scene.ready(corpus, tmp_path, "2.0", more={"big.csv": big})
    largest = max(len(piece) for piece in release_reading.as_zip(release))
    assert largest < 4 * release_reading.PIECE


@pytest.mark.django_db
def test_a_name_that_is_no_file_of_it_leads_nowhere(release):
    for name in ("../secret", "nothing.csv", "", "/etc/passwd"):
        assert release_reading.path_of(release, name) is None


@pytest.mark.django_db
def test_the_card_is_shown_without_its_head(release):
    assert release_reading.card(release) == "# Card"


@pytest.mark.django_db
def test_a_release_on_the_server_is_checked_by_its_name(release, tmp_path):
    out = io.StringIO()
    call_command("verify_release", "1.0", corpus="winter", stdout=out)
    assert "all 6 files" in out.getvalue()
    (tmp_path / release.folder / "README.md").write_text("changed")
    with pytest.raises(CommandError, match=r"README\.md: has SHA-256"):
        call_command("verify_release", str(release.public_id))
