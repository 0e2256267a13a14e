"""The leaderboard as its pages and files show it: every state, who may see it, and how much is asked for."""

import csv
import io
import random
import re

import pytest
from django.urls import reverse

from evaluation.domain.boards import Measure, Pair
from evaluation.models import PredictionRun, Reference, Report, Scoring, Verdict
from evaluation.selectors import boards
from evaluation.selectors.board_pairs import turned
from evaluation.services import reports
from evaluation.tasks import make_reports
from simulation.selectors import workers
from tests.evaluation.board_scene import address, counted, results, words
from tests.evaluation.test_boards_counting import random_verdict
from tests.factories.evaluation import (
    LabelSetFactory,
    PredictionRunFactory,
    ProfileLabelFactory,
    ScoringFactory,
    VerdictFactory,
)
from tests.factories.simulation import CorpusFactory

pytestmark = pytest.mark.django_db
HOSTILE = '<script>alert("1")</script>=cmd|x'


@pytest.fixture(autouse=True)
def told(monkeypatch):
    """A worker lives; the messages to it."""
    sent = []
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    monkeypatch.setattr(make_reports, "delay_on_commit", lambda: sent.append("reports"))
    return sent


def test_the_page_ranks_models_with_denominator_interval_and_definition(client_of, researcher, corpus):
    counted(corpus, results(corpus))
    page = client_of(researcher).get(address(corpus))
    said = words(page)
    assert [(line.rank, line.entry.model, line.asked.value) for line in page.context["ranking"].lines] == [
        (1, "model 0", "100.0"),
        (2, "model 1", "81.2"),
        (None, "majority", "0.0"),
    ]
    assert "1 model 0 truth 100.0 16 of 16 few" in said
    assert "13 of 16 few" in said
    assert "share of all asked labels for which the first guess is right; 16 labels of 8 profiles" in said
    assert re.search(r"[01] of 1 pairwise differences exclude zero \(Holm, 5 %\)", said)
    assert "Current" in said
    assert "majority truth baseline" in said
    assert 'class="base"' in page.content.decode()


def test_the_choice_stands_in_the_address(client_of, researcher, corpus):
    first, second = results(corpus, name="one"), results(corpus, name="two", models=1)
    browser = client_of(researcher)
    assert browser.get(address(corpus)).context["choice"].label_set == first
    asked = {"labels": second.public_id, "certainty": "5", "measure": "top3", "mode": "default"}
    choice = browser.get(address(corpus), asked).context["choice"]
    assert choice == boards.Choice(second, "default", 5, 1, Measure.TOP3)
    assert boards.choose(corpus, dict(pair.split("=") for pair in choice.query.split("&"))) == choice
    odd = {"labels": "nothing", "certainty": "9", "measure": "best", "mode": "mine", "hardness": "-1"}
    assert browser.get(address(corpus), odd).context["choice"] == boards.Choice(first)


def test_what_is_best_known_has_most_scorings_then_the_default_mode_then_the_newest(corpus):
    old, new = LabelSetFactory.create_batch(2, corpus=corpus)
    assert boards.choose(corpus, {}) is None
    ScoringFactory(prediction_run__corpus=corpus, label_set=old, mode=Scoring.RECORDED)
    assert boards.choose(corpus, {}).mode == "recorded"
    ScoringFactory(prediction_run__corpus=corpus, label_set=old)
    assert (boards.choose(corpus, {}).label_set, boards.choose(corpus, {}).mode) == (old, "default")
    ScoringFactory(prediction_run__corpus=corpus, label_set=new)
    assert boards.choose(corpus, {}).label_set == new
    ScoringFactory(prediction_run__corpus=corpus, label_set=old, mode=Scoring.RECORDED)
    assert (boards.choose(corpus, {}).label_set, boards.choose(corpus, {}).mode) == (old, "recorded")
    assert boards.choose(corpus, {"labels": new.public_id, "mode": "recorded"}).mode == "default"


