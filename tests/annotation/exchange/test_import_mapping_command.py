"""Foreign tables on the command line: what is proposed, and what is said."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.services import column_mappings
from simulation.models import Comment
from tests.annotation.exchange.samples import node
from tests.annotation.exchange.tables import COLUMNS, MAPPING, table
from tests.factories.simulation import CorpusFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    def called(*args, **options):
        out = StringIO()
        try:
            call_command("import_synthpai", *map(str, args), corpus="harbour", stdout=out, **options)
        except CommandError as error:
            return error.returncode, out.getvalue(), str(error)
        return 0, out.getvalue(), ""

    return called


def test_columns_prints_what_is_found_and_proposed_and_imports_nothing(run, write):
    status, out, _ = run(write("table.csv", table()), columns=True)
    assert status == 0
    assert out.splitlines()[:2] == ["table.csv: table (CSV)", f"Columns: {', '.join(COLUMNS)}"]
    assert "  p1 | t1 |  | Gull | The harbour is wet again. | female | 41 | grey" in out
    assert json.loads(out[out.index("{") :]) == MAPPING
    assert not Comment.objects.exists()


def test_columns_of_a_layout_of_ours_are_its_name_only(run, write):
    assert run(write("a.json", node()), columns=True)[1] == "a.json: thread tree\n"


def test_columns_of_what_cannot_be_read_or_is_not_there(run, write, tmp_path):
    assert run(write("a.json", ""), columns=True)[::2] == (1, f"{tmp_path / 'a.json'}: the file is empty")
    assert run(tmp_path / "none.csv", columns=True)[0] == 2


def test_a_mapping_comes_from_a_file(run, write):
    path = write("mapping.json", MAPPING)
    assert run(write("table.csv", table()), mapping=str(path))[0] == 0
    assert Comment.objects.count() == 3


def test_a_mapping_comes_from_the_corpus_by_its_name(run, write, researcher):
    corpus = CorpusFactory(name="harbour")
    column_mappings.remember(by=researcher, corpus=corpus, name="forum", columns=COLUMNS, mapping=MAPPING)
    path = write("table.csv", table())
    assert "Mapping “forum” of the corpus:" in run(path, columns=True)[1]
    assert run(path, mapping="forum")[0] == 0
    assert Comment.objects.count() == 3


@pytest.mark.parametrize("content", ["{", "[]", b"\xff"])
def test_a_mapping_that_is_none_is_wrong_usage(run, write, content):
    path = write("mapping.json", "[1]" if content == "[]" else content)
    assert run(write("table.csv", table()), mapping=str(path))[0] == 2


def test_a_name_that_nobody_knows_is_wrong_usage(run, write):
    status, _, said = run(write("table.csv", table()), mapping="forum")
    assert (status, said) == (2, "forum: neither a file nor a mapping that the corpus remembers.")


def test_a_table_without_a_mapping_is_invalid_data(run, write):
    status, out, _ = run(write("table.csv", table()))
    assert status == 1
    assert "--columns proposes one" in out
