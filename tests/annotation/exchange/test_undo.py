"""An import taken back as a whole: nothing of it stays, nothing else goes, what was built on it is named."""

import json
import random
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.exchange import undoing, uploads
from annotation.models import Annotation, AnnotationEvent, DataImport, ImportChange, Suggestion
from annotation.selectors import consistency
from simulation.domain.typed import NotConfirmed
from simulation.models import Artefact, AuditEntry, Comment, Profile, ProfileVersion, Thread
from simulation.services.artefacts import withdraw
from tests.annotation.exchange.digests import digests
from tests.annotation.exchange.samples import guess, label, lines, profile, review, row
from tests.factories.annotation import queue_over
from tests.factories.simulation import CommentFactory
from tests.published import FOLDER, needs_published_data

pytestmark = pytest.mark.django_db


@pytest.fixture
def take(researcher, corpus, settings, tmp_path):
    """`take(rows)` imports rows of the flat layout, or a table of profiles."""
    settings.MEDIA_ROOT = tmp_path

    def taken(rows, name="rows.jsonl", into=corpus):
        text = json.dumps(rows) if isinstance(rows, dict) else lines(*rows)
        one = uploads.receive(by=researcher, corpus=into, file=SimpleUploadedFile(name, text.encode()))
        uploads.run(import_id=one.pk)
        one.refresh_from_db()
        assert one.state == DataImport.DONE, (one.reason, one.problems)
        return one

    return taken


def said(refusal):
    return " / ".join(str(one) for one in refusal.value.obstacles)


def rows_of(seed, count=12):
    """Rows that are different at every seed in whatever a file may say about the same ids."""
    dice = random.Random(seed)
    features = ["occupation", "age", "sex"]

    def one(number):
        labels = {
            feature: label(str(dice.randint(20, 60)), dice.randint(1, 5), dice.randint(1, 5))
            for feature in dice.sample(features, dice.randint(0, 3))
        }
        kind = {"certainty": dice.choice([1, 3, 5]), "model_eval": dice.choice([[0, 1, 0.5], [0, 0, 0]])}
        return row(
            number,
            parent=f"c{number - 1}" if number % 3 else None,
            thread_id=f"t{number // 3}",
            text=f"Text {dice.randint(0, 2)} of {number}",
            guesses=[guess(feature, **kind) for feature in dice.sample(features, dice.randint(0, 3))],
            reviews={key: review(**labels) for key in dice.sample(["human", "other"], dice.randint(1, 2))},
            score=dice.choice([30, 30.0, "30"]),
        )

    return [one(number) for number in sorted(dice.sample(range(count), count - dice.randint(0, 2) * 3))]


def whole(rows):
    """Only rows whose parents are among them."""
    known = {one["id"] for one in rows}
    return [one for one in rows if one["parent_id"] is None or one["parent_id"] in known]


@pytest.mark.parametrize("seed", range(12))
def test_two_imports_over_each_other_are_taken_back_one_by_one(take, researcher, seed):
    empty = digests()
    first = take(whole(rows_of(seed)))
    after_first = digests()
    second = take(whole(rows_of(seed + 1000, 15)))
    undoing.undo(by=researcher, one=second)
    assert digests() == after_first
    assert not any(checked.deviations for checked in consistency.everything())
    undoing.undo(by=researcher, one=first)
    assert digests() == empty
    assert not ImportChange.objects.exists()


def test_profiles_that_a_file_changed_are_what_they_were(take, researcher):
    take({"pers1": profile("One", age=30), "pers2": profile("Two", score=1.10)}, "profiles.json")
    before = digests()
    second = take(
        {"pers1": profile("One", age=30.0), "pers2": profile("Two", score=1.1, style="x")}, "profiles.json"
    )
    assert Profile.objects.get(external_id="pers2").version == 2
    done = undoing.undo(by=researcher, one=second)
    assert digests() == before
    assert done.given_back[Profile] == 2


def test_a_profile_that_came_late_leaves_the_comments_without_one_again(take, researcher):
    take([row(0, profile=None), row(1, profile=None)])
    before = digests()
    late = take([row(2), row(0), row(1)])
    assert Comment.objects.filter(profile=None).count() == 0
    undoing.undo(by=researcher, one=late)
    assert digests() == before


