"""The pages of maskings: who sees them, what they say, what they start, and the files they give."""

import csv
import io
import json
import re
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.models import Masking, PredictionRun, Report, Verdict
from evaluation.services import masking_reports, reports
from evaluation.services.masking import carry_out, mask_corpus
from evaluation.views import masking as views
from simulation.domain.roles import Role
from simulation.models import Comment
from simulation.selectors import workers
from tests.evaluation.board_scene import counted, results, words
from tests.factories.evaluation import PredictionRunFactory, ScoringFactory
from tests.factories.simulation import CommentFactory, CorpusFactory, MembershipFactory, ThreadFactory

pytestmark = pytest.mark.django_db
MAIL = "someone@example.org"


@pytest.fixture(autouse=True)
def told(monkeypatch):
    """What workers were told of; none is there."""
    said = []
    monkeypatch.setattr(views.mask_texts, "delay_on_commit", lambda *given: said.append(("mask", *given)))
    monkeypatch.setattr(views.make_reports, "delay_on_commit", lambda *given: said.append(("reports",)))
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    return said


@pytest.fixture
def comments(corpus):
    thread = ThreadFactory(corpus=corpus)
    texts = [f"Write to {MAIL}, <b>please</b>.", "Well, so it is.", f"=SUM: ask {MAIL}."]
    return [
        CommentFactory(thread=thread, username=f"Author{place}", text=text)
        for place, text in enumerate(texts)
    ]


@pytest.fixture
def masked(corpus, comments):
    return made(corpus, "by rules")


def made(corpus, name, **options):
    one = mask_corpus(corpus, name=name, **options)
    carry_out(one.pk)
    return Masking.objects.get(pk=one.pk)


def of(one, name="masking", *more):
    return reverse(name, args=[one.public_id, *more])


def compared(corpus, labels, masking=None):
    """Beside “model 0”, right of all, the same model on masked text, right of half of them."""
    plain = PredictionRun.objects.get(name__startswith="model 0")
    run = PredictionRunFactory(
        corpus=corpus,
        name=f"masked {PredictionRun.objects.count()}",
        model="model 0",
        text="anonymised",
        counterpart=plain,
        masking=masking,
    )
    scoring = ScoringFactory(prediction_run=run, label_set=labels)
    verdicts = list(Verdict.objects.filter(scoring__prediction_run=plain))
    for place, one in enumerate(verdicts):
        one.pk, one.scoring, one.scores = None, scoring, [float(place % 2), 0.0, 0.0]
    Verdict.objects.bulk_create(verdicts)
    return run


def test_without_a_masking_the_page_says_what_to_do(client_of, researcher, corpus):
    page = words(client_of(researcher).get(of(corpus, "maskings")))
    assert "Nothing is masked yet" in page
    assert "manage.py import_masking" in page


def test_the_form_starts_a_masking_and_a_worker_carries_it_out(client_of, researcher, corpus, comments, told):
    browser = client_of(researcher)
    form = browser.get(of(corpus, "masking_new")).context["form"]
    sent = {field.html_name: field.value() for field in form}
    assert sent["name"] == "masking 1"
    answer = browser.post(of(corpus, "masking_new"), sent)
    one = Masking.objects.get()
    assert answer["Location"] == of(one)
    assert told == [("mask", one.pk)]
    page = browser.get(of(one))
    assert "Waiting for a worker." in words(page)
    assert 'hx-trigger="every 1500ms"' in page.content.decode()
    carry_out(one.pk)
    last = browser.get(of(one), headers={"HX-Request": "true"})
    assert (last.status_code, last["HX-Refresh"]) == (204, "true")
    again = browser.post(of(corpus, "masking_new"), sent, follow=True)
    assert "nothing to do" in words(again)
    assert Masking.objects.count() == 1


def test_while_it_works_only_its_state_is_asked_for(client_of, researcher, corpus, comments):
    one = mask_corpus(corpus, name="first")
    Masking.objects.filter(pk=one.pk).update(state="running")
    part = client_of(researcher).get(of(one), headers={"HX-Request": "true"}).content.decode()
    assert part.strip().startswith('<div id="state"')
    assert "Masking: 0 texts so far." in part


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": ""}, "This field is required"),
        ({"masker": "magic"}, "Select a valid choice"),
        ({"least": "7"}, "less than or equal to 1"),
        ({"categories": []}, "Choose at least one category"),
        ({"name": "by rules", "style": "category"}, "choose another name"),
    ],
)
def test_what_cannot_be_is_said_beside_the_field(client_of, researcher, corpus, masked, changes, said):
    sent = {"name": "x", "masker": "rules", "style": "stars", "least": "0.4", "categories": ["Age"]}
    answer = client_of(researcher).post(of(corpus, "masking_new"), sent | changes)
    assert answer.status_code == 422
    assert said in words(answer)
    assert Masking.objects.count() == 1


