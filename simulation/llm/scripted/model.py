"""The gateway of the scripted model: one request in, one reply out, nothing leaves the machine."""

from __future__ import annotations

import hashlib
import math
import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from simulation.llm.messages import (
    ChatReply,
    ChatRequest,
    Finish,
    ModerationReply,
    ModerationRequest,
    Usage,
)
from simulation.llm.scripted import (
    comments,
    communities,
    inferring,
    people,
    plain,
    rewriting,
    small,
    tags,
    topics,
)
from simulation.llm.scripted.brief import Brief, Purpose, read_brief

SERVED = "scripted (rules, not a language model)"
SMALL = "scripted-small"
"""Asked for by this name it hears less as an adversary; everything else is the same."""
HONEST = (
    "I am a scripted model: rules and a bank of sentences, not a language model. I answer only the "
    "prompts of this program, and this is none of them."
)
TOKEN = re.compile(r"\s*[^\W\s]{1,6}|\s*[^\w\s]|\s+")
CATEGORIES = ("harassment", "hate", "self-harm", "sexual", "violence")
LETTERS_PER_TOKEN = 4
ANSWERS: Mapping[Purpose, Callable[[Brief], str]] = {
    Purpose.TOPIC: topics.answer,
    Purpose.INTEREST: small.interest,
    Purpose.COMMENT: comments.answer,
    Purpose.STYLE: small.style,
    Purpose.TAGS: tags.answer,
    Purpose.INFERENCE: inferring.answer,
    Purpose.JUDGEMENT: small.judgement,
    Purpose.PROFILE: people.answer,
    Purpose.FINDINGS: rewriting.findings,
    Purpose.REWRITE: rewriting.rewritten,
    Purpose.COMMUNITIES: communities.answer,
}


class ScriptedModel:
    """A Gateway of rules. The reply hangs on the request's digest alone: equal requests, equal replies.

    It never fails and never refuses. It is no language model and says so in `served_model`.
    """

    async def complete(self, request: ChatRequest, *, attempt: int = 0) -> ChatReply:
        return self.reply(request)

    async def moderate(self, request: ModerationRequest, *, attempt: int = 0) -> ModerationReply:
        return self.judged(request)

    async def close(self) -> None:
        """There is nothing to close."""

    def reply(self, request: ChatRequest) -> ChatReply:
        """The answer, cut at the completion cap where it is longer."""
        brief = read_brief(request)
        answers = ANSWERS if brief.language == "en" else {**ANSWERS, **plain.ANSWERS}
        if request.model == SMALL:
            answers = {**answers, Purpose.INFERENCE: inferring.answer_plainest}
        answer = answers.get(brief.purpose)
        text, finish = answer(brief) if answer else HONEST, Finish.STOP
        if request.max_tokens is not None and tokens(text) > request.max_tokens:
            text, finish = text[: request.max_tokens * LETTERS_PER_TOKEN], Finish.LENGTH
        asked = sum(tokens(message.content) for message in request.messages)
        usage = Usage(input=asked, output=tokens(text))
        logprobs = (
            _logprobs(text, request.top_logprobs, brief.chance("logprobs")) if request.top_logprobs else ()
        )
        return ChatReply(text, finish, usage, SERVED, logprobs=logprobs)

    def judged(self, request: ModerationRequest) -> ModerationReply:
        """Flags nothing; the scores are small and hang on the text alone."""
        scores = tuple(_scores(text) for text in request.texts)
        return ModerationReply(tuple(False for _ in request.texts), scores, SERVED)


def tokens(text: str) -> int:
    """Tokens by the rule of thumb of four letters, at least one for any text."""
    return max(1, math.ceil(len(text) / LETTERS_PER_TOKEN)) if text else 0


def _logprobs(text: str, wanted: int, rng: random.Random) -> tuple[Mapping[str, Any], ...]:
    """Made-up log-probabilities, one entry a piece of text, in the shape of the wire format."""
    pieces = TOKEN.findall(text)
    entries = []
    for piece in pieces:
        share = 0.55 + 0.44 * rng.random()
        top = [_entry(piece, share)]
        left = 1 - share
        while len(top) < wanted:
            left *= 0.6
            top.append(_entry(rng.choice(pieces), max(left * 0.4, 1e-9)))
        entries.append({**top[0], "top_logprobs": top})
    return tuple(entries)


def _entry(piece: str, share: float) -> dict[str, Any]:
    return {"token": piece, "logprob": round(math.log(share), 6), "bytes": list(piece.encode())}


def _scores(text: str) -> dict[str, float]:
    seed = hashlib.sha256(text.encode()).digest()
    return {name: round(seed[at] / 255 / 100, 6) for at, name in enumerate(CATEGORIES)}
