"""Ordering scorings, looking at verdicts, comparing the rules; the command; baselines."""

import csv
import io
import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation import tasks
from evaluation.models import Prediction, PredictionRun, Question, Scoring, Verdict
from evaluation.selectors import verdicts
from evaluation.services import baselines, questions, scoring
from evaluation.services.baselines import BadBaseline
from evaluation.services.scoring import Recorded
from simulation.domain.roles import Role
from simulation.selectors import workers
from tests.evaluation.test_scoring_service import labelled
from tests.factories.annotation import SuggestionFactory
from tests.factories.evaluation import (
    LabelSetFactory,
    PredictionFactory,
    PredictionRunFactory,
    ProfileLabelFactory,
)
from tests.factories.simulation import CommentFactory, CorpusFactory, MembershipFactory, ProfileFactory

pytestmark = pytest.mark.django_db
SECRET = "glassblower"


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    """What is ordered is done at once; the test is the worker."""
    orders = []

    def order(*given, **named):
        orders.append((given, named))
        tasks.score_runs(*given, **named)

    monkeypatch.setattr(tasks.score_runs, "delay_on_commit", order)
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    return orders


@pytest.fixture
def labels(corpus):
    return LabelSetFactory(corpus=corpus, name="truth")


@pytest.fixture
def run(corpus):
    return PredictionRunFactory(corpus=corpus, name="guesses of one")


@pytest.fixture
def rows(labels, run):
    """An occupation that is open, an age that is right, a sex that was refused."""
    return (
        labelled(labels, run, "occupation", SECRET, ["kite maker", SECRET]),
        labelled(labels, run, "age", "30", ["31", "60"], hardness=3),
        labelled(labels, run, "sex", "female", [], outcome=Prediction.REFUSED, detail="I cannot"),
    )


@pytest.fixture
def made(labels, run, rows):
    return scoring.score(run, labels, Scoring.DEFAULT)


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def order(browser, corpus, **fields):
    return browser.post(reverse("scoring_new", args=[corpus.public_id]), fields)


def test_runs_are_scored_by_the_rules_that_are_chosen(client_of, researcher, corpus, labels, run, rows):
    browser = client_of(researcher)
    answer = order(
        browser,
        corpus,
        labels=labels.public_id,
        runs=[run.public_id],
        modes=["default", "compatible"],
    )
    assert answer.status_code == 302
    page = browser.get(answer.headers["Location"])
    assert "2 scorings are on the way" in words(page)
    assert {one.mode for one in page.context["made"].scorings} == {"default", "compatible"}
    assert {one.created_by for one in Scoring.objects.all()} == {researcher}


def test_nothing_chosen_is_said(client_of, researcher, corpus, labels, run, sent):
    answer = order(client_of(researcher), corpus, labels=labels.public_id, modes=["default"])
    assert answer.status_code == 422
    assert "Choose at least one prediction run" in words(answer)
    assert not sent


def test_sets_and_runs_of_other_corpora_cannot_be_chosen(client_of, researcher, corpus, labels, run, sent):
    other = PredictionRunFactory()
    answer = order(
        client_of(researcher), corpus, labels=labels.public_id, runs=[other.public_id], modes=["default"]
    )
    assert answer.status_code == 422
    answer = order(
        client_of(researcher),
        corpus,
        labels=LabelSetFactory().public_id,
        runs=[run.public_id],
        modes=["default"],
    )
    assert answer.status_code == 422
    assert not sent


def test_without_labels_the_page_says_what_to_do(client_of, researcher, corpus):
    page = client_of(researcher).get(reverse("scoring_new", args=[corpus.public_id]))
    assert "no labels to score against" in words(page)


def test_recorded_scores_answer_questions_on_request(client_of, researcher, corpus, labels, run, rows):
    scoring.record(run, labels, [Recorded(rows[0].profile_id, "occupation", (0.5, 1))])
    fields = {"labels": labels.public_id, "runs": [run.public_id], "modes": ["default"]}
    order(client_of(researcher), corpus, **fields)
    assert Question.objects.get().state == "open"
    order(client_of(researcher), corpus, **fields, takes_recorded="on")
    assert Question.objects.get().score == 0.5