def test_a_masker_that_is_not_installed_is_greyed_out_with_its_line(
    client_of, researcher, corpus, comments, monkeypatch
):
    monkeypatch.setattr("evaluation.services.masking_maskers.find_spec", lambda name: None)
    page = client_of(researcher).get(of(corpus, "masking_new")).content.decode()
    assert re.search(r'value="presidio" disabled', page)
    assert "[presidio]" in page


def test_texts_stand_side_by_side_with_what_was_masked_marked(client_of, researcher, corpus, masked):
    answer = client_of(researcher).get(of(masked))
    html = answer.content.decode()
    assert f'<mark title="Email">{MAIL}</mark>' in html
    assert f"<mark>{'*' * len(MAIL)}</mark>" in html
    assert "&lt;b&gt;please&lt;/b&gt;" in html
    assert "2 of 3 texts" in words(answer)
    assert "being counted" in words(answer)
    reports.make_asked()
    assert "Email 2 places" in words(client_of(researcher).get(of(masked)))


def test_changed_texts_and_authors_can_be_asked_for(client_of, researcher, corpus, masked):
    browser = client_of(researcher)
    assert "so it is" not in words(browser.get(of(masked), {"changed": "1"}))
    page = browser.get(of(masked), {"author": "Author1"})
    assert [one.comment.username for one in page.context["page"].rows] == ["Author1"]
    assert "No text matches." in words(browser.get(of(masked), {"author": "Nobody"}))


def test_a_text_edited_since_says_so(client_of, researcher, corpus, masked, comments):
    Comment.objects.filter(pk=comments[0].pk).update(text="Never mind.")
    page = client_of(researcher).get(of(masked))
    assert "edited since" in words(page)
    assert f'<mark title="Email">{MAIL}</mark>' in page.content.decode()  # that of the other comment
    assert page.content.decode().count("<mark title=") == 1


def test_pages_follow_each_other_without_a_gap(client_of, researcher, corpus, comments, monkeypatch):
    CommentFactory.create_batch(4, thread=comments[0].thread)
    one = made(corpus, "many")
    monkeypatch.setattr("evaluation.selectors.masking.PAGE", 3)
    browser, seen, after = client_of(researcher), [], ""
    while True:
        page = browser.get(of(one), {"after": after}).context["page"]
        seen += [row.comment.pk for row in page.rows]
        if not (after := page.after):
            break
    assert seen == list(Comment.objects.order_by("sequence").values_list("pk", flat=True))
    assert browser.get(of(one), {"after": "unknown"}).context["page"].rows


def test_what_is_new_is_masked_by_a_press(client_of, researcher, corpus, masked, comments, told):
    browser = client_of(researcher)
    assert "nothing to do" in words(browser.post(of(masked, "masking_again"), follow=True))
    CommentFactory(thread=comments[0].thread, text=f"Or {MAIL}?")
    told.clear()
    browser.post(of(masked, "masking_again"))
    assert ("mask", masked.pk) in told
    carry_out(masked.pk)
    assert masked.rows.count() == 4


def test_files_hold_all_texts_and_no_formula(client_of, researcher, corpus, masked):
    browser = client_of(researcher)
    answer = browser.get(of(masked, "masking_texts", "csv"))
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert [row["username"] for row in rows] == ["Author0", "Author1", "Author2"]
    assert rows[2]["original"].startswith("'=SUM")
    assert (rows[0]["changed"], rows[1]["changed"], rows[0]["belongs"]) == ("1", "0", "1")
    assert json.loads(rows[0]["spans"])[0]["category"] == "Email"
    answer = browser.get(of(masked, "masking_texts", "jsonl"), {"changed": "1"})
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).decode().splitlines()]
    assert [line["username"] for line in lines] == ["Author0", "Author2"]
    assert lines[1]["original"].startswith("=SUM")
    assert browser.get(of(masked, "masking_texts", "exe")).status_code == 404


