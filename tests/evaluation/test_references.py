"""Accuracies from elsewhere: typed in, pasted or as a file; what is refused, and where it is said."""

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from evaluation.exchange import board_references
from evaluation.exchange.board_references import Unreadable, read
from evaluation.models import Reference
from evaluation.services import references
from simulation.models import AuditEntry
from tests.factories.simulation import CorpusFactory


def problems(text):
    with pytest.raises(Unreadable) as caught:
        read(text)
    return [str(one) for one in caught.value.problems]


WANTED = {"age": {"value": 0.725, "n": 40}, "sex": {"value": 0.91, "n": None}, "": {"value": 0.78, "n": 700}}


@pytest.mark.parametrize(
    "text",
    [
        "attribute,percent,n\nage,72.5,40\nsex,91,\nall,78.0,700\n",
        "\ufeffage,72.5 %,40\r\n\r\nSex,91.0\r\nAll,78,700",
        "age\t72.5\t40\nsex\t91\nall\t78\t700",
        '"age","72.5","40"\n"sex","91%"\n"ALL","78","700"',
        '{"age": {"percent": 72.5, "n": 40}, "sex": 91, "all": {"percent": "78", "n": "700"}}',
        '[{"attribute": "Age", "percent": 72.5, "n": 40}, {"attribute": "sex", "percent": 91.0},'
        ' {"attribute": "", "percent": 78, "n": 700}]',
    ],
)
def test_tables_are_read(text):
    found = read(text)
    assert set(found) == set(WANTED)
    for key, one in found.items():
        assert one["value"] == pytest.approx(WANTED[key]["value"])
        assert one["n"] == WANTED[key]["n"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: the table is empty"),
        ("attribute,percent\n", "line 1: the table is empty"),
        ("age,72\nshoe size,50", "line 2: attribute: “shoe size” is not known; write one of age, sex"),
        ("age,many", "line 1: percent: must be a number such as 78.5, not “many”"),
        ("age,101", "line 1: percent: must lie within 0 and 100, not 101"),
        ("age,nan", "line 1: percent: must lie within 0 and 100, not nan"),
        ("age,-1", "line 1: percent: must lie within 0 and 100, not -1"),
        ("age,72,0", "line 1: n: must be a whole number from 1 on, not “0”"),
        ("age,72,4.5", "line 1: n: must be a whole number from 1 on, not “4.5”"),
        ("age,72,٣", "line 1: n: must be a whole number"),
        ("age,72\nage,73", "line 2: attribute: “age” is there twice"),
        ("age,72\nAge,73", "line 2: attribute: “Age” is there twice"),
        ("age,72,5,40", "line 1: must have 2 or 3 cells (attribute, percent, n), not 4; decimals"),
        ("age", "line 1: must have 2 or 3 cells"),
        ('age,"72', "line 1: cannot be read as CSV"),
        ("age,0.72\nsex,0.91", "percent: no value is above 1: write 78 for 78 %"),
        ("all,78\nage,0.5", "line 2: percent: 0.5 stands beside values above 1: write 50 for 50 %"),
        ('{"age": ' + "7" * 5000 + "}", "JSON: a number of 5000 digits: at most 20 are possible"),
        ('{"age": 72,}', "line 1: cannot be read as JSON"),
        ('{"age": {"n": 4}}', "“age”: percent: is missing"),
        ('{"age": 72, "age": 73}', "JSON: “age” is there twice"),
        ('{"age": true}', "“age”: percent: must be a number"),
        ('{"age": null}', "“age”: percent: must be a number"),
        ('{"age": NaN}', "“age”: percent: must lie within"),
        ("[72]", "entry 1: must be an object with attribute and percent"),
        ("{}", "line 1: the table is empty"),
        ("[" * 100_000, "line 1: is nested too deeply"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text, said):
    assert problems(text)[0].startswith(said)


def test_less_than_one_percent_is_said_with_its_sign():
    assert read("all,78\nage,0.5 %")["age"]["value"] == pytest.approx(0.005)


def test_all_that_is_wrong_is_said_at_once():
    assert [one.split(":")[0] for one in problems("age,x\nsex,91\nshoe,3\nall,200")] == [
        "line 1",
        "line 3",
        "line 4",
    ]
    assert len(problems("age,x\n" * 500)) == board_references.MOST_PROBLEMS


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_words(text):
    found, said = {}, []
    try:
        found = read(text)
    except Unreadable as error:
        said = error.problems
    assert all(one.message for one in said)
    assert all(0 <= one["value"] <= 1 for one in found.values())
    assert bool(found) != bool(said)


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def address(corpus, name="reference_new"):
    return reverse(name, args=[corpus.public_id])


@pytest.mark.django_db
def test_a_reference_is_typed_in_and_shown(client_of, researcher, corpus):
    browser = client_of(researcher)
    assert browser.get(address(corpus)).status_code == 200
    sent = {"name": "Table 4", "note": "A paper.", "percent_age": "72.5", "n_age": "40", "percent_all": "78"}
    answer = browser.post(address(corpus), sent)
    one = Reference.objects.get()
    assert answer.headers["Location"] == f"{address(corpus, 'leaderboard')}?reference={one.public_id}"
    assert one.values == {"age": {"value": 0.725, "n": 40}, "": {"value": 0.78, "n": None}}
    assert (one.name, one.note, one.created_by) == ("Table 4", "A paper.", researcher)
    entry = AuditEntry.objects.get(action="reference.added")
    assert (entry.actor, entry.object_id, entry.details) == (researcher, one.public_id, {"attributes": 2})
    said = words(browser.get(address(corpus, "references")))
    assert "Table 4" in said
    assert "Age 72.5 40" in said
    assert "All 78.0 not given" in said


@pytest.mark.django_db
def test_a_reference_is_pasted_or_a_file(client_of, researcher, corpus):
    browser = client_of(researcher)
    browser.post(address(corpus), {"name": "pasted", "table": "age,72.5,40"})
    file = SimpleUploadedFile("table.json", json.dumps({"sex": 91}).encode())
    browser.post(address(corpus), {"name": "filed", "file": file})
    found = {one.name: one.values for one in Reference.objects.all()}
    assert found == {
        "pasted": {"age": {"value": 0.725, "n": 40}},
        "filed": {"sex": {"value": 0.91, "n": None}},
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"name": "x"}, "No value is given"),
        ({"percent_age": "3"}, "Name: This field is required"),
        ({"name": "taken", "percent_age": "3"}, "a reference of this name"),
        ({"name": "x", "percent_age": "300"}, "less than or equal to 100"),
        ({"name": "x", "percent_age": "nan"}, "Enter a number"),
        ({"name": "x", "n_age": "3"}, "n is given without its percent"),
        ({"name": "x", "percent_age": "3", "n_age": "0"}, "greater than or equal to 1"),
        ({"name": "x", "percent_age": "3", "table": "sex,4"}, "Values are given twice"),
        ({"name": "x", "table": "age,72\nshoe,4"}, "line 2: attribute: “shoe” is not known"),
        ({"name": "x", "file": SimpleUploadedFile("a.csv", b"age,\xff")}, "not UTF-8"),
        ({"name": "x", "file": SimpleUploadedFile("a.csv", b"age,72\n" * 20_000)}, "larger than 100 kB"),
    ],
)
def test_what_is_refused_keeps_nothing(client_of, researcher, corpus, sent, said):
    Reference.objects.create(corpus=corpus, name="taken", values={"age": {"value": 0.1, "n": None}})
    answer = client_of(researcher).post(address(corpus), sent)
    assert answer.status_code == 422
    assert said in words(answer)
    assert Reference.objects.count() == 1
    assert not AuditEntry.objects.filter(action="reference.added").exists()