def test_a_board_never_counted_is_asked_for_and_says_so(client_of, researcher, corpus, told):
    results(corpus)
    browser = client_of(researcher)
    page = browser.get(address(corpus))
    assert "Being counted for the first time" in words(page)
    assert told == ["reports"]
    assert Report.objects.get().asked_at is not None
    poll = browser.get(address(corpus), headers={"HX-Request": "true"})
    assert "HX-Refresh" not in poll.headers
    assert "<h1" not in poll.content.decode()
    assert reports.make_asked() == 1
    poll = browser.get(address(corpus), headers={"HX-Request": "true"})
    assert poll.headers["HX-Refresh"] == "true"
    assert "model 0" in words(browser.get(address(corpus)))


def test_without_a_worker_the_page_says_so(client_of, researcher, corpus, monkeypatch):
    monkeypatch.setattr(workers, "alive", dict)
    results(corpus)
    assert "No worker is running" in words(client_of(researcher).get(address(corpus)))


def test_an_old_board_is_shown_with_what_came_since(client_of, researcher, corpus, told):
    labels = results(corpus)
    counted(corpus, labels)
    scoring = labels.scorings.first()
    Scoring.objects.filter(pk=scoring.pk).update(version=scoring.version + 3)
    page = client_of(researcher).get(address(corpus))
    assert "3 answers since: being counted anew" in words(page)
    assert "model 0" in words(page)
    assert "Current" not in words(page)
    assert told == ["reports"]
    assert Report.objects.get().asked_at is not None
    PredictionRun.objects.filter(pk=scoring.prediction_run_id).delete()
    assert "Something has changed since" in words(client_of(researcher).get(address(corpus)))


def test_a_board_that_could_not_be_counted_says_so_and_is_tried_again_on_request(
    client_of, researcher, corpus, told
):
    labels = results(corpus)
    report = counted(corpus, labels)
    Report.objects.filter(pk=report.pk).update(content=None, stamp="", problem="It broke.")
    browser = client_of(researcher)
    page = browser.get(address(corpus))
    assert "It could not be counted. It broke." in words(page)
    assert told == []
    answer = browser.get(address(corpus), {"again": "1"})
    assert answer.status_code == 302
    assert told == ["reports"]
    reports.make_asked()
    assert "model 0" in words(browser.get(address(corpus)))


def test_open_items_are_said_and_in_no_denominator(client_of, researcher, corpus):
    labels = LabelSetFactory(corpus=corpus)
    scoring = ScoringFactory(prediction_run__corpus=corpus, label_set=labels)
    VerdictFactory(scoring=scoring)
    VerdictFactory(scoring=scoring, scores=[None, 1.0, 0.0], rungs=["", "rule", "rule"])
    VerdictFactory(scoring=scoring, outcome="not_asked", scores=[], rungs=[])
    counted(corpus, labels)
    page = client_of(researcher).get(address(corpus))
    (line,) = page.context["ranking"].lines
    assert (line.asked.cell.n, line.entry.open, line.asked.value) == (1, 1, "100.0")
    assert "1 of 2 items are not settled yet and left out." in words(page)
    assert "Not asked for 1." in words(page)
    assert page.context["ranking"].decided == [(line, [("same words", 1), ("nobody yet", 1)])]
    assert "Who decided the first guesses Model same words nobody yet" in words(page)
    three = client_of(researcher).get(address(corpus), {"measure": "top3"}).context["ranking"].lines[0]
    assert (three.asked.cell.n, three.asked.value) == (2, "100.0")


def test_no_label_above_the_threshold_is_an_empty_state(client_of, researcher, corpus):
    labels = results(corpus, certainty=None)
    counted(corpus, labels)
    said = words(client_of(researcher).get(address(corpus)))
    assert "No label is kept" in said
    assert "certainty of 3 or more" in said
    counted(corpus, labels, min_certainty=0)
    assert "model 0" in words(client_of(researcher).get(address(corpus), {"certainty": "0"}))


def test_one_profile_has_no_interval_and_says_why(client_of, researcher, corpus):
    counted(corpus, results(corpus, profiles=1, models=2))
    page = client_of(researcher).get(address(corpus))
    assert page.context["ranking"].lines[0].asked.interval == "–"
    assert "All items are of one profile: no interval can be given." in words(page)
    differing = client_of(researcher).get(address(corpus, "leaderboard_pairs"))
    assert "one profile" in words(differing)


