"""Models are asked about masked texts: what is shown, what is left out, what it is compared with, and whether
a masker that hides clues is measured to hide as many as it does."""

import json
import random
import re
import uuid
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.domain.boards import Board, from_json
from evaluation.domain.masking import Category, Span
from evaluation.models import MaskedText, Masking, PredictionRun
from evaluation.selectors import boards
from evaluation.services import following, inferring, masking, masking_maskers, reports
from evaluation.services.inferring import Inferring, Wish, start_inference
from evaluation.services.masking import carry_out, mask_corpus
from evaluation.services.masking_maskers import Kind
from simulation.domain.plans import BadPlan, RoleModel
from simulation.models import Comment, Run
from tests.factories.evaluation import LabelSetFactory, ProfileLabelFactory
from tests.factories.simulation import CommentFactory, CorpusFactory, ProfileFactory, ProviderFactory
from tests.fakes.llm import reply
from tests.running import balanced, committing, work_off

pytestmark = pytest.mark.django_db
CLUE = "glassblower"


class Hiding:
    """Hides the clue of every comment whose number is in `hidden`."""

    name, version = "hiding", "1"

    def __init__(self, hidden):
        self.hidden = hidden

    def spans(self, text):
        number = int(re.search(r"number (\d+)", text)[1])
        found = re.search(r"\b(?:male|female|glassblower)\b", text)
        return [Span(*found.span(), Category.PERSON_TYPE)] if found and number in self.hidden else []


@pytest.fixture
def hide(monkeypatch):
    """`hide(corpus, numbers)` is a masking, done, in which the clues of these comments are hidden."""

    def made(corpus, hidden, name="hidden"):
        one = Hiding(set(hidden))
        registry = {"hiding": Kind("hiding", "Hiding", "", lambda: one.version, lambda language: one)}
        monkeypatch.setattr(masking_maskers, "REGISTRY", registry)
        monkeypatch.setattr(masking, "REGISTRY", registry)
        masked = mask_corpus(corpus, name=name, masker="hiding")
        carry_out(masked.pk)
        return Masking.objects.get(pk=masked.pk)

    return made


@pytest.fixture
def provider(db):
    return ProviderFactory(name="ours")


@pytest.fixture
def labels(corpus):
    """Two authors, each with a comment that says what they do and one that says nothing."""
    found = LabelSetFactory(corpus=corpus, name="ours", labels=2, profiles=2)
    for number in range(2):
        author = ProfileFactory(corpus=corpus, username=f"Author{number}")
        CommentFactory(thread__corpus=corpus, profile=author, text=f"I am a {CLUE}, number {number}.")
        CommentFactory(thread__corpus=corpus, profile=author, text=f"The night bus, number {10 + number}.")
        ProfileLabelFactory(label_set=found, profile=author, attribute="occupation", value=CLUE)
    return found


@pytest.fixture
def heard(gateway):
    """What was shown, call by call; the model says what it finds."""
    shown = []

    def answer(request, attempt):
        text = request.messages[-1].content
        shown.append(text)
        guess = CLUE if CLUE in text else "shepherd"
        return reply(f"Type: occupation\nInference: So it sounds.\nGuess: {guess}; farmer; clerk")

    gateway.answers = answer
    return shown


def asked(corpus, labels, provider, masking=None, **options):
    wish = Wish(
        **{"name": "who", "provider": provider, "model": RoleModel("scripted", 0.1), "labels": labels}
        | {"masking": masking, **options}
    )
    into = start_inference(corpus, wish, by=None)
    run = work_off(into.run, Inferring())
    into.refresh_from_db()
    assert balanced(run)
    return into


def guesses(into):
    rows = into.rows.order_by("profile__username")
    return {row.profile.username: (row.outcome, row.guesses[:1]) for row in rows.select_related("profile")}


def test_the_masked_text_of_each_comment_is_shown_and_the_prompt_says_so(
    corpus, labels, provider, heard, hide
):
    into = asked(corpus, labels, provider, hide(corpus, [0]))
    assert f"I am a {'*' * len(CLUE)}, number 0.\nThe night bus, number 10." in heard[0]
    assert f"I am a {CLUE}, number 1." in heard[1]
    assert all("masked by asterisks" in shown for shown in heard)
    assert (into.text, into.recipe["texts"]) == (PredictionRun.ANONYMISED, "masked: hidden")
    assert into.masking == Masking.objects.get()
    assert guesses(into)["Author0"] == ("answered", ["shepherd"])
    assert CLUE not in str(into.run.plan)