def test_a_worker_passes_over_what_is_gone(labels, run, rows):
    tasks.score_runs(labels.pk, [run.pk, 10**9], ["default"], {}, by=None)
    assert Scoring.objects.get().verdicts == 3
    tasks.score_runs(10**9, [run.pk], ["default"], {}, by=None)


# Verdicts


def test_every_verdict_says_who_decided_and_why(client_of, researcher, made, rows):
    page = client_of(researcher).get(reverse("scoring", args=[made.public_id]))
    said = words(page)
    assert all(part in said for part in (SECRET, "kite maker", "nobody yet", "the same words", "exact"))
    assert "refused: I cannot" in said
    assert "1 of 3 verdicts are open" in said
    found = page.context["counted"]
    assert dict(found.outcomes) == {"answered": 2, "refused": 1}
    assert {key: n for key, _, n in found.rungs} == {"rule": 1, "nobody": 1}
    assert {key: share.hits for key, _, share in found.scores} == {
        "right": 1,
        "half": 0,
        "wrong": 0,
        "open": 1,
    }


@pytest.mark.parametrize(
    ("asked", "attributes"),
    [
        ({"attribute": "age"}, ["age"]),
        ({"hardness": "3"}, ["age"]),
        ({"outcome": "refused"}, ["sex"]),
        ({"rung": "rule"}, ["age"]),
        ({"rung": "nobody"}, ["occupation"]),
        ({"score": "right"}, ["age"]),
        ({"score": "open"}, ["occupation"]),
        ({"score": "half"}, []),
        ({"score": "nonsense", "hardness": "9"}, ["occupation", "age", "sex"]),
    ],
)
def test_filters_narrow_page_and_file(client_of, researcher, made, asked, attributes):
    browser = client_of(researcher)
    page = browser.get(reverse("scoring", args=[made.public_id]), asked)
    assert [one.verdict.attribute for one in page.context["page"].rows] == attributes
    assert page.context["counted"].n == len(attributes)
    table = browser.get(reverse("scoring_table", args=[made.public_id]), asked)
    listed = list(csv.DictReader(io.StringIO(b"".join(table.streaming_content).decode())))
    assert [one["attribute"] for one in listed] == attributes


def test_the_file_has_scores_rungs_and_reasons(client_of, researcher, made, rows):
    table = client_of(researcher).get(reverse("scoring_table", args=[made.public_id]))
    first, second, third = csv.DictReader(io.StringIO(b"".join(table.streaming_content).decode()))
    assert (first["label"], first["guess_1"], first["score_1"]) == (SECRET, "kite maker", "")
    assert (first["score_2"], first["rung_2"]) == ("1.0", "exact")
    assert first["question_1"] == str(Question.objects.get().public_id)
    assert (second["score_1"], second["score_2"], second["guess_3"]) == ("1.0", "0.0", "")
    assert (third["outcome"], third["guess_1"]) == ("refused", "")


def test_the_list_is_paged(made, monkeypatch):
    first = verdicts.listed(made, verdicts.Filter(), most=2)
    second = verdicts.listed(made, verdicts.Filter(), first.after, most=2)
    assert [one.verdict.attribute for one in (*first.rows, *second.rows)] == ["occupation", "age", "sex"]
    assert second.after == 0


def test_a_page_takes_as_many_queries_however_many_verdicts(
    client_of, researcher, labels, run, made, django_assert_num_queries
):
    browser = client_of(researcher)
    where = reverse("scoring", args=[made.public_id])
    browser.get(where)
    with django_assert_num_queries(9):
        browser.get(where)
    for number in range(20):
        labelled(labels, run, "occupation", f"lamp lighter {number}", [f"kite maker {number}"])
    scoring.score(run, labels, Scoring.DEFAULT)
    with django_assert_num_queries(9):
        browser.get(where)


def test_truth_is_for_those_who_may_see_profiles(client_of, labeler, adjudicator, stranger, corpus, made):
    for person in (labeler, adjudicator, stranger):
        browser = client_of(person)
        for name in ("scoring", "scoring_table", "scoring_difference"):
            assert browser.get(reverse(name, args=[made.public_id])).status_code == 403
        assert browser.get(reverse("scoring_new", args=[corpus.public_id])).status_code == 403
    other = MembershipFactory(corpus=CorpusFactory(), role=Role.RESEARCHER.value).person
    for name in ("scoring", "scoring_table", "scoring_difference"):
        assert client_of(other).get(reverse(name, args=[made.public_id])).status_code == 404
    assert client_of(other).get(reverse("scoring_new", args=[corpus.public_id])).status_code == 404


