"""What each field of a filter finds, and what it does not."""

import pytest
from django.db import connection
from django.utils import timezone

from annotation.domain.comment_filter import CommentFilter, read
from annotation.models import Annotation, Decision, Item
from annotation.selectors import search
from simulation.models import Comment
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import CommentFactory, CorpusFactory, ThreadFactory, UserFactory

pytestmark = pytest.mark.django_db


def annotated(comment, *, person=None, reviewer="", item=None, **labels):
    """`labels`: attribute -> (state, value, hardness, certainty, outcome)."""
    made = Annotation.objects.create(
        comment=comment, person=person, reviewer=reviewer, item=item, submitted_at=timezone.now()
    )
    for attribute, (state, value, hardness, certainty, outcome) in labels.items():
        made.labels.create(
            attribute=attribute,
            state=state,
            value=value,
            hardness=hardness,
            certainty=certainty,
            outcome=outcome,
            suggestion=comment.suggestions.filter(attribute=attribute).first(),
        )
    return made


@pytest.fixture
def scene(corpus):
    """Seven comments, named by what is special about them; `ids` are public ids by name."""
    names = ("nurse", "rare", "reviewed", "imported", "queued", "bare", "gone")
    texts = {"nurse": "I walked home by the night bus.", "rare": "The zeppelin landed at night, no bus."}
    rows = {
        name: CommentFactory(
            thread__corpus=corpus, external_id=name, username=f"Author-{name}", text=texts.get(name, "Hello.")
        )
        for name in names
    }
    SuggestionFactory(
        comment=rows["nurse"],
        attribute="occupation",
        guesses=["Registered nurse", 'the "boss"', "teacher"],
        hardness=4,
        certainty=5,
    )
    SuggestionFactory(comment=rows["nurse"], attribute="age", guesses=["25-30"], hardness=1, certainty=2)
    SuggestionFactory(
        comment=rows["rare"], attribute="occupation", guesses=["baker"], hardness=1, tagger="gpt-9"
    )
    SuggestionFactory(comment=rows["reviewed"], attribute="age", guesses=["60"], hardness=None, certainty=1)
    lena, max_ = UserFactory(username="lena"), UserFactory(username="max")
    annotated(
        rows["reviewed"],
        person=lena,
        age=("value", "62", 5, 5, "corrected"),
        sex=("none", "", None, None, "none"),
        education=("untouched", "", None, None, "untouched"),
    )
    annotated(
        rows["imported"],
        reviewer="human",
        occupation=("value", "Night nurse", 3, 3, "imported"),
        sex=("unsure", "", None, None, "imported"),
    )
    queue = queue_over(corpus)
    items = {item.comment.external_id: item for item in queue.items.select_related("comment")}
    Item.objects.filter(pk=items["queued"].pk).update(agreement="differs", differing=["age"], flagged=True)
    Item.objects.filter(pk=items["nurse"].pk).update(agreement="settled")
    Decision.objects.create(
        item=items["nurse"], attribute="age", state="value", value="27", reason="slip", by=max_
    )
    annotated(rows["nurse"], person=max_, age=("value", "27", 1, 2, "confirmed"))
    rows["gone"].state = "withdrawn"
    rows["gone"].save()
    ids = {name: row.public_id for name, row in rows.items()}
    threads = {name: row.thread.public_id for name, row in rows.items()}
    return {"ids": ids, "threads": threads, "lena": lena.public_id, "max": max_.public_id}


def found(corpus, params):
    asked, problems = read(params)
    assert problems == []
    both = [list(search.matching(corpus, asked).values_list("external_id", flat=True))]
    both.append(
        list(
            {
                name: None
                for branch in search.branches(corpus, asked)
                for name in branch.values_list("external_id", flat=True)
            }
        )
    )
    assert sorted(both[0]) == sorted(both[1])
    return both[0]


