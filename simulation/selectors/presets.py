"""Presets of the run form, and runs whose plan may be taken over."""

from __future__ import annotations

from django.db.models import QuerySet

from simulation.domain.normalise import squeeze
from simulation.domain.plan_values import SHIPPED, Shipped
from simulation.models import Run, RunPreset, User
from simulation.selectors.runs import starts_everywhere


def listed() -> QuerySet[RunPreset]:
    """Those that people saved, by name."""
    return RunPreset.objects.filter(kind=Run.SIMULATE).select_related("created_by").order_by("name")


def found(key: str) -> RunPreset | Shipped | None:
    """A preset by public id, or by the key of one that is shipped."""
    return SHIPPED.get(key) or listed().filter(public_id=key).first()


def named(name: str) -> RunPreset | Shipped | None:
    """A preset by its name, however many blanks stand in it."""
    known, name = {one.name: one for one in SHIPPED.values()}, spelled(name)
    return known.get(name) or listed().filter(name=name).first()


def spelled(name: str) -> str:
    """The one spelling in which names are kept and looked for: no blanks around it, single ones within."""
    return squeeze(name)


def names() -> list[str]:
    return [*(one.name for one in SHIPPED.values()), *listed().values_list("name", flat=True)]


def may_change(person: User, preset: RunPreset) -> bool:
    """Whoever saved it, and who starts runs in the whole installation."""
    return preset.created_by_id == person.pk or starts_everywhere(person)


def like(person: User | None, key: str) -> Run | None:
    """A simulation that `person` may see (None: the machine's operator), by its public id."""
    visible = Run.objects.all() if person is None else Run.objects.visible_to(person)
    return visible.filter(kind=Run.SIMULATE, public_id=key).select_related("provider", "corpus").first()


def cast_of(person: User | None, key: str) -> set[str]:
    """External ids of the profiles of that run; empty where there is none to be seen."""
    run = like(person, key)
    return set(run.plan.get("profiles", ())) if run else set()
