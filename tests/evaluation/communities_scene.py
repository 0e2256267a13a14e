"""Threads whose posts the scripted model knows, and a run that named communities for them."""

from evaluation.services.naming import Naming, Wish, start_naming
from simulation.domain.plans import RoleModel
from tests.factories.simulation import CommentFactory, ProviderFactory, ThreadFactory
from tests.running import balanced, work_off

SONG = "Question: What song takes you straight back, and where to?\n\nQuestion description: The radio."
BAG = "Question: What's in your bag or your pockets at the end of a day?\n\nQuestion description: Full."
ADULTS = "/r/Adulting, /r/Aging, /r/nostalgia"


def threads_in(corpus):
    """Three threads with posts: one of age, one of occupation, one of nothing; each with a reply."""
    found = []
    for name, text in (("thread_age_1", SONG), ("thread_occupation_1", BAG), ("odd", "rain again")):
        thread = ThreadFactory(corpus=corpus, external_id=name)
        root = CommentFactory(thread=thread, text=text, external_id=f"root of {name}")
        CommentFactory(thread=thread, parent=root, text="me too")
        found.append(thread)
    return found


def wish(**options):
    fields = {"name": "which ones", "model": RoleModel("scripted", 0.1)}
    if "provider" not in options:
        fields["provider"] = ProviderFactory()
    return Wish(**fields | options)


def named(corpus, **options):
    """A run that was worked off, as a worker would."""
    run = work_off(start_naming(corpus, wish(**options), by=None), Naming())
    assert balanced(run)
    return run