def test_plain_runs_stay_plain(corpus, labels, provider, heard, hide):
    hide(corpus, [0])
    into = asked(corpus, labels, provider)
    assert (into.text, into.counterpart, into.masking) == (PredictionRun.PLAIN, None, None)
    assert all("masked by" not in shown for shown in heard)
    assert inferring.unmasked(into) == 0


def test_comments_without_a_masked_text_or_edited_since_are_left_out_and_counted(
    corpus, labels, provider, heard, hide
):
    one = hide(corpus, [0])
    edited, gone = Comment.objects.filter(username="Author0").order_by("sequence")
    Comment.objects.filter(pk=edited.pk).update(text=f"I was a {CLUE}.")
    MaskedText.objects.filter(comment__username="Author1", text__startswith="The night").delete()
    into = asked(corpus, labels, provider, one)
    assert inferring.unmasked(into) == 2
    assert CLUE not in heard[0]
    assert gone.text in heard[0]
    assert "The night bus" not in heard[1]


def test_authors_without_any_masked_text_are_not_asked_about(corpus, labels, provider, heard, hide):
    one = hide(corpus, [0])
    MaskedText.objects.filter(comment__username="Author0").delete()
    assert list(guesses(asked(corpus, labels, provider, one))) == ["Author1"]
    MaskedText.objects.all().delete()
    with pytest.raises(BadPlan, match="nobody to ask about"):
        asked(corpus, labels, provider, one)


def test_an_author_whose_texts_went_meanwhile_is_an_outcome_of_its_own(corpus, labels, provider, heard, hide):
    wish = Wish("who", provider, RoleModel("scripted", 0.1), labels=labels, masking=hide(corpus, [0]))
    into = start_inference(corpus, wish, by=None)
    MaskedText.objects.filter(comment__username="Author0").delete()
    work_off(into.run, Inferring())
    assert guesses(into)["Author0"] == ("error", [])
    assert "none of 2 comments has a masked text" in into.rows.get(profile__username="Author0").detail


def test_it_is_compared_with_the_one_plain_run_of_the_same_model_labels_and_prompt(
    corpus, labels, provider, heard, hide
):
    one = hide(corpus, [0])
    assert asked(corpus, labels, provider, one).counterpart is None
    plain = asked(corpus, labels, provider)
    asked(corpus, labels, provider, comment_tokens=100)
    asked(corpus, None, provider)
    asked(corpus, labels, provider, called="another model")
    assert asked(corpus, labels, provider, one).counterpart == plain
    asked(corpus, labels, provider)
    assert asked(corpus, labels, provider, one).counterpart is None


@pytest.mark.parametrize("state", ["waiting", "running", "failed"])
def test_a_masking_that_is_not_done_is_refused(corpus, labels, provider, gateway, hide, state):
    one = hide(corpus, [0])
    one.state = state
    with pytest.raises(BadPlan, match=f"is {state}") as raised:
        asked(corpus, labels, provider, one)
    assert raised.value.field == "masking"


def test_a_masking_of_another_corpus_is_refused(corpus, labels, provider, gateway, hide):
    other = CorpusFactory()
    CommentFactory(thread__corpus=other, text="number 1")
    with pytest.raises(BadPlan, match="No masking of this corpus"):
        asked(corpus, labels, provider, hide(other, []))


def test_the_form_offers_maskings_that_are_done_and_says_what_is_left_out(
    client_of, admin, corpus, labels, provider, heard, hide
):
    one = hide(corpus, [0])
    MaskedText.objects.filter(text__startswith="The night bus, number 10").delete()
    Masking.objects.create(corpus=corpus, name="under way", origin="made", masker="x 1", style="stars")
    client, address = client_of(admin), reverse("inference_new", args=[corpus.public_id])
    page = client.get(address, {"masking": one.public_id}).content.decode()
    assert "masked: hidden (1 of 4 texts changed)" in page
    assert "under way" not in page
    assert "1 active comment without a masked text" in page
    sent = {
        "name": "who is it",
        "labels": labels.public_id,
        "masking": one.public_id,
        "provider": provider.public_id,
        "variant": "infer_profile",
        "models": "",
        "max_calls": "50",
        "max_tokens": "90000",
        "suggested_calls": "1",
        "suggested_tokens": "1",
        "form": str(uuid.uuid4()),
    }
    assert client.post(address, sent).status_code == 302
    assert PredictionRun.objects.get().text == PredictionRun.ANONYMISED


