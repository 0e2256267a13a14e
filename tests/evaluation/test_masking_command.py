"""anonymise_comments: a corpus is masked from the command line, and the same again is nothing to do."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Masking, Report
from evaluation.services import masking
from simulation.llm.scripted.model import ScriptedModel
from tests.factories.simulation import CommentFactory, ProviderFactory, ThreadFactory
from tests.running import committing

pytestmark = pytest.mark.django_db
MAIL = "someone@example.org"


@pytest.fixture
def comments(corpus):
    thread = ThreadFactory(corpus=corpus)
    return [CommentFactory(thread=thread, text=text) for text in (f"Write to {MAIL}.", "Well, so it is.")]


def called(**options):
    out = StringIO()
    call_command("anonymise_comments", **{"corpus": "winter"} | options, stdout=out)
    return out.getvalue()


def test_all_comments_are_masked_and_counted(comments):
    said = json.loads(called(json=True))
    one = Masking.objects.get()
    assert (said["masking"], said["outcome"], said["masker"]) == ("rules", "done", one.masker)
    assert (said["texts"], said["changed"], said["masked_characters"]) == (2, 1, len(MAIL))
    assert said["categories"] == {"Email": 1}
    assert 0 < said["edit_similarity"] < 1
    assert said["compared_texts"] == 2
    assert MAIL not in "".join(one.rows.values_list("text", flat=True))
    assert Report.objects.get().asked_at is None


def test_the_same_again_is_nothing_to_do_and_new_comments_are_masked(comments):
    called()
    assert "nothing to do" in called()
    CommentFactory(thread=comments[0].thread, text=f"Or {MAIL}?")
    assert json.loads(called(json=True))["texts"] == 3


def test_style_and_categories_can_be_chosen(comments):
    said = called(style="category", categories="Email, URL", name="mails")
    assert "Email" in said
    assert Masking.objects.get().options["categories"] == ["Email", "URL"]
    assert "Write to <EMAIL>." in Masking.objects.get().rows.values_list("text", flat=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"corpus": "summer"}, "there are: winter"),
        ({"least": 7.0}, "from 0 to 1"),
        ({"categories": "Shoe"}, "No categories: Shoe"),
        ({"style": "category", "name": "taken"}, "choose another name"),
    ],
)
def test_wrong_usage_has_status_2(comments, options, said):
    called(name="taken")
    with pytest.raises(CommandError, match=said) as raised:
        called(**options)
    assert raised.value.returncode == 2
    assert Masking.objects.count() == 1


def test_what_stops_has_status_1_and_says_why(comments, monkeypatch):
    def broken(*given, **more):
        raise ValueError("no text at all")

    monkeypatch.setattr(masking, "mask", broken)
    with pytest.raises(CommandError, match="failed: The masker stopped: no text at all") as raised:
        called()
    assert raised.value.returncode == 1


@committing
def test_a_model_can_rewrite_them(comments, gateway):
    gateway.answers = lambda request, attempt: ScriptedModel().reply(request)
    CommentFactory(thread=comments[0].thread, text="The bus was late. Speaking as a nurse, I need it.")
    ProviderFactory(name="ours")
    said = json.loads(called(masker="rewriter", provider="ours", here=1, json=True))
    assert (said["masking"], said["texts"], said["changed"]) == ("rewriter", 3, 1)
    assert "The bus was late." in Masking.objects.get().rows.values_list("text", flat=True)
    with pytest.raises(CommandError, match="The run is halted") as raised:
        called(masker="rewriter", name="capped", provider="ours", here=1, max_calls=1)
    assert raised.value.returncode == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [({}, "needs --provider"), ({"provider": "none"}, "no provider"), ({"rounds": 0}, "at least 1")],
)
def test_a_rewriter_is_told_what_it_needs(comments, options, said):
    ProviderFactory(name="ours")
    chosen = options if options.keys() != {"rounds"} else options | {"provider": "ours"}
    with pytest.raises(CommandError, match=said) as raised:
        called(masker="rewriter", **chosen)
    assert raised.value.returncode == 2
    assert not Masking.objects.exists()
