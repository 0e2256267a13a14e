"""The overview of a queue: one definition a number, sums that equal totals, the same numbers as CSV."""

import csv
import random
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.domain.labels import Label, Outcome, State
from annotation.domain.pace import Forecast, forecast
from annotation.exchange import tables
from annotation.metrics.proportions import wilson
from annotation.models import Annotation, AttributeLabel, Gold, Item, Queue, QueueWorker, Slot
from annotation.selectors import overview as selectors
from annotation.selectors import overview_holds
from annotation.selectors.overview_labels import all_corrections, corrections, label_counts
from annotation.services import claims, holds
from simulation.models import User
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.overview import JUDGED, submit
from tests.factories.simulation import MembershipFactory, ModelCallFactory

pytestmark = pytest.mark.django_db


def at_work(queue: Queue, size: int = 3) -> list[User]:
    return [MembershipFactory(corpus=queue.corpus).person for _ in range(size)]


def suggested(queue: Queue, **fields) -> None:
    for item in queue.items.all():
        SuggestionFactory(comment_id=item.comment_id, **fields)


def seen(queue):
    return selectors.overview(queue, timezone.now())


def read(client, queue, table):
    answer = client.get(reverse("queue_table", args=[queue.public_id, table]))
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(answer.content.decode().splitlines()))


def happen(rng: random.Random, queue: Queue, people: list[User], lead: User) -> None:
    """Somebody gets a comment and answers it, skips it, leaves it or loses it to the lead."""
    person, now = rng.choice(people), timezone.now()
    slot = claims.claim_next(by=person, queue=queue, now=now)
    act = rng.random()
    if slot is None:
        return
    if act < 0.6:
        earlier = now - timedelta(days=rng.randrange(5))
        age, bulk = rng.choice(list(JUDGED)), rng.random() < 0.5
        submit(person, slot.item, age=age, active_ms=rng.randrange(500, 20_000), bulk=bulk, now=earlier)
    elif act < 0.8:
        reason = rng.choice(["context", "other", "knowledge"])
        claims.skip(by=person, item=slot.item, now=now, reason=reason)
    elif act < 0.9:
        holds.release(by=lead, slot=slot)


@pytest.fixture
def busy(researcher):
    """A queue in which much has happened, in an order drawn with a seed."""
    rng = random.Random(4)
    queue = queue_over(name="busy", people=2, comments=8)
    Queue.objects.filter(pk=queue.pk).update(skip_policy="counts")
    queue.refresh_from_db()
    suggested(queue)
    gold = queue.items.first()
    Item.objects.filter(pk=gold.pk).update(gold=True)
    Gold.objects.create(item=gold, labels={"age": {"state": "value", "value": "30"}})
    people = at_work(queue)
    for _ in range(20):
        happen(rng, queue, people, researcher)
    done = Slot.objects.filter(queue=queue, state=Slot.DONE, item__gold=False).first()
    holds.reopen_done(by=researcher, slot=done, reason="in a hurry")
    holds.reopen_skipped(by=researcher, slot=overview_holds.reopenable(queue).first())
    claims.claim_next(by=people[0], queue=queue, now=timezone.now())
    return queue


def test_all_numbers_are_sums_of_their_parts_whatever_happened(busy):
    found = seen(busy)
    states = Counter(Slot.objects.filter(queue=busy).values_list("state", flat=True))
    progress, everybody = found.progress, found.people.all
    assert (progress.done, progress.skipped) == (states["done"], states["skipped"])
    assert progress.left == states["open"] + states["leased"]
    assert progress.total == sum(states.values())
    assert min(progress.done, progress.skipped, everybody.beside, everybody.bulk, everybody.fast) > 0

    for name in ("done", "skipped", "holds", "answers", "beside", "active_ms", "fast", "bulk"):
        assert getattr(everybody, name) == sum(getattr(row, name) for row in found.people.rows), name
    for row in [*found.people.rows, everybody]:
        assert row.done == row.answers
        assert sum(n for _, n in row.reason_numbers) == row.skipped
        assert sum(n for _, n in row.outcome_numbers) == 8 * row.answers
    assert (everybody.done, everybody.skipped) == (progress.done, progress.skipped)
    assert everybody.holds == states["leased"] == len(found.holds)
    assert everybody.gold.n == found.gold.all.n == sum(row.gold.n for row in found.people.rows)
    assert sum(day.done for day in found.days) == progress.done
    assert sum(day.active_ms for day in found.days) == everybody.active_ms

    total = found.all_corrections
    assert total.n == sum(row.n for row in found.corrections)
    for outcome in ("confirmed", "corrected", "rejected"):
        assert getattr(total, outcome) == everybody.outcomes[outcome]


