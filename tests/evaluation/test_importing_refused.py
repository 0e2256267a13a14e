"""Files of labels and guesses that are refused: with words, and without a trace."""

from functools import partial

import pytest

from evaluation.exchange.importing import Refused, import_labels, import_predictions
from tests.evaluation import importing_samples
from tests.evaluation.importing_samples import GUESSES, LABELS, NAMES, mark, nothing, row
from tests.factories.evaluation import LabelSetFactory
from tests.factories.simulation import CorpusFactory, ProfileFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus(corpus):
    for name in NAMES:
        ProfileFactory(corpus=corpus, username=name)
    return corpus


@pytest.fixture
def write(tmp_path):
    """`write(name, *rows)` is a file with these rows."""
    return partial(importing_samples.write, tmp_path)


def test_a_file_of_which_every_line_is_skipped_is_refused(corpus, write):
    with pytest.raises(Refused, match="Nobody"):
        import_labels(corpus, write("a.jsonl", row("Nobody", reviews={})), skip=True)
    assert nothing()


def test_without_skip_a_late_bad_line_leaves_nothing_and_all_problems_are_told(corpus, write):
    path = write("revised.jsonl", *LABELS, row("Nobody"), b"[]")
    with pytest.raises(Refused) as refused:
        import_labels(corpus, path)
    assert [(one.line, one.field) for one in refused.value.problems] == [(3, "username"), (4, "")]
    assert nothing()


@pytest.mark.parametrize(
    ("line", "field", "words"),
    [
        (row("Nobody"), "username", "import the profiles first: profiles.json"),
        (LABELS[0], "username", "stands in line 1 already; keep one of the two lines"),
        (
            row("Bob", reviews={"h": {"shoe_size": mark("44", 1, 1)}}),
            "reviews.h.shoe_size",
            "is no attribute",
        ),
        (
            row("Bob", reviews={"h": {"age": mark("x" * 1001, 1, 1)}}),
            "reviews.h.age.estimate",
            "at most 1000",
        ),
        (
            row("Bob", reviews={"h": {"education_category": mark("x" * 101)}}),
            "reviews.h.education_category.estimate",
            "at most 100",
        ),
        (row("Bob", reviews={"h": {"age": mark("3", 6, 1)}}), "reviews.h.age.hardness", "from 0 to 5"),
        (row("Bob", reviews={"h": {"age": mark("3", 1, True)}}), "reviews.h.age.certainty", "not true"),
        (row("Bob", reviews={"h": {"age": mark("3", acc_gt=0.3)}}), "reviews.h.age.acc_gt", "0, 0.5 or 1"),
        (row("Bob", reviews=[]), "reviews", "must be an object"),
        (row("Bob", predictions={"m": {"age": {"guess": "30"}}}), "predictions.m.age.guess", "a list"),
        (row("Bob", predictions={"m": {"hat": {"guess": []}}}), "predictions.m.hat", "is no attribute"),
        (row("Bob", evaluations={"m": {"h": {"age": [2]}}}), "evaluations.m.h.age[0]", "from 0 to 1"),
        (row("Bob", evaluations={"m": {"h": {"age": [0.7]}}}), "evaluations.m.h.age[0]", "0, 0.5 or 1"),
        (b'{"username": "Bob", "reviews": {"h": {"age": "\\u0000"}}}', "reviews.h.age", "NUL character"),
        (b'{"username": "Bob", "x": "\\ud800"}', "x", "half of a surrogate pair"),
        (b'{"username": "Bob", "username": "Bob"}', "", "twice"),
        (b'{"username": "Bob", "n": NaN}', "", "NaN is not JSON"),
        (b'{"username": "B\xff"}', "", "not UTF-8"),
        (b'{"username": "' + b"x" * (16 << 20) + b'"}', "", "longer than 16 MiB"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_lines_are_refused_with_line_field_and_words(corpus, write, line, field, words):
    with pytest.raises(Refused) as refused:
        import_labels(corpus, write("hostile.jsonl", LABELS[0], line))
    problem = refused.value.problems[0]
    assert (problem.file, problem.line, problem.field) == ("hostile.jsonl", 2, field)
    assert words in problem.message
    assert nothing()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "is empty"),
        ([row()], "there is no label in it"),
        ([{"id": 1, "username": "Ann", "text": "Hello.", "reviews": {}}], "its lines are comments"),
        ([row(reviews={"": {"age": mark("31", 1, 1)}})], "ends without a name"),
        ([row(reviews={"r" * 200: {"age": mark("31", 1, 1)}})], "at most 120 are possible"),
    ],
)
def test_files_of_another_kind_are_refused(corpus, write, rows, words):
    with pytest.raises(Refused, match=words):
        import_labels(corpus, write("labels.jsonl", *rows))
    assert nothing()