@pytest.mark.django_db
def test_a_name_is_taken_once_in_a_corpus(corpus, researcher):
    values = {"age": {"value": 0.1, "n": None}}
    references.add(corpus, by=researcher, name="one", values=values)
    with pytest.raises(references.NameTaken):
        references.add(corpus, by=researcher, name="one", values=values)
    references.add(CorpusFactory(), by=researcher, name="one", values=values)
    with pytest.raises(references.NothingGiven):
        references.add(corpus, by=researcher, name="two", values={})
    assert Reference.objects.count() == 2
    assert AuditEntry.objects.filter(action="reference.added").count() == 2


@pytest.mark.django_db
def test_without_a_reference_the_page_shows_the_way_in(client_of, researcher, corpus):
    page = client_of(researcher).get(address(corpus, "references"))
    assert "No reference yet" in words(page)
    assert address(corpus) in page.content.decode()


@pytest.mark.django_db
def test_the_list_asks_equally_often_for_more_references(
    client_of, researcher, corpus, django_assert_num_queries, django_assert_max_num_queries
):
    browser = client_of(researcher)
    values = {"age": {"value": 0.1, "n": None}}
    references.add(corpus, by=researcher, name="one", values=values)
    browser.get(address(corpus, "references"))
    with django_assert_max_num_queries(10) as few:
        browser.get(address(corpus, "references"))
    for number in range(10):
        references.add(corpus, by=researcher, name=f"more {number}", values=values)
    with django_assert_num_queries(len(few.captured_queries)):
        assert len(browser.get(address(corpus, "references")).context["references"]) == 11