def test_every_table_as_csv_has_the_numbers_of_the_page(busy, researcher, client_of):
    client, found = client_of(researcher), seen(busy)

    [row] = read(client, busy, "progress")
    assert [int(row[key]) for key in ("done", "skipped", "left", "total")] == [
        found.progress.done,
        found.progress.skipped,
        found.progress.left,
        found.progress.total,
    ]
    rows = read(client, busy, "people")
    assert [row["person"] for row in rows] == [*(one.name for one in found.people.rows), "All"]
    for row, one in zip(rows, [*found.people.rows, found.people.all], strict=True):
        assert int(row["done"]) == one.done
        assert (
            int(row["skipped"]) == one.skipped == sum(int(row[key]) for key in row if key[:8] == "skipped_")
        )
        assert int(row["kept_beside"]) == one.beside
        assert float(row["active_hours"]) == one.hours
        assert float(row["median_active_seconds"]) == one.median_seconds
        assert float(row["comments_per_active_hour"]) == one.per_hour
        assert [int(row[key]) for key, _ in one.outcome_numbers] == [n for _, n in one.outcome_numbers]
        assert int(row["gold_slips"]) == one.gold.slips
    assert [(row["day"], int(row["done"])) for row in read(client, busy, "pace")] == [
        (day.day.isoformat(), day.done) for day in found.days
    ]
    rows = read(client, busy, "corrections")
    for row, one in zip(rows, [*found.corrections, found.all_corrections], strict=True):
        assert (int(row["n"]), float(row["correction_rate_percent"])) == (one.n, one.rate)
        assert (float(row["low_95_percent"]), float(row["high_95_percent"])) == one.interval
        assert float(row["hardness_shift"]) == one.hardness_shift
    rows = read(client, busy, "gold")
    assert [int(row["slips"]) for row in rows][-1] == found.gold.all.slips
    assert sum(int(row["judged"]) for row in rows[:-1]) == int(rows[-1]["judged"]) == found.gold.all.n
    assert len(read(client, busy, "slips")) == len(found.gold.slips)
    assert [row["person"] for row in read(client, busy, "holds")] == [
        hold.person.username for hold in found.holds
    ]


def test_the_page_shows_the_numbers(busy, researcher, client_of):
    page = client_of(researcher).get(reverse("queue_overview", args=[busy.public_id]))
    assert page.status_code == 200
    found, text = page.context["seen"], page.content.decode()
    assert f"{found.progress.left} left of {found.progress.total}" in text
    assert f"{found.all_corrections.rate} %" in text
    assert f"{found.people.all.median_seconds} s" in text
    for table in tables.TABLES:
        if table != "slips" or found.gold.slips:
            assert reverse("queue_table", args=[busy.public_id, table]) in text


def test_a_cell_that_begins_like_a_formula_gets_an_apostrophe(researcher, client_of):
    queue = queue_over(name="=HYPERLINK(1)", comments=1)
    comment = queue.items.get().comment
    comment.text = "@SUM(1+1) is what I said"
    comment.save()
    person = MembershipFactory(corpus=queue.corpus, person__username="+lena").person
    claims.claim_next(by=person, queue=queue, now=timezone.now())
    client = client_of(researcher)
    assert read(client, queue, "progress")[0]["queue"] == "'=HYPERLINK(1)"
    [row] = read(client, queue, "holds")
    assert (row["person"], row["excerpt"]) == ("'+lena", "'@SUM(1+1) is what I said")
    for start in "=+-@\t\r":
        assert tables.as_csv(tables.Table(["a"], [[start + "x"]])).split("\n", 1)[1].lstrip('"')[0] == "'"
    assert tables.as_csv(tables.Table(["a"], [[-0.25]])) == "a\n-0.25\n"


def test_answers_kept_beside_are_in_no_other_number():
    queue = queue_over(comments=1)
    suggested(queue)
    first, late = at_work(queue, 2)
    item = queue.items.get()
    submit(first, item)
    submit(late, item, age="corrected")
    found = seen(queue)
    rows = {row.person: row for row in found.people.rows}
    assert (rows[late].beside, rows[late].done, rows[late].active_ms, rows[late].median_ms) == (1, 0, 0, None)
    assert not rows[late].outcomes
    assert (found.people.all.beside, found.people.all.answers, found.all_corrections.n) == (1, 1, 1)
    assert [day.done for day in found.days] == [1]


def test_items_are_counted_by_what_they_need():
    queue = queue_over(people=2, comments=4)
    one, other = at_work(queue, 2)
    items = list(queue.items.all())
    for item in items[:2]:
        submit(one, item)
    submit(other, items[0])
    Item.objects.filter(pk=items[1].pk).update(flagged=True, blind=True)
    Item.objects.filter(pk=items[2].pk).update(agreement="differs")
    Item.objects.filter(pk=items[3].pk).update(gold=True)
    found = selectors.items_of(queue)
    assert (found.all, found.ordinary, found.complete, found.gold) == (4, 3, 1, 1)
    assert (found.flagged, found.blind, found.blind_percent) == (1, 1, 25.0)
    assert found.differing >= 1