def test_suggestions_that_a_file_took_away_come_back_with_their_keys(take, researcher):
    take([row(0, guesses=[guess("age"), guess("sex")])])
    before = digests()
    keys = set(Suggestion.objects.values_list("pk", flat=True))
    second = take([row(0, guesses=[guess("occupation")])])
    assert not keys & set(Suggestion.objects.values_list("pk", flat=True))
    done = undoing.undo(by=researcher, one=second)
    assert digests() == before
    assert (done.given_back[Suggestion], done.removed[Suggestion]) == (2, 1)


def test_other_corpora_and_what_was_there_are_left_alone(take, researcher):
    comment = CommentFactory.create(corpus__name="elsewhere")
    take([row(7, thread_id="other")])
    before = digests()
    undoing.undo(by=researcher, one=take([row(0), row(1, "c0")]))
    assert digests() == before
    assert Comment.objects.filter(pk=comment.pk).exists()


def test_who_did_it_is_written_down_with_numbers(take, researcher):
    one = take([row(0, guesses=[guess()])])
    undoing.undo(by=researcher, one=one)
    one.refresh_from_db()
    assert (one.state, one.undone_by, one.made) == ("undone", researcher, {})
    entry = AuditEntry.objects.get(action="import.undone")
    assert (entry.actor, entry.details["given_back"]) == (researcher, 0)
    assert entry.details["removed"] > 5


def test_a_second_undo_says_that_it_is_done(take, researcher):
    one = take([row(0)])
    undoing.undo(by=researcher, one=one)
    with pytest.raises(undoing.NotPossible, match="undone already"):
        undoing.undo(by=researcher, one=one)


def test_what_changed_nothing_only_looked_or_failed_cannot_be_undone(take, researcher, corpus):
    take([row(0)])
    with pytest.raises(undoing.NotPossible, match="nothing to undo"):
        undoing.undo(by=researcher, one=take([row(0)]))
    for state, dry_run, words in (("done", True, "only looked"), ("invalid", False, "changed nothing")):
        one = DataImport.objects.create(corpus=corpus, by=researcher, state=state, dry_run=dry_run)
        with pytest.raises(undoing.NotPossible, match=words):
            undoing.undo(by=researcher, one=one)
    old = DataImport.objects.create(
        corpus=corpus, by=researcher, state="done", counts={"rows": [{"new": 1, "changed": 0}]}
    )
    with pytest.raises(undoing.NotPossible, match="before imports kept"):
        undoing.undo(by=researcher, one=old)


@pytest.fixture
def imported(take):
    return take([row(0, guesses=[guess()]), row(1, "c0")])


@pytest.fixture
def refused(imported, researcher):
    """`refused()` is what the refusal says; nothing has changed by then."""

    def refusal():
        before = digests()
        with pytest.raises(undoing.BuiltOn) as error:
            undoing.undo(by=researcher, one=imported)
        assert digests() == before
        imported.refresh_from_db()
        assert imported.state == "done"
        return said(error)

    return refusal


def test_queue_items_and_annotations_of_people_stand_in_the_way(refused, labeler, corpus):
    comment = Comment.objects.get(external_id="c0")
    queue_over(corpus)
    Annotation.objects.create(comment=comment, person=labeler, submitted_at=timezone.now())
    assert refused() == "2 items of a queue with its comments / 1 annotation from elsewhere of its comments"


def test_replies_and_suggestions_made_here_stand_in_the_way(refused, corpus):
    parent = Comment.objects.get(external_id="c0")
    reply = CommentFactory.create(corpus=corpus, thread=parent.thread, parent=parent, profile=parent.profile)
    Suggestion.objects.create(comment=parent, tagger="another", attribute="age")
    Suggestion.objects.create(comment=reply, tagger="another", attribute="age")
    words = refused()
    assert "1 comment from elsewhere: a reply to its comments, in its threads or by its authors" in words
    assert "1 suggestion from elsewhere for its comments" in words


