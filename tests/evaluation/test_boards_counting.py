"""A leaderboard is counted from its verdicts: every number recounted by hand, and what thresholds keep."""

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.domain.boards import GROUPED, Board, Cell, Measure, as_json, from_json
from evaluation.metrics.accuracy import ANSWERED, OPEN, Item
from evaluation.metrics.boards import Scores, measured
from evaluation.metrics.comparing import holm
from evaluation.metrics.intervals import clustered, clustered_difference
from evaluation.models import LabelSet, PredictionRun, Scoring, Verdict
from evaluation.services import boards, reports
from tests.factories.evaluation import (
    LabelSetFactory,
    PredictionRunFactory,
    ProfileLabelFactory,
    ScoringFactory,
    VerdictFactory,
)
from tests.factories.simulation import ProfileFactory, RunFactory

ATTRIBUTES = ("age", "sex", "occupation")
OUTCOMES = ("answered",) * 6 + ("refused", "unparsed", "error", "not_asked")


def parameters(labels, certainty=3, hardness=1, mode="default"):
    return {
        "label_set": labels.public_id,
        "mode": mode,
        "min_certainty": certainty,
        "min_hardness": hardness,
    }


def random_rows(corpus, seed, *, profiles=14, models=3):
    """A label set with verdicts of several runs and a baseline; some labels have no certainty."""
    rng = random.Random(seed)
    labels = LabelSetFactory(corpus=corpus)
    known = [
        ProfileLabelFactory(
            label_set=labels,
            profile=profile,
            attribute=attribute,
            hardness=rng.choice((None, 1, 2, 3, 4, 5)),
            certainty=rng.choice((None, 1, 2, 3, 4, 5)),
        )
        for profile in ProfileFactory.create_batch(profiles, corpus=corpus)
        for attribute in ATTRIBUTES
        if rng.random() < 0.8
    ]
    origins = [PredictionRun.IMPORTED] * models + [PredictionRun.BASELINE]
    for place, origin in enumerate(origins):
        run = PredictionRunFactory(corpus=corpus, origin=origin, name=f"model {place}")
        scoring = ScoringFactory(prediction_run=run, label_set=labels)
        Verdict.objects.bulk_create(
            random_verdict(rng, scoring, label) for label in known if label.hardness and rng.random() < 0.9
        )
    return labels


def random_verdict(rng, scoring, label):
    outcome = rng.choice(OUTCOMES)
    scores = [rng.choice((1.0, 1.0, 0.5, 0.0, None)) for _ in range(rng.randrange(5))]
    return Verdict(
        scoring=scoring,
        label=label,
        profile=label.profile,
        attribute=label.attribute,
        hardness=label.hardness,
        certainty=label.certainty,
        outcome=outcome,
        scores=scores if outcome == "answered" else [],
        rungs=["" if score is None else rng.choice(("exact", "rule", "judge")) for score in scores]
        if outcome == "answered"
        else [],
    )


# The recount, in other words than the board's own


def worth(row, measure):
    """What an item counts: a number, or None where it is in no denominator."""
    if row.outcome == "not_asked":
        return None
    if row.outcome != "answered":
        return 0.0
    if measure is Measure.TOP3:
        best = row.scores[:3]
        return 1.0 if 1 in best else (None if None in best else 0.0)
    if not row.scores:
        return 0.0
    first = row.scores[0]
    if first is None or measure is Measure.HALF:
        return first
    return float(first > 0) if measure is Measure.LESS_PRECISE else float(first == 1)


def macro(rows, key):
    groups = {}
    for row in rows:
        score = worth(row, Measure.TOP1)
        if score is not None:
            groups.setdefault(getattr(row, key), []).append(score)
    means = [sum(one) / len(one) for one in groups.values()]
    return sum(means) / len(means) if means else None


def check_cell(cell, rows, measure):
    scored = [(worth(row, measure), row.profile_id) for row in rows]
    scored = [(score, profile) for score, profile in scored if score is not None]
    assert cell.n == len(scored)
    assert cell.clusters == len({profile for _, profile in scored})
    if measure in (Measure.PROFILES, Measure.ATTRIBUTES):
        wanted = macro(rows, "profile_id" if measure is Measure.PROFILES else "attribute")
        assert cell.value == (None if wanted is None else pytest.approx(wanted))
        assert cell.right is None
    elif not scored:
        assert (cell.value, cell.right) == (None, None)
        assert cell.words
    else:
        total = sum(score for score, _ in scored)
        assert cell.value == pytest.approx(total / len(scored))
        assert cell.right == total
        wanted = clustered([score for score, _ in scored], [profile for _, profile in scored])
        assert (cell.low, cell.high) == (wanted.low, wanted.high) or (
            (cell.low, cell.high) == (pytest.approx(wanted.low), pytest.approx(wanted.high))
        )
    asked = sum(row.outcome != "not_asked" for row in rows)
    assert (f"{asked - len(scored)} of {asked} items are not settled" in cell.words) == (asked > len(scored))