def test_corrections_are_told_apart_by_attribute_tagger_and_prompt():
    queue = queue_over(comments=4)
    [person] = at_work(queue, 1)
    call = ModelCallFactory(prompt__name="tag_comment", prompt__digest="ab" * 32)
    for number, (item, age) in enumerate(zip(queue.items.all(), JUDGED, strict=True)):
        SuggestionFactory(
            comment_id=item.comment_id,
            tagger="quill" if number < 3 else "cedar",
            call=call if number < 3 else None,
            hardness=1,
        )
        submit(person, item, age=age, bulk=age == "confirmed")
    rows = corrections(label_counts(queue))
    assert [(row.label, row.tagger, row.prompt) for row in rows] == [
        ("Age", "cedar", "imported"),
        ("Age", "quill", "tag_comment abababab"),
    ]
    cedar, quill = rows
    assert (cedar.n, cedar.unsure, cedar.rate, cedar.hardness_shift) == (1, 1, 0.0, None)
    assert (quill.n, quill.confirmed, quill.corrected, quill.rejected, quill.bulk) == (3, 1, 1, 1, 1)
    assert (quill.rate, quill.interval) == (66.7, (20.8, 93.9))
    assert (quill.hardness_shift, quill.hardness_n, quill.certainty_shift) == (2.0, 1, 0.0)
    assert all_corrections(rows).n == 4


def test_unsure_beside_no_suggestion_judges_none():
    queue = queue_over(comments=1)
    [person] = at_work(queue, 1)
    submit(person, queue.items.get(), age="unsure")
    assert corrections(label_counts(queue)) == []
    assert all_corrections([]).rate is None
    assert all_corrections([]).interval is None


def test_a_slip_says_something_else_than_the_known_answer():
    queue = queue_over(comments=1, people=3)
    item = queue.items.get()
    Item.objects.update(gold=True)
    Gold.objects.create(
        item=item,
        labels={
            "age": {"state": "value", "value": "30"},
            "sex": {"state": "none", "value": ""},
            "occupation": {"state": "value", "value": "nurse"},
        },
    )
    right, wrong, silent = at_work(queue, 3)
    nurse = Label(State.VALUE, Outcome.ADDED, "nurse", 1, 1)
    untouched = Label(State.UNTOUCHED, Outcome.UNTOUCHED)
    submit(right, item, occupation=nurse)
    submit(
        wrong, item, age="corrected", occupation=nurse, sex=Label(State.VALUE, Outcome.ADDED, "male", 1, 1)
    )
    submit(silent, item, occupation=untouched, sex=untouched)
    found = selectors.gold_of(queue)
    assert {key: (one.n, one.slips, one.rate) for key, one in found.people.items()} == {
        right.pk: (3, 0, 0.0),
        wrong.pk: (3, 2, 66.7),
        silent.pk: (1, 0, 0.0),
    }
    assert {(slip.label, slip.gold, slip.said) for slip in found.slips} == {
        ("Age", "30", "51"),
        ("Sex", "nothing in the text", "male"),
    }
    Item.objects.update(gold=False)
    assert selectors.gold_of(queue).people == {}


def test_the_estimate_takes_the_median_of_the_days_with_work():
    assert forecast([120, 80, 300], 350) == Forecast(120, 3)
    assert forecast([120, 0, 80, 300], 0) == Forecast(120, 0)
    assert forecast([120, 80], 350) is None


