"""A corpus is masked in batches, once, whoever is at it; and what was masked is counted and compared."""

import threading

import pytest
from django.db import connection, transaction

from evaluation.domain.masking import Category, Span
from evaluation.domain.masking_presidio import MaskerMissing
from evaluation.models import MaskedText, Masking, Report
from evaluation.selectors import masking as selected
from evaluation.selectors.masking import Narrowed
from evaluation.services import masking, masking_maskers, masking_reports, reports
from evaluation.services.masking import BadMasking, carry_out, mask_corpus
from evaluation.services.masking_maskers import Kind
from evaluation.tasks import mask_texts, sweep_maskings
from simulation.models import AuditEntry, Comment
from synthpai_web.supervisor import Stopped
from tests.factories.simulation import CommentFactory, CorpusFactory, ProfileFactory, ThreadFactory
from tests.running import committing

pytestmark = pytest.mark.django_db
SECRET = "Quizzlebury"


class OneWord:
    """Masks one word, and counts how often it is asked."""

    name, version = "one word", "7"

    def __init__(self, word=SECRET, trouble=None):
        self.word, self.trouble, self.asked = word, trouble, []

    def spans(self, text):
        self.asked.append(text)
        if self.trouble and len(self.asked) > 3:
            raise self.trouble
        at = text.find(self.word)
        return [Span(at, at + len(self.word), Category.LOCATION, 0.9)] if at >= 0 else []


@pytest.fixture
def masker(monkeypatch):
    one = OneWord()
    kind = Kind("one", "One word", "For tests.", lambda: one.version, lambda language: one)
    registry = {**masking_maskers.REGISTRY, "one": kind}
    monkeypatch.setattr(masking_maskers, "REGISTRY", registry)
    monkeypatch.setattr(masking, "REGISTRY", registry)
    return one


@pytest.fixture
def comments(corpus):
    """Seven comments in one thread; every other one names a place; one is withdrawn."""
    thread, author = ThreadFactory(corpus=corpus), ProfileFactory(corpus=corpus, username="Ann")
    texts = [f"Number {n} from {SECRET}." if n % 2 else f"Nothing here, {n}." for n in range(7)]
    made = [CommentFactory(thread=thread, profile=author, text=text) for text in texts]
    CommentFactory(thread=thread, text=f"Gone from {SECRET}.", state="withdrawn")
    return made


def masked(corpus, **options):
    one = mask_corpus(corpus, **{"name": "first", "masker": "one"} | options)
    carry_out(one.pk)
    one.refresh_from_db()
    return one


def texts(one):
    return list(one.rows.order_by("comment__sequence").values_list("text", flat=True))


def test_active_comments_are_masked_in_their_order_and_counted(corpus, comments, masker, researcher):
    one = mask_corpus(corpus, name=" first ", masker="one", by=researcher)
    assert (one.state, one.name, one.masker, one.created_by) == ("waiting", "first", "one 7", researcher)
    mask_texts(one.pk)
    one.refresh_from_db()
    assert (one.state, one.texts, one.changed) == ("done", 7, 3)
    assert one.characters == sum(len(comment.text) for comment in comments)
    assert one.masked_characters == 3 * len(SECRET)
    assert texts(one)[:2] == ["Nothing here, 0.", f"Number 1 from {'*' * len(SECRET)}."]
    assert masker.asked == [comment.text for comment in comments]
    row = one.rows.get(comment=comments[1])
    assert row.spans == [{"start": 14, "end": 25, "category": "Location", "confidence": 0.9}]
    assert row.original == masking.digest_of(comments[1].text)
    assert AuditEntry.objects.filter(action="masking.planned").count() == 1


def test_the_database_reckons_the_digest_as_python_does(corpus, masker):
    CommentFactory(thread__corpus=corpus, text=f"Grüße aus {SECRET} 🙂\nund noch eine Zeile ∑")
    one = masked(corpus)
    assert selected.current(one).count() == one.texts == 1
    assert one.characters == len(Comment.objects.get().text)


def test_the_style_of_categories_names_them(corpus, comments, masker):
    one = masked(corpus, style=Masking.CATEGORY)
    assert texts(one)[1] == "Number 1 from <LOCATION>."
    pair = selected.texts(one, Narrowed(changed=True)).rows[0]
    assert [(piece.text, piece.category) for piece in pair.before] == [
        ("Number 1 from ", ""),
        (SECRET, "Location"),
        (".", ""),
    ]
    assert [(piece.text, piece.category) for piece in pair.after] == [
        ("Number 1 from ", ""),
        ("<LOCATION>", "Location"),
        (".", ""),
    ]