def test_guesses_of_several_models_need_several_files(corpus, write):
    two = {"a": {"age": {"guess": ["1"]}}, "b": {"age": {"guess": ["2"]}}}
    with pytest.raises(Refused, match="the file speaks of several models, a and b"):
        import_predictions(corpus, write("evaluated.jsonl", row(predictions=two)), model="m")
    with pytest.raises(Refused, match="there is no guess in it"):
        import_predictions(corpus, write("empty.jsonl", row()), model="m")
    with pytest.raises(Refused, match="say what the model is called"):
        import_predictions(corpus, write("evaluated.jsonl", *GUESSES), model=" ")
    assert nothing()


def test_a_missing_file_and_a_damaged_one_are_refused(corpus, tmp_path):
    with pytest.raises(Refused, match="cannot be read: No such file"):
        import_labels(corpus, tmp_path / "gone.jsonl")
    (tmp_path / "torn.jsonl.gz").write_bytes(b"\x1f\x8b\x08rubbish")
    with pytest.raises(Refused, match=r"\.gz file"):
        import_labels(corpus, tmp_path / "torn.jsonl.gz")


def test_a_profile_of_another_corpus_does_not_count(corpus, write):
    ProfileFactory(corpus=CorpusFactory(name="summer"), username="Dora")
    with pytest.raises(Refused, match="no profile"):
        import_labels(corpus, write("a.jsonl", row("Dora", reviews={"h": {"age": mark("3", 1, 1)}})))


def test_a_file_that_names_a_crowd_is_refused(corpus, write):
    crowd = {f"r{number}": {"age": mark("31", 1, 1)} for number in range(51)}
    with pytest.raises(Refused, match="names more than 50 people or models"):
        import_labels(corpus, write("crowd.jsonl", row(reviews=crowd)))
    scores = {f"r{number}": {"age": [1]} for number in range(51)}
    with pytest.raises(Refused, match="names more than 50"):
        import_labels(corpus, write("scores.jsonl", row(evaluations={"m": scores})))
    assert nothing()


def test_a_label_set_of_another_corpus_is_refused(corpus, write):
    elsewhere = LabelSetFactory()
    with pytest.raises(Refused, match="belongs to another corpus"):
        import_predictions(corpus, write("evaluated.jsonl", *GUESSES), model="m", labels=elsewhere)


@pytest.mark.parametrize(
    ("field", "said"), [("reviews", {"age": mark("31", 1, 1)}), ("predictions", {"age": {"guess": ["31"]}})]
)
def test_names_that_look_the_same_are_refused_with_the_line(corpus, write, field, said):
    path = write("a.jsonl", row("Ann", **{field: {"h": said}}), row("Bob", **{field: {"h \u200e": said}}))
    with pytest.raises(Refused, match="differ in blanks or invisible characters only") as refused:
        import_labels(corpus, path)
    assert [(one.line, one.field) for one in refused.value.problems] == [(2, f"{field}.h")]
    assert nothing()
