"""What it means when a step or a call came to nothing, in plain words, and what can be done about it."""

from __future__ import annotations

from dataclasses import dataclass

STAGES = {
    "topic": "Posts",
    "interest": "Interest checks",
    "turn": "Turns",
    "tag": "Tags",
    "profile": "Profiles",
    "style": "Styles",
    "judge": "Checks of tags",
    "check": "Checks of tags",
    "match": "Guesses judged",
    "infer": "Authors guessed at",
    "mask": "Comments rewritten",
    "communities": "Threads named",
}
"""Kind of step -> what a page calls many of them, in the order in which a run does them."""
ONE = {
    "topic": "Post",
    "interest": "Interest check",
    "turn": "Turn",
    "tag": "Tags",
    "profile": "Profile",
    "style": "Style",
    "judge": "Check of tags",
    "check": "Check of tags",
    "match": "Judging of guesses",
    "infer": "Guesses about an author",
    "mask": "Rewriting of a comment",
    "communities": "Communities of a thread",
}
LOST = {
    "topic": "The thread is not written.",
    "interest": "The profile counts as not interested.",
    "turn": "The agent lost its turn; the run went on.",
    "tag": "The comment has no tags from this run.",
    "profile": "There is one profile less.",
    "style": "The profile has no style.",
    "judge": "The tags are not checked.",
    "check": "The tags are not checked.",
    "match": "The guesses stay open.",
    "mask": "The comment stays as it was; the masking has no text of it.",
    "communities": "The thread has no communities from this run.",
    "infer": "Its attributes count as refused, unparsed or failed, never as wrong guesses.",
}
"""Kind of step -> what its loss means for the corpus."""


@dataclass(frozen=True)
class Meaning:
    """`word` names the reason, `means` says what happened, `do` what can be done."""

    word: str
    means: str
    do: str


MEANINGS = {
    "refused": Meaning(
        "refused",
        "The model declined to answer.",
        "Try again: another draw may answer. If one attribute is refused again and again, use another model.",
    ),
    "truncated": Meaning(
        "cut off",
        "The answer was longer than the model was allowed.",
        "Try again, or give the role a higher token cap in the next run.",
    ),
    "unreadable": Meaning(
        "unreadable",
        "The model answered, but not in the form that was asked for.",
        "Try again: another draw may keep to the form. If it happens often, use another model or prompt.",
    ),
    "empty": Meaning(
        "empty",
        "The model answered with nothing, or spent its tokens on thinking.",
        "Try again, or give the role a higher token cap in the next run.",
    ),
    "excluded": Meaning(
        "only what may not be named",
        "The model named r/AskReddit and nothing else, twice; the plan leaves it out.",
        "Try again, or let r/AskReddit be named in another run.",
    ),
    "rejected": Meaning(
        "rejected",
        "The provider did not take this question.",
        "Read the provider’s message; mend what it names, then try again.",
    ),
    "withdrawn": Meaning(
        "withdrawn",
        "What it was to answer was withdrawn meanwhile.",
        "Leave it, or restore the comment and try again.",
    ),
    "fault": Meaning(
        "fault of ours",
        "Our own code broke on it three times.",
        "The server’s log has the details: tell whoever runs this installation, then try again.",
    ),
    "cancelled": Meaning(
        "cancelled",
        "The run ended before it was done.",
        "A run that was stopped is not taken up again: run it again, or start another.",
    ),
}
OTHER = Meaning("", "It came to an end without a result.", "Read the detail, then try again.")
OF_CALLS = {"refused": "refused", "truncated": "truncated", "invalid": "unreadable", "failed": "rejected"}
"""State of a call -> its reason."""


def meaning(reason: str) -> Meaning:
    """Of a step's reason or a call's; a reason without words of ours is named as it is."""
    known = MEANINGS.get(reason)
    return known or Meaning(reason or "no reason given", OTHER.means, OTHER.do)


def one(kind: str) -> str:
    return ONE.get(kind, kind.replace("_", " ").capitalize())


def many(kind: str) -> str:
    return STAGES.get(kind, one(kind))


ATTEMPTS = {
    "rate_limited": Meaning(
        "rate limit",
        "The provider was asked too fast; the lane gave way and asked again.",
        "Nothing has to be done: it cost no attempt. Fewer steps at once would spare the waiting.",
    ),
    "transient": Meaning(
        "passing fault",
        "The provider or the network failed for a moment; it was asked again.",
        "Nothing has to be done.",
    ),
    "quota": Meaning(
        "quota used up", "The account has no money or allowance left.", "Fill it up, then resume the run."
    ),
    "permanent": Meaning(
        "rejected",
        "The provider rejected the question or our key.",
        "Read its message; mend what it names, then resume.",
    ),
    "lost": Meaning(
        "lost in flight",
        "The worker ended before the answer came; it may have been paid for and counts as spent.",
        "Nothing has to be done: it was asked again.",
    ),
}
"""State of an attempt that brought no answer -> what it means."""