def test_options_reach_the_masker(corpus, comments, masker):
    assert masked(corpus, options={"least": 0.95}).changed == 0
    assert masked(corpus, name="no places", options={"categories": ["Age", "Person"]}).changed == 0
    assert Masking.objects.get(name="no places").options == {"least": 0.4, "categories": ["Person", "Age"]}


def test_the_same_once_more_is_nothing_to_do(corpus, comments, masker):
    one = masked(corpus)
    again = mask_corpus(corpus, name="first", masker="one")
    assert (again.pk, again.state) == (one.pk, "done")
    carry_out(again.pk)
    assert len(masker.asked) == 7
    assert AuditEntry.objects.count() == 1


def test_what_was_added_or_edited_since_is_masked_and_nothing_else(corpus, comments, masker):
    one = masked(corpus)
    Comment.objects.filter(pk=comments[0].pk).update(text=f"Now in {SECRET}.")
    CommentFactory(thread=comments[0].thread, text=f"New in {SECRET}.")
    assert selected.current(one).count() == 6
    assert selected.edited(one) == 1
    pair = selected.texts(one, Narrowed()).rows[0]
    assert (pair.is_edited, [piece.category for piece in pair.before]) == (True, [""])
    again = masked(corpus)
    assert (again.pk, again.state, again.texts, again.changed) == (one.pk, "done", 8, 5)
    assert masker.asked[7:] == [f"Now in {SECRET}.", f"New in {SECRET}."]


@pytest.mark.parametrize("told", [{"style": "category"}, {"options": {"least": 0.5}}, {"masker": "rules"}])
def test_another_masking_of_the_same_name_is_refused(corpus, comments, masker, told):
    masked(corpus)
    with pytest.raises(BadMasking, match="another name") as raised:
        mask_corpus(corpus, **{"name": "first", "masker": "one"} | told)
    assert raised.value.field == "name"
    assert Masking.objects.count() == 1


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"masker": "magic"}, "masker"),
        ({"style": "rewritten"}, "style"),
        ({"options": {"least": 1.5}}, "least"),
        ({"options": {"least": "much"}}, "least"),
        ({"options": {"categories": []}}, "categories"),
        ({"options": {"categories": ["Shoe"]}}, "categories"),
        ({"options": {"colour": 1}}, ""),
    ],
)
def test_what_cannot_be_masked_so_is_refused_by_its_field(corpus, comments, told, field):
    with pytest.raises(BadMasking) as raised:
        mask_corpus(corpus, **{"name": "first"} | told)
    assert raised.value.field == field
    assert not Masking.objects.exists()


def test_a_masker_that_is_not_installed_is_named_with_the_way_to_install_it(corpus, comments, monkeypatch):
    monkeypatch.setattr(masking_maskers, "find_spec", lambda name: None)
    with pytest.raises(BadMasking, match=r"pip install '\.\[presidio\]'"):
        mask_corpus(corpus, name="first", masker="presidio")


def test_without_comments_it_says_what_to_do_first():
    with pytest.raises(BadMasking, match="import or simulate comments first"):
        mask_corpus(CorpusFactory(), name="first")


def test_a_worker_killed_in_between_loses_one_batch_and_the_next_goes_on(
    corpus, comments, masker, monkeypatch
):
    monkeypatch.setattr(masking, "BATCH", 2)
    masker.trouble = SystemExit()
    one = mask_corpus(corpus, name="first", masker="one")
    with pytest.raises(SystemExit):
        carry_out(one.pk)
    one.refresh_from_db()
    assert (one.state, one.rows.count()) == ("running", 2)
    masker.trouble = None
    sent = []
    monkeypatch.setattr(mask_texts, "delay", sent.append)
    sweep_maskings()
    assert sent == [one.pk]
    mask_texts(one.pk)
    one.refresh_from_db()
    assert (one.state, one.texts) == ("done", 7)
    assert masker.asked[4:] == [comment.text for comment in comments[2:]]
    sweep_maskings()
    assert sent == [one.pk]


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (ValueError("none of our categories"), "none of our categories"),
        (RuntimeError("x"), "an error of ours"),
    ],
)
def test_a_failure_is_said_in_words_and_can_be_tried_again(corpus, comments, masker, trouble, said):
    masker.trouble = trouble
    one = masked(corpus)
    assert one.state == "failed"
    assert said in one.reason
    masker.trouble = None
    assert masked(corpus).state == "done"


