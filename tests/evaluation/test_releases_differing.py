"""What differs between two releases, row by row, and why a label differs."""

import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import DecisionEvent
from evaluation import tasks
from evaluation.domain import release_changes as rules
from evaluation.domain.release_changes import Between, Known
from evaluation.domain.release_schema import TABLES
from evaluation.exchange import release_differences as differences
from evaluation.exchange.release_differences import Wanted
from evaluation.exchange.release_index import Paired
from evaluation.models import ReleaseDifference
from evaluation.services.releases import Refused
from tests.evaluation import releases_by_hand as scene
from tests.factories.annotation import queue_over
from tests.factories.simulation import CommentFactory, CorpusFactory, ProfileFactory, ThreadFactory


@pytest.mark.parametrize(
    ("change", "known", "between", "causes"),
    [
        ("added", Known(comment="added"), Between(), ["comment added"]),
        ("added", Known(comment="added"), Between(filters=True), ["filter"]),
        ("removed", Known(comment="removed", withdrawn=True), Between(filters=True), ["comment withdrawn"]),
        ("removed", Known(comment="removed"), Between(), ["comment removed"]),
        ("relabelled", Known(decision="added"), Between(), ["decision added"]),
        (
            "relabelled",
            Known(decision="changed", annotations={"added", "changed"}),
            Between(policy=True),
            ["decision changed", "policy", "annotation added", "annotation changed"],
        ),
        ("removed", Known(text=True, tags=True), Between(filters=True), ["text", "tags"]),
        ("added", Known(), Between(filters=True), ["filter"]),
        ("relabelled", Known(fact=True), Between(inherited=True), ["fact"]),
        ("relabelled", Known(fact=True), Between(), ["not recorded"]),
    ],
)
def test_causes_are_those_that_happened(change, known, between, causes):
    assert rules.why(change, known, between) == causes
    assert set(causes) <= rules.WHY.keys()


def test_rows_are_found_again_by_columns_that_every_release_has():
    columns = {table.name: set(table.names) for table in TABLES}
    for table in rules.TABLES:
        assert set(rules.KEYS[table]) <= columns[table]
    assert set(rules.SAID) <= columns[rules.LABELS]
    assert {"decided", "reason"} <= columns[rules.LABELS]
    assert {"text", "state"} <= columns[rules.COMMENTS]


def test_rows_are_paired_whatever_their_order_and_however_often_a_key_is_there(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    twice = scene.label(9, "x")
    old.write_text(scene.lines([scene.label(1, "30"), scene.label(2, "40"), twice, twice]))
    new.write_text(scene.lines([scene.label(3, "50"), twice, scene.label(2, "41"), scene.label(1, "30")]))
    paired = Paired("labels", old, new, tmp_path)
    found = [(pair.key[0], pair.old and pair.old["value"], pair.new and pair.new["value"]) for pair in paired]
    assert found == [("c3", None, "50"), ("c2", "40", "41"), ("c9", "x", None)]
    assert paired.same == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "old"]