ALL = {"nurse", "rare", "reviewed", "imported", "queued", "bare"}
CASES = [
    ({}, ALL),
    ({"q": "walk"}, {"nurse"}),
    ({"q": "BUS night"}, {"nurse", "rare"}),
    ({"q": '"night bus"'}, {"nurse"}),
    ({"q": "night -zeppelin"}, {"nurse"}),
    ({"q": "zeppelin or walking"}, {"nurse", "rare"}),
    ({"q": "submarine"}, set()),
    ({"q": "the"}, set()),
    ({"q": "') OR 1=1 -- \\ :* & |"}, set()),
    ({"attribute": "occupation"}, {"nurse", "rare", "imported"}),
    ({"attribute": "sex"}, set()),
    ({"value": "NURSE"}, {"nurse", "imported"}),
    ({"value": "nurs"}, {"nurse", "imported"}),
    ({"value": 'the "boss"'}, {"nurse"}),
    ({"value": "30"}, {"nurse"}),
    ({"value": "62"}, {"reviewed"}),
    ({"value": "plumber"}, set()),
    ({"value": '", "'}, set()),
    ({"value": "%"}, set()),
    ({"attribute": "occupation", "value": "nurse"}, {"nurse", "imported"}),
    ({"attribute": "age", "value": "nurse"}, set()),
    ({"hardness_from": "4"}, {"nurse", "reviewed"}),
    ({"hardness_to": "1"}, {"nurse", "rare"}),
    ({"hardness_from": "2", "hardness_to": "3"}, {"imported"}),
    ({"attribute": "age", "hardness_from": "4"}, {"reviewed"}),
    ({"certainty_from": "5"}, {"nurse", "reviewed"}),
    ({"certainty_to": "1"}, {"reviewed"}),
    ({"attribute": "age", "certainty_from": "3", "certainty_to": "4"}, set()),
    ({"value": "nurse", "hardness_from": "1", "hardness_to": "2"}, set()),
    ({"tagger": "gpt-9"}, {"rare"}),
    ({"tagger": "gpt-8"}, set()),
    ({"tagger": "gpt-9", "attribute": "age"}, set()),
    ({"said": "suggested"}, {"nurse", "rare", "reviewed"}),
    ({"said": "suggested", "attribute": "age"}, {"nurse", "reviewed"}),
    ({"said": "unsuggested"}, {"imported", "queued", "bare"}),
    ({"said": "unsuggested", "attribute": "age"}, ALL - {"nurse", "reviewed"}),
    ({"said": "unsuggested", "attribute": "occupation", "value": "nurse"}, {"imported"}),
    ({"said": "reviewed"}, {"nurse", "reviewed"}),
    ({"said": "reviewed", "attribute": "occupation"}, {"nurse"}),
    ({"said": "unreviewed"}, ALL - {"nurse", "reviewed"}),
    ({"said": "unreviewed", "value": "baker"}, {"rare"}),
    ({"said": "flagged"}, {"queued"}),
    ({"said": "flagged", "author": "Author-nurse"}, set()),
    ({"said": "differs"}, {"queued"}),
    ({"said": "differs", "attribute": "age"}, {"queued"}),
    ({"said": "differs", "attribute": "sex"}, set()),
    ({"said": "settled"}, {"nurse"}),
    ({"said": "settled", "attribute": "age"}, {"nurse"}),
    ({"said": "settled", "attribute": "occupation"}, set()),
    ({"said": "confirmed"}, {"nurse"}),
    ({"said": "corrected"}, {"reviewed"}),
    ({"said": "corrected", "attribute": "sex"}, set()),
    ({"said": "corrected", "value": "62", "tagger": "imported"}, {"reviewed"}),
    ({"said": "corrected", "tagger": "gpt-9"}, set()),
    ({"said": "rejected"}, set()),
    ({"said": "added"}, set()),
    ({"said": "none"}, {"reviewed"}),
    ({"said": "unsure"}, {"imported"}),
    ({"author": "Author-rare"}, {"rare"}),
    ({"author": "author-rare"}, set()),
    ({"state": "withdrawn"}, {"gone"}),
    ({"state": "both"}, {*ALL, "gone"}),
    ({"state": "withdrawn", "q": "zeppelin"}, set()),
    ({"q": "night", "attribute": "occupation", "hardness_to": "1"}, {"rare"}),
]