def check_entry(entry, rows):
    answered = [row for row in rows if row.outcome == "answered"]
    for measure in Measure:
        both = entry.overall[measure]
        check_cell(both.asked, rows, measure)
        check_cell(both.answered, answered, measure)
    for measure in GROUPED:
        for found, key in (
            (entry.by_attribute, "attribute"),
            (entry.by_hardness, "hardness"),
            (entry.by_certainty, "certainty"),
        ):
            groups = {str(getattr(row, key)) for row in rows if getattr(row, key) is not None}
            assert set(found[measure]) == groups
            for name in groups:
                check_cell(
                    found[measure][name], [row for row in rows if str(getattr(row, key)) == name], measure
                )
    assert entry.outcomes == Counter(row.outcome for row in rows)
    assert entry.rungs == Counter(row.rungs[0] for row in answered if row.rungs)
    assert entry.open == sum(bool(row.scores) and row.scores[0] is None for row in answered)


def check_pairs(pairs, rows_by_scoring, measure):
    assert [(one.first, one.second) for one in pairs.pairs] == list(combinations(rows_by_scoring, 2))
    tested = []
    for one in pairs.pairs:
        sides = [
            {
                (row.profile_id, row.attribute): score
                for row in rows_by_scoring[name]
                if (score := worth(row, measure)) is not None
            }
            for name in (one.first, one.second)
        ]
        common = sorted(set(sides[0]) & set(sides[1]))
        gaps = [sides[0][key] - sides[1][key] for key in common]
        assert one.n == len(common)
        if not common:
            assert one.value is None
            continue
        assert one.value == pytest.approx(sum(gaps) / len(gaps))
        wanted = clustered_difference(gaps, [key[0] for key in common])
        if wanted.p is None:
            assert one.p is None
            continue
        assert (one.low, one.high, one.p) == pytest.approx((wanted.low, wanted.high, wanted.p))
        tested.append(one)
        if measure is Measure.HALF:
            assert (one.only_first, one.only_second, one.mcnemar) == (None, None, None)
        else:
            assert (one.only_first, one.only_second) == (gaps.count(1), gaps.count(-1))
    assert [one.holm for one in tested] == pytest.approx(list(holm([one.p for one in tested])))
    assert pairs.of == len(tested)
    assert (
        pairs.excluding == sum(one.excludes_zero for one in tested) == sum(one.holm < 0.05 for one in tested)
    )


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("certainty", "hardness"), [(3, 1), (0, 2), (5, 4)])
def test_a_board_says_what_its_verdicts_say(corpus, seed, certainty, hardness):
    labels = random_rows(corpus, seed)
    board = boards.count(corpus, parameters(labels, certainty, hardness))

    def keeps(row):
        return row.hardness >= hardness and (not certainty or (row.certainty or 0) >= certainty)

    rows = {
        one.public_id: [row for row in one.rows.all() if keeps(row)]
        for one in Scoring.objects.filter(label_set=labels)
    }
    assert {one.scoring for one in board.entries} == set(rows)
    for entry in board.entries:
        check_entry(entry, rows[entry.scoring])
    values = [one.overall[Measure.TOP1].asked.value for one in board.entries[:-1]]
    assert values == sorted(values, key=lambda value: -1 if value is None else value, reverse=True)
    assert [one.is_baseline for one in board.entries] == [False, False, False, True]
    order = [one.scoring for one in board.entries if not one.is_baseline]
    for measure in GROUPED:
        check_pairs(board.pairs[measure], {name: rows[name] for name in order}, measure)
    kept = [one for one in labels.rows.all() if one.hardness and keeps(one)]
    assert board.labels == len(kept)
    assert board.profiles == len({one.profile_id for one in kept})
    assert board.by_attribute == Counter(one.attribute for one in kept)
    assert board.by_hardness == Counter(str(one.hardness) for one in kept)
    assert board.by_certainty == Counter(str(one.certainty) for one in kept if one.certainty)
    assert from_json(as_json(board)) == board


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 4),
            st.sampled_from(ATTRIBUTES),
            st.integers(1, 5),
            st.none() | st.integers(1, 5),
            st.sampled_from(sorted(set(OUTCOMES))),
            st.lists(st.sampled_from((1.0, 0.5, 0.0, None)), max_size=5),
        ),
        max_size=25,
        unique_by=lambda row: row[:2],
    )
)
def test_an_item_is_open_for_a_measure_only_where_that_measure_is_undetermined(rows):
    scores = Scores()
    for row in rows:
        scores.add(*row)
    for measure in (Measure.TOP1, Measure.TOP3):
        for row, item in zip(rows, scores.items(measure), strict=True):
            looked = row[5][: 3 if measure is Measure.TOP3 else 1]
            undetermined = row[4] == ANSWERED and None in looked and 1 not in looked
            assert item.outcome == (OPEN if undetermined else row[4])
            assert isinstance(item, Item)
    found = measured(scores)
    assert found.open == sum(row[4] == ANSWERED and row[5][:1] == [None] for row in rows)
    for shares in found.overall.values():
        assert shares.answered.n <= shares.asked.n


