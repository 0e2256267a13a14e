"""Settling questions in a browser: one after the other, undo, second opinions, disputes, the log."""

import csv
import io
import re

import pytest
from django.urls import reverse

from evaluation.models import OpenGuess, Opinion, Question, Scoring
from evaluation.services import questions, scoring
from evaluation.views import settling
from simulation.domain.roles import Role
from tests.evaluation.test_scoring_service import labelled
from tests.factories.evaluation import LabelSetFactory, PredictionRunFactory, QuestionFactory
from tests.factories.simulation import MembershipFactory, RunFactory

pytestmark = pytest.mark.django_db
SECRET = "glassblower"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def asked(corpus):
    """Three questions, the biggest last."""
    return [
        QuestionFactory(corpus=corpus, truth=SECRET, guess=f"glass worker {number}", waiting=number + 1)
        for number in range(3)
    ]


@pytest.fixture
def colleague(db):
    return MembershipFactory(person__username="remy", role=Role.RESEARCHER.value).person


def address(corpus):
    return reverse("settle", args=[corpus.public_id])


def press(browser, question, do, **sent):
    return browser.post(
        reverse("question_answer", args=[question.public_id]), {"do": do, "back": "settle", **sent}
    )


def at_hand(browser, corpus, **asked):
    shown = browser.get(address(corpus), asked).context["shown"]
    return shown.question if shown else None


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def test_the_question_that_most_waits_for_comes_first(client_of, researcher, corpus, asked):
    page = client_of(researcher).get(address(corpus))
    assert page.context["shown"].question == asked[2]
    assert SECRET in words(page)
    assert asked[2].reason in words(page)


def test_an_answer_brings_the_next(client_of, researcher, corpus, asked):
    browser = client_of(researcher)
    answer = press(browser, asked[2], "half")
    assert answer.headers["Location"].startswith(address(corpus))
    asked[2].refresh_from_db()
    assert (asked[2].score, asked[2].rung) == (0.5, "person")
    assert at_hand(browser, corpus) == asked[1]


def test_with_htmx_the_next_comes_at_once(client_of, researcher, corpus, asked):
    browser = client_of(researcher)
    answer = browser.post(
        reverse("question_answer", args=[asked[2].public_id]), {"do": "right", "back": "settle"}, headers=HTMX
    )
    assert answer.status_code == 200
    assert answer.context["shown"].question == asked[1]
    assert b"<html" not in answer.content
    assert b'id="work"' in answer.content


@pytest.mark.parametrize(("do", "score"), [("right", 1), ("half", 0.5), ("wrong", 0)])
def test_every_answer_has_its_score(client_of, researcher, asked, do, score):
    press(client_of(researcher), asked[0], do)
    assert Question.objects.get(pk=asked[0].pk).score == score


def test_what_is_skipped_comes_back_at_the_end(client_of, researcher, corpus, asked):
    browser = client_of(researcher)
    press(browser, asked[2], "skip")
    press(browser, asked[1], "skip")
    assert at_hand(browser, corpus) == asked[0]
    press(browser, asked[0], "right")
    assert at_hand(browser, corpus) == asked[2]
    press(browser, asked[2], "skip")
    assert at_hand(browser, corpus) == asked[1]
    assert Opinion.objects.count() == 1


def test_the_last_answer_can_be_taken_back(client_of, researcher, corpus, asked):
    browser = client_of(researcher)
    press(browser, asked[2], "wrong")
    press(browser, asked[1], "right")
    page = browser.get(address(corpus))
    assert page.context["last"]["question"] == asked[1]
    answer = press(browser, asked[1], "undo")
    assert browser.get(answer.headers["Location"]).context["shown"].question == asked[1]
    assert browser.get(address(corpus)).context["last"]["question"] == asked[2]
    assert Question.objects.get(pk=asked[1].pk).state == "open"


def test_a_double_press_is_one_answer(client_of, researcher, asked):
    browser = client_of(researcher)
    for _ in range(2):
        press(browser, asked[0], "right")
    assert Opinion.objects.count() == 1


