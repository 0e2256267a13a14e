"""A judge of guesses: asked about questions in a run, and saying what a test wants."""

import json

from evaluation.models import Opinion
from evaluation.services.matching import Matching, start_matching
from tests.factories.simulation import ProviderFactory
from tests.fakes.llm import reply
from tests.running import work_off

CAPS = {"max_calls": 500, "max_tokens": 10**6}


def guesses_of(request):
    block = request.messages[-1].content.split("<guesses>")[1].split("</guesses>")[0]
    return [line.removeprefix("- ") for line in block.strip().splitlines()]


def attribute_of(request):
    return request.messages[-1].content.split("<attribute>")[1].split("</attribute>")[0]


def saying(words):
    """A judge that says `words[guess]`, and no of everything else."""

    def answer(request, attempt):
        verdicts = [words.get(guess, "no") for guess in guesses_of(request)]
        return reply(json.dumps({"checks": [{"attribute": attribute_of(request), "verdicts": verdicts}]}))

    return answer


def ask(corpus, **changes):
    provider = changes.pop("provider", None) or ProviderFactory()
    fields = {"by": None, "corpus": corpus, "name": "judge", "model": "scripted", **CAPS} | changes
    return start_matching(provider=provider, **fields)


def judged(corpus, **changes):
    return work_off(ask(corpus, **changes), Matching())


def scores(run):
    return dict(Opinion.objects.filter(run=run).values_list("question__guess", "score"))