def test_privacy_stands_against_utility(client_of, researcher, corpus, masked):
    labels = results(corpus, models=1, profiles=20)
    run = compared(corpus, labels, masked)
    compared(corpus, labels)
    counted(corpus, labels)
    reports.make_asked()
    browser = client_of(researcher)
    answer = browser.get(of(corpus, "maskings"))
    page = words(answer)
    similarity = masking_reports.load(masked).utility.edit.value
    assert f"{100 * similarity:.1f}" in page
    assert "by rules , model 0" in page
    assert "Masking not recorded, model 0" in page
    first, second = answer.context["asked"]
    assert (first.masking, first.run, second.masking) == (masked, str(run.public_id), None)
    assert (first.all.plain.value, first.all.anonymised.value, first.all.value) == ("100.0", "50.0", "+50.0")
    assert {row.label for row in first.attributes} == {"Age", "Sex"}
    assert all(row.is_few for row in first.attributes)
    table = browser.get(of(corpus, "maskings_table")).content.decode()
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["masking"], row["attribute"], row["difference"]) for row in rows[:3]] == [
        ("by rules", "", "0.5"),
        ("by rules", "age", "1.0"),
        ("by rules", "sex", "0.0"),
    ]
    assert float(rows[0]["edit_similarity"]) == pytest.approx(similarity)


def test_the_figure_is_drawn_light_and_dark_wide_and_narrow(client_of, researcher, corpus, masked):
    labels = results(corpus, models=1)
    compared(corpus, labels, masked)
    counted(corpus, labels)
    reports.make_asked()
    browser, drawn = client_of(researcher), set()
    for theme in ("light", "dark"):
        for width in ("wide", "narrow"):
            answer = browser.get(of(corpus, "masking_figure"), {"theme": theme, "width": width})
            text = " ".join(ElementTree.fromstring(answer.content).itertext())
            assert "model 0" in text
            assert "by rules" in text
            drawn.add(answer.content)
    assert len(drawn) == 4
    assert browser.get(of(corpus, "masking_figure"), {"theme": "blue"}).status_code == 404


def test_without_models_the_figure_says_so(client_of, researcher, corpus, masked):
    answer = client_of(researcher).get(of(corpus, "masking_figure"))
    assert "No run on masked text" in " ".join(ElementTree.fromstring(answer.content).itertext())


def test_a_board_that_is_out_of_date_is_asked_for(client_of, researcher, corpus, masked, told):
    results(corpus, models=1)
    told.clear()
    page = words(client_of(researcher).get(of(corpus, "maskings")))
    assert told == [("reports",)]
    assert Report.objects.filter(kind="board", asked_at__isnull=False).exists()
    assert "Being counted for the first time." in page


def test_the_list_asks_as_many_queries_for_many_maskings_as_for_one(client_of, researcher, corpus, masked):
    labels = results(corpus, models=1)
    compared(corpus, labels, masked)
    counted(corpus, labels)
    reports.make_asked()
    browser = client_of(researcher)

    def queries(address):
        browser.get(address)
        with CaptureQueriesContext(
            connection,
        ) as found:
            assert browser.get(address).status_code == 200
        return len(found)

    before, texts_before = queries(of(corpus, "maskings")), queries(of(masked))
    for number in range(5):
        compared(corpus, labels, made(corpus, f"more {number}"))
    CommentFactory.create_batch(9, thread__corpus=corpus)
    carry_out(mask_corpus(corpus, name="by rules").pk)
    counted(corpus, labels)
    reports.make_asked()
    assert queries(of(corpus, "maskings")) == before
    assert queries(of(masked)) == texts_before


@pytest.mark.parametrize(
    ("role", "reads", "makes"),
    [(Role.RESEARCHER, 200, 200), (Role.ADJUDICATOR, 403, 403), (Role.LABELER, 403, 403)],
)
def test_who_may_read_and_who_may_make(client_of, corpus, masked, role, reads, makes):
    browser = client_of(MembershipFactory(role=role.value, corpus=corpus).person)
    for address in (of(corpus, "maskings"), of(masked), of(masked, "masking_texts", "csv")):
        assert browser.get(address).status_code == reads, address
    assert browser.get(of(corpus, "masking_new")).status_code == makes


def test_of_another_corpus_there_is_nothing_to_see(client_of, corpus, masked):
    browser = client_of(MembershipFactory(role="researcher", corpus=CorpusFactory()).person)
    pages = ("masking", "masking_again")
    for address in (of(corpus, "maskings"), *(of(masked, page) for page in pages)):
        method = browser.post if address.endswith("/again/") else browser.get
        assert method(address).status_code == 404, address
    assert browser.get(of(masked, "masking_texts", "jsonl")).status_code == 404


def test_a_failed_masking_says_why_and_offers_to_go_on(client_of, researcher, corpus, masked):
    Masking.objects.filter(pk=masked.pk).update(state="failed", reason="The engine is gone.")
    page = words(client_of(researcher).get(of(masked)))
    assert "It stopped. The engine is gone." in page
    assert "Go on" in page
