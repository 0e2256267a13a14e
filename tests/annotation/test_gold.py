"""Gold items: known answers, handed out beside the work, seen by leads only."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.domain.known import Known, Typed, read_known
from annotation.domain.labels import State
from annotation.models import Decision, Gold, Slot
from annotation.services import claims, gold
from simulation.domain.attributes import CATALOGUE
from simulation.domain.roles import Role
from simulation.models import AuditEntry
from tests.annotation.test_submit import AGED_30, submit
from tests.factories.annotation import queue_over
from tests.factories.simulation import CommentFactory, CorpusFactory, MembershipFactory

AGED_41 = {"age": Known(State.VALUE, "41", 2, None)}


@pytest.fixture
def queue(corpus):
    return queue_over(corpus, comments=3, people=2)


@pytest.fixture
def item(queue):
    return queue.items.select_related("queue__corpus", "comment").first()


@pytest.fixture
def browser(client_of, researcher):
    return client_of(researcher)


def address(queue, item=None, name="queue_gold", **more):
    query = "".join(f"&{key}={value}" for key, value in more.items())
    return reverse(name, args=[queue.public_id]) + (f"?item={item.public_id}{query}" if item else "")


def test_an_item_becomes_gold_with_its_answer(browser, queue, item, researcher):
    told = browser.post(
        address(queue, item),
        {
            "age-state": "value",
            "age-value": " 38 - 41 ",
            "age-hardness": "2",
            "sex-value": "Female",
            "occupation-state": "none",
            "occupation-value": "dropped",
            "income_level-state": "unsure",
            "why": " It says  so. ",
        },
    )
    assert told["Location"] == address(queue)
    item.refresh_from_db()
    assert item.gold
    answer = Gold.objects.get(item=item)
    assert answer.labels == {
        "age": {"state": "value", "value": "38-41", "hardness": 2, "certainty": None},
        "sex": {"state": "value", "value": "female", "hardness": None, "certainty": None},
        "occupation": {"state": "none", "value": "", "hardness": None, "certainty": None},
        "income_level": {"state": "unsure", "value": "", "hardness": None, "certainty": None},
    }
    assert (answer.why, answer.by) == ("It says so.", researcher)
    entry = AuditEntry.objects.get(action="gold.added")
    assert entry.details["open_reviews_closed"] == 2
    assert "38-41" not in str(entry.details)
    page = browser.get(address(queue)).content.decode()
    assert "38-41" in page
    assert "It says so." in page


@pytest.mark.database
def test_gold_closes_open_slots_and_leaves_what_people_hold_and_did(queue, item, labeler):
    held = claims.claim_next(by=labeler, queue=queue, now=timezone.now())
    assert held.item == item
    gold.know(by=None, item=item, labels=AGED_41)
    assert list(item.slots.values_list("state", flat=True)) == [Slot.LEASED]
    submit(labeler, item, age=AGED_30)
    assert list(item.slots.values_list("state", flat=True)) == [Slot.DONE]


@pytest.mark.database
def test_what_is_not_gold_any_more_gets_its_slots_back(browser, queue, item, labeler):
    claims.claim_next(by=labeler, queue=queue, now=timezone.now())
    gold.know(by=None, item=item, labels=AGED_41)
    told = browser.post(address(queue, name="queue_gold_remove"), {"item": item.public_id})
    assert told["Location"] == address(queue)
    item.refresh_from_db()
    assert not item.gold
    assert not Gold.objects.exists()
    assert sorted(item.slots.values_list("state", flat=True)) == [Slot.LEASED, Slot.OPEN]
    assert AuditEntry.objects.get(action="gold.removed").details["reviews_opened"] == 1
    # A second press changes nothing.
    browser.post(address(queue, name="queue_gold_remove"), {"item": item.public_id})
    assert item.slots.count() == 2
    assert AuditEntry.objects.filter(action="gold.removed").count() == 1


def test_a_known_answer_can_be_changed(browser, queue, item):
    gold.know(by=None, item=item, labels=AGED_41, why="because")
    page = browser.get(address(queue, item)).content.decode()
    assert 'value="41"' in page
    assert "because" in page
    browser.post(address(queue, item), {"age-state": "value", "age-value": "42", "why": "because"})
    assert Gold.objects.get().labels["age"]["value"] == "42"
    assert AuditEntry.objects.filter(action="gold.changed").count() == 1


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"age-state": "value", "age-value": "old"}, "Write a number or a range"),
        ({"age-state": "value", "age-value": ""}, "Write a value"),
        ({"age-state": "value", "age-value": "50-40"}, "The range runs backwards"),
        ({"sex-state": "value", "sex-value": "robot"}, "is not one of"),
        ({"age-state": "value", "age-value": "41", "age-hardness": "6"}, "Hardness is a number from 1 to 5"),
        ({"age-state": "perhaps"}, "is not on the list"),
        ({"age-state": "none", "why": "w" * 501}, "At most 500 characters"),
        ({}, "at least one attribute"),
    ],
)
def test_a_bad_answer_is_named_and_changes_nothing(browser, queue, item, sent, told):
    refused = browser.post(address(queue, item), sent)
    assert refused.status_code == 422
    assert told in refused.content.decode()
    item.refresh_from_db()
    assert not item.gold
    assert item.slots.count() == 2
    assert not Gold.objects.exists()


def test_what_was_typed_is_shown_again(browser, queue, item):
    body = browser.post(
        address(queue, item), {"age-state": "value", "age-value": "<old>", "why": "my reason"}
    ).content.decode()
    assert 'value="&lt;old&gt;"' in body
    assert "my reason" in body


def test_the_rules_of_a_row():
    age = CATALOGUE["age"]
    assert read_known(age, Typed()) is None
    assert read_known(age, Typed(hardness="3")) is None
    assert read_known(age, Typed(value="30")) == Known(State.VALUE, "30")
    assert read_known(age, Typed("none", "30", "9", "9")) == Known(State.NONE)
    problems = read_known(age, Typed("value", "x", "0", "y"))
    assert [problem.field for problem in problems] == ["value", "hardness", "certainty"]
    assert read_known(age, Typed("untouched"))[0].field == "state"


def test_without_an_attribute_there_is_no_gold(item):
    with pytest.raises(ValueError, match="at least one"):
        gold.know(by=None, item=item, labels={})


def test_a_comment_of_the_queue_is_found_by_its_words(browser, queue, corpus):
    elsewhere = CommentFactory(thread__corpus=corpus, text="A night bus that is in no queue.")
    found = browser.get(address(queue), {"q": "night bus number 2"}).content.decode()
    items = {item.comment.text: item for item in queue.items.select_related("comment")}
    assert items["Comment number 2 of the night bus thread."].public_id in found
    assert items["Comment number 1 of the night bus thread."].public_id not in found
    by_id = browser.get(
        address(queue), {"q": items["Comment number 1 of the night bus thread."].comment.external_id}
    )
    assert items["Comment number 1 of the night bus thread."].public_id in by_id.content.decode()
    nothing = browser.get(address(queue), {"q": elsewhere.external_id}).content.decode()
    assert "No comment of this queue" in nothing


def test_an_answer_is_taken_over_from_what_was_settled(browser, queue, item, adjudicator):
    Decision.objects.create(
        item=item,
        attribute="age",
        state="value",
        value="44",
        hardness=3,
        certainty=4,
        reason="slip",
        by=adjudicator,
    )
    page = browser.get(address(queue, item)).content.decode()
    assert "What was settled" in page
    assert 'value="44"' not in page
    taken = browser.get(address(queue, item, **{"from": "decisions"})).content.decode()
    assert 'value="44"' in taken
    assert not Gold.objects.exists()


def test_an_answer_is_taken_over_from_an_annotation(browser, queue, item, labeler):
    annotation = submit(labeler, item, age=AGED_30).annotation
    page = browser.get(address(queue, item)).content.decode()
    assert "Answer of lena" in page
    taken = browser.get(address(queue, item, **{"from": annotation.public_id})).content.decode()
    assert 'value="30"' in taken
    unknown = browser.get(address(queue, item, **{"from": "nothing"})).content.decode()
    assert 'value="30"' not in unknown


def test_an_item_of_another_queue_is_not_there(browser, queue, researcher):
    other = queue_over(CorpusFactory(), comments=1).items.get()
    assert browser.get(address(queue, other)).status_code == 404
    assert browser.post(address(queue, other), {"age-state": "none"}).status_code == 404
    gone = browser.post(address(queue, name="queue_gold_remove"), {"item": other.public_id})
    assert gone.status_code == 404
    assert not Gold.objects.exists()


def test_who_may_not_steer_queues_makes_no_gold(client_of, queue, item, labeler, adjudicator):
    elsewhere = MembershipFactory(corpus=CorpusFactory(), role=Role.RESEARCHER.value).person
    for person, status in ((labeler, 403), (adjudicator, 403), (elsewhere, 404)):
        browser = client_of(person)
        assert browser.get(address(queue, item)).status_code == status
        assert browser.post(address(queue, item), {"age-state": "none"}).status_code == status
        remove = browser.post(address(queue, name="queue_gold_remove"), {"item": item.public_id})
        assert remove.status_code == status
    assert not Gold.objects.exists()


def test_no_page_of_a_labeler_holds_a_known_answer(client_of, queue, item, labeler):
    gold.know(
        by=None,
        item=item,
        labels={"occupation": Known(State.VALUE, "glacier plumber", 2, 3), **AGED_41},
        why="The zymurgy clue.",
    )
    queue.gold_every = 1
    queue.save()
    browser = client_of(labeler)
    opened = claims.claim_next(by=labeler, queue=queue, now=timezone.now())
    submit(labeler, opened.item, age=AGED_30)
    handed = claims.claim_next(by=labeler, queue=queue, now=timezone.now())
    assert handed.item == item
    corpus = queue.corpus.public_id
    for path in (
        reverse("home"),
        reverse("queues"),
        reverse("review", args=[queue.public_id]),
        reverse("review_item", args=[queue.public_id, item.public_id]),
        reverse("review_history", args=[queue.public_id]),
        reverse("review_guidelines", args=[queue.public_id]),
        reverse("corpus", args=[corpus]),
        reverse("comments", args=[corpus]),
        reverse("thread", args=[item.comment.thread.public_id]),
        reverse("comment", args=[item.comment.public_id]),
    ):
        answer = browser.get(path)
        assert answer.status_code == 200, path
        body = answer.content.decode()
        assert "glacier plumber" not in body, path
        assert "zymurgy" not in body, path


def test_the_list_asks_as_much_for_many_gold_items(browser, queue, item, django_assert_max_num_queries):
    gold.know(by=None, item=item, labels=AGED_41)
    with django_assert_max_num_queries(8) as few:
        browser.get(address(queue))
    for other in queue.items.select_related("queue__corpus"):
        gold.know(by=None, item=other, labels=AGED_41)
    with django_assert_max_num_queries(8) as many:
        browser.get(address(queue))
    assert len(few) == len(many)
