"""The two commands: what they print, what they return, what they leave behind."""

import gzip
import json
import os
import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from simulation.models import AuditEntry, Comment, Corpus
from tests.annotation.exchange.samples import node, row

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    """`run("command", …)` is its exit status, its output and its last word."""

    def called(*args, **options):
        out = StringIO()
        try:
            call_command(*map(str, args), stdout=out, **options)
        except CommandError as error:
            return error.returncode, out.getvalue(), str(error)
        return 0, out.getvalue(), ""

    return called


def test_an_import_prints_a_table(run, write):
    status, out, _ = run("import_synthpai", write("thread_age_1.json", node()), corpus="harbour")
    assert status == 0
    assert out.splitlines()[0].split() == ["new", "changed", "same", "invalid"]
    assert "comments            1        0        0        0" in out
    assert "Imported into “harbour”; 1 file in" in out


def test_json_is_the_same_report_for_machines(run, write):
    path = write("thread_age_1.json", node())
    status, out, _ = run("import_synthpai", path, corpus="harbour", json=True, dry_run=True)
    report = json.loads(out)
    assert (status, report["ok"], report["dry_run"]) == (0, True, True)
    assert report["tallies"]["comments"] == {"new": 1, "changed": 0, "same": 0, "invalid": 0}
    assert not Comment.objects.exists()


def test_invalid_data_give_status_1_with_all_problems(run, write):
    good, bad = write("a.json", node()), write("rows.jsonl", [row(text=5), row(1, guesses=3)])
    status, out, said = run("import_synthpai", good, bad, corpus="harbour")
    assert (status, said) == (1, "2 problems in the data.")
    assert "Problem: rows.jsonl, line 1, text: must be text in quotes, not 5" in out
    assert "Problem: rows.jsonl, line 2, guesses: must be null or a list, not 3" in out
    assert "Imported before the first invalid file, and kept: a.json." in out
    assert Comment.objects.count() == 1


def test_invalid_data_in_json_name_file_line_field_and_message(run, write):
    status, out, _ = run("import_synthpai", write("rows.jsonl", [row(text=5)]), corpus="harbour", json=True)
    assert status == 1
    assert json.loads(out)["problems"] == [
        {"file": "rows.jsonl", "line": 1, "field": "text", "message": "must be text in quotes, not 5"}
    ]


def test_wrong_usage_gives_status_2(run, write, tmp_path):
    assert run("import_synthpai", tmp_path / "none", corpus="harbour")[0] == 2
    status, _, said = run("import_synthpai", write("t.json", node()), corpus="x" * 81)
    assert status == 2
    assert "The corpus cannot be made: name: " in said
    assert run("export_dataset", corpus="none", out="-")[0] == 2


def test_licence_and_description_are_those_of_a_new_corpus(run, write):
    path = write("t.json", node())
    run("import_synthpai", path, corpus="harbour", licence="CC0-1.0", description="Gulls.")
    run("import_synthpai", path, corpus="harbour", licence="other", description="other")
    corpus = Corpus.objects.get()
    assert (corpus.licence, corpus.description) == ("CC0-1.0", "Gulls.")


@pytest.fixture
def harbour(take):
    take("rows.jsonl", [row(number) for number in range(3)])
    return [row(number) for number in range(3)]


def test_an_export_to_a_file_is_whole_and_leaves_no_draft(run, harbour, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    out = folder / "harbour.jsonl"
    out.write_text("old")
    assert run("export_dataset", corpus="harbour", out=out)[0] == 0
    assert [json.loads(line) for line in out.read_text().splitlines()] == harbour
    assert os.listdir(folder) == ["harbour.jsonl"]
    assert AuditEntry.objects.filter(action="corpus.exported").count() == 1


def test_an_export_can_be_packed_and_equal_data_give_equal_bytes(run, harbour, tmp_path):
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        run("export_dataset", corpus="harbour", format="jsonl", out=tmp_path / name)
    packed = (tmp_path / "a.jsonl.gz").read_bytes()
    assert packed == (tmp_path / "b.jsonl.gz").read_bytes()
    assert len(gzip.decompress(packed).splitlines()) == 3


def test_an_export_to_the_standard_output_is_nothing_but_the_data(run, harbour):
    status, out, _ = run("export_dataset", corpus="harbour", out="-")
    assert status == 0
    assert [json.loads(line) for line in out.splitlines()] == harbour


def test_an_export_that_cannot_be_written_says_so(run, harbour, tmp_path):
    status, _, said = run("export_dataset", corpus="harbour", out=tmp_path / "none" / "x.jsonl")
    assert (status, said.endswith("cannot be written: No such file or directory.")) == (2, True)


def test_a_device_is_written_to_and_not_replaced(run, harbour):
    assert run("export_dataset", corpus="harbour", out="/dev/null")[0] == 0
    assert not os.path.isfile("/dev/null")


def test_reviewed_only_without_reviews_is_empty(run, harbour):
    assert run("export_dataset", corpus="harbour", out="-", reviewed_only=True) == (0, "", "")


def test_a_file_whose_name_is_not_utf8_is_refused_in_words(run, write, tmp_path):
    path = write("threads/t.json", node())
    os.rename(path, os.fsencode(path.parent) + b"/t_\xff.json")
    for given in (tmp_path, tmp_path / "threads" / "t_\udcff.json"):
        status, _, said = run("import_synthpai", given, corpus="harbour")
        assert status == 2
        assert said.endswith("t_?.json: the file's name is not UTF-8; rename it.")


def test_a_path_longer_than_the_system_takes_is_refused_in_words(run, tmp_path):
    status, _, said = run("import_synthpai", tmp_path / ("x" * 300), corpus="harbour")
    assert (status, said.endswith("cannot be read: File name too long.")) == (2, True)


@pytest.mark.parametrize("name", ["a\udcff", "\ud800", "a\0b"])
def test_a_corpus_name_that_cannot_be_stored_is_refused_in_words(run, write, name):
    status, _, said = run("import_synthpai", write("t.json", node()), corpus=name)
    assert status == 2
    assert said == "The corpus cannot be made: name: Must be UTF-8 text without NUL characters."
    status, _, said = run("export_dataset", corpus=name, out="-")
    assert status == 2
    assert "There is no corpus" in said
    said.encode()


def test_an_export_may_have_a_name_as_long_as_the_system_takes(run, harbour, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    longest = "x" * 249 + ".jsonl"
    assert run("export_dataset", corpus="harbour", out=folder / longest)[0] == 0
    assert os.listdir(folder) == [longest]


def test_an_export_with_a_longer_name_says_so(run, harbour, tmp_path):
    status, _, said = run("export_dataset", corpus="harbour", out=tmp_path / ("x" * 300))
    assert (status, said.endswith("cannot be written: File name too long.")) == (2, True)


FULL = """
import sys, django
django.setup()
from django.core.management import CommandError
from annotation.management.commands.export_dataset import Command
try:
    Command()._print(["a few words"])
except CommandError as error:
    sys.stderr.write(f"{error.returncode} {error}")
"""


def test_a_standard_output_that_is_full_is_named_once_and_in_words():
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-c", FULL], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        0,
        "2 The standard output cannot be written: No space left on device.",
    )