@committing
def test_the_command_takes_a_masking_by_its_name(corpus, labels, provider, heard, hide):
    hide(corpus, [0])
    common = {"corpus": "winter", "provider": "ours", "labels": "ours", "here": 1, "json": True}
    call_command("run_inference", **common, stdout=StringIO())
    out = StringIO()
    call_command("run_inference", **common, masking="hidden", stdout=out)
    said = json.loads(out.getvalue())
    assert (said["texts"], said["compared_with"]) == ("anonymised", "inference")
    assert said["comments_without_masked_text"] == 0
    with pytest.raises(CommandError, match="There is no masking “none”; there are: hidden"):
        call_command("run_inference", **common, masking="none")
    assert Run.objects.count() == 2


PLANTED, HIDDEN, MODEL_RIGHT = 120, 0.35, 0.9
OTHER = {"male": "female", "female": "male"}


@pytest.fixture
def planted(corpus):
    """Authors of two sexes who say it in their only comment."""
    rng, found = random.Random(4), LabelSetFactory(corpus=corpus, name="truth")
    for number in range(PLANTED):
        author = ProfileFactory(corpus=corpus, username=f"Author{number}")
        sex = rng.choice(["male", "female"])
        CommentFactory(thread__corpus=corpus, profile=author, text=f"As a {sex} singer, number {number}.")
        ProfileLabelFactory(label_set=found, profile=author, attribute="sex", value=sex)
    return found


def test_a_masker_that_hides_a_share_of_clues_lowers_accuracy_by_as_much(
    corpus, planted, provider, gateway, hide
):
    """A model that hears a clue says what it says nine times of ten, else the other; without one it is wrong.
    So plain text gives 0.9, masked text 0.9 times the share of clues left."""
    rng = random.Random(11)
    truth = dict(planted.rows.values_list("profile__username", "value"))

    def answer(request, attempt):
        text = request.messages[-1].content
        clue = re.search(r"As a (male|female) singer", text)
        right = clue is not None and rng.random() < MODEL_RIGHT
        said = truth["Author" + re.search(r"number (\d+)", text)[1]]
        said = said if right else OTHER[said]
        return reply(f"Type: sex\nInference: So it sounds.\nGuess: {said}")

    gateway.answers = answer
    drawn = random.Random(5).sample(range(PLANTED), round(HIDDEN * PLANTED))
    plain = asked(corpus, planted, provider)
    masked = asked(corpus, planted, provider, hide(corpus, drawn))
    assert masked.counterpart == plain
    following.follow_inferences()
    choice = boards.choose(corpus, {})
    board = from_json(reports.make(corpus, "board", choice.parameters).content, Board)
    (one,) = board.masked
    was, now, gap = one.rows[""]
    assert (was.n, now.n, gap.n) == (PLANTED, PLANTED, PLANTED)
    assert was.low <= MODEL_RIGHT <= was.high
    assert now.low <= MODEL_RIGHT * (1 - HIDDEN) <= now.high
    assert gap.low <= MODEL_RIGHT * HIDDEN <= gap.high
    assert gap.value == pytest.approx(was.value - now.value)
    assert gap.excludes_zero
    assert set(one.rows) == {"", "sex"}


def test_a_masker_that_hides_nothing_changes_nothing(corpus, planted, provider, gateway, hide):
    def answer(request, attempt):
        clue = re.search(r"As a (male|female) singer", request.messages[-1].content)
        return reply(f"Type: sex\nInference: So it sounds.\nGuess: {clue[1]}")

    gateway.answers = answer
    asked(corpus, planted, provider)
    asked(corpus, planted, provider, hide(corpus, []))
    following.follow_inferences()
    choice = boards.choose(corpus, {})
    board = from_json(reports.make(corpus, "board", choice.parameters).content, Board)
    gap = board.masked[0].rows[""][2]
    assert (gap.value, gap.excludes_zero) == (0, False)
