"""The whole path on the published data: imported, fifty comments reviewed by keys, exported as entered."""

import json
from io import StringIO
from itertools import cycle

import pytest
from django.core.management import call_command
from django.urls import reverse
from playwright.sync_api import expect

from annotation.domain.labels import as_offered
from annotation.models import Annotation
from annotation.services import queues
from simulation.domain.attributes import CATALOGUE, TARGET_KEYS, Kind
from simulation.models import Comment, Corpus
from tests.published import FOLDER, needs_published_data

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.published]
NOTHING = {"estimate": "", "hardness": 0, "certainty": 0}
OWN_WORDS = {Kind.AGE: "41-44", Kind.PLACE: "Graz, Austria", Kind.TEXT: "Lighthouse Keeper"}


def judge(page, attribute, suggestion, act):
    """Judges the row at hand by keys; what the export must say about it."""
    hardness, certainty = suggestion.hardness, suggestion.certainty
    kind = CATALOGUE[attribute].kind
    if act == "x":
        page.keyboard.press("x")
        return NOTHING
    if act == "e" and kind in OWN_WORDS:
        page.keyboard.press("e")
        page.keyboard.type(OWN_WORDS[kind])
        page.keyboard.press("Escape")
        page.keyboard.press("4")
        page.keyboard.press("Shift+Digit2")
        return {"estimate": OWN_WORDS[kind].lower(), "hardness": 4, "certainty": 2}
    value = as_offered(CATALOGUE[attribute], suggestion.words[0])
    page.keyboard.press("5")
    page.keyboard.press("a")
    return {"estimate": value.lower(), "hardness": 5, "certainty": certainty or hardness}


@needs_published_data
def test_fifty_comments_are_reviewed_by_keyboard_and_exported_as_entered(
    open_as, live_server, labeler, researcher, tmp_path
):
    call_command("import_synthpai", str(FOLDER), corpus="synthpai", stdout=StringIO())
    corpus = Corpus.objects.get(name="synthpai")
    assert Comment.objects.filter(corpus=corpus).count() == 7118
    queue = queues.create(by=researcher, corpus=corpus, name="round 1", only_suggested=True)
    page = open_as(labeler)
    page.goto(live_server.url + reverse("review", args=[queue.public_id]))
    acts, entered = cycle("axae"), {}
    for number in range(50):
        expect(page.locator(".legend")).to_contain_text(f"{number} done")
        comment = Comment.objects.get(items__slots__person=labeler, items__slots__state="leased")
        expect(page.locator("#target .c-text")).to_contain_text(comment.text.split("\n")[0][:40])
        wanted = dict.fromkeys(TARGET_KEYS, NOTHING)
        suggestions = {row.attribute: row for row in comment.suggestions.all()}
        for place, attribute in enumerate(TARGET_KEYS):
            if attribute in suggestions:
                page.locator(f"#attr-{attribute} .attr-name").click()
                assert page.locator(".attr.now").get_attribute("id") == f"attr-{TARGET_KEYS[place]}"
                wanted[attribute] = judge(page, attribute, suggestions[attribute], next(acts))
        page.keyboard.press("n")
        page.keyboard.press("Control+Enter")
        entered[comment.external_id] = wanted
    expect(page.locator(".legend")).to_contain_text("50 done")
    assert Annotation.objects.count() == 50

    out = tmp_path / "export.jsonl"
    call_command("export_dataset", corpus="synthpai", format="synthpai", out=str(out))
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 7118
    reviewed = {row["id"]: row["reviews"]["a1"] for row in rows if "a1" in (row["reviews"] or {})}
    assert {key: {name: review[name] for name in TARGET_KEYS} for key, review in reviewed.items()} == entered
    assert labeler.username not in out.read_text().split()
