"""What the tests of the review page share: a comment with two suggestions, and a look at its rows."""

import re

from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.models import Item, Queue
from simulation.models import Comment, Corpus
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import CommentFactory

ITEM = re.compile(r"/items/\w+/$")


def suggested(corpus: Corpus, text: str = "Turning thirty did.", **fields: object) -> Comment:
    """A reply with suggestions for age and relationship; an uncle of it stands folded beside."""
    root = CommentFactory(thread__corpus=corpus, text="What keeps you awake?", username="Opener")
    reply = CommentFactory(thread=root.thread, parent=root, text=text, username="NightOwl", **fields)
    CommentFactory(thread=root.thread, parent=root, text="The tram.", username="Third", position=1)
    SuggestionFactory(comment=reply, tagger="tagger-b")
    SuggestionFactory(
        comment=reply,
        attribute="relationship_status",
        guesses=["Married", "Engaged", "Single"],
        certainty=2,
        tagger="tagger-b",
    )
    return reply


def queue_of(*comments: Comment, **fields: object) -> Queue:
    """A queue with these comments alone, in this order."""
    queue = queue_over(comments[0].thread.corpus)
    Item.objects.filter(queue=queue).exclude(comment__in=comments).delete()
    Queue.objects.filter(pk=queue.pk).update(**fields)
    return queue


def address(queue: Queue) -> str:
    return reverse("review", args=[queue.public_id])


def row(page: Page, key: str):
    return page.locator(f"#attr-{key}")


def state(page: Page, key: str) -> str:
    return row(page, key).get_attribute("data-state")


def chosen(page: Page, name: str) -> str:
    return page.evaluate("name => document.querySelector(`[name='${name}']:checked`)?.value ?? ''", name)


def at_hand(page: Page) -> str:
    return page.locator(".attr.now").get_attribute("data-key")


def open_row(page: Page, key: str) -> None:
    row(page, key).locator(".attr-name").click()


def finish(page: Page) -> None:
    """Judges both suggestions, leaves nothing else."""
    open_row(page, "age")
    page.keyboard.press("a")
    open_row(page, "relationship_status")
    page.keyboard.press("x")
    page.keyboard.press("n")


def submitted(page: Page, said: str = "Submitted: NightOwl, 1 value.") -> None:
    with page.expect_response(lambda answer: answer.request.method == "POST" and ITEM.search(answer.url)):
        page.keyboard.press("Control+Enter")
    expect(page.locator(".toast, .notice").filter(has_text=said)).to_be_visible()


def select(page: Page, words: str, where: str = "#target .c-text") -> None:
    """Selects `words` in a comment as a mouse would, across marks if there are any."""
    found = page.evaluate(
        """([where, words]) => {
            const element = document.querySelector(where);
            const at = element.textContent.indexOf(words);
            if (at < 0) return false;
            const place = (units) => {
                const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
                let node = walker.nextNode();
                for (; units > node.length; node = walker.nextNode()) units -= node.length;
                return [node, units];
            };
            const range = document.createRange();
            range.setStart(...place(at));
            range.setEnd(...place(at + words.length));
            getSelection().removeAllRanges();
            getSelection().addRange(range);
            return true;
        }""",
        [where, words],
    )
    assert found, words
