"""What an import leaves as it is, because people have worked on it, and what it says of that."""

from datetime import UTC, datetime

import pytest

from annotation.models import Annotation, AttributeLabel, Suggestion
from simulation.models import Comment
from tests.annotation.exchange.conftest import counts
from tests.annotation.exchange.samples import guess, review, row

pytestmark = pytest.mark.django_db


@pytest.fixture
def confirm(labeler):
    """`confirm(attribute)` has a person confirm what was suggested for it."""

    def confirmed(attribute):
        suggestion = Suggestion.objects.get(attribute=attribute)
        annotation = Annotation.objects.create(
            comment=Comment.objects.get(), person=labeler, submitted_at=datetime(2025, 1, 1, tzinfo=UTC)
        )
        AttributeLabel.objects.create(
            annotation=annotation,
            attribute=attribute,
            state="value",
            outcome="confirmed",
            value=suggestion.words[0],
            hardness=1,
            suggestion=suggestion,
        )

    return confirmed


def guesses(age, occupation):
    return [row(guesses=[guess("age", guesses=[age]), guess("occupation", guesses=[occupation])])]


def test_a_suggestion_that_somebody_judged_is_not_changed(take, confirm):
    take("rows.jsonl", guesses(30, "sailor"))
    confirm("age")
    report = take("rows.jsonl", guesses(62, "angler"))
    assert report.warnings == (
        "1 suggestions differ from the file and were kept, because people have judged them",
    )
    assert counts(report, "suggestions") == (0, 1, 1, 0)
    stored = dict(Suggestion.objects.values_list("attribute", "guesses"))
    assert stored == {"age": [30], "occupation": ["angler"]}


def test_a_judged_suggestion_that_the_file_says_too_needs_no_warning(take, confirm):
    take("rows.jsonl", guesses(30, "sailor"))
    confirm("age")
    assert take("rows.jsonl", guesses(30, "sailor")).warnings == ()


def test_reviews_that_a_changed_file_no_longer_has_are_kept_with_a_warning(take, exported):
    take("rows.jsonl", [row(reviews={"human": review(), "second": review()}), row(1)])
    report = take("rows.jsonl", [row(reviews={"human": review()}), row(1, reviews={})])
    assert report.warnings == ("2 imported reviews are not in the file any more; they were kept",)
    assert [set(one["reviews"]) for one in exported()] == [{"human", "second"}, {"human"}]


def test_reviews_of_people_here_are_no_imported_ones(take, confirm):
    take("rows.jsonl", [row(guesses=[guess("age")], reviews={})])
    confirm("age")
    assert take("rows.jsonl", [row(guesses=[guess("age")], reviews={})]).warnings == ()