@pytest.fixture
def root(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def two(corpus, root):
    """Two releases between which something of every kind happened."""
    words = [scene.comment(number) for number in range(1, 6)]
    old = scene.ready(
        corpus,
        root,
        "1.0",
        comments=words,
        labels=[scene.label(number, "30") for number in range(1, 6)] + [scene.label(1, "male", "sex")],
        annotations=[scene.annotation(2, "30")],
        suggestions=[scene.suggestion(3, "30")],
    )
    later = [*words[1:3], scene.comment(4, "edited"), words[4], scene.comment(6)]
    new = scene.ready(
        corpus,
        root,
        "1.1",
        comments=later,
        labels=[
            scene.label(2, "31"),
            scene.label(3, "30", people=2),
            scene.label(4, "60"),
            scene.label(5, "70", decided=True, reason="slip"),
            scene.label(6, "20"),
        ],
        annotations=[scene.annotation(2, "31"), scene.annotation(2, "31", "a2")],
        suggestions=[scene.suggestion(3, "30", "31")],
    )
    return old, new


def compared(old, new):
    one = differences.ask(by=None, old=old, new=new)
    tasks.make_difference(one.pk)
    one.refresh_from_db()
    assert one.problem == ""
    return one


def rows(one, **wanted):
    return [json.loads(line) for line in differences.lines(one, Wanted(**wanted))]


@pytest.mark.django_db
def test_everything_that_differs_is_counted_by_table_and_attribute(two):
    one = compared(*two)
    assert one.counts["comments"] == {"same": 3, "added": 1, "removed": 1, "changed": 1}
    assert one.counts["labels"] == {"same": 0, "added": 1, "removed": 2, "relabelled": 3, "changed": 1}
    assert one.counts["profiles"] == {"same": 0}
    assert one.counts["attributes"]["sex"] == {"removed": 1}
    assert one.counts["attributes"]["age"] == {"added": 1, "removed": 1, "relabelled": 3, "changed": 1}
    assert len(rows(one)) == 3 + 7 + 2 + 1


@pytest.mark.django_db
def test_each_label_says_why(two):
    found = {(row["comment_id"], row["attribute"]): row for row in rows(compared(*two), table="labels")}
    assert {key: (row["change"], row["why"]) for key, row in found.items()} == {
        ("c1", "age"): ("removed", ["comment removed"]),
        ("c1", "sex"): ("removed", ["comment removed"]),
        ("c2", "age"): ("relabelled", ["annotation added", "annotation changed"]),
        ("c3", "age"): ("changed", ["tags"]),
        ("c4", "age"): ("relabelled", ["text"]),
        ("c5", "age"): ("relabelled", ["decision added"]),
        ("c6", "age"): ("added", ["comment added"]),
    }
    assert found["c5", "age"]["reason"] == "slip"
    assert found["c3", "age"]["fields"] == {"people": [1, 2]}
    assert found["c2", "age"]["old"] == {"state": "value", "value": "30"}


@pytest.mark.django_db
def test_a_policy_and_a_filter_that_differ_are_named(corpus, root):
    old = scene.ready(corpus, root, "1", comments=[scene.comment(1)], labels=[scene.label(1, "30")])
    new = scene.ready(corpus, root, "2", comments=[scene.comment(1)], labels=[], policy="single")
    assert rows(compared(old, new))[0]["why"] == ["policy"]
    less = scene.ready(corpus, root, "3", comments=[], labels=[], query={"min_words": 9})
    assert rows(compared(old, less), table="labels")[0]["why"] == ["filter"]


@pytest.mark.django_db
def test_acts_between_the_two_give_reasons(corpus, root, adjudicator, researcher):
    thread = ThreadFactory(corpus=corpus)
    decided, edited, gone = (
        CommentFactory(thread=thread, external_id=f"c{n}", text="old") for n in (1, 2, 3)
    )
    labels = [scene.label(n, "30", decided=True, reason="edge") for n in (1, 2, 3)]
    words = [scene.comment(n, "old") for n in (1, 2, 3)]
    old = scene.ready(corpus, root, "1", comments=words, labels=labels)
    item = queue_over(corpus).items.get(comment=decided)
    said = {"state": "value", "value": "31"}
    DecisionEvent.objects.create(
        item=item, person=adjudicator, attribute="age", old=said, new=said | {"reason": "guideline"}
    )
    edited.edits.create(before="old", after="new", reason="gave the author away", by=researcher)
    gone.state = "withdrawn"
    gone.save()
    new = scene.ready(
        corpus,
        root,
        "2",
        comments=[words[0], scene.comment(2, "new")],
        labels=[scene.label(1, "31", decided=True, reason="guideline"), scene.label(2, "32")],
    )
    assert new.ended_at
    found = {row["comment_id"]: row for row in rows(compared(old, new), table="labels")}
    assert (found["c1"]["why"], found["c1"]["reason"]) == (["decision changed"], "guideline")
    assert (found["c2"]["why"], found["c2"]["edit"]) == (["text"], "gave the author away")
    assert found["c3"]["why"] == ["comment withdrawn"]


@pytest.mark.django_db
def test_a_fact_that_changed_explains_an_inherited_label(corpus, root):
    profile = ProfileFactory(corpus=corpus, external_id="p1")
    CommentFactory(thread__corpus=corpus, external_id="c1", profile=profile)
    profiles = [[{"id": "p1", "age": age}] for age in (30, 31)]
    old, new = (
        scene.ready(
            corpus,
            root,
            str(place),
            policy="inherited",
            comments=[scene.comment(1)],
            labels=[scene.label(1, str(30 + place))],
            profiles=said,
        )
        for place, said in enumerate(profiles)
    )
    found = rows(compared(old, new))
    assert [row["table"] for row in found] == ["profiles", "labels"]
    assert found[0]["profile_id"] == "p1"
    assert found[1]["why"] == ["fact"]


@pytest.mark.django_db
def test_the_number_of_queries_does_not_grow_with_the_differences(
    corpus, root, django_assert_max_num_queries
):
    def pair(name, n):
        return [
            scene.ready(corpus, root, f"{name}-{age}", labels=[scene.label(k, age) for k in range(n)])
            for age in ("30", "31")
        ]

    few, many = (differences.ask(by=None, old=old, new=new) for old, new in (pair("a", 1), pair("b", 400)))
    with django_assert_max_num_queries(20) as one:
        differences.make(few.pk)
    with django_assert_max_num_queries(20) as other:
        differences.make(many.pk)
    assert len(one) == len(other)


@pytest.mark.django_db
def test_pages_follow_one_another_and_are_narrowed(corpus, root, monkeypatch):
    monkeypatch.setattr(differences, "PAGE", 3)
    old = scene.ready(corpus, root, "1", labels=[scene.label(n, "30") for n in range(8)])
    new = scene.ready(corpus, root, "2", labels=[scene.label(n, "31" if n % 2 else "30") for n in range(8)])
    one = compared(old, new)
    first = differences.page(one, Wanted(change="relabelled"))
    second = differences.page(one, Wanted(change="relabelled"), after=first.after)
    assert [row["comment_id"] for row in first.rows + second.rows] == ["c1", "c3", "c5", "c7"]
    assert second.after == 0
    assert differences.page(one, Wanted(change="added")).rows == []
    assert differences.page(one, Wanted(), after=5).rows != []
    assert differences.page(one, Wanted(), after=10**17).rows == []


@pytest.mark.django_db
def test_what_cannot_be_compared_is_refused(two, corpus, root):
    old, new = two
    with pytest.raises(Refused, match="another release"):
        differences.ask(by=None, old=old, new=old)
    other = scene.ready(CorpusFactory(), root, "9")
    with pytest.raises(Refused, match="one corpus"):
        differences.ask(by=None, old=old, new=other)
    waiting = corpus.releases.create(name="7.0")
    with pytest.raises(Refused, match=r"7\.0 is queued"):
        differences.ask(by=None, old=waiting, new=new)


@pytest.mark.django_db
def test_a_file_that_is_gone_ends_it_and_it_can_be_tried_again(two, root):
    path = root / two[0].folder / "labels.jsonl"
    text = path.read_text()
    path.unlink()
    one = differences.ask(by=None, old=two[0], new=two[1])
    differences.make(one.pk)
    one.refresh_from_db()
    assert one.problem.startswith("labels.jsonl of release 1.0")
    path.write_text(text)
    assert compared(*two).counts["labels"]["relabelled"] == 3


@pytest.mark.django_db
def test_the_sweep_takes_up_a_difference_that_nobody_counts(two, monkeypatch):
    told = []
    monkeypatch.setattr(tasks.make_difference, "delay", told.append)
    one = differences.ask(by=None, old=two[0], new=two[1])
    tasks.sweep_releases()
    assert told == []
    ReleaseDifference.objects.update(asked_at=timezone.now() - timedelta(minutes=5))
    tasks.sweep_releases()
    assert told == [one.pk]
    assert differences.ask(by=None, old=two[0], new=two[1]) == one


@pytest.mark.django_db
def test_the_command_prints_counts_and_writes_the_lines(two, tmp_path):
    out = io.StringIO()
    call_command("diff_releases", "1.0", "1.1", corpus="winter", out=tmp_path / "diff.jsonl", stdout=out)
    assert "labels: 1 added, 2 removed, 3 relabelled, 1 changed, 0 same" in out.getvalue()
    assert len((tmp_path / "diff.jsonl").read_text().splitlines()) == 13
    with pytest.raises(CommandError) as refused:
        call_command("diff_releases", "1.0", "1.0", corpus="winter")
    assert refused.value.returncode == 2


def test_a_difference_that_costs_workers_their_lives_is_given_up(two, monkeypatch):
    class Killed(BaseException):
        """Stands for the end of the process."""

    def killed(_):
        raise Killed

    one = differences.ask(by=None, old=two[0], new=two[1])
    counted = differences._count
    monkeypatch.setattr(differences, "_count", killed)
    for _ in range(3):
        with pytest.raises(Killed):
            differences.make(one.pk)
    differences.make(one.pk)
    one.refresh_from_db()
    assert one.problem.startswith("The worker was lost 3 times")
    monkeypatch.setattr(differences, "_count", counted)
    differences.ask(by=None, old=two[0], new=two[1])
    differences.make(one.pk)
    one.refresh_from_db()
    assert one.counts is not None