@pytest.mark.parametrize("measure", list(Measure))
def test_every_measure_has_a_page_and_its_files(client_of, researcher, corpus, measure):
    counted(corpus, results(corpus))
    browser = client_of(researcher)
    asked = {"measure": measure.value}
    assert browser.get(address(corpus), asked).status_code == 200
    assert browser.get(address(corpus, "leaderboard_pairs"), asked).status_code == 200
    for table in ("ranking", "attributes", "hardness", "certainty", "pairs"):
        assert browser.get(address(corpus, "leaderboard_table", table), asked).status_code == 200


def rows_of(answer):
    assert answer.status_code == 200, answer
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_the_files_have_the_numbers_of_the_pages(client_of, researcher, corpus):
    counted(corpus, results(corpus))
    browser = client_of(researcher)
    best, second, base = rows_of(browser.get(address(corpus, "leaderboard_table", "ranking")))
    assert (best["rank"], best["asked_percent"], best["asked_right"], best["asked_n"]) == (
        "1",
        "100.0",
        "16.0",
        "16",
    )
    assert (second["asked_percent"], second["asked_right"], second["decided_rule"]) == ("81.25", "13.0", "16")
    assert (base["rank"], base["origin"], base["asked_percent"]) == ("", "baseline", "0.0")
    shares = rows_of(browser.get(address(corpus, "leaderboard_table", "attributes")))
    assert {(row["attribute"], row["model"], row["n"]) for row in shares} >= {("age", "model 1", "8")}
    (pair,) = rows_of(browser.get(address(corpus, "leaderboard_table", "pairs")))
    assert (pair["difference_points"], pair["n"], pair["only_first_right"]) == ("18.75", "16", "3")
    assert {
        row["hardness"] for row in rows_of(browser.get(address(corpus, "leaderboard_table", "hardness")))
    } == {"2"}
    certain = rows_of(browser.get(address(corpus, "leaderboard_table", "certainty")))
    assert {(row["certainty"], row["labels"]) for row in certain} == {("4", "16")}
    for name in ("other", "reference"):
        assert browser.get(address(corpus, "leaderboard_table", name)).status_code == 404


def test_differences_have_sign_star_interval_and_counts(client_of, researcher, corpus):
    counted(corpus, results(corpus, models=3, profiles=30, step=12))
    page = client_of(researcher).get(address(corpus, "leaderboard_pairs"))
    found = page.context["found"]
    assert [(gap.first.model, gap.second.model) for gap in found.gaps] == [
        ("model 0", "model 1"),
        ("model 0", "model 2"),
        ("model 1", "model 2"),
    ]
    assert [gap.value for gap in found.gaps] == ["+20.0", "+40.0", "+20.0"]
    assert [gap.pair.only_first for gap in found.gaps] == [12, 24, 12]
    assert words(page).count("*") == 2 * sum(gap.pair.excludes_zero for gap in found.gaps) > 0
    assert f"{found.pairs.excluding} of 3 differences exclude zero" in words(page)
    assert "majority" not in words(page)


def test_a_pair_turned_round_says_the_same():
    pair = Pair("a", "b", 0.1, -0.05, 0.25, 0.2, 0.4, False, 20, 5, only_first=6, only_second=4, mcnemar=0.7)
    other = Pair(
        "b", "a", -0.1, -0.25, 0.05, 0.2, 0.4, False, 20, 5, only_first=4, only_second=6, mcnemar=0.7
    )
    assert turned(pair) == other
    assert turned(other) == pair