def test_pace_shows_the_last_fourteen_days_with_work():
    queue = queue_over(comments=16)
    [person] = at_work(queue, 1)
    for number, item in enumerate(queue.items.all()):
        submit(person, item, now=timezone.now() - timedelta(days=2 * number))
    days = selectors.pace(queue)
    assert len(days) == 14
    assert days == sorted(days, key=lambda day: day.day, reverse=True)
    assert {(day.done, day.people, day.active_ms) for day in days} == {(1, 1, 4000)}


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (1, 10, 0.0179, 0.4042), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0)],
)
def test_the_wilson_interval_is_that_of_the_books(hits, n, low, high):
    found = wilson(hits, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_nothing_counted_has_no_interval_and_no_share_is_refused():
    assert wilson(0, 0) is None
    with pytest.raises(ValueError, match="no share"):
        wilson(3, 2)


def test_who_may_work_is_the_same_from_both_sides(researcher, labeler, stranger, admin):
    queue = queue_over(comments=1)
    here = MembershipFactory(corpus=queue.corpus).person
    MembershipFactory(corpus=queue_over(comments=1).corpus)
    gone = MembershipFactory(corpus=queue.corpus, person__is_active=False).person
    for named in (False, True):
        Queue.objects.filter(pk=queue.pk).update(named_only=named)
        queue.refresh_from_db()
        found = set(overview_holds.may_work(queue))
        everybody = User.objects.all()
        assert found == {
            one for one in everybody if Queue.objects.workable_by(one).filter(pk=queue.pk).exists()
        }
        assert gone not in found
        QueueWorker.objects.create(queue=queue, person=here if not named else labeler)
    assert researcher in set(User.objects.all())


def test_only_leads_see_it_and_only_their_queues(
    labeler, adjudicator, stranger, researcher, client_of, client
):
    queue = queue_over(comments=1)
    addresses = [
        reverse("queue_overview", args=[queue.public_id]),
        reverse("queue_table", args=[queue.public_id, "people"]),
        reverse("queue_person", args=[queue.public_id, labeler.public_id]),
    ]
    claims.claim_next(by=labeler, queue=queue, now=timezone.now())
    elsewhere = MembershipFactory(corpus=queue_over(comments=1).corpus, role="researcher").person
    refused = [client_of(person) for person in (labeler, adjudicator, stranger)]
    foreign, lead = client_of(elsewhere), client_of(researcher)
    for address in addresses:
        assert client.get(address).status_code == 302
        assert {one.get(address).status_code for one in refused} == {403}
        assert foreign.get(address).status_code == 404
        assert lead.get(address).status_code == 200
        assert lead.post(address).status_code == 405
    Queue.objects.update(trashed_at=timezone.now())
    assert lead.get(addresses[0]).status_code == 404


def test_an_unknown_table_or_person_is_not_there(researcher, stranger, client_of):
    queue = queue_over(comments=1)
    client = client_of(researcher)
    assert client.get(reverse("queue_table", args=[queue.public_id, "secrets"])).status_code == 404
    for person in (stranger.public_id, "nobody"):
        assert client.get(reverse("queue_person", args=[queue.public_id, person])).status_code == 404


def test_an_empty_queue_has_a_page(researcher, client_of):
    queue = queue_over()
    client = client_of(researcher)
    page = client.get(reverse("queue_overview", args=[queue.public_id])).content.decode()
    assert "Nobody has worked here yet" in page
    assert "No suggestion was judged yet" in page
    for table in tables.TABLES:
        read(client, queue, table)


def test_the_page_of_a_person_is_paged_by_key(researcher, client_of, monkeypatch):
    queue = queue_over(comments=5)
    [person] = at_work(queue, 1)
    for item in queue.items.all():
        submit(person, item)
    found, after = [], ""
    for size in (2, 2, 1):
        page = overview_holds.dealt_with(queue, person, state="done", after=after, size=2)
        assert len(page.rows) == size
        found += [one.item_id for one in page.rows]
        after = page.more
    assert after == ""
    assert found == [item.public_id for item in queue.items.all()]


def test_queries_do_not_grow_with_people_and_comments(researcher, client_of):
    client = client_of(researcher)

    def asked(comments, people):
        queue = queue_over(comments=comments, people=2)
        suggested(queue)
        workers = at_work(queue, people)
        gold = queue.items.first()
        Item.objects.filter(pk=gold.pk).update(gold=True)
        Gold.objects.create(item=gold, labels={"age": {"state": "value", "value": "30"}})
        for item in queue.items.all():
            for person in workers[:2]:
                submit(person, item, age="corrected")
        skipped = queue_over(queue.corpus, name="skips", comments=people)
        for person in workers:
            slot = claims.claim_next(by=person, queue=skipped, now=timezone.now())
            claims.skip(by=person, item=slot.item, now=timezone.now())
            claims.claim_next(by=person, queue=skipped, now=timezone.now())
        counts = []
        for one in (queue, skipped):
            addresses = [
                reverse("queue_overview", args=[one.public_id]),
                reverse("queue_person", args=[one.public_id, workers[0].public_id]),
            ]
            for address in addresses:
                with CaptureQueriesContext(connection) as captured:
                    assert client.get(address).status_code == 200
                counts.append(len(captured))
        return counts

    small, large = asked(1, 2), asked(5, 6)
    assert small == large
    assert max(large) <= 20


def test_the_median_is_the_database_s():
    queue = queue_over(comments=3)
    [person] = at_work(queue, 1)
    for item, ms in zip(queue.items.all(), (1000, 2000, 60_000), strict=True):
        submit(person, item, active_ms=ms)
    found = selectors.people_of(queue, timezone.now())
    assert found.all.median_seconds == found.rows[0].median_seconds == 2.0
    assert (found.all.fast, found.all.hours, found.all.per_hour) == (2, 0.02, 171.4)
    assert Annotation.objects.count() == 3
    assert AttributeLabel.objects.count() == 24