@pytest.mark.django_db
def test_labels_without_certainty_are_below_every_threshold(corpus):
    labels = LabelSetFactory(corpus=corpus)
    scoring = ScoringFactory(prediction_run__corpus=corpus, label_set=labels)
    VerdictFactory(scoring=scoring, label__certainty=None, label__attribute="sex")
    VerdictFactory(scoring=scoring, label__certainty=1)
    (entry,) = boards.count(corpus, parameters(labels, certainty=1)).entries
    assert entry.overall["top1"].asked.n == 1
    everything = boards.count(corpus, parameters(labels, certainty=0))
    assert (everything.labels, everything.by_certainty) == (2, {"1": 1})
    assert everything.entries[0].overall["top1"].asked.n == 2
    assert set(everything.entries[0].by_certainty["top1"]) == {"1"}


@pytest.mark.django_db
def test_a_model_that_refuses_everything_comes_last(corpus):
    labels = LabelSetFactory(corpus=corpus)
    known = [ProfileLabelFactory(label_set=labels) for _ in range(12)]
    for name, outcome, score in (
        ("silent", "refused", None),
        ("poor", "answered", 0.0),
        ("good", "answered", 1.0),
    ):
        scoring = ScoringFactory(prediction_run__corpus=corpus, prediction_run__name=name, label_set=labels)
        for place, label in enumerate(known):
            right = [1.0] if name == "poor" and place == 0 else [score]
            VerdictFactory(
                scoring=scoring,
                label=label,
                outcome=outcome,
                scores=[] if outcome == "refused" else right,
                rungs=[] if outcome == "refused" else ["rule"],
            )
    board = boards.count(corpus, parameters(labels))
    assert [one.name for one in board.entries] == ["good", "poor", "silent"]
    silent = board.entries[-1].overall["top1"]
    assert (silent.asked.value, silent.asked.n) == (0.0, 12)
    assert (silent.answered.value, silent.answered.n) == (None, 0)
    assert board.entries[-1].outcomes == {"refused": 12}
    pair = next(one for one in board.pairs["top1"].pairs if one.second == board.entries[-1].scoring)
    assert (pair.value, pair.n, pair.only_first) == (1.0, 12, 12)


@pytest.mark.django_db
def test_scores_of_what_was_not_answered_count_nothing(corpus):
    labels = LabelSetFactory(corpus=corpus)
    scoring = ScoringFactory(prediction_run__corpus=corpus, label_set=labels)
    VerdictFactory(scoring=scoring, outcome="refused", scores=[1.0], rungs=["exact"])
    (entry,) = boards.count(corpus, parameters(labels)).entries
    assert (entry.overall["top1"].asked.value, entry.overall["top3"].asked.value) == (0.0, 0.0)
    assert entry.rungs == {}