def test_a_reference_stands_beside_the_models(client_of, researcher, corpus):
    counted(corpus, results(corpus))
    reference = Reference.objects.create(
        corpus=corpus,
        name="Table 4",
        values={
            "": {"value": 0.8, "n": 700},
            "age": {"value": 0.1, "n": None},
            "income_level": {"value": 0.5, "n": 9},
        },
    )
    browser = client_of(researcher)
    asked = {"reference": reference.public_id}
    page = browser.get(address(corpus), asked)
    rows = {row.key: row for row in page.context["beside"]}
    assert set(rows) == {"age", "sex", "income_level", ""}
    assert (rows[""].points, rows[""].holds, rows[""].n) == ("+20.0", rows[""].ours.cell.low <= 0.8, 700)
    assert (rows["age"].points, rows["age"].holds) == ("+90.0", False)
    assert (rows["sex"].points, rows["sex"].holds) == ("–", None)
    assert (rows["income_level"].ours.value, rows["income_level"].points) == ("–", "–")
    second = page.context["ranking"].lines[1].entry
    chosen = browser.get(address(corpus), asked | {"model": second.scoring})
    assert chosen.context["model"] == second
    assert chosen.context["beside"][-1].points == "+1.2"
    assert chosen.context["beside"][-1].holds is True
    table = rows_of(
        browser.get(address(corpus, "leaderboard_table", "reference"), asked | {"model": second.scoring})
    )
    assert [(row["attribute"], row["delta_points"]) for row in table][-1] == ("all", "1.25")
    stranger = Reference.objects.create(corpus=CorpusFactory(), name="theirs", values={"": {"value": 0.1}})
    theirs = {"reference": stranger.public_id}
    assert browser.get(address(corpus), theirs).context["reference"] is None
    assert browser.get(address(corpus, "leaderboard_table", "reference"), theirs).status_code == 404


def test_anonymised_text_stands_beside_plain_text(client_of, researcher, corpus):
    labels = results(corpus, models=2, profiles=20, step=12)
    plain, hidden = (PredictionRun.objects.get(corpus=corpus, model=f"model {at}") for at in (0, 1))
    PredictionRun.objects.filter(pk=hidden.pk).update(text=PredictionRun.ANONYMISED, counterpart=plain)
    counted(corpus, labels)
    browser = client_of(researcher)
    page = browser.get(address(corpus))
    assert [
        (row.label, row.plain.value, row.anonymised.value, row.value) for row in page.context["masked"]
    ] == [
        ("", "100.0", "70.0", "+30.0"),
        ("Age", "100.0", "70.0", "+30.0"),
        ("Sex", "100.0", "70.0", "+30.0"),
    ]
    rows = rows_of(browser.get(address(corpus, "leaderboard_table", "anonymised")))
    assert [(row["attribute"], row["difference_points"], row["n"]) for row in rows] == [
        ("all", "30.0", "40"),
        ("Age", "30.0", "20"),
        ("Sex", "30.0", "20"),
    ]
    assert "20 few" in words(page)


def test_names_are_text_and_no_formula(client_of, researcher, corpus):
    labels = results(corpus, models=2)
    run = PredictionRun.objects.get(corpus=corpus, model="model 0")
    PredictionRun.objects.filter(pk=run.pk).update(name=HOSTILE, model="=1+1", family=HOSTILE)
    type(labels).objects.filter(pk=labels.pk).update(name=HOSTILE)
    counted(corpus, labels)
    browser = client_of(researcher)
    for name in ("leaderboard", "leaderboard_pairs"):
        assert "<script>alert" not in browser.get(address(corpus, name)).content.decode()
    assert "<script>alert" not in browser.get(reverse("models")).content.decode()
    assert rows_of(browser.get(address(corpus, "leaderboard_table", "ranking")))[0]["model"] == "'=1+1"


def many(corpus, models, profiles):
    rng = random.Random(3)
    labels = LabelSetFactory(corpus=corpus)
    known = [ProfileLabelFactory(label_set=labels, certainty=4) for _ in range(profiles)]
    for _ in range(models):
        scoring = ScoringFactory(prediction_run__corpus=corpus, label_set=labels)
        Verdict.objects.bulk_create(random_verdict(rng, scoring, label) for label in known)
    return labels


@pytest.mark.parametrize("name", ["leaderboard", "leaderboard_pairs"])
def test_a_page_of_twenty_models_asks_ten_times_and_not_more_for_more_answers(
    client_of, researcher, name, django_assert_num_queries, django_assert_max_num_queries
):
    small, large = CorpusFactory.create_batch(2)
    counted(small, many(small, 2, 3))
    counted(large, many(large, 20, 30))
    browser = client_of(researcher)
    browser.get(address(small, name))
    with django_assert_max_num_queries(10) as first:
        browser.get(address(small, name))
    with django_assert_num_queries(len(first.captured_queries)):
        assert browser.get(address(large, name)).status_code == 200


