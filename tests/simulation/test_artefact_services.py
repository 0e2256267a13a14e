"""Scanning a corpus for artefacts, and what a person does about them."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Annotation
from annotation.services import claims
from simulation.models import Artefact, AuditEntry, Comment, CommentEdit
from simulation.selectors import artefacts as found
from simulation.services import artefacts
from simulation.services.artefacts import Conflict, Held, Labelled, Refused
from tests.factories.annotation import queue_over
from tests.factories.simulation import CommentFactory, CorpusFactory, ProfileFactory

pytestmark = pytest.mark.django_db
DIRTY = "the soup was great <br>"
CLEAN = "the soup was great"


@pytest.fixture
def comment(corpus):
    return CommentFactory(thread__corpus=corpus, text=DIRTY)


@pytest.fixture
def finding(corpus, comment):
    artefacts.scan_corpus(corpus)
    return Artefact.objects.get()


def of(finding):
    return Artefact.objects.filter(pk=finding.pk)


def state_of(finding):
    return Artefact.objects.get(pk=finding.pk).state


def only(comment):
    return Comment.objects.filter(pk=comment.pk)


def test_a_scan_notes_rule_place_and_words(corpus, comment, finding):
    assert (finding.comment, finding.rule, finding.state) == (comment, "markup", "open")
    assert DIRTY[finding.start : finding.end] == finding.excerpt == "<br>"


def test_a_second_scan_finds_nothing_new(corpus, comment):
    CommentFactory(thread__corpus=corpus)
    told = []
    first = artefacts.scan_corpus(corpus, progress=told.append)
    again = artefacts.scan_corpus(corpus)
    assert (first.comments, first.found, first.open, first.rules) == (2, 1, 1, {"markup": 1})
    assert (again.comments, again.found, again.open) == (2, 0, 1)
    assert sum(told) == 2
    assert Artefact.objects.count() == 1


def test_a_scan_knows_the_authors_own_facts(corpus):
    facts = {"age": 34, "city_country": "Graz, Austria"}
    profile = ProfileFactory(corpus=corpus, facts=facts)
    CommentFactory(thread__corpus=corpus, profile=profile, text="I live in Graz")
    CommentFactory(thread__corpus=corpus, text="I live in Graz")
    artefacts.scan_corpus(corpus)
    assert [one.rule for one in Artefact.objects.all()] == ["own_place"]


def test_a_scan_leaves_other_corpora_and_withdrawn_comments_alone(corpus, comment):
    CommentFactory(text=DIRTY)
    CommentFactory(thread__corpus=corpus, text=DIRTY, state="withdrawn")
    artefacts.scan_corpus(corpus)
    assert [one.comment for one in Artefact.objects.all()] == [comment]


def test_a_scan_is_written_down(corpus, comment, admin):
    assert found.last_scan(corpus) is None
    artefacts.scan_corpus(corpus, by=admin)
    entry = found.last_scan(corpus)
    assert entry.actor == admin
    assert entry.details == {"comments": 1, "found": 1, "open": 1}


def test_what_is_cleared_is_not_reported_again(corpus, admin, finding):
    assert artefacts.clear(by=admin, artefacts=of(finding)) == 1
    counts = artefacts.scan_corpus(corpus)
    assert (counts.found, counts.open, state_of(finding)) == (0, 0, "cleared")
    assert artefacts.clear(by=admin, artefacts=of(finding)) == 0
    assert AuditEntry.objects.get(action="artefacts.cleared").details == {"findings": {"markup": 1}}
    assert artefacts.reopen(by=admin, artefacts=of(finding)) == 1
    assert state_of(finding) == "open"


def test_an_open_finding_follows_a_text_that_was_changed_elsewhere(corpus, comment, finding):
    only(comment).update(text="so the soup was great <hr>")
    artefacts.scan_corpus(corpus)
    moved = Artefact.objects.get()
    assert (moved.pk, moved.state, moved.excerpt, moved.start) == (finding.pk, "open", "<hr>", 22)
    only(comment).update(text=CLEAN)
    assert artefacts.scan_corpus(corpus).gone == 1
    assert state_of(finding) == "edited"
    only(comment).update(text=DIRTY)
    assert artefacts.scan_corpus(corpus).found == 1
    assert state_of(finding) == "open"


def test_a_comment_just_written_costs_no_query_when_clean(corpus, comment, django_assert_num_queries):
    clean = CommentFactory(thread__corpus=corpus, text=CLEAN)
    with django_assert_num_queries(0):
        assert artefacts.scan_comment(clean, {"age": 34}) == 0
    with django_assert_num_queries(1):
        assert artefacts.scan_comment(comment, {}) == 1
    assert artefacts.scan_comment(comment, {}) == 1
    assert Artefact.objects.count() == 1


def test_an_edit_keeps_the_first_text_and_every_change(admin, comment, finding):
    artefacts.edit(by=admin, comment=comment, text=f" {CLEAN} ", expected_text=DIRTY, reason="markup")
    comment.refresh_from_db()
    assert (comment.text, comment.original_text, state_of(finding)) == (CLEAN, DIRTY, "edited")
    artefacts.edit(by=admin, comment=comment, text="better", expected_text=CLEAN)
    comment.refresh_from_db()
    assert (comment.text, comment.original_text) == ("better", DIRTY)
    changes = [(one.before, one.after, one.reason, one.by) for one in CommentEdit.objects.all()]
    assert changes == [(DIRTY, CLEAN, "markup", admin), (CLEAN, "better", "", admin)]
    assert AuditEntry.objects.filter(action="comment.edited").count() == 2


def test_an_edit_that_leaves_an_artefact_is_reported_by_the_next_scan(corpus, admin, comment, finding):
    artefacts.edit(by=admin, comment=comment, text="the soup <br>", expected_text=DIRTY)
    artefacts.scan_corpus(corpus)
    assert state_of(finding) == "open"


def test_an_edit_of_another_text_than_the_one_seen_is_a_conflict(admin, comment, finding):
    only(comment).update(text="changed meanwhile")
    with pytest.raises(Conflict):
        artefacts.edit(by=admin, comment=comment, text=CLEAN, expected_text=DIRTY)
    comment.refresh_from_db()
    assert (comment.text, comment.original_text, state_of(finding)) == ("changed meanwhile", "", "open")
    assert not CommentEdit.objects.exists()


def test_line_ends_of_a_form_are_no_conflict(admin, corpus):
    comment = CommentFactory(thread__corpus=corpus, text="one\ntwo <br>")
    artefacts.edit(by=admin, comment=comment, text="one\r\ntwo", expected_text="one\r\ntwo <br>")
    comment.refresh_from_db()
    assert comment.text == "one\ntwo"


@pytest.mark.parametrize("text", ["", "  ", DIRTY, "a" * 10_001, "a\x00b"])
def test_an_edit_to_nothing_the_same_or_too_much_is_refused(admin, comment, text):
    with pytest.raises(Refused):
        artefacts.edit(by=admin, comment=comment, text=text, expected_text=DIRTY)
    comment.refresh_from_db()
    assert comment.text == DIRTY


def test_a_labelled_comment_is_only_edited_expressly(admin, comment, finding):
    label = Annotation.objects.create(comment=comment, person=admin, submitted_at=timezone.now())
    with pytest.raises(Labelled):
        artefacts.edit(by=admin, comment=comment, text=CLEAN, expected_text=DIRTY)
    assert not CommentEdit.objects.exists()
    artefacts.edit(by=admin, comment=comment, text=CLEAN, expected_text=DIRTY, force=True)
    assert Annotation.objects.get() == label
    assert AuditEntry.objects.get(action="comment.edited").details["labelled"] is True


def test_a_comment_that_somebody_is_labelling_is_only_edited_expressly(
    corpus, admin, labeler, comment, finding
):
    queue = queue_over(corpus)
    slot = claims.claim_next(by=labeler, queue=queue, now=timezone.now())
    assert slot.item.comment == comment
    [row] = found.rows([finding])
    assert (row.held, row.labelled) == (True, False)
    with pytest.raises(Held, match="open to label"):
        artefacts.edit(by=admin, comment=comment, text=CLEAN, expected_text=DIRTY)
    assert not CommentEdit.objects.exists()
    artefacts.edit(by=admin, comment=comment, text=CLEAN, expected_text=DIRTY, force=True)
    assert CommentEdit.objects.count() == 1


def test_a_lease_that_has_ended_holds_no_edit_up(corpus, admin, labeler, comment, finding):
    slot = claims.claim_next(by=labeler, queue=queue_over(corpus), now=timezone.now())
    type(slot).objects.filter(pk=slot.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    artefacts.edit(by=admin, comment=comment, text=CLEAN, expected_text=DIRTY)
    assert CommentEdit.objects.count() == 1


def test_a_withdrawn_comment_is_taken_back_before_it_is_edited(admin, comment, finding):
    artefacts.withdraw(by=admin, comments=only(comment))
    for force in (False, True):
        with pytest.raises(Refused, match=r"is withdrawn\. Take it back first"):
            artefacts.edit(by=admin, comment=comment, text=CLEAN, expected_text=DIRTY, force=force)
    comment.refresh_from_db()
    assert (comment.text, state_of(finding)) == (DIRTY, "withdrawn")
    assert not CommentEdit.objects.exists()


def test_a_blank_comment_does_not_stop_a_scan(corpus, comment):
    CommentFactory(thread__corpus=corpus, text="  ")
    CommentFactory(thread__corpus=corpus, text="")
    assert artefacts.scan_corpus(corpus).comments == 3


def test_a_finding_names_the_other_rules_that_hit_its_place(corpus):
    CommentFactory(thread__corpus=corpus, text="i take the bus getUserProfile")
    artefacts.scan_corpus(corpus)
    rows = found.rows(list(Artefact.objects.order_by("pk")))
    assert len(rows) > 1
    for row in rows:
        assert set(row.also) == {other.name for other in rows} - {row.name}
        assert row.cut == "i take the bus"


def test_a_withdrawn_comment_is_handed_out_by_no_queue_until_it_is_taken_back(
    corpus, admin, labeler, comment, finding
):
    queue = queue_over(corpus)
    assert artefacts.withdraw(by=admin, comments=only(comment)) == 1
    assert state_of(finding) == "withdrawn"
    assert claims.claim_next(by=labeler, queue=queue, now=timezone.now()) is None
    assert artefacts.withdraw(by=admin, comments=only(comment)) == 0
    assert artefacts.restore(by=admin, comments=only(comment)) == 1
    assert state_of(finding) == "open"
    assert claims.claim_next(by=labeler, queue=queue, now=timezone.now()).item.comment == comment
    acts = list(AuditEntry.objects.filter(action__startswith="comments.").values_list("action", flat=True))
    assert acts == ["comments.withdrawn", "comments.restored"]


def test_findings_of_comments_withdrawn_elsewhere_are_closed_by_the_next_scan(corpus, comment, finding):
    only(comment).update(state="withdrawn")
    assert artefacts.scan_corpus(corpus).open == 0
    assert state_of(finding) == "withdrawn"


@pytest.mark.parametrize(("act", "left"), [("clear", "cleared"), ("withdraw", "withdrawn")])
def test_all_of_a_rule_at_once(corpus, admin, act, left):
    made = [CommentFactory(thread__corpus=corpus, text=DIRTY) for _ in range(3)]
    CommentFactory(thread__corpus=corpus, text="as a {occupation} i laugh")
    CommentFactory(text=DIRTY)
    for corpus_ in (corpus, *CorpusFactory._meta.model.objects.exclude(pk=corpus.pk)):
        artefacts.scan_corpus(corpus_)
    with pytest.raises(Conflict):
        artefacts.all_of_rule(by=admin, corpus=corpus, rule="markup", act=act, expected=2)
    assert artefacts.all_of_rule(by=admin, corpus=corpus, rule="markup", act=act, expected=3) == 3
    states = set(Artefact.objects.filter(comment__in=made, rule="markup").values_list("state", flat=True))
    assert states == {left}
    rest = Artefact.objects.exclude(comment__in=made)
    assert set(rest.values_list("state", flat=True)) == {"open"}


def test_only_known_acts_and_rules_are_done_at_once(corpus, admin):
    for rule, act in (("nothing", "clear"), ("markup", "delete")):
        with pytest.raises(Refused):
            artefacts.all_of_rule(by=admin, corpus=corpus, rule=rule, act=act, expected=0)


def test_a_scan_asks_a_fixed_number_of_questions_a_batch(corpus):
    def count(comments):
        for _ in range(comments):
            CommentFactory(thread__corpus=corpus, text=DIRTY)
        with CaptureQueriesContext(
            connection,
        ) as caught:
            artefacts.scan_corpus(corpus)
        return len(caught)

    assert count(2) == count(20)