def test_the_judge_is_heard_after_the_answer(client_of, researcher, corpus, asked):
    questions.judged(RunFactory(corpus=corpus), None, [(asked[2].pk, None)])
    other = RunFactory(corpus=corpus)
    questions.judged(other, None, [(asked[2].pk, 0.5)])
    browser = client_of(researcher)
    page = browser.get(address(corpus), {"view": "judged"})
    assert page.context["shown"].question == asked[2]
    assert not re.search(r"The judge \(", words(page))
    answer = press(browser, asked[2], "right", view="judged")
    assert re.search(r"The judge \(\w+\) says less precise", words(browser.get(answer.headers["Location"])))


def test_who_looks_at_the_judge_first_says_so(client_of, researcher, corpus, asked):
    questions.judged(RunFactory(corpus=corpus), None, [(asked[0].pk, 1.0)])
    browser = client_of(researcher)
    page = browser.get(address(corpus), {"question": asked[0].public_id, "look": "judge"})
    assert re.search(r"The judge \(\w+\) says right", words(page))
    assert b'name="saw" value="judge"' in page.content
    press(browser, asked[0], "right", saw="judge")
    assert Opinion.objects.get(source="person").note == "saw the judge’s answer first"


def test_a_second_opinion_does_not_show_the_first(client_of, researcher, colleague, corpus, asked):
    first, second = client_of(researcher), client_of(colleague)
    answer = press(first, asked[2], "second")
    assert first.get(answer.headers["Location"]).context["shown"].question == asked[2]
    press(first, asked[2], "wrong")
    assert at_hand(first, corpus, view="second") is None
    page = second.get(address(corpus), {"view": "second"})
    assert page.context["shown"].question == asked[2]
    assert not page.context["shown"].others
    for name, key in (("question", asked[2].public_id), ("settled", corpus.public_id)):
        hidden = second.get(reverse(name, args=[key]))
        assert "hidden until" in words(hidden)
    table = second.get(reverse("settled", args=[corpus.public_id]), {"format": "csv"})
    (row,) = csv.DictReader(io.StringIO(b"".join(table.streaming_content).decode()))
    assert (row["score"], row["says"]) == ("", "")
    press(second, asked[2], "wrong")
    assert Question.objects.get(pk=asked[2].pk).score == 0
    assert "hidden until" not in words(second.get(reverse("question", args=[asked[2].public_id])))


def test_neither_a_note_nor_what_stands_tells_the_hidden_opinion(
    client_of, researcher, colleague, corpus, asked
):
    one = asked[0]
    questions.recorded(corpus, "a file", [(one.pk, 0.5)])
    questions.want(one, 2, by=researcher)
    questions.say(one, by=researcher, score=0, note="surely wrong")
    first, second = client_of(researcher), client_of(colleague)
    log = reverse("settled", args=[corpus.public_id])

    def rows(browser):
        table = browser.get(log, {"format": "csv"})
        return list(csv.DictReader(io.StringIO(b"".join(table.streaming_content).decode())))

    def told(row):
        return row["source"], row["note"], row["standing_score"], row["standing_rung"]

    assert [told(row) for row in rows(second)] == [("person", "", "", ""), ("recorded", "a file", "", "")]
    assert told(rows(first)[0]) == ("person", "surely wrong", "0.5", "recorded")
    for where in (reverse("question", args=[one.public_id]), log):
        assert "surely wrong" not in words(second.get(where))
        assert "surely wrong" in words(first.get(where))
    press(second, one, "wrong")
    assert told(rows(second)[1]) == ("person", "surely wrong", "0.0", "person")
    assert "surely wrong" in words(second.get(log))


def test_those_who_differ_are_settled_by_who_sees_both(
    client_of, researcher, colleague, admin, corpus, asked
):
    questions.want(asked[0], 2, by=researcher)
    press(client_of(researcher), asked[0], "wrong")
    press(client_of(colleague), asked[0], "right")
    browser = client_of(admin)
    page = browser.get(address(corpus), {"view": "disputed"})
    assert page.context["shown"].others == [("A", "wrong"), ("B", "right")]
    assert "rosa" not in words(page)
    assert "remy" not in words(page)
    press(browser, asked[0], "right", view="disputed", saw="others")
    found = Question.objects.get(pk=asked[0].pk)
    assert (found.state, found.score) == ("settled", 1)
    assert Opinion.objects.get(person=admin).resolves