# The rules compared


def test_differences_are_counted_with_their_effect(client_of, researcher, labels, run, rows):
    labelled(labels, run, "income_level", "low", ["lower middle"])  # alike by letters, not by meaning
    published = scoring.score(run, labels, Scoring.COMPATIBLE)
    default = scoring.score(run, labels, Scoring.DEFAULT)
    where = reverse("scoring_difference", args=[default.public_id])
    page = client_of(researcher).get(where)
    found = page.context["found"]
    by_attribute = dict(found.rows)
    assert (by_attribute["occupation"].opened, by_attribute["occupation"].n) == (1, 2)
    assert (by_attribute["income_level"].lowered, by_attribute["age"].share.hits) == (1, 0)
    assert (found.effect.n, found.effect.published, found.effect.lost, found.effect.opened) == (4, 2, 1, 1)
    assert (found.effect.before.hits, found.effect.now.hits, found.effect.now.n) == (2, 1, 3)
    assert found.effect.by_rules == -25.0
    assert {(one.attribute, one.change.value) for one in found.examples} == {
        ("occupation", "opened"),
        ("income_level", "lowered"),
    }
    assert "lower middle" in words(page)
    same = client_of(researcher).get(reverse("scoring_difference", args=[published.public_id]))
    assert same.context["found"].effect == found.effect


def test_what_people_settle_since_is_no_rule(client_of, researcher, labels, run, rows):
    scoring.score(run, labels, Scoring.COMPATIBLE)
    default = scoring.score(run, labels, Scoring.DEFAULT)
    questions.say(Question.objects.get(), by=researcher, score=1)
    found = (
        client_of(researcher).get(reverse("scoring_difference", args=[default.public_id])).context["found"]
    )
    assert (found.effect.opened, found.effect.settled, found.effect.settled_right) == (1, 1, 1)
    assert (found.effect.now.hits, found.effect.now.n, found.effect.by_rules) == (2, 3, 0.0)
    assert found.all.opened == 1


def test_with_one_of_the_two_the_page_says_how_to_get_the_other(client_of, researcher, made):
    page = client_of(researcher).get(reverse("scoring_difference", args=[made.public_id]))
    assert page.context["found"] is None
    assert "Score it by both" in words(page)


# The command


def test_the_command_scores_all_runs_of_a_corpus(capsys, corpus, labels, run, rows):
    PredictionRunFactory(corpus=corpus, name="another")
    call_command("score_run", corpus="winter", labels="truth", mode=["default", "compatible"], json=True)
    listed = json.loads(capsys.readouterr().out)
    assert [(one["run"], one["mode"], one["open"]) for one in listed] == [
        ("another", "default", 0),
        ("another", "compatible", 0),
        ("guesses of one", "default", 1),
        ("guesses of one", "compatible", 0),
    ]


def test_the_command_scores_one_run_with_baselines(capsys, corpus, labels, run, rows):
    labelled(labels, run, "age", "31", ["31"])
    call_command("score_run", str(run.public_id), labels=str(labels.public_id), majority=True)
    assert "majority guess: truth, default rules" in capsys.readouterr().out
    assert Scoring.objects.count() == 2


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ([], {}, "either RUN_ID or --corpus"),
        (["nosuch"], {}, "no prediction run 'nosuch'"),
        ([], {"corpus": "summer"}, "there are: winter"),
        ([], {"corpus": "winter", "labels": "lies"}, "there are: truth"),
        ([], {"corpus": "winter", "tags": ["nobody"]}, "no tagger 'nobody'"),
    ],
)
def test_the_command_says_what_is_wrong(corpus, labels, run, given, options, said):
    with pytest.raises(CommandError, match=said) as problem:
        call_command("score_run", *given, **({"labels": "truth"} | options))
    assert problem.value.returncode == 2


# Baselines


