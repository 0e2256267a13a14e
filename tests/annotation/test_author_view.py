"""One author's comments and labels together: what fits, what is odd, and asking for another look."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.domain.labels import Label, Outcome, State
from annotation.models import Annotation, AttributeLabel, Decision, Flag, Queue, Slot
from annotation.selectors import authors
from annotation.services import authors as acts
from annotation.services import claims
from simulation.models import AuditEntry, Comment
from tests.annotation.test_submit import submit
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import (
    CommentFactory,
    CorpusFactory,
    MembershipFactory,
    ProfileFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def owl(corpus):
    """Three comments by NightOwl, one by somebody else."""
    profile = ProfileFactory(corpus=corpus, username="NightOwl", facts={"age": 77, "occupation": "owl tamer"})
    for number in range(3):
        CommentFactory(thread__corpus=corpus, profile=profile, text=f"Hoot number {number}.")
    CommentFactory(thread__corpus=corpus, username="Lark", text="Good morning.")
    return list(corpus.comments.filter(username="NightOwl").order_by("sequence"))


@pytest.fixture
def queue(owl):
    return queue_over(owl[0].corpus)


def say(person, queue, comment, value, hardness=2, attribute="age"):
    item = queue.items.get(comment=comment)
    label = Label(State.VALUE, Outcome.ADDED, value, hardness, 4)
    return submit(person, item, **{attribute: label}).annotation


def imported(comment, value, hardness=2, attribute="age"):
    one = Annotation.objects.create(comment=comment, reviewer="human", submitted_at=timezone.now())
    AttributeLabel.objects.create(
        annotation=one, attribute=attribute, state="value", value=value, hardness=hardness, outcome="imported"
    )
    return one


def address(comment):
    return reverse("author", args=[comment.public_id])


def body(browser, url, **headers):
    answer = browser.get(url, **headers)
    assert answer.status_code == 200
    return answer.content.decode()


def press(browser, comment, annotation, to="adjudicator", attribute="age"):
    data = {"annotation": annotation.public_id, "attribute": attribute, "to": to}
    return browser.post(reverse("author_requeue", args=[comment.public_id]), data)


def test_a_lead_sees_the_roll_up_and_the_odd_one(client_of, researcher, labeler, queue, owl):
    say(labeler, queue, owl[0], "25", 3)
    say(labeler, queue, owl[1], "61", 4)
    imported(owl[2], "27", 1)
    page = body(client_of(researcher), address(owl[1]))
    assert "27</b>" in page
    assert "rolled up, hardness 1 stated outright" in page
    assert "odd: 27 elsewhere" in page
    assert page.count("odd: ") == 1
    assert "1 of 1 attribute contradicted" in page
    assert "lena" in page
    assert "(imported)" in page
    assert "Good morning" not in page


def test_the_truth_is_not_on_the_page(client_of, admin, labeler, queue, owl):
    SuggestionFactory(comment=owl[0], guesses=["88", "89", "90"], model_eval=[1, 0, 0])
    say(labeler, queue, owl[0], "25")
    page = body(client_of(admin), address(owl[0]))
    assert not {"77", "88"} & set(words(page))
    for truth in ("owl tamer", "profile"):
        assert truth not in page


def words(page):
    """What stands on a page, without the addresses in it: ids are drawn and may hold any digits."""
    return re.findall(r"\w+", re.sub(r"<[^>]*>", " ", page))


def test_a_labeler_reads_the_texts_and_nothing_that_was_said(client_of, labeler, researcher, queue, owl):
    say(researcher, queue, owl[0], "25")
    say(researcher, queue, owl[1], "61")
    page = body(client_of(labeler), address(owl[0]))
    assert page.count("Hoot number") == 3
    for said in ("25", "61", "rosa", "odd", "Ask"):
        assert said not in words(page)


def test_the_drawer_is_a_list_of_the_others_without_a_page_around_it(client_of, admin, labeler, queue, owl):
    say(admin, queue, owl[1], "61")
    found = client_of(labeler).get(address(owl[0]), headers={"HX-Request": "true"})
    part = found.content.decode()
    assert "<html" not in part
    assert "Hoot number 0" not in part
    assert "Hoot number 1" in part
    assert owl[1].thread.external_id in part
    assert "61" not in words(part)
    assert "All comments by" not in part
    assert "HX-Request" in found["Vary"]
    whole = body(client_of(labeler), address(owl[0]), headers={"HX-Request": "true", "HX-Boosted": "true"})
    assert "<html" in whole


def test_the_drawer_holds_twenty_and_a_way_to_all(client_of, labeler, corpus):
    for _ in range(22):
        CommentFactory(thread__corpus=corpus, username="Busy")
    one = corpus.comments.filter(username="Busy").first()
    part = body(client_of(labeler), address(one), headers={"HX-Request": "true"})
    assert part.count("night bus") == 20
    assert "All comments by Busy" in part
    alone = CommentFactory(thread__corpus=corpus, username="Alone")
    assert "wrote nothing else" in body(client_of(labeler), address(alone), headers={"HX-Request": "true"})


def test_pages_go_on_behind_the_last_comment_and_lose_none(client_of, labeler, corpus):
    made = [
        CommentFactory(thread__corpus=corpus, username="Busy", text=f"<{n}>", sequence=n // 3)
        for n in range(60)
    ]
    browser = client_of(labeler)
    first = browser.get(address(made[0]))
    second = browser.get(address(made[0]), {"after": first.context["more"]})
    seen = [one.pk for one in (*first.context["comments"], *second.context["comments"])]
    assert seen == [one.pk for one in made]
    assert second.context["more"] == ""
    assert "&lt;0&gt;" in first.content.decode()
    assert len(browser.get(address(made[0]), {"after": "nonsense"}).context["comments"]) == 50


def test_a_decision_stands_in_place_of_the_labels_of_its_item(adjudicator, labeler, queue, owl):
    say(labeler, queue, owl[0], "25", 1)
    say(labeler, queue, owl[1], "61", 2)
    item = queue.items.get(comment=owl[1])
    decision = Decision.objects.create(
        item=item, attribute="age", state="value", value="26", hardness=2, reason="slip", by=adjudicator
    )
    (section,) = authors.sections(owl[0])
    assert section.odd == 0
    assert [(line.value, line.left_out) for line in section.lines] == [
        ("25", ""),
        ("26", ""),
        ("61", "decided"),
    ]
    decision.state, decision.value = "none", ""
    decision.save()
    (section,) = authors.sections(owl[0])
    assert (section.odd, section.rollup.value) == (0, "25")
    assert authors.in_corpus(owl[0].corpus, after=None, size=9)[0][1].odd == []


def test_extra_answers_and_queues_in_the_trash_do_not_count(labeler, researcher, queue, owl):
    say(labeler, queue, owl[0], "25", 1)
    Annotation.objects.filter(pk=say(researcher, queue, owl[0], "61").pk).update(over_quota=True)
    (section,) = authors.sections(owl[0])
    assert [(line.left_out, line.against) for line in section.lines] == [("", ""), ("extra", "")]
    Queue.objects.update(trashed_at=timezone.now())
    assert authors.sections(owl[0]) == []


def test_many_labels_are_folded_but_no_odd_one_is(labeler, owl):
    made = [CommentFactory(thread__corpus=owl[0].corpus, username="NightOwl") for _ in range(12)]
    for comment in made[:10]:
        imported(comment, "25", 3)
    for comment in made[10:]:
        imported(comment, "60", 4)
    (section,) = authors.sections(owl[0])
    assert (len(section.shown), len(section.folded), section.odd) == (8, 4, 2)
    assert [line.value for line in section.shown[:3]] == ["60", "60", "25"]
    assert section.shown[2].is_source


def test_who_may_not_browse_the_corpus_does_not_find_the_author(client_of, stranger, owl):
    elsewhere = MembershipFactory(person=stranger, corpus=CorpusFactory()).person
    assert client_of(elsewhere).get(address(owl[0])).status_code == 404
    assert client_of(UserFactory()).get(address(owl[0])).status_code == 403


def test_the_page_asks_as_much_for_many_labels_as_for_one(client_of, researcher, labeler, queue, owl):
    browser = client_of(researcher)
    say(labeler, queue, owl[0], "25")
    with CaptureQueriesContext(connection) as few:
        body(browser, address(owl[0]))
    for comment in owl[1:]:
        say(labeler, queue, comment, "61")
        imported(comment, "Graz, Austria", attribute="city_country")
    with CaptureQueriesContext(connection) as many:
        body(browser, address(owl[0]))
    assert len(many) == len(few) <= 14


def test_comments_of_an_author_are_found_by_the_index(corpus):
    thread = CommentFactory(thread__corpus=corpus).thread
    Comment.objects.bulk_create(
        CommentFactory.build(thread=thread, username=f"Author{number % 90}") for number in range(1500)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE simulation_comment")
    one = corpus.comments.filter(username="Author7").first()
    assert "comment_by_author" in authors.by_author(one)[:21].explain()


# --- Asking for another look ------------------------------------------------------------------------


@pytest.fixture
def odd(labeler, queue, owl):
    say(labeler, queue, owl[0], "25", 1)
    say(labeler, queue, owl[1], "27", 2)
    return say(labeler, queue, owl[2], "61", 3)


def test_the_adjudicator_is_asked_once_however_often_it_is_pressed(client_of, researcher, owl, odd):
    browser = client_of(researcher)
    for _ in range(2):
        assert press(browser, owl[0], odd)["Location"] == address(owl[0])
    flag = Flag.objects.get()
    assert (flag.item, flag.person, flag.attribute) == (odd.item, researcher, "age")
    assert flag.note == "contradicts: 61 here, 25 there"
    odd.item.refresh_from_db()
    assert odd.item.flagged
    assert AuditEntry.objects.get(action="label.requeued").details == {
        "attribute": "age",
        "to": "adjudicator",
        "annotation": odd.public_id,
    }
    page = body(browser, address(owl[0]))
    assert "with the adjudicator" in page
    assert "Ask the adjudicator" not in page
    assert "Ask another annotator" in page


def test_another_annotator_is_asked_by_one_more_slot(client_of, researcher, admin, labeler, queue, owl, odd):
    browser = client_of(researcher)
    for _ in range(2):
        press(browser, owl[0], odd, to="annotator")
    slots = Slot.objects.filter(item=odd.item).order_by("number")
    assert [(slot.number, slot.state, slot.position) for slot in slots] == [
        (1, Slot.DONE, odd.item.position),
        (2, Slot.OPEN, odd.item.position),
    ]
    assert AuditEntry.objects.filter(action="label.requeued").count() == 1
    assert "waits for another annotator" in body(browser, address(owl[0]))
    got = claims.claim_next(by=admin, queue=queue, now=timezone.now())
    while got.item_id != odd.item_id:
        submit(admin, got.item)
        got = claims.claim_next(by=admin, queue=queue, now=timezone.now())
    assert not submit(admin, got.item).annotation.over_quota
    assert claims.claim_next(by=labeler, queue=queue, now=timezone.now()).item_id != odd.item_id


def test_a_flag_about_something_else_keeps_its_words(client_of, researcher, labeler, owl, odd):
    Flag.objects.create(item=odd.item, person=researcher, attribute="sex", note="look here")
    press(client_of(researcher), owl[0], odd)
    flag = Flag.objects.get()
    assert (flag.attribute, flag.note) == ("", "contradicts: 61 here, 25 there; look here")
    press(client_of(researcher), owl[0], odd)
    assert Flag.objects.get().note == flag.note


def refused(answer):
    assert answer.status_code == 422
    assert not Flag.objects.exists()
    assert not Slot.objects.filter(number__gt=1).exists()
    assert not AuditEntry.objects.filter(action="label.requeued").exists()
    return answer.content.decode()


@pytest.mark.parametrize("to", ["adjudicator", "annotator"])
def test_an_imported_label_has_to_be_put_into_a_queue_first(client_of, researcher, labeler, queue, owl, to):
    say(labeler, queue, owl[0], "25", 1)
    one = imported(owl[1], "61", 4)
    browser = client_of(researcher)
    assert "1 odd label came with an import" in body(browser, address(owl[0]))
    assert "Make a queue of the comment first" in refused(press(browser, owl[0], one, to))


def test_a_label_that_fits_is_not_asked_for_again(client_of, researcher, labeler, queue, owl, odd):
    fitting = Annotation.objects.get(item__comment=owl[0])
    browser = client_of(researcher)
    assert "contradicts nothing any more" in refused(press(browser, owl[0], fitting))
    assert "contradicts nothing any more" in refused(press(browser, owl[0], odd, attribute="sex"))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda item: item.queue.__class__.objects.update(state="closed"), "is closed"),
        (lambda item: item.__class__.objects.update(gold=True), "it is gold"),
        (lambda item: item.comment.__class__.objects.update(state="withdrawn"), "is withdrawn"),
    ],
)
def test_what_nobody_can_be_given_is_refused(client_of, researcher, owl, odd, change, sentence):
    change(odd.item)
    assert sentence in refused(press(client_of(researcher), owl[0], odd, to="annotator"))


def test_an_incomplete_press_changes_nothing(client_of, researcher, owl, odd):
    browser = client_of(researcher)
    assert "press one of the two buttons" in refused(press(browser, owl[0], odd, to="everybody"))
    assert "press one of the two buttons" in refused(press(browser, owl[0], odd, attribute="shoe size"))
    url = reverse("author_requeue", args=[owl[0].public_id])
    assert "contradicts nothing" in refused(browser.post(url, {"attribute": "age", "to": "annotator"}))
    assert browser.get(url).status_code == 405


def test_only_who_manages_queues_of_this_corpus_asks_again(
    client_of, labeler, adjudicator, stranger, owl, odd
):
    assert press(client_of(labeler), owl[0], odd).status_code == 403
    assert press(client_of(adjudicator), owl[0], odd).status_code == 403
    MembershipFactory(person=stranger, corpus=owl[0].corpus)
    MembershipFactory(person=stranger, corpus=CorpusFactory(), role="researcher")
    assert press(client_of(stranger), owl[0], odd).status_code == 404
    assert not Flag.objects.exists()


def test_a_label_of_another_author_is_not_reached_through_this_one(researcher, labeler, queue, owl, odd):
    lark = queue.items.get(comment__username="Lark").comment
    with pytest.raises(acts.Refused):
        acts.requeue(
            by=researcher, comment=lark, annotation=odd.public_id, attribute="age", to=acts.ADJUDICATOR
        )


# --- The list ---------------------------------------------------------------------------------------


def test_the_list_counts_and_marks_who_contradicts_themselves(client_of, adjudicator, owl, odd):
    page = client_of(adjudicator).get(reverse("authors", args=[owl[0].corpus.public_id]))
    lark, night_owl = page.context["authors"]
    assert (lark.username, lark.comments, lark.labels, lark.odd) == ("Lark", 1, 0, [])
    assert (night_owl.comments, night_owl.labels) == (3, 3)
    assert [(attribute.key, n) for attribute, n in night_owl.odd] == [("age", 1)]
    assert "Age: 1 odd" in page.content.decode()
    assert address(owl[0]) in page.content.decode()


def test_the_list_is_paged_by_name_and_asks_as_much_for_many_as_for_one(
    client_of, researcher, labeler, corpus
):
    browser = client_of(researcher)
    url = reverse("authors", args=[corpus.public_id])
    imported(CommentFactory(thread__corpus=corpus, username="A & B=1"), "25")
    with CaptureQueriesContext(connection) as few:
        assert "A &amp; B=1" in body(browser, url)
    for number in range(60):
        imported(CommentFactory(thread__corpus=corpus, username=f"Author {number:02}&x"), "61")
    with CaptureQueriesContext(connection) as many:
        first = browser.get(url)
    assert len(many) == len(few) <= 12
    assert first.context["more"] == "Author 48&x"
    assert "?after=Author%2048%26x" in first.content.decode()
    second = browser.get(url, {"after": first.context["more"]})
    assert [one.username for one in second.context["authors"]] == [f"Author {n}&x" for n in range(49, 60)]
    assert "behind this name" in body(browser, url + "?after=zzzz")


def test_only_who_sees_labels_gets_the_list(client_of, labeler, stranger, corpus):
    url = reverse("authors", args=[corpus.public_id])
    assert client_of(labeler).get(url).status_code == 403
    MembershipFactory(person=stranger, corpus=CorpusFactory(), role="researcher")
    assert client_of(stranger).get(url).status_code == 404