def test_attributes_narrow_what_is_asked(client_of, researcher, corpus, asked):
    sex = QuestionFactory(corpus=corpus, attribute="sex", truth="male", guess="a man", waiting=0)
    browser = client_of(researcher)
    assert at_hand(browser, corpus, attribute="sex") == sex
    answer = press(browser, sex, "right", attribute="sex")
    assert "attribute=sex" in answer.headers["Location"]
    assert at_hand(browser, corpus, attribute="sex") is None


def test_what_is_pressed_reaches_the_verdicts(client_of, researcher, corpus):
    labels, run = LabelSetFactory(corpus=corpus), PredictionRunFactory(corpus=corpus)
    labelled(labels, run, "occupation", SECRET, ["kite maker"])
    made = scoring.score(run, labels, Scoring.DEFAULT)
    press(client_of(researcher), OpenGuess.objects.get().question, "half")
    assert made.rows.get().scores == [0.5]


def test_whoever_had_to_sign_in_is_told_that_the_answer_is_lost(client_of, researcher, asked):
    answer = client_of(researcher).get(reverse("question_answer", args=[asked[0].public_id]), follow=True)
    assert settling.SIGNED_OUT in words(answer)
    assert not Opinion.objects.exists()


def test_a_press_that_says_nothing_changes_nothing(client_of, researcher, asked):
    answer = client_of(researcher).post(
        reverse("question_answer", args=[asked[0].public_id]), {}, follow=True
    )
    assert settling.NO_ACT in words(answer)
    assert not Opinion.objects.exists()


def test_where_nothing_is_asked_the_page_says_what_to_do(client_of, researcher, corpus):
    page = client_of(researcher).get(address(corpus))
    assert "Score predictions" in words(page)


def test_a_page_of_questions_takes_as_many_queries_however_many_there_are(
    client_of, researcher, corpus, asked, django_assert_num_queries
):
    browser = client_of(researcher)
    browser.get(address(corpus))
    with django_assert_num_queries(10):
        browser.get(address(corpus))
    for number in range(20):
        QuestionFactory(corpus=corpus, guess=f"lamp lighter {number}")
    with django_assert_num_queries(10):
        browser.get(address(corpus))


# The log and one question


def test_the_log_is_newest_first_and_narrowed(client_of, researcher, colleague, corpus, asked):
    press(client_of(colleague), asked[0], "wrong")
    press(client_of(researcher), asked[1], "right")
    questions.recorded(corpus, "a file", [(asked[2].pk, 1)])
    browser = client_of(researcher)
    where = reverse("settled", args=[corpus.public_id])
    assert [one.what for one in browser.get(where).context["log"].rows] == ["right", "right", "wrong"]
    assert [one.who for one in browser.get(where).context["log"].rows] == ["file, a file", "rosa", "remy"]
    mine = browser.get(where, {"person": researcher.public_id})
    assert [one.opinion.question for one in mine.context["log"].rows] == [asked[1]]
    files = browser.get(where, {"source": "recorded", "attribute": "occupation"})
    assert len(files.context["log"].rows) == 1
    assert not browser.get(where, {"attribute": "sex"}).context["log"].rows


def test_the_log_is_paged(client_of, researcher, corpus, asked, monkeypatch):
    monkeypatch.setattr(settling.questions, "LISTED", 2)
    browser = client_of(researcher)
    for one in asked:
        press(browser, one, "right")
    where = reverse("settled", args=[corpus.public_id])
    first = browser.get(where).context["log"]
    second = browser.get(where, {"after": first.after}).context["log"]
    assert [one.opinion.question for one in (*first.rows, *second.rows)] == asked[::-1]
    assert second.after == 0


