"""How an answer looks that a fault has spoilt."""

from __future__ import annotations

import re
from dataclasses import replace

from simulation.llm.messages import ChatReply, Finish
from simulation.llm.serving.faults import Fault

LABEL = re.compile(r"^[A-Z][\w -]{0,40}:", re.M)
REFUSAL = "I'm sorry, but I can't help with that."
NOTHING = "(nothing)"


def spoilt(reply: ChatReply, fault: Fault | None) -> ChatReply:
    """The reply as the client sees it; faults of the connection leave it as it is."""
    match fault:
        case Fault.EMPTY:
            return replace(reply, text="")
        case Fault.TRUNCATED:
            usage = replace(reply.usage, output=reply.usage.output // 2)
            return replace(reply, text=reply.text[: len(reply.text) // 2], finish=Finish.LENGTH, usage=usage)
        case Fault.REFUSED:
            return replace(reply, text="", refusal=REFUSAL, finish=Finish.REFUSAL)
        case Fault.MALFORMED:
            return replace(reply, text=_malformed(reply.text))
        case Fault.PROSE:
            return replace(reply, text=_prose(reply.text))
    return reply


def _malformed(text: str) -> str:
    if _is_json(text):
        return text.replace('":', '"', 1).rstrip().removesuffix("}")
    labels = [found.start() for found in LABEL.finditer(text)]
    kept = text[: labels[-1]] if labels else text[: len(text) // 2]
    return kept.strip() or NOTHING


def _prose(text: str) -> str:
    if _is_json(text):
        return f"Sure! Here is the answer you asked for:\n\n```json\n{text}\n```\n\nAsk if you need more."
    return f"Sure, happy to help! This is what I came up with.\n\n{text}"


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")
