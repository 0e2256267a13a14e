"""The smallest valid suggestions and queues."""

import factory
from factory.django import DjangoModelFactory

from annotation.models import Queue, Suggestion
from annotation.services import queues
from tests.factories.simulation import CommentFactory, CorpusFactory


class SuggestionFactory(DjangoModelFactory):
    """A tagger's guess that the author is about thirty."""

    class Meta:
        model = Suggestion

    comment = factory.SubFactory(CommentFactory)
    attribute = "age"
    guesses = ["30", "35", "25"]
    hardness_word = "indirect"
    hardness = 2
    certainty = 3


def queue_over(corpus=None, *, name: str = "round 1", people: int = 1, comments: int = 0) -> Queue:
    """An open queue over a corpus, into which `comments` new comments are put first."""
    corpus = corpus or CorpusFactory()
    for number in range(comments):
        CommentFactory(thread__corpus=corpus, text=f"Comment number {number} of the night bus thread.")
    return queues.create(by=None, corpus=corpus, name=name, people_per_item=people)