def test_where_nothing_is_scored_the_page_says_what_is_missing(client_of, researcher, corpus):
    browser = client_of(researcher)
    for name in ("leaderboard", "leaderboard_pairs"):
        assert "neither labels nor guesses" in words(browser.get(address(corpus, name)))
        assert browser.get(address(corpus, "leaderboard_table", "ranking")).status_code == 404
    LabelSetFactory(corpus=corpus)
    assert "There are labels, but no guesses yet" in words(browser.get(address(corpus)))
    PredictionRunFactory(corpus=corpus)
    assert "but no scoring yet" in words(browser.get(address(corpus)))


def unsettled(corpus, *, still, labels=100, asked=None):
    """A run that is right of half of what is settled, with `still` open ones among what it was `asked`."""
    found = LabelSetFactory(corpus=corpus, name="truth")
    known = [ProfileLabelFactory(label_set=found) for _ in range(labels)]
    asked = labels if asked is None else asked
    for name, n in (("loose", still), ("settled", 0)):
        scoring = ScoringFactory(prediction_run__corpus=corpus, prediction_run__name=name, label_set=found)
        for at, label in enumerate(known):
            right = float(at % 2 or name == "loose")
            if name == "loose" and at >= asked:
                VerdictFactory(scoring=scoring, label=label, outcome="not_asked", scores=[], rungs=[])
            else:
                VerdictFactory(scoring=scoring, label=label, scores=[None if at < n else right])
    counted(corpus, found)


def test_ranks_with_much_open_are_provisional_and_shares_have_bounds(client_of, researcher, corpus):
    unsettled(corpus, still=3)
    browser = client_of(researcher)
    page = browser.get(address(corpus))
    loose, settled = page.context["ranking"].lines
    assert [(one.entry.name, one.rank) for one in (loose, settled)] == [("loose", None), ("settled", 1)]
    said = words(page)
    assert "between 97.0 and 100.0 % once the 3 open ones are settled" in said
    assert said.count("open ones are settled") == 1
    assert "Ranks are provisional." in said
    assert "items of 1 model are open" in said
    assert reverse("settle", args=[corpus.public_id]) in page.content.decode()
    assert "– provisional loose" in said
    assert "97 of 97 3 open" in said
    first, second = rows_of(browser.get(address(corpus, "leaderboard_table", "ranking")))
    assert [first[key] for key in ("rank", "open", "settled_least_percent", "settled_most_percent")] == [
        "",
        "3",
        "97.0",
        "100.0",
    ]
    assert (second["rank"], second["settled_least_percent"], second["settled_most_percent"]) == (
        "1",
        "50.0",
        "50.0",
    )
    (share,) = {
        (row["n"], row["open"])
        for row in rows_of(browser.get(address(corpus, "leaderboard_table", "attributes")))
        if row["name"] == "loose"
    }
    assert share == ("97", "3")
    assert "3 items are open for one of the two and left out." in words(
        browser.get(address(corpus, "leaderboard_pairs"))
    )
    overview = words(browser.get(reverse("models")))
    assert "provisional: between 97.0 and 100.0 % once the 3 open ones are settled" in overview


def test_two_percent_open_keep_their_ranks(client_of, researcher, corpus):
    unsettled(corpus, still=2)
    page = client_of(researcher).get(address(corpus))
    assert [line.rank for line in page.context["ranking"].lines] == [1, 2]
    assert "Ranks are provisional" not in words(page)
    assert "between 98.0 and 100.0 % once the 2 open ones are settled" in words(page)


@pytest.mark.parametrize(("asked", "ranks"), [(9, [None, 1]), (10, [1, 2])])
def test_a_model_that_was_asked_for_less_than_half_has_no_rank(client_of, researcher, corpus, asked, ranks):
    unsettled(corpus, still=0, labels=20, asked=asked)
    browser = client_of(researcher)
    page = browser.get(address(corpus))
    assert [line.rank for line in page.context["ranking"].lines] == ranks
    is_partial = ranks[0] is None
    for one in (page, browser.get(reverse("models"))):
        assert ("asked for 9 of 20" in words(one)) is is_partial
    assert "Ranks are provisional" not in words(page)


def test_the_baseline_says_that_it_can_fall_below_chance(client_of, researcher, corpus):
    counted(corpus, results(corpus))
    said = words(client_of(researcher).get(address(corpus)))
    assert said.count("Each author’s own label is left out of the count") == 1
    assert "can fall below chance where values are balanced" in said