def test_edits_checks_and_withdrawals_stand_in_the_way(refused, researcher):
    author = Profile.objects.get(external_id="pers0")
    ProfileVersion.objects.create(profile=author, version=1, username="x", facts={})
    Profile.objects.filter(pk=author.pk).update(checked_at=timezone.now())
    withdraw(by=researcher, comments=Comment.objects.filter(external_id="c1"))
    words = refused()
    assert "1 profile version of its profiles" in words
    assert "1 profile that somebody has checked" in words
    assert "1 comment withdrawn since" in words


def test_an_artefact_that_nobody_decided_on_goes_with_its_comment(imported, researcher, refused):
    comment = Comment.objects.get(external_id="c0")
    found = Artefact.objects.create(comment=comment, rule="x", start=0, end=1)
    Artefact.objects.filter(pk=found.pk).update(state="cleared")
    assert refused() == "1 artefact in its comments that somebody decided on"
    Artefact.objects.filter(pk=found.pk).update(state="open")
    undoing.undo(by=researcher, one=imported)
    assert not Artefact.objects.exists()


def test_a_later_import_comes_first(take, imported, refused, researcher):
    later = take([row(0, text="Another text"), row(2, "c1")], "later.jsonl")
    words = refused()
    assert "2 rows of it that the later import of later.jsonl has changed; undo that one first" in words
    assert "1 comment from elsewhere" in words
    undoing.undo(by=researcher, one=later)
    undoing.undo(by=researcher, one=imported)
    assert not Comment.objects.exists()


def test_what_a_command_changed_since_is_not_taken_away(imported, refused, tmp_path, researcher):
    path = tmp_path / "later.jsonl"
    path.write_text(lines(row(0, text="Another text", guesses=[]), row(1, "c0")))
    call_command("import_synthpai", path, corpus=imported.corpus.name, dry_run=True)
    imported.refresh_from_db()
    assert "overwritten" not in imported.counts
    call_command("import_synthpai", path, corpus=imported.corpus.name)
    imported.refresh_from_db()
    assert refused() == "2 rows of it that a later import by command has changed"


def test_a_row_that_changed_since_is_not_given_back_over_the_change(take, imported, researcher):
    second = take([row(0, text="Second text")])
    Comment.objects.filter(external_id="c0").update(text="By hand")
    with pytest.raises(undoing.BuiltOn, match="1 comment that it changed, changed again since"):
        undoing.undo(by=researcher, one=second)
    Comment.objects.filter(external_id="c0").update(text="Second text", state="withdrawn")
    undoing.undo(by=researcher, one=second)
    comment = Comment.objects.get(external_id="c0")
    assert (comment.text, comment.state) == ("Sentence number 0 about the harbour.", "withdrawn")


def test_a_row_that_a_later_import_changed_again_names_that_import(take, researcher):
    take(rows_of(1))
    second = take(rows_of(2), name="second.jsonl")
    take(rows_of(3), name="third.jsonl")
    with pytest.raises(undoing.BuiltOn, match=r"at last by the import of third\.jsonl; undo that one first"):
        undoing.undo(by=researcher, one=second)


def test_a_place_that_is_taken_refuses_the_whole(take, imported, researcher):
    second = take([row(0, guesses=[])])
    before = digests()
    Suggestion.objects.create(
        comment=Comment.objects.get(external_id="c0"), tagger="imported", attribute="occupation"
    )
    with pytest.raises(undoing.NotPossible, match="stands where a row would go back to"):
        undoing.undo(by=researcher, one=second)
    Suggestion.objects.all().delete()
    assert digests() == before


def test_what_the_checks_do_not_see_the_foreign_keys_do(imported, labeler, researcher, monkeypatch):
    queue_over(imported.corpus)
    before = digests()
    monkeypatch.setattr(undoing, "obstacles", lambda one: [])
    with pytest.raises(undoing.NotPossible, match="built on this import just now"):
        undoing.undo(by=researcher, one=imported)
    assert digests() == before


