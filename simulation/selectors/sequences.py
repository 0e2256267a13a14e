"""The next free place in a corpus' order of comments."""

from django.db.models import Max

from simulation.models import Comment, Corpus, RunThread


def next_sequence(corpus: Corpus) -> int:
    """The place behind every comment, and behind those that runs have reserved for theirs."""
    comments = Comment.objects.filter(corpus=corpus).aggregate(last=Max("sequence"))["last"]
    reserved = RunThread.objects.filter(run__corpus=corpus).aggregate(last=Max("last_sequence"))["last"]
    return max((-1 if last is None else int(last)) for last in (comments, reserved)) + 1
