"""Importing again: the same changes nothing, changes are taken over, people's work is left alone."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.exchange import upsert
from annotation.exchange.dataset import BadPath, import_paths
from annotation.models import Annotation, AnnotationEvent, AttributeLabel, Suggestion
from annotation.services.review import labels_from_events
from simulation.models import AuditEntry, Comment, Corpus, Profile
from tests.annotation.exchange.conftest import counts, said
from tests.annotation.exchange.samples import guess, label, node, profile, review, row

pytestmark = pytest.mark.django_db
LAYOUT = ("profiles", "threads", "comments", "suggestions", "annotations", "labels")


def rows(**fields):
    return [row(0, children=["c1"], guesses=[guess()]), row(1, "c0", reviews={"human": review(**fields)})]


def labelled(person, comment, **labels):
    """An annotation of a person here, with labels as `age=("41", 2, 3)`."""
    annotation = Annotation.objects.create(
        comment=comment, person=person, submitted_at=datetime(2025, 1, 1, tzinfo=UTC)
    )
    for attribute, (value, hardness, certainty) in labels.items():
        AttributeLabel.objects.create(
            annotation=annotation,
            attribute=attribute,
            state="value",
            outcome="corrected",
            value=value,
            hardness=hardness,
            certainty=certainty,
            suggestion=comment.suggestions.first(),
        )
    return annotation


def test_twice_changes_nothing(take):
    first = take("rows.jsonl", rows(age=label("41", 2, 3)))
    again = take("rows.jsonl", rows(age=label("41", 2, 3)))
    for kind in LAYOUT:
        assert counts(again, kind) == (0, 0, first.tallies[kind].new, 0), kind
    assert AnnotationEvent.objects.count() == 1


def test_the_same_again_writes_nothing(take):
    take("rows.jsonl", rows())
    with CaptureQueriesContext(
        connection,
    ) as queries:
        take("rows.jsonl", rows())
    assert [
        one["sql"] for one in queries if not one["sql"].startswith(("SELECT", "SAVEPOINT", "RELEASE"))
    ] == []


def test_a_file_in_batches_is_the_same_as_in_one_piece(take, exported, monkeypatch):
    monkeypatch.setattr(upsert.batches, "__defaults__", (2,))
    many = [row(number, f"c{number + 1}" if number < 6 else None) for number in range(7)]
    assert counts(take("rows.jsonl", many)) == (7, 0, 0, 0)
    assert counts(take("rows.jsonl", many)) == (0, 0, 7, 0)
    assert [one["id"] for one in exported()] == [f"c{number}" for number in range(7)]
    assert Comment.objects.get(external_id="c0").depth == 6


def test_a_profile_that_a_later_row_brings_is_linked_at_once(take, monkeypatch):
    monkeypatch.setattr(upsert.batches, "__defaults__", (2,))
    mixed = [row(number, username="Gull", author="p", profile=None) for number in range(5)]
    mixed[4]["profile"] = profile("Gull")
    assert take("rows.jsonl", mixed).warnings == ()
    assert Comment.objects.filter(profile__username="Gull").count() == 5
    assert counts(take("rows.jsonl", mixed)) == (0, 0, 5, 0)


def test_a_changed_label_is_updated_with_an_event(take):
    take("rows.jsonl", rows(age=label("41", 2, 3)))
    report = take("rows.jsonl", rows(age=label("42", 2, 3), sex=label("male", 1, 5)))
    assert counts(report, "labels") == (0, 2, 14, 0)
    assert counts(report, "annotations") == (0, 1, 1, 0)
    annotation = Annotation.objects.get(comment__external_id="c1")
    assert annotation.version == 2
    assert {key: one["value"] for key, one in labels_from_events(annotation).items()} == {
        "age": "42",
        "sex": "male",
    }
    event = annotation.events.get(old__value="41")
    assert (event.new["value"], event.source) == ("42", "import")


def test_a_label_that_the_file_no_longer_has_goes_with_an_event(take, exported):
    take("rows.jsonl", [row(reviews={"human": {"age": label("41", 2, 3), "sex": label("", 0, 0)}})])
    changed = [row(reviews={"human": {"sex": label("", 0, 0), "education": label("PhD", 1, 1)}})]
    assert counts(take("rows.jsonl", changed), "labels") == (1, 1, 1, 0)
    assert exported() == changed
    annotation = Annotation.objects.get()
    assert set(labels_from_events(annotation)) == {"education"}


def test_a_reviewer_whom_the_file_does_not_name_is_left_alone(take, exported):
    take("rows.jsonl", rows(age=label("41", 2, 3)))
    take("rows.jsonl", [row(0, children=["c1"], reviews={}), row(1, "c0", reviews={"second": review()})])
    assert set(exported()[1]["reviews"]) == {"human", "second"}


def test_a_persons_labels_survive_the_import_untouched(take, labeler):
    take("rows.jsonl", rows(age=label("41", 2, 3)))
    for number in (0, 1):
        labelled(labeler, Comment.objects.get(external_id=f"c{number}"), age=("55", 1, 5))
    before = list(Annotation.objects.filter(person=labeler).values())
    labels = AttributeLabel.objects.filter(annotation__person=labeler)
    marks = list(labels.values())
    take("rows.jsonl", rows(age=label("12", 5, 5)))
    assert list(Annotation.objects.filter(person=labeler).values()) == before
    assert list(labels.values()) == marks


def test_a_suggestion_that_a_persons_label_refers_to_is_kept(take, labeler):
    take("rows.jsonl", rows())
    labelled(labeler, Comment.objects.get(external_id="c0"), occupation=("sailor", 1, 5))
    report = take("rows.jsonl", [row(0, children=["c1"], guesses=None), *rows()[1:]])
    assert report.warnings == (
        "1 suggestions that the file no longer has were kept, because a person's label refers to them",
    )
    assert Suggestion.objects.count() == 1
    assert AttributeLabel.objects.get(annotation__person=labeler).suggestion is not None


def test_suggestions_of_other_taggers_are_left_alone(take):
    take("rows.jsonl", rows())
    comment = Comment.objects.get(external_id="c0")
    Suggestion.objects.create(
        comment=comment, tagger="model x", attribute="occupation", hardness_word="direct"
    )
    assert counts(take("rows.jsonl", rows()), "suggestions") == (0, 0, 1, 0)
    assert Suggestion.objects.count() == 2


def test_a_text_that_was_edited_here_stays_edited(take, exported):
    take("rows.jsonl", [row(text=" before ")])
    Comment.objects.update(text="after", original_text="before")
    assert counts(take("rows.jsonl", [row(text=" before ")])) == (0, 0, 1, 0)
    assert counts(take("rows.jsonl", [row(text=" corrected ")])) == (0, 1, 0, 0)
    stored = Comment.objects.get()
    assert (stored.text, stored.original_text) == ("after", "corrected")
    assert exported()[0]["text"] == "after"


def test_new_replies_in_a_later_file_go_behind_those_that_are_there(take, exported):
    take("a.jsonl", [row(0, children=["c1"]), row(1, "c0")])
    take("b.jsonl", [row(5, "c0"), row(6, "c0")])
    assert exported()[0]["children"] == ["c1", "c5", "c6"]
    assert list(Comment.objects.order_by("sequence").values_list("external_id", "position")) == [
        ("c0", 0),
        ("c1", 0),
        ("c5", 1),
        ("c6", 2),
    ]
    assert counts(take("b.jsonl", [row(6, "c0")])) == (0, 0, 1, 0)


def test_a_dry_run_counts_and_writes_nothing(take):
    take("profiles.json", {"pers0": profile("Author0")})
    real_before = Comment.objects.count(), Profile.objects.count(), Annotation.objects.count()
    report = take("rows.jsonl", rows(), dry_run=True)
    assert report.dry_run
    assert counts(report) == (2, 0, 0, 0)
    assert counts(report, "profiles") == (1, 0, 1, 0)
    assert (Comment.objects.count(), Profile.objects.count(), Annotation.objects.count()) == real_before
    assert "Dry run: nothing was written; 1 file in" in list(report.lines())[-1]


def test_a_dry_run_into_a_corpus_that_is_not_there_makes_none(take):
    assert counts(take("rows.jsonl", rows(), dry_run=True)) == (2, 0, 0, 0)
    assert not Corpus.objects.exists()
    assert not AuditEntry.objects.exists()


def test_a_dry_run_over_several_files_sees_what_the_ones_before_would_have_stored(write):
    write("profiles.json", {"pers1": profile("Gull")})
    folder = write("threads/t.json", node("Gull")).parent.parent
    report = import_paths(paths=[folder], corpus_name="harbour", dry_run=True)
    assert report.warnings == ()
    assert counts(report) == (1, 0, 0, 0)


def test_files_before_an_invalid_one_stay_and_those_after_it_are_only_checked(write):
    names = [
        write("a.json", node()),
        write("b.json", node(text=5)),
        write("c.json", node()),
        write("d.json", node(text=6)),
    ]
    report = import_paths(paths=names, corpus_name="harbour")
    assert [one.outcome for one in report.files] == ["imported", "invalid", "skipped", "invalid"]
    assert [one.external_id for one in Comment.objects.all()] == ["a/0"]
    assert report.problem_count == 2
    assert list(report.lines())[-3:] == [
        "Imported before the first invalid file, and kept: a.json.",
        "Invalid, nothing of it was imported: b.json, d.json.",
        "Checked only, because they come after an invalid file: c.json.",
    ]


def test_an_invalid_file_makes_no_corpus(take):
    assert not take("t.json", node(text=5)).ok
    assert not Corpus.objects.exists()


def test_a_folder_means_its_profiles_and_threads_in_natural_order(write):
    for name in ("threads/t_10.json", "threads/t_2.json.gz", "threads/notes.txt"):
        write(name, node("Gull"))
    folder = write("profiles.json.gz", {"p": profile("Gull")}).parent
    report = import_paths(paths=[folder], corpus_name="harbour", licence="CC0-1.0", description="Gulls.")
    assert [one.file for one in report.files] == ["profiles.json.gz", "t_2.json.gz", "t_10.json"]
    corpus = Corpus.objects.get()
    assert (corpus.licence, corpus.description) == ("CC0-1.0", "Gulls.")
    assert AuditEntry.objects.get().action == "corpus.created"


def test_paths_that_mean_nothing_are_refused(write, tmp_path):
    for path, message in (
        (tmp_path / "none", "there is no such file or folder"),
        (tmp_path, "has neither profiles.json nor trees in threads/"),
    ):
        with pytest.raises(BadPath, match=message):
            import_paths(paths=[path], corpus_name="harbour")
    write("profiles.json", {})
    write("profiles.json.gz", {})
    with pytest.raises(BadPath, match=r"has both profiles.json and profiles.json.gz; remove one"):
        import_paths(paths=[tmp_path], corpus_name="harbour")


def test_two_trees_of_one_name_are_not_laid_over_each_other(write):
    report = import_paths(paths=[write("a/t.json", node()), write("b/t.json", node())], corpus_name="harbour")
    assert "another tree of this import is called t, too" in said(report)[0]
    assert Comment.objects.count() == 1


def test_a_comment_without_text_is_taken_with_a_warning(take):
    assert take("rows.jsonl", [row(text="")]).warnings == ("1 comments without any text",)
