"""Published communities are taken over by the threads of a corpus, whole files or nothing."""

import gzip
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.models import Report
from evaluation.services import diversity as counting
from evaluation.services import reports
from simulation.models import AuditEntry, Thread
from tests.evaluation.communities_scene import ADULTS, threads_in
from tests.factories.simulation import CommentFactory, ThreadFactory
from tests.published import FOLDER, needs_published_data

pytestmark = pytest.mark.django_db


@pytest.fixture
def threads(corpus):
    return threads_in(corpus)


def line(thread, topics=ADULTS, **more):
    return {"id": f"root of {thread}", "thread_id": thread, "topics": topics} | more


@pytest.fixture
def write(tmp_path):
    def inner(*lines):
        path = tmp_path / "named.jsonl"
        path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines))
        return path

    return inner


def command(corpus, path, **options):
    out = StringIO()
    call_command("name_communities", corpus=corpus.name, file=str(path), stdout=out, **options)
    return out.getvalue()


def named(corpus):
    rows = Thread.objects.filter(corpus=corpus, extra__has_key="topics").order_by("pk")
    return dict(rows.values_list("external_id", "extra__topics"))


def test_a_line_finds_its_thread_by_its_post_or_its_name(corpus, threads, write):
    Thread.objects.filter(external_id="odd").update(extra={"kept": 1})
    path = write(
        line("renamed", id="root of thread_age_1"),
        line("odd", "/r/One , /r/Two,", id="nothere"),
        line("thread_age_99", id="nothere"),
    )
    said = command(corpus, path)
    assert "2 threads of winter name communities, 2 anew." in said
    assert "Not in the corpus: thread_age_99." in said
    assert named(corpus) == {
        "thread_age_1": ["/r/Adulting", "/r/Aging", "/r/nostalgia"],
        "odd": ["/r/One", "/r/Two"],
    }
    assert Thread.objects.get(external_id="odd").extra["kept"] == 1
    entry = AuditEntry.objects.get(action="topics.imported")
    assert entry.details == {"threads": 2, "changed": 2, "missing": 1}


def test_the_same_again_changes_nothing_and_another_file_takes_its_place(corpus, threads, write):
    command(corpus, write(line("odd")))
    assert json.loads(command(corpus, write(line("odd")), json=True)) == {
        "threads": 1,
        "changed": 0,
        "missing": 0,
    }
    command(corpus, write(line("odd", "/r/Other")))
    assert named(corpus) == {"odd": ["/r/Other"]}


def test_a_packed_file_is_read_too(corpus, threads, write):
    path = write(line("odd"))
    packed = path.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert "1 threads" in command(corpus, packed)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("no json", "named.jsonl, line 2"),
        ("[1]", "named.jsonl, line 2: must be one JSON object"),
        (line("thread_age_1", " , "), "named.jsonl, line 2, topics: must hold 1 to 50 names"),
        (line("thread_age_1", ["/r/A"]), "named.jsonl, line 2, topics: must be text in quotes"),
        (line("thread_age_1", "/r/" + "x" * 200), "is longer than 100 characters"),
        (line("thread_age_1", ",".join(f"/r/n{n}" for n in range(60))), "must hold 1 to 50 names"),
        (line(""), "named.jsonl, line 2, thread_id: must have 1 to 200 characters"),
        ({"id": "x", "topics": "/r/A"}, "named.jsonl, line 2, thread_id: is missing"),
        (line("odd"), "named.jsonl, line 2, thread_id: odd stands in line 1 already; keep one"),
    ],
)
def test_a_line_that_is_wrong_is_named_and_nothing_is_changed(corpus, threads, write, bad, said):
    with pytest.raises(CommandError) as refused:
        command(corpus, write(line("odd"), bad))
    assert said in str(refused.value)
    assert str(refused.value).endswith("Nothing was changed.")
    assert refused.value.returncode == 2
    assert named(corpus) == {}


def test_a_file_of_another_corpus_is_refused(corpus, threads, write):
    elsewhere = ThreadFactory(external_id="thread_of_theirs")
    CommentFactory(thread=elsewhere, external_id="root of theirs")
    with pytest.raises(CommandError, match=r"none of the 1 threads of named\.jsonl is in winter"):
        command(corpus, write(line("thread_of_theirs", id="root of theirs")))
    assert named(elsewhere.corpus) == {}
    assert not AuditEntry.objects.filter(action="topics.imported").exists()


def test_what_was_imported_is_a_table_and_comes_back_out_as_it_went_in(
    client_of, researcher, corpus, threads, write
):
    lines = [line("thread_age_1"), line("odd", "/r/One, /r/AskReddit")]
    command(corpus, write(*lines))
    browser = client_of(researcher)
    page = browser.get(reverse("communities", args=[corpus.public_id]))
    assert "/r/One, /r/AskReddit" in page.content.decode()
    assert (page.context["run"], page.context["tally"].askreddit) == (None, 1)
    address = reverse("communities_file", args=[corpus.public_id, "imported", "jsonl"])
    said = b"".join(browser.get(address).streaming_content).decode()
    assert [json.loads(one) for one in said.splitlines()] == lines


@needs_published_data
@pytest.mark.published
@pytest.mark.parametrize("name", ["topic_to_thread", "topic_to_thread_no_askreddit"])
def test_the_published_files_are_counted_as_the_paper_does(corpus, name):
    path = FOLDER / f"{name}.jsonl"
    given = [json.loads(one) for one in path.read_text().splitlines()]
    for one in given:
        thread = ThreadFactory(corpus=corpus, external_id=one["thread_id"])
        CommentFactory(thread=thread, external_id=one["id"])
    assert "102 threads" in command(corpus, path)
    expected = json.loads((FOLDER / "expected.json").read_text())["topics"][name]
    found = counting.numbers(reports.make(corpus, Report.DIVERSITY, {"run": ""}))
    by = found.naming
    assert (by.threads, by.namings) == (expected["threads"], expected["assignments"])
    assert (by.distinct, by.written) == (expected["unique_casefolded"], expected["unique_raw"])
    different = {target: len(groups.groups) for target, groups in found.topics.items()}
    assert different == expected["unique_per_target"]
    if name.endswith("no_askreddit"):
        assert (by.distinct, by.written) == (91, 97)
    else:
        assert by.distinct == 67
