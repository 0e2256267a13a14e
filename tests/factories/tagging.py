"""Tagging runs that are done, and checks of their tags."""

from annotation.models import SuggestionCheck
from simulation.models import Run
from tests.factories.annotation import SuggestionFactory
from tests.factories.simulation import RunFactory, StepFactory


def tagging_run(corpus, comments=(), *, variant="tag_comment", skipped=(), **fields):
    """A tagging run that has dealt with `comments`, and could not read the answers about `skipped`."""
    plan = {
        "version": 2,
        "models": {"tagger": {"model": fields.pop("model", "scripted")}},
        "variant": variant,
        "part": "all active comments",
        "judge": None,
    }
    run = RunFactory(corpus=corpus, kind=Run.TAG, state="done", plan=plan, **fields)
    for comment in comments:
        StepFactory(run=run, kind="tag", comment=comment)
    for comment in skipped:
        StepFactory(run=run, kind="tag", comment=comment, state="skipped", reason="unreadable")
    return run


def tag(run, comment, attribute, *guesses, **fields):
    """A tag of that run."""
    return SuggestionFactory(
        run=run, comment=comment, attribute=attribute, guesses=list(guesses), tagger="scripted", **fields
    )


def check_run(corpus, **fields):
    plan = {"version": 1, "models": {"judge": {"model": "judge-1"}}, "part": "all", "exact_first": True}
    return RunFactory(corpus=corpus, kind=Run.JUDGE, state="done", plan=plan, **fields)


def check(run, suggestion, *scores, by="judge"):
    words = {1: "yes", 0.5: "less precise", 0: "no"}
    return SuggestionCheck.objects.create(
        run=run,
        suggestion=suggestion,
        scores=list(scores),
        verdicts=[words[score] for score in scores],
        kept=sum(scores) > 0,
        decided_by=by,
    )
