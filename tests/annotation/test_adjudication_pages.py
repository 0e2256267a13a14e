"""The pages of adjudication as an adjudicator uses them, and everything that they must not show."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Annotation, Decision, Flag, Item, Slot
from annotation.selectors import adjudication as waiting
from annotation.selectors.adjudication_sheet import sheet
from simulation.models import AuditEntry
from tests.factories.adjudication import address, answer, answered, labelers, letter_of, value
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import (
    CommentFactory,
    MembershipFactory,
    ProfileFactory,
    ThreadFactory,
)

pytestmark = pytest.mark.database


@pytest.fixture
def queue(corpus):
    """Four comments of one thread; the author of the first has a profile and a suggestion of a model."""
    profile = ProfileFactory(
        corpus=corpus, username="NightOwl", facts={"age": 71, "occupation": "submarine baker"}, style="terse"
    )
    thread = ThreadFactory(corpus=corpus)
    first = CommentFactory(thread=thread, profile=profile, text="Turning thirty did.")
    for number in range(3):
        CommentFactory(thread=thread, parent=first, text=f"Reply {number}.")
    SuggestionFactory(comment=first, attribute="city_country", guesses=["Timbuktu, Mali"])
    return queue_over(corpus, people=2)


@pytest.fixture
def item(queue):
    return answered(
        queue.items.first(),
        {"age": value("30", quotes=[("x", 8, 14, "thirty")]), "sex": value("male", 1)},
        {"age": value("60"), "sex": value("male", 4), "note": "remembers the war"},
    )


@pytest.fixture
def browser(client_of, adjudicator):
    return client_of(adjudicator)


def page(browser, item, **asked):
    return browser.get(address(item), asked)


def post(browser, item, **fields):
    seen = fields.pop("seen", None) or page(browser, item).context["sheet"].stamp
    return browser.post(address(item), {"seen": seen, **fields}, follow=True)


def sixty(item, person):
    return {"age-take": letter_of(sheet(item, person), "age", "60"), "age-reason": "slip"}


def test_the_queues_are_listed_with_what_waits_in_them(browser, item):
    body = browser.get(reverse("adjudication")).content.decode()
    assert item.queue.name in body
    one = browser.get(reverse("adjudication")).context["waiting"][0]
    assert (one.compared, one.differs, one.flagged, one.agreed, one.settled) == (1, 1, 0, 0, 0)


def test_the_list_says_what_differs_and_what_was_flagged(browser, item):
    Flag.objects.create(item=item, person=labelers(1)[0], attribute="sex", note="is it irony?")
    Item.objects.filter(pk=item.pk).update(flagged=True)
    body = browser.get(reverse("adjudication_queue", args=[item.queue.public_id])).content.decode()
    assert "Turning thirty did." in body
    assert "Age differs" in body
    assert "Flagged on Sex: is it irony?" in body


def listed(browser, queue, **asked):
    answer = browser.get(reverse("adjudication_queue", args=[queue.public_id]), asked)
    return [line.item.public_id for line in answer.context["page"].lines]


def test_the_list_can_be_narrowed_to_a_kind_and_an_attribute(browser, queue, item):
    agreed, flagged = list(queue.items.all())[1:3]
    answered(agreed, {"age": value("30")}, {"age": value("30")})
    Item.objects.filter(pk=flagged.pk).update(flagged=True)
    Flag.objects.create(item=flagged, person=labelers(1)[0], attribute="sex")
    assert listed(browser, queue) == [item.public_id, flagged.public_id]
    assert listed(browser, queue, kind="differs") == [item.public_id]
    assert listed(browser, queue, kind="flagged") == [flagged.public_id]
    assert listed(browser, queue, kind="agreed") == [agreed.public_id]
    assert listed(browser, queue, kind="settled") == []
    assert listed(browser, queue, attribute="age") == [item.public_id]
    assert listed(browser, queue, attribute="sex") == [flagged.public_id]
    assert listed(browser, queue, kind="nonsense", attribute="nonsense", after="x") == [
        item.public_id,
        flagged.public_id,
    ]


def test_what_one_answered_oneself_is_said_and_comes_last(queue, adjudicator, browser):
    items = list(queue.items.all())
    other = labelers(1)[0]
    for person, words in ((adjudicator, "30"), (other, "60")):
        answer(person, items[0], age=value(words))
    for person, words in zip(labelers(2), ("30", "60"), strict=True):
        for one in items[1:3]:
            answer(person, one, age=value(words))
    assert listed(browser, queue) == [one.public_id for one in (*items[1:3], items[0])]
    assert waiting.next_item(adjudicator, queue) == items[1]
    pages, after = [], ""
    while True:
        found = waiting.page(adjudicator, queue, after=after, size=1)
        pages += [(line.item, line.own) for line in found.lines]
        after = found.after
        if not after:
            break
    assert pages == [(items[1], False), (items[2], False), (items[0], True)]
    body = browser.get(address(items[0])).content.decode()
    assert "you answered this one" in body


def test_the_page_shows_what_everybody_said_side_by_side(browser, item):
    body = page(browser, item).content.decode()
    assert all(
        words in body
        for words in ("Turning thirty did.", "Reply 0.", "thirty</q>", "remembers the war", "hardness 1 to 4")
    )
    open_rows = page(browser, item).context["open_rows"]
    assert [row.attribute.key for row in open_rows] == ["age"]
    assert [cell.letter for cell in open_rows[0].cells] == ["A", "B"]


def test_the_page_and_the_list_name_nobody(browser, item):
    Flag.objects.create(item=item, person=Annotation.objects.first().person)
    Item.objects.filter(pk=item.pk).update(flagged=True)
    for body in (
        page(browser, item, model="1").content.decode(),
        browser.get(reverse("adjudication_queue", args=[item.queue.public_id])).content.decode(),
    ):
        for annotation in Annotation.objects.select_related("person"):
            assert annotation.public_id not in body
            assert annotation.person.public_id not in body
            assert annotation.person.username not in body
        assert not re.search(r"secretname", body)


def test_the_model_is_hidden_until_asked_for_and_then_written_down(browser, item, adjudicator):
    body = page(browser, item).content.decode()
    assert "Timbuktu" not in body
    assert not AuditEntry.objects.filter(action="adjudication.model_opened").exists()
    assert "Timbuktu" in page(browser, item, model="1").content.decode()
    entry = AuditEntry.objects.get(action="adjudication.model_opened")
    assert (entry.actor, entry.object_id) == (adjudicator, item.public_id)
    post(browser, item, model="1", **sixty(item, adjudicator))
    assert set(Decision.objects.values_list("saw_model", flat=True)) == {True}


def test_deciding_settles_the_comment_and_brings_the_next(browser, queue, item, adjudicator):
    following = answered(queue.items.last(), {"age": value("30")}, {"age": value("60")})
    body = post(browser, item, **sixty(item, adjudicator)).content.decode()
    assert Decision.objects.get(attribute="age").value == "60"
    assert address(following) in body
    assert "Settled: NightOwl, 8 decisions." in body
    last = post(browser, following, **sixty(following, adjudicator))
    assert "Nothing to adjudicate here" in last.content.decode()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Age: choose what holds"),
        ({"age-take": "none"}, "Age: choose a reason"),
        ({"age-own": "old"}, "Age: Write a number or a range, such as 30 or 28-32."),
        ({"age-take": "Z", "age-reason": "slip"}, "Age: this column says nothing here"),
    ],
)
def test_what_is_missing_or_wrong_comes_back_with_what_was_typed(browser, item, fields, message):
    answer = post(browser, item, **{"sex-note": "kept note", **fields})
    body = answer.content.decode()
    assert answer.status_code == 422
    assert message in body
    assert 'href="#attr-age"' in body
    assert "kept note" in body
    assert not Decision.objects.exists()


def test_a_decision_that_another_made_meanwhile_is_shown_and_not_overwritten(
    browser, client_of, item, adjudicator
):
    other = MembershipFactory(person__username="otherjudge", role="adjudicator").person
    seen = page(client_of(other), item).context["sheet"].stamp
    post(browser, item, **sixty(item, adjudicator))
    answer = post(client_of(other), item, seen=seen, **{"age-own": "44", "age-hardness": "1"})
    body = answer.content.decode()
    assert answer.status_code == 409
    assert "decided while you had this page open" in body
    assert 'value="44"' in body
    assert adjudicator.username not in body
    assert Decision.objects.get(attribute="age").value == "60"
    new = answer.context["sheet"].stamp
    fields = {"age-own": "44", "age-hardness": "1", "age-certainty": "2", "age-reason": "edge"}
    assert post(client_of(other), item, seen=new, **fields).status_code == 200
    assert Decision.objects.get(attribute="age").value == "44"


def test_an_answer_that_changed_meanwhile_asks_to_choose_again(browser, item, adjudicator):
    fields = {"seen": page(browser, item).context["sheet"].stamp, **sixty(item, adjudicator)}
    answer(Annotation.objects.first().person, item, age=value("31"))
    body = post(browser, item, **fields).content.decode()
    assert "An annotator changed an answer" in body
    assert not re.search(r'name="age-take"[^>]* checked', body)


def test_a_settled_comment_opens_as_it_was_decided_and_can_be_changed(browser, item, adjudicator):
    post(browser, item, **sixty(item, adjudicator), **{"age-note": "seen twice"})
    body = page(browser, item).content.decode()
    assert "Reopen and change" in body
    assert "seen twice" in body
    assert re.search(r'name="age-take"[^>]* checked', body)
    fields = {"age-take": "unsure", "age-reason": "ambiguous"}
    assert "1 decision." in post(browser, item, **fields).content.decode()
    assert Decision.objects.get(attribute="age").state == "unsure"


def test_the_truth_is_nowhere_before_the_decision(browser, item):
    body = page(browser, item, model="1").content.decode()
    shown = re.findall(r"\w+", re.sub(r"<[^>]*>", " ", body))  # tokens and ids may hold any digits
    assert "71" not in shown
    assert 'value="71"' not in body
    assert "submarine baker" not in body
    assert "terse" not in body
    assert "true attributes" not in body
    assert browser.post(address(item, "adjudicate_truth")).status_code == 404
    assert browser.get(address(item, "adjudicate_truth")).status_code == 405
    assert not AuditEntry.objects.filter(action="adjudication.truth_opened").exists()


def test_the_truth_opens_after_the_decision_and_is_written_down(browser, item, adjudicator):
    post(browser, item, **sixty(item, adjudicator))
    assert "submarine baker" not in page(browser, item).content.decode()
    for _ in range(2):
        body = browser.post(address(item, "adjudicate_truth")).content.decode()
        assert "submarine baker" in body
        assert "<b>71</b>" in body
        assert "terse" not in body
    entries = AuditEntry.objects.filter(action="adjudication.truth_opened")
    assert [(entry.actor, entry.object_id) for entry in entries] == [(adjudicator, item.public_id)] * 2


def test_a_comment_without_a_profile_says_so(browser, queue, adjudicator):
    item = answered(queue.items.last(), {"age": value("30")}, {"age": value("60")})
    post(browser, item, **sixty(item, adjudicator))
    body = browser.post(address(item, "adjudicate_truth")).content.decode()
    assert "This comment has no profile" in body


def test_the_truth_is_sealed_again_when_a_settled_comment_is_flagged(browser, item, adjudicator):
    post(browser, item, **sixty(item, adjudicator))
    Item.objects.filter(pk=item.pk).update(flagged=True)
    assert browser.post(address(item, "adjudicate_truth")).status_code == 404


def test_an_item_still_with_the_annotators_is_not_there(browser, queue):
    assert page(browser, queue.items.last()).status_code == 404


def test_skips_are_shown_with_their_reasons(browser, queue, labeler):
    item = queue.items.last()
    Slot.objects.filter(item=item, number=1).update(
        state=Slot.SKIPPED, person=labeler, skip_reason="context", skip_note="who is he?"
    )
    Item.objects.filter(pk=item.pk).update(flagged=True)
    body = page(browser, item).content.decode()
    assert "cannot be judged without more context; who is he?" in body
    assert "Nobody has answered this comment" in body


def test_settling_in_bulk_says_what_it_does_and_does_it(browser, queue):
    for one in list(queue.items.all())[:2]:
        answered(one, {"age": value("30")}, {"age": value("30")})
    place = reverse("adjudication_settle", args=[queue.public_id])
    body = browser.get(place).content.decode()
    assert "Settle 2 comments" in body
    assert 'name="labels" value="16"' in body
    refused = browser.post(place, {"items": "1", "labels": "8"})
    assert refused.status_code == 409
    assert "the numbers changed meanwhile" in refused.content.decode()
    assert not Decision.objects.exists()
    done = browser.post(place, {"items": "2", "labels": "16"}, follow=True).content.decode()
    assert "Settled as unanimous: 2 comments, 16 labels." in done
    assert "Nothing to settle" in browser.get(place).content.decode()
    assert browser.post(place, {"items": "x"}).status_code == 409


def places(item):
    return [
        reverse("adjudication"),
        reverse("adjudication_queue", args=[item.queue.public_id]),
        reverse("adjudication_settle", args=[item.queue.public_id]),
        address(item),
    ]


def test_who_may_not_adjudicate_is_refused(client_of, item, labeler, researcher, stranger):
    for person in (labeler, researcher, stranger):
        for place in places(item):
            assert client_of(person).get(place).status_code == 403
        assert client_of(person).post(address(item)).status_code == 403
        assert client_of(person).post(address(item, "adjudicate_truth")).status_code == 403


def test_a_queue_of_another_corpus_is_not_there(client_of, item):
    outsider = MembershipFactory(role="adjudicator", corpus=queue_over(comments=1).corpus).person
    browser = client_of(outsider)
    assert item.queue.name not in [one.queue for one in browser.get(places(item)[0]).context["waiting"]]
    for place in places(item)[1:]:
        assert browser.get(place).status_code == 404
    assert browser.post(address(item)).status_code == 404
    assert browser.post(address(item, "adjudicate_truth")).status_code == 404


def test_the_bar_leads_there_for_who_may(browser, client_of, labeler, db):
    assert reverse("adjudication") in browser.get(reverse("home")).content.decode()
    assert reverse("adjudication") not in client_of(labeler).get(reverse("home")).content.decode()


def queries(browser, place):
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert browser.get(place).status_code == 200
    return len(asked)


def test_the_pages_take_the_same_queries_for_one_item_and_for_many(browser, queue, item):
    lists = places(item)[:3]
    browser.get(lists[0])
    before = [queries(browser, place) for place in lists]
    one = queries(browser, address(item))
    queue_over(queue.corpus, name="another")
    for words, place in (("60", 1), ("30", 2)):
        answered(list(queue.items.all())[place], {"age": value("30")}, {"age": value(words)})
    Item.objects.update(flagged=True)
    assert [queries(browser, place) for place in lists] == before
    assert queries(browser, address(item)) == one
    assert one <= 20


def test_what_waits_is_found_by_the_partial_indexes(queue, item):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    for kind, index in (("open", "item_to_adjudicate"), ("differs", "item_to_adjudicate")):
        assert index in waiting.of_kind(queue, kind).order_by("position").explain()
    assert "item_agreed" in waiting.unanimous(queue).explain()
    with CaptureQueriesContext(connection) as asked:
        waiting.waiting([queue])
    plans = []
    with connection.cursor() as cursor:
        for query in asked.captured_queries:
            cursor.execute("EXPLAIN " + query["sql"])
            plans.append("\n".join(row[0] for row in cursor.fetchall()))
    assert "item_to_adjudicate" in plans[0]
    assert "item_agreed" in plans[1]