def test_a_masker_that_has_changed_meanwhile_does_not_go_on(corpus, comments, masker):
    one = mask_corpus(corpus, name="first", masker="one")
    masker.version = "8"
    carry_out(one.pk)
    one.refresh_from_db()
    assert (one.state, one.rows.count()) == ("failed", 0)
    assert "planned with one 7, and here is one 8" in one.reason


def test_an_engine_that_is_gone_is_a_failure_with_words(corpus, comments, masker, monkeypatch):
    def gone(language):
        raise MaskerMissing("presidio-analyzer is not installed: pip install it")

    one = mask_corpus(corpus, name="first", masker="one")
    kind = Kind("one", "One", "", lambda: "7", gone)
    monkeypatch.setattr(masking_maskers, "REGISTRY", {"one": kind})
    carry_out(one.pk)
    one.refresh_from_db()
    assert (one.state, "pip install it" in one.reason) == ("failed", True)


def test_who_stops_the_program_stops_it_and_the_masking_goes_on_later(corpus, comments, masker):
    one = mask_corpus(corpus, name="first", masker="one")
    masker.trouble = Stopped()
    with pytest.raises(Stopped):
        carry_out(one.pk)
    one.refresh_from_db()
    assert one.state != Masking.FAILED
    masker.trouble = None
    carry_out(one.pk)
    one.refresh_from_db()
    assert one.state == Masking.DONE


@committing
def test_two_workers_never_mask_the_same_texts(corpus, comments, masker):
    """The second comes while the first has its row: it leaves at once, and has masked nothing."""
    one = mask_corpus(corpus, name="first", masker="one")
    asked_before = []

    def second():
        try:
            carry_out(one.pk)
            asked_before.append(len(masker.asked))
        finally:
            connection.close()

    with transaction.atomic():
        Masking.objects.select_for_update().get(pk=one.pk)
        other = threading.Thread(target=second)
        other.start()
        other.join(timeout=15)
        assert not other.is_alive()
    assert asked_before == [0]
    assert not MaskedText.objects.exists()
    carry_out(one.pk)
    assert MaskedText.objects.count() == 7


@committing
def test_two_workers_at_once_mask_each_text_once(corpus, comments, masker, monkeypatch):
    monkeypatch.setattr(masking, "BATCH", 1)
    one = mask_corpus(corpus, name="first", masker="one")
    together = threading.Barrier(2)

    def work():
        try:
            together.wait(timeout=60)
            carry_out(one.pk)
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
    carry_out(one.pk)
    assert Masking.objects.get().state == "done"
    assert sorted(masker.asked) == sorted(comment.text for comment in comments)


def test_the_report_says_categories_and_likeness(corpus, comments, masker):
    one = masked(corpus)
    assert Report.objects.get().asked_at is not None
    assert masking_reports.load(one) is None
    assert reports.make_asked() == 1
    found = masking_reports.load(one)
    assert [(row.category, row.spans, row.characters) for row in found.categories] == [("Location", 3, 33)]
    assert (found.utility.pairs, found.utility.changed) == (7, 3)
    wanted = 1 - one.masked_characters / one.characters
    assert found.utility.kept_characters == pytest.approx(wanted)
    assert masking_reports.load_all(corpus) == {str(one.public_id): found}


def test_of_many_texts_a_sample_is_compared_the_same_each_time(corpus, comments, masker, monkeypatch):
    one = masked(corpus)
    keys = selected.sample(one, 3, seed="s")
    assert len(keys) == 3
    assert keys == selected.sample(one, 3, seed="s")
    assert any(keys != selected.sample(one, 3, seed=str(n)) for n in range(9))
    monkeypatch.setattr(masking_reports, "MOST", 3)
    assert masking_reports.count(one).utility.pairs == 3
    assert masking_reports.count(one).texts == 7


def test_rules_mask_what_a_text_says_by_its_form(corpus):
    CommentFactory(thread__corpus=corpus, text="Write to someone@example.org, or call.")
    one = masked(corpus, masker="rules")
    assert one.masker.startswith("rules ")
    assert "someone@example.org" not in one.rows.get().text