@pytest.mark.django_db
def test_anonymised_runs_stand_beside_their_counterparts(corpus):
    labels = LabelSetFactory(corpus=corpus)
    plain = ScoringFactory(prediction_run__corpus=corpus, prediction_run__model="quill", label_set=labels)
    hidden = ScoringFactory(
        prediction_run__corpus=corpus,
        prediction_run__text=PredictionRun.ANONYMISED,
        prediction_run__counterpart=plain.prediction_run,
        label_set=labels,
    )
    lonely = ScoringFactory(
        prediction_run__corpus=corpus, prediction_run__text=PredictionRun.ANONYMISED, label_set=labels
    )
    for place in range(10):
        label = ProfileLabelFactory(label_set=labels, attribute="age" if place < 6 else "sex")
        VerdictFactory(scoring=plain, label=label)
        VerdictFactory(scoring=hidden, label=label, scores=[float(place < 3)])
        VerdictFactory(scoring=lonely, label=label)
    (found,) = boards.count(corpus, parameters(labels)).masked
    assert (found.plain, found.anonymised, found.model) == (plain.public_id, hidden.public_id, "quill")
    assert set(found.rows) == {"", "age", "sex"}
    before, after, gap = found.rows[""]
    assert (before.value, after.value, gap.n) == (1.0, 0.3, 10)
    assert gap.value == pytest.approx(0.7)
    before, after, gap = found.rows["age"]
    assert (before.right, after.right, after.n) == (6, 3, 6)
    assert gap.value == pytest.approx(0.5)
    assert gap.holm == pytest.approx(min(1, max(2 * min(gap.p, found.rows["sex"][2].p), gap.p)))


@pytest.mark.django_db
def test_only_verdicts_of_this_set_and_mode_count_and_asking_here_has_a_cost(corpus):
    labels, other = LabelSetFactory.create_batch(2, corpus=corpus)
    run = PredictionRunFactory(
        corpus=corpus, origin=PredictionRun.ASKED, run=RunFactory(corpus=corpus, cost=1_500), parameters="7.5"
    )
    kept = ScoringFactory(prediction_run=run, label_set=labels)
    VerdictFactory(scoring=kept)
    ScoringFactory(prediction_run=run, label_set=labels, mode=Scoring.RECORDED)
    VerdictFactory(scoring=ScoringFactory(prediction_run=run, label_set=other), scores=[0.0])
    (entry,) = boards.count(corpus, parameters(labels)).entries
    assert (entry.scoring, entry.run, entry.cost, entry.parameters) == (
        kept.public_id,
        run.public_id,
        1_500,
        7.5,
    )
    assert entry.overall["top1"].asked.value == 1.0
    assert entry.overall["top1"].asked.low is None
    assert "one profile" in entry.overall["top1"].asked.words


@pytest.mark.django_db
def test_no_label_and_no_scoring_make_an_empty_board(corpus):
    board = boards.count(corpus, parameters(LabelSetFactory(corpus=corpus)))
    assert isinstance(board, Board)
    assert (board.labels, board.profiles, board.entries, board.masked) == (0, 0, (), ())
    assert board.pairs["top1"].of == 0
    with pytest.raises(LabelSet.DoesNotExist):
        boards.count(corpus, parameters(LabelSetFactory()))


@pytest.mark.django_db
def test_a_report_is_out_of_date_when_what_it_was_counted_from_changes(corpus):
    labels = random_rows(corpus, 1, profiles=4, models=1)
    wanted = parameters(labels)
    report = reports.make(corpus, "board", wanted)
    assert reports.is_current(report)
    scoring = labels.scorings.first()
    changes = [
        lambda: Scoring.objects.filter(pk=scoring.pk).update(version=2),
        lambda: PredictionRun.objects.filter(pk=scoring.prediction_run_id).update(name="renamed"),
        lambda: PredictionRun.objects.filter(pk=scoring.prediction_run_id).update(family="oaks"),
        lambda: PredictionRun.objects.filter(pk=scoring.prediction_run_id).update(parameters=7),
        lambda: LabelSet.objects.filter(pk=labels.pk).update(version=2),
        lambda: ScoringFactory(prediction_run__corpus=corpus, label_set=labels),
        lambda: Scoring.objects.filter(pk=scoring.pk).delete(),
    ]
    for change in changes:
        change()
        assert not reports.is_current(report)
        report = reports.make(corpus, "board", wanted)
        assert reports.is_current(report)
    ScoringFactory(prediction_run__corpus=corpus, label_set=labels, mode=Scoring.COMPATIBLE)
    assert reports.is_current(report)


def scored(corpus, labels, known, *rows, **run):
    """A scoring of a run with the first guesses' scores: "-" is not asked, None is open."""
    run = {f"prediction_run__{key}": value for key, value in run.items()}
    scoring = ScoringFactory(prediction_run__corpus=corpus, label_set=labels, **run)
    for label, score in zip(known, rows, strict=True):
        asked = {} if score != "-" else {"outcome": "not_asked"}
        scores = [] if score == "-" else [score]
        VerdictFactory(scoring=scoring, label=label, scores=scores, rungs=["rule"] * len(scores), **asked)
    return scoring


