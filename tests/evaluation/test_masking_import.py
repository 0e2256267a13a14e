"""A released masking finds its comments by user name and text; what it does not find is counted and said."""

import gzip
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.exchange.dataset import import_paths
from evaluation.exchange.importing_reading import Refused
from evaluation.exchange.masking_import import AFTER, BEFORE, import_masking
from evaluation.models import MaskedText, Masking, Report
from evaluation.selectors import masking as selected
from evaluation.selectors.masking import Narrowed
from simulation.models import AuditEntry, Comment, Corpus
from tests.factories.simulation import CommentFactory, CorpusFactory, ThreadFactory
from tests.published import FOLDER, needs_published_data

pytestmark = pytest.mark.django_db
ANN = ["I moved to Quizzle last year. ", "The night bus, again.", "The night bus, again."]
BOB = ["* Quizzle * is not for me", "Never seen here."]
ANN_MASKED = ["I moved to ******* last year. ", "The night bus, again.", "The night ***, again."]
BOB_MASKED = ["* ******* * is not for me", "Never seen ****."]


def write(folder, name, *rows):
    labels = folder / "labels"
    labels.mkdir(exist_ok=True)
    lines = [one if isinstance(one, str) else json.dumps(one) for one in rows]
    (labels / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


def profile(name, texts):
    return {"username": name, "comments": [{"text": text, "username": name} for text in texts]}


@pytest.fixture
def folder(tmp_path):
    """Two profiles in two files, the second file in another order."""
    write(tmp_path, BEFORE, profile("Ann", ANN), profile("Bob", BOB))
    write(tmp_path, AFTER, profile("Bob", BOB_MASKED), profile("Ann", ANN_MASKED))
    return tmp_path


@pytest.fixture
def comments(corpus):
    """All comments of the files but one; trimmed, as imports keep them."""
    thread = ThreadFactory(corpus=corpus)
    known = [("Ann", text) for text in ANN] + [("Bob", BOB[0])]
    return [CommentFactory(thread=thread, username=name, text=text.strip()) for name, text in known]


def rows(masking):
    order = masking.rows.order_by("comment__sequence")
    return [(row.comment.username, row.text, row.spans) for row in order.select_related("comment")]


def span(start, end):
    return {"start": start, "end": end, "category": "", "confidence": None}


def test_each_text_finds_its_comment_and_what_is_not_found_is_counted(corpus, folder, comments, researcher):
    made = import_masking(corpus, folder, name="released", by=researcher)
    assert made.file == {
        "comments": 5,
        "changed": 4,
        "equal_length": 5,
        "masked_characters": 7 + 3 + 7 + 4,
        "characters": sum(map(len, ANN + BOB)),
    }
    assert (made.kept, made.unmatched, made.edited, made.alone) == (4, 1, 0, 0)
    assert made.examples == [("Bob", "Never seen here.")]
    assert rows(made.masking) == [
        ("Ann", "I moved to ******* last year.", [span(11, 18)]),
        ("Ann", "The night bus, again.", []),
        ("Ann", "The night ***, again.", [span(10, 13)]),
        ("Bob", "* ******* * is not for me", [span(2, 9)]),
    ]
    one = Masking.objects.get()
    assert (one.origin, one.state, one.style, one.file_name) == (
        "imported",
        "done",
        "stars",
        f"{AFTER}.jsonl",
    )
    assert (one.texts, one.changed, one.masked_characters) == (4, 3, 17)
    assert one.options["import"]["unmatched"] == 1
    assert selected.current(one).count() == 4
    assert AuditEntry.objects.get().action == "masking.imported"
    assert Report.objects.get().kind == "masking"


def test_the_same_file_again_changes_nothing(corpus, folder, comments):
    first = import_masking(corpus, folder)
    again = import_masking(corpus, folder)
    assert (again.is_same, again.masking, again.numbers) == (True, first.masking, first.numbers)
    assert MaskedText.objects.count() == 4
    assert AuditEntry.objects.count() == 1


def test_another_file_under_the_same_name_is_refused(corpus, folder, comments):
    import_masking(corpus, folder)
    write(folder, AFTER, profile("Ann", ANN))
    with pytest.raises(Refused, match="choose another name"):
        import_masking(corpus, folder)
    assert import_masking(corpus, folder, name="another").kept == 3


def test_a_comment_edited_since_keeps_what_it_was_and_counts_as_edited(corpus, folder, comments):
    Comment.objects.filter(pk=comments[0].pk).update(text="Taken back.", original_text=ANN[0].strip())
    made = import_masking(corpus, folder)
    assert (made.kept, made.edited, made.unmatched) == (4, 1, 1)
    assert selected.current(made.masking).count() == made.masking.texts == 3
    assert selected.texts(made.masking, Narrowed()).rows[0].is_edited in (True, False)
    assert selected.edited(made.masking) == 1


def test_comments_of_one_file_only_are_counted(corpus, folder, comments):
    write(folder, AFTER, profile("Ann", ANN_MASKED[:2]), profile("Eve", ["x", "y"]))
    made = import_masking(corpus, folder)
    assert (made.kept, made.alone) == (2, 1 + 2 + 2)


def test_texts_of_other_lengths_have_no_marks(corpus, folder, comments):
    write(folder, AFTER, profile("Ann", ["I moved to <LOCATION> last year.", *ANN[1:]]))
    made = import_masking(corpus, folder)
    assert rows(made.masking)[0] == ("Ann", "I moved to <LOCATION> last year.", [])
    assert made.masking.style == "category"


def test_a_corpus_without_comments_says_what_to_import_first(folder):
    with pytest.raises(Refused, match="import them first: threads/"):
        import_masking(CorpusFactory(), folder)


def test_a_corpus_of_other_comments_is_refused_and_nothing_stays(corpus, folder):
    CommentFactory(thread__corpus=corpus, text="Something else.")
    with pytest.raises(Refused, match="none of its 5 comments is in winter"):
        import_masking(corpus, folder)
    assert not Masking.objects.exists()


def test_without_the_texts_before_it_is_refused(corpus, folder, comments):
    (folder / "labels" / f"{BEFORE}.jsonl").unlink()
    with pytest.raises(Refused, match="both files are needed"):
        import_masking(corpus, folder)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{broken", "line 3"),
        (profile("Ann", ["x"]), "stands in line 2 already"),
        ({"username": "Eve", "comments": [7]}, r"comments\[0\]"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_nothing_stays(corpus, folder, comments, line, said):
    write(folder, AFTER, profile("Bob", BOB_MASKED), profile("Ann", ANN_MASKED), line)
    with pytest.raises(Refused, match=said):
        import_masking(corpus, folder)
    assert not MaskedText.objects.exists()


def called(folder, **options):
    out = StringIO()
    call_command("import_masking", str(folder), corpus="winter", stdout=out, **options)
    return out.getvalue()


def test_the_command_says_what_became_of_it(folder, comments):
    said = json.loads(called(folder, json=True))
    assert (said["outcome"], said["kept"], said["unmatched"]) == ("new", 4, 1)
    assert said["file"]["masked_characters"] == 21
    assert "outcome                  same" in called(folder)
    assert "not found: Bob: Never seen here." in called(folder, name="other")


@pytest.mark.parametrize("options", [{"corpus": "summer"}, {"name": " "}])
def test_the_command_refuses_with_status_2(folder, comments, options):
    with pytest.raises(CommandError) as raised:
        call_command("import_masking", str(folder), **{"corpus": "winter"} | options)
    assert raised.value.returncode == 2


@pytest.mark.published
@needs_published_data
def test_the_published_masking_has_the_published_counts():
    expected = json.loads((FOLDER / "expected.json").read_text())["anonymised"]
    import_paths(paths=[FOLDER], corpus_name="paper")
    corpus = Corpus.objects.get()
    made = import_masking(corpus, FOLDER)
    assert made.file == expected
    assert made.kept + made.unmatched == expected["comments"]
    assert made.masking.texts == made.kept == selected.current(made.masking).count()
    # The folder holds 93 of the trees: what the others said is counted as not found.
    assert 7000 < made.kept < expected["comments"]


@pytest.mark.published
@needs_published_data
def test_with_all_comments_of_the_file_nothing_is_lost(corpus):
    """A corpus made of the very comments of the file: the counts of the rows are the published ones."""
    expected = json.loads((FOLDER / "expected.json").read_text())["anonymised"]
    thread = ThreadFactory(corpus=corpus)
    comments = []
    with gzip.open(FOLDER / "labels" / f"{BEFORE}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            comments += [
                CommentFactory.build(
                    thread=thread, corpus=corpus, username=row["username"], text=one["text"].strip()
                )
                for one in row["comments"]
            ]
    Comment.objects.bulk_create(comments)
    made = import_masking(corpus, FOLDER)
    assert (made.unmatched, made.kept) == (0, expected["comments"])
    assert made.masking.changed == expected["changed"]
    assert made.masking.masked_characters == expected["masked_characters"]