def test_the_log_takes_as_many_queries_however_long_it_is(
    client_of, researcher, corpus, asked, django_assert_num_queries
):
    browser = client_of(researcher)
    press(browser, asked[0], "right")
    where = reverse("settled", args=[corpus.public_id])
    browser.get(where)
    with django_assert_num_queries(11):
        browser.get(where)
    for one in asked[1:]:
        press(browser, one, "right")
    with django_assert_num_queries(11):
        browser.get(where)


def test_agreement_counts_who_answered_on_their_own(client_of, researcher, colleague, corpus):
    browsers = client_of(researcher), client_of(colleague)
    where = reverse("settled", args=[corpus.public_id])
    assert "no question was answered by two people" in words(browsers[0].get(where))
    pairs = [("right", "right"), ("wrong", "wrong"), ("half", "wrong"), ("right", "right")]
    for number, pair in enumerate(pairs):
        one = QuestionFactory(corpus=corpus, guess=f"glass {number}")
        for browser, do in zip(browsers, pair, strict=True):
            press(browser, one, do)
    biased = QuestionFactory(corpus=corpus, guess="glass eater")
    press(browsers[0], biased, "right")
    press(browsers[1], biased, "wrong", saw="judge")
    found = browsers[0].get(where).context["agreement"]
    assert (found.questions, found.people, found.percent.value) == (4, 2, 0.75)
    assert found.kappa.value == pytest.approx(0.6)
    assert found.percent.low < 0.75 < found.percent.high


def test_a_question_says_everything_of_itself(client_of, researcher, colleague, corpus):
    labels, run = LabelSetFactory(corpus=corpus), PredictionRunFactory(corpus=corpus, name="the run")
    labelled(labels, run, "occupation", SECRET, ["kite maker"])
    scoring.score(run, labels, Scoring.DEFAULT)
    one = OpenGuess.objects.get().question
    browser = client_of(researcher)
    press(client_of(colleague), one, "right")
    where = reverse("question", args=[one.public_id])
    said = words(browser.get(where))
    assert all(part in said for part in ("remy", "the run", SECRET, "kite maker", "guess 1"))
    browser.post(
        reverse("question_answer", args=[one.public_id]),
        {"do": "wrong", "back": "question", "saw": "others", "note": "no glass in it"},
    )
    mine = Opinion.objects.get(person=researcher)
    assert (mine.note, mine.resolves) == ("saw what others had said; no glass in it", False)
    assert Question.objects.get(pk=one.pk).state == "disputed"
    browser.post(
        reverse("question_answer", args=[one.public_id]), {"do": "half", "back": "question", "saw": "others"}
    )
    assert Question.objects.get(pk=one.pk).score == 0.5


def test_the_file_guards_cells_and_has_every_answer(client_of, researcher, corpus):
    one = QuestionFactory(corpus=corpus, truth="=1+1", guess="two")
    browser = client_of(researcher)
    press(browser, one, "wrong")
    table = browser.get(reverse("settled", args=[corpus.public_id]), {"format": "csv"})
    (row,) = csv.DictReader(io.StringIO(b"".join(table.streaming_content).decode()))
    assert (row["truth"], row["score"], row["who"], row["standing_rung"]) == (
        "'=1+1",
        "0.0",
        "rosa",
        "person",
    )


# Who may


def test_others_do_not_get_in(client_of, labeler, adjudicator, stranger, corpus, asked):
    for person in (labeler, adjudicator, stranger):
        browser = client_of(person)
        assert browser.get(address(corpus)).status_code == 403
        assert browser.get(reverse("settled", args=[corpus.public_id])).status_code == 403
        assert browser.get(reverse("question", args=[asked[0].public_id])).status_code == 403
        assert press(browser, asked[0], "right").status_code == 403
    assert not Opinion.objects.exists()


def test_a_researcher_of_another_corpus_finds_nothing(client_of, corpus, asked):
    other = MembershipFactory(corpus=QuestionFactory().corpus, role=Role.RESEARCHER.value).person
    browser = client_of(other)
    assert browser.get(address(corpus)).status_code == 404
    assert browser.get(reverse("question", args=[asked[0].public_id])).status_code == 404
    assert press(browser, asked[0], "right").status_code == 404
    assert not Opinion.objects.exists()