def test_each_field_finds_what_it_says_and_nothing_else(corpus, scene):
    for params, names in CASES:
        assert sorted(found(corpus, params)) == sorted(names), params


def test_a_person_finds_what_they_reviewed_and_their_labels(corpus, scene):
    lena, max_ = scene["lena"], scene["max"]
    assert found(corpus, {"person": lena}) == ["reviewed"]
    assert found(corpus, {"person": "nobody234567"}) == []
    assert found(corpus, {"person": lena, "said": "corrected"}) == ["reviewed"]
    assert found(corpus, {"person": max_, "said": "corrected"}) == []
    assert found(corpus, {"person": max_, "value": "27"}) == ["nurse"]
    assert found(corpus, {"person": max_, "value": "nurse"}) == []
    assert found(corpus, {"person": lena, "said": "suggested"}) == ["reviewed"]
    assert sorted(found(corpus, {"person": lena, "said": "unreviewed"})) == sorted(ALL - {"reviewed"})


def test_a_thread_finds_its_comments(corpus, scene):
    assert found(corpus, {"thread": scene["threads"]["rare"]}) == ["rare"]
    assert found(corpus, {"thread": "nosuchthread"}) == []


def test_other_corpora_are_not_searched(corpus, scene):
    elsewhere = CorpusFactory()
    other = CommentFactory(thread__corpus=elsewhere, text="zeppelin")
    SuggestionFactory(comment=other, attribute="occupation", guesses=["nurse"])
    assert found(corpus, {"q": "zeppelin"}) == ["rare"]
    assert sorted(found(corpus, {"value": "nurse"})) == ["imported", "nurse"]
    assert found(elsewhere, {"thread": scene["threads"]["rare"]}) == []


def test_items_of_a_queue_in_the_trash_do_not_count(corpus, scene):
    corpus.queues.update(trashed_at=timezone.now())
    assert found(corpus, {"said": "flagged"}) == []
    assert found(corpus, {"said": "differs"}) == []


def test_a_comment_is_found_once_however_much_was_said_of_it(corpus):
    comment = CommentFactory(thread__corpus=corpus)
    for number in range(3):
        SuggestionFactory(comment=comment, tagger=f"t{number}")
        annotated(comment, person=UserFactory(), age=("value", "30", 2, 2, "confirmed"))
    asked = CommentFilter(attribute="age", value="30")
    assert search.matching(corpus, asked).count() == 1
    assert len(list(search.matching(corpus, asked).iterator())) == 1
    assert list(search.matching(corpus, asked).order_by("sequence", "id")) == [comment]


def explained(comments, index):
    """Whether the planner can answer `comments` by `index`, when it must not read a table from end to end."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    return index in comments.explain()


@pytest.mark.database
def test_full_text_is_answered_by_its_index(corpus):
    thread = ThreadFactory(corpus=corpus)
    Comment.objects.bulk_create(
        Comment(corpus=corpus, thread=thread, external_id=f"c{n}", username="A", text=f"word{n}", sequence=n)
        for n in range(300)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE simulation_comment")
    assert explained(search.matching(corpus, CommentFilter(text="word7")), "comment_words")
    assert explained(search.matching(corpus, CommentFilter(text='"word7 word8" -night')), "comment_words")


@pytest.mark.database
def test_pages_are_answered_in_the_order_of_an_index(corpus):
    CommentFactory(thread__corpus=corpus)
    in_order = search.matching(corpus, CommentFilter()).filter(sequence__gte=10).order_by("sequence", "pk")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_sort = off")
    assert explained(in_order[:51], "comment_in_order")
