"""Which communities a thread would belong to, as a model says."""

from __future__ import annotations

from django.db import models

from simulation.models import ModelCall, PublicIdField, Run, Thread


class ThreadTopics(models.Model):
    """The communities (subreddits) that one run assigned to one thread from its first post, best first.

    Spec: SynthPAI, appendix A.4. Names as the model wrote them, without doubles, in the form `r/Name`.
    """

    public_id = PublicIdField()
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="thread_topics", db_index=False)
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="assigned_topics")
    topics = models.JSONField(default=list)
    call = models.ForeignKey(ModelCall, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "thread topics"
        constraints = [models.UniqueConstraint(fields=["run", "thread"], name="thread_topics_once_a_run")]

    def __str__(self) -> str:
        return f"{self.thread_id}: {', '.join(self.topics)}"