def test_events_stay_append_only_afterwards(take, imported, researcher):
    kept = take([row(9, thread_id="kept", reviews={"human": review(age=label("30", 1, 5))})])
    undoing.undo(by=researcher, one=imported)
    assert AnnotationEvent.objects.exists()
    with pytest.raises(Exception, match="append-only"):
        AnnotationEvent.objects.all().delete()
    assert kept.made


def test_somebody_asks_by_typing_the_name_and_a_worker_does_it(imported, researcher):
    with pytest.raises(NotConfirmed):
        undoing.ask(by=researcher, one=imported, typed="row.jsonl")
    assert undoing.stale() == []
    undoing.ask(by=researcher, one=imported, typed="rows.jsonl")
    with pytest.raises(undoing.NotPossible, match="asked for this already"):
        undoing.ask(by=researcher, one=imported, typed="rows.jsonl")
    assert undoing.stale() == [imported.pk]
    undoing.run(import_id=imported.pk)
    undoing.run(import_id=imported.pk)
    imported.refresh_from_db()
    assert imported.state == "undone"
    assert undoing.stale() == []
    assert not Thread.objects.exists()


def test_what_comes_between_asking_and_doing_is_said_on_the_row(imported, researcher):
    undoing.ask(by=researcher, one=imported, typed="rows.jsonl")
    queue_over(imported.corpus)
    undoing.run(import_id=imported.pk)
    imported.refresh_from_db()
    assert (imported.state, imported.undone_by) == ("done", None)
    assert "2 items of a queue with its comments" in imported.reason


def test_an_error_of_ours_ends_the_asking(imported, researcher, monkeypatch, caplog):
    undoing.ask(by=researcher, one=imported, typed="rows.jsonl")
    monkeypatch.setattr(undoing, "give_back", lambda key: 1 / 0)
    undoing.run(import_id=imported.pk)
    imported.refresh_from_db()
    assert (imported.state, imported.undone_by, imported.reason) == ("done", None, undoing.STOPPED)
    assert "division" in caplog.text


def test_a_lost_worker_is_not_lost_for_ever(imported, researcher):
    undoing.ask(by=researcher, one=imported, typed="rows.jsonl")
    DataImport.objects.update(attempts=undoing.ATTEMPTS)
    undoing.run(import_id=imported.pk)
    imported.refresh_from_db()
    assert imported.reason.startswith("The worker was lost 3 times")


def test_the_command_undoes_by_public_id(imported, capsys):
    call_command("undo_import", imported.public_id)
    said = capsys.readouterr().out
    assert "2 comments" in said
    imported.refresh_from_db()
    assert (imported.state, imported.undone_by) == ("undone", None)
    with pytest.raises(CommandError, match="undone already"):
        call_command("undo_import", imported.public_id)
    with pytest.raises(CommandError, match="no import"):
        call_command("undo_import", "nothing")


def test_reviews_of_a_later_file_are_taken_back_event_by_event(take, researcher):
    take([row(0, reviews={"human": review(age=label("30", 1, 5), sex=label("male", 2, 3))})])
    before = digests()
    second = take([row(0, reviews={"human": review(age=label("31", 1, 5), education=label("PhD", 2, 3))})])
    assert Annotation.objects.get().version == 2
    undoing.undo(by=researcher, one=second)
    assert digests() == before
    assert Annotation.objects.get().submitted_at < timezone.now() + timedelta(days=1)


@needs_published_data
@pytest.mark.published
def test_the_published_files_are_taken_back_one_after_the_other(researcher, corpus, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    threads = sorted((FOLDER / "threads").iterdir())[:3]
    done = []
    for path in [FOLDER / "profiles.json.gz", *threads]:
        done.append((digests(), path))
        file = SimpleUploadedFile(path.name, path.read_bytes())
        one = uploads.receive(by=researcher, corpus=corpus, file=file)
        uploads.run(import_id=one.pk)
    assert Comment.objects.count() > 100
    profiles = DataImport.objects.earliest("pk")
    with pytest.raises(undoing.BuiltOn, match="comments from elsewhere"):
        undoing.undo(by=researcher, one=profiles)
    for (before, _), one in zip(reversed(done), DataImport.objects.order_by("-pk"), strict=True):
        undoing.undo(by=researcher, one=one)
        assert digests() == before