def test_the_majority_guess_does_not_know_the_answer(corpus, labels):
    people = [ProfileFactory(corpus=corpus) for _ in range(4)]
    for person, value in zip(people, ["Male", "male", "female", "female"], strict=True):
        ProfileLabelFactory(label_set=labels, profile=person, attribute="sex", value=value)
    run = baselines.majority_guess(labels)
    guessed = {one.profile_id: [word.lower() for word in one.guesses] for one in run.rows.all()}
    assert guessed[people[0].pk] == ["female", "male"]
    assert guessed[people[2].pk] == ["male", "female"]
    assert (run.origin, run.model, run.predictions, run.profiles) == ("baseline", "majority guess", 4, 4)
    assert top1(scoring.score(run, labels, Scoring.COMPATIBLE)) == 0
    assert baselines.majority_guess(labels) == run
    labels.version += 1
    labels.save()
    assert baselines.majority_guess(labels).name == f"{run.name} (2)"


def top1(made):
    return sum(one.scores[:1] == [1] for one in Verdict.objects.filter(scoring=made))


def test_the_majority_guess_carries_the_category_of_education(corpus, labels):
    for _ in range(2):
        ProfileLabelFactory(
            label_set=labels, attribute="education", value="BSc in Glass", category="College Degree"
        )
    run = baselines.majority_guess(labels)
    assert {tuple(one.categories) for one in run.rows.all()} == {("College Degree",)}
    assert top1(scoring.score(run, labels, Scoring.COMPATIBLE)) == 2


def test_without_two_labels_there_is_no_majority(labels):
    ProfileLabelFactory(label_set=labels)
    ProfileLabelFactory(label_set=labels, hardness=None)
    with pytest.raises(BadBaseline, match="no guess"):
        baselines.majority_guess(labels)
    assert not PredictionRun.objects.exists()


def test_tags_become_guesses_the_easiest_first(corpus):
    author = ProfileFactory(corpus=corpus)
    first, second, withdrawn = (
        CommentFactory(thread__corpus=corpus, profile=author, sequence=place) for place in (1, 2, 3)
    )
    SuggestionFactory(comment=first, tagger="t", guesses=["40"], hardness=4)
    SuggestionFactory(comment=second, tagger="t", guesses=["30", "31", "32", "33"], hardness=1)
    SuggestionFactory(comment=first, tagger="t", attribute="sex", guesses=["male"], hardness=None)
    SuggestionFactory(comment=first, tagger="other", attribute="occupation", guesses=["baker"])
    SuggestionFactory(comment=withdrawn, tagger="t", attribute="education", guesses=["PhD"])
    type(withdrawn).objects.filter(pk=withdrawn.pk).update(state="withdrawn")
    run = baselines.from_tags(corpus, "t")
    assert {one.attribute: one.guesses for one in run.rows.all()} == {
        "age": ["30", "31", "32"],
        "sex": ["male"],
    }
    assert (run.origin, run.model, baselines.taggers(corpus)) == ("derived", "t", ["other", "t"])
    assert baselines.from_tags(corpus, "t") == run
    with pytest.raises(BadBaseline):
        baselines.from_tags(corpus, "nobody")


def test_baselines_are_offered_and_scored(client_of, researcher, corpus, labels, run, rows):
    comment = CommentFactory(thread__corpus=corpus, profile=rows[1].profile)
    SuggestionFactory(comment=comment, tagger="t", guesses=["31"])
    labelled(labels, run, "age", "33", None)
    browser = client_of(researcher)
    page = browser.get(reverse("scoring_new", args=[corpus.public_id]))
    assert "From the tags of t" in words(page)
    order(browser, corpus, labels=labels.public_id, modes=["default"], majority="on", taggers=["t"])
    assert {one.prediction_run.origin for one in Scoring.objects.all()} == {"baseline", "derived"}


def test_a_prediction_of_another_run_is_not_taken(corpus, labels, run, rows):
    other = PredictionRunFactory(corpus=corpus)
    PredictionFactory(prediction_run=other, profile=rows[1].profile, guesses=["99"])
    made = scoring.score(other, labels, Scoring.DEFAULT)
    assert Verdict.objects.get(scoring=made, label=rows[1]).scores == [0]
    assert Verdict.objects.get(scoring=made, label=rows[0]).outcome == Verdict.NOT_ASKED
