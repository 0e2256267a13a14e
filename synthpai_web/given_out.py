"""The demo's release: the agents' corpus as a dataset, with labels inherited from the personas."""

from __future__ import annotations

from evaluation.exchange import releases
from evaluation.models import Release
from evaluation.services.releases import Refused
from evaluation.tasks import make_release
from simulation.models import Corpus, User

NAME = "1.0"


def release(by: User, corpus: Corpus) -> Release | None:
    """The release that is there, or a new one that the worker makes; None where nothing can be released."""
    if known := Release.objects.filter(corpus=corpus, name=NAME).first():
        return known
    try:
        made = releases.ask(
            by=by,
            corpus=corpus,
            name=NAME,
            title="Threads of the demo",
            description="What agents with the starter profiles wrote on this machine. Not real people.",
            policy=Release.INHERITED,
        )
    except Refused:
        return None
    make_release.delay_on_commit(made.pk)  # type: ignore[attr-defined]
    return made
