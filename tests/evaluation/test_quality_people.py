"""Agreement between people does not depend on who they are, nor on the order in which they are read."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.quality import Scores, agreement, arms, on_marks, pairs

RATERS = ("lena", "otto", "rosa")
KEYS = st.sampled_from(["=30", "=45", "=61", "none", "unsure"])
ANSWERS = st.dictionaries(st.tuples(st.integers(0, 9), st.sampled_from(RATERS)), KEYS, min_size=4)


def renamed(answers, order):
    names = dict(zip(RATERS, order, strict=True))
    return {(unit, names[rater]): said for (unit, rater), said in answers.items()}


@settings(max_examples=15)
@given(ANSWERS, st.permutations(RATERS), st.randoms())
def test_people_can_be_exchanged(answers, order, chance):
    shuffled = list(renamed(answers, order).items())
    chance.shuffle(shuffled)
    assert agreement({"age": answers}) == agreement({"age": dict(shuffled)})


@settings(max_examples=15)
@given(
    st.dictionaries(st.tuples(st.integers(0, 9), st.sampled_from(RATERS)), st.integers(1, 5), min_size=4),
    st.permutations(RATERS),
)
def test_people_who_mark_can_be_exchanged(marks, order):
    assert on_marks({"age": marks}, "hardness") == on_marks({"age": renamed(marks, order)}, "hardness")


def test_two_people_are_compared_from_five_common_comments_on():
    four = {(unit, rater): "=30" for unit in range(4) for rater in RATERS[:2]}
    people, (pair,) = pairs({"age": four})
    assert (people, pair.kappa) == ([("lena", 4), ("otto", 4)], None)
    five = four | {(9, "lena"): "none", (9, "otto"): "none"}
    _, (pair,) = pairs({"age": five})
    assert (pair.comments, pair.kappa.value, pair.same.value) == (5, 1, 1)


def test_only_the_people_with_the_most_answers_are_compared():
    answers = {(unit, f"p{number:02}"): "none" for number in range(14) for unit in range(14 - number)}
    people, found = pairs({"age": answers})
    assert [name for name, _ in people] == [f"p{number:02}" for number in range(12)]
    assert len(found) == 12 * 11 // 2


def test_without_answers_every_measure_says_so():
    found = agreement({"age": {}})
    assert {one.found.undefined for one in found} == {"empty"}
    assert [one.measure for one in found] == [
        "percent",
        "nominal",
        "aware",
        "ac1",
        "percent",
        "nominal",
        "ac1",
    ]


def test_an_arm_of_one_comment_has_no_interval():
    one, other = Scores(), Scores()
    for score in (1, 0):
        one.add(score, 1)
        other.add(score, 2)
    found = arms(one, other).shift
    assert (found.value, found.low, found.words) == (
        0,
        None,
        "All are of one comment in one arm: no interval can be given.",
    )


def test_shifts_of_marks_are_in_steps_of_the_scale():
    marks = Scores()
    for shift, comment in ((4, 1), (-4, 2), (2, 3), (2, 4)):
        marks.add(shift, comment)
    found = marks.steps()
    assert (found.value, found.n, found.clusters) == (1, 4, 4)
    assert -4 <= found.low < 1 < found.high <= 4