@pytest.mark.django_db
def test_an_unsettled_share_has_the_bounds_between_which_it_can_end(corpus):
    labels = LabelSetFactory(corpus=corpus)
    one, other = ProfileFactory.create_batch(2, corpus=corpus)
    known = [
        ProfileLabelFactory(label_set=labels, profile=profile, attribute=attribute)
        for profile, attribute in (
            (one, "age"),
            (one, "sex"),
            (other, "age"),
            (other, "sex"),
            (other, "education"),
        )
    ]
    scored(corpus, labels, known, 1.0, None, 0.5, None, "-")
    (entry,) = boards.count(corpus, parameters(labels)).entries
    bounds = {
        name: (both.asked.n, both.asked.open, both.asked.least, both.asked.most)
        for name, both in entry.overall.items()
    }
    assert bounds == {
        "top1": (2, 2, 0.25, 0.75),
        "top3": (2, 2, 0.25, 0.75),
        "half": (2, 2, 0.375, 0.875),
        "less_precise": (2, 2, 0.5, 1.0),
        "profiles": (2, 2, 0.25, 0.75),
        "attributes": (2, 2, 0.25, 0.75),
    }
    sex = entry.by_attribute["top1"]["sex"]
    assert (sex.value, sex.n, sex.open, sex.least, sex.most) == (None, 0, 2, 0.0, 1.0)
    assert entry.by_attribute["top1"]["education"].least is None


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 3), st.sampled_from((1.0, 0.5, 0.0, None)), st.sampled_from((1.0, 0.5, 0.0))
        ),
        min_size=1,
        max_size=20,
    )
)
def test_however_open_items_are_settled_the_share_ends_within_its_bounds(rows):
    before, after = Scores(), Scores()
    for place, (profile, score, settled) in enumerate(rows):
        before.add(profile, f"{place % 4}", 1, 3, ANSWERED, [score])
        after.add(profile, f"{place % 4}", 1, 3, ANSWERED, [settled if score is None else score])
    known, ended = measured(before).overall, measured(after).overall
    for name, both in known.items():
        end = ended[name].asked
        assert both.asked.least - 1e-9 <= end.value <= both.asked.most + 1e-9
        assert (end.open, end.least, end.most) == (0, pytest.approx(end.value), pytest.approx(end.value))


@pytest.mark.django_db
def test_a_pair_says_how_many_items_are_open_for_one_of_the_two(corpus):
    labels = LabelSetFactory(corpus=corpus)
    known = [ProfileLabelFactory(label_set=labels) for _ in range(6)]
    scored(corpus, labels, known, 1.0, 1.0, None, 1.0, None, 1.0, name="a")
    scored(corpus, labels, known, 1.0, 0.0, 0.0, None, "-", 0.5, name="b")
    scored(corpus, labels, known, 1.0, 0.0, 0.0, 0.0, 0.0, "-", name="c")
    board = boards.count(corpus, parameters(labels))
    found = {
        (board.entry(one.first).name, board.entry(one.second).name): (one.n, one.words)
        for one in board.pairs["top1"].pairs
    }
    one, two = "1 item is open", "2 items are open"
    assert found == {
        ("a", "b"): (3, f"{two} for one of the two and left out."),
        ("a", "c"): (3, f"{two} for one of the two and left out."),
        ("b", "c"): (3, f"{one} for one of the two and left out."),
    }


def test_a_board_counted_before_bounds_were_known_is_still_read():
    old = {"value": 0.5, "low": 0.1, "high": 0.9, "n": 4, "clusters": 2, "right": 2.0, "words": ""}
    assert from_json(old, Cell) == Cell(0.5, 0.1, 0.9, 4, 2, 2.0)


@pytest.mark.django_db
def test_a_baseline_of_an_older_version_of_the_labels_is_not_on_the_board(corpus):
    labels, other = LabelSetFactory.create_batch(2, corpus=corpus, version=2)
    known = [ProfileLabelFactory(label_set=labels)]
    for name, origin, recipe in (
        ("old", "baseline", {"labels": labels.public_id, "version": 1}),
        ("new", "baseline", {"labels": labels.public_id, "version": 2}),
        ("of another set", "baseline", {"labels": other.public_id, "version": 1}),
        ("a model", "imported", {"labels": labels.public_id, "version": 1}),
    ):
        scored(corpus, labels, known, 1.0, name=name, origin=origin, recipe=recipe)
    names = {one.name for one in boards.count(corpus, parameters(labels)).entries}
    assert names == {"new", "of another set", "a model"}
