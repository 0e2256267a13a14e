"""Saving, renaming, copying and deleting presets of the run form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from simulation.domain.plan_values import SHIPPED
from simulation.models import Run, RunPreset, User
from simulation.selectors.presets import may_change, spelled
from simulation.services import audit

LONGEST = 80


class BadName(Exception):
    """A name that a preset cannot have; the message says why."""


class NameTaken(BadName):
    """There is a preset of this name. `preset` may be replaced, if that is wanted."""

    def __init__(self, preset: RunPreset) -> None:
        super().__init__(f"There is a preset “{preset.name}” already.")
        self.preset = preset


@transaction.atomic
def save(*, by: User | None, name: str, values: Mapping[str, Any], overwrite: bool = False) -> RunPreset:
    """A preset with these fields of the form. Raises BadName; NameTaken unless `overwrite`.

    Replacing is for whoever may change the preset (`by` None, the machine's operator, may).
    """
    name = _checked(name)
    known = RunPreset.objects.select_for_update(of=("self",)).filter(name=name).first()
    if known is None:
        preset = _created(by, name, values)
    elif by is not None and not may_change(by, known):
        raise BadName(f"Somebody else saved “{known.name}”: choose another name.")
    elif not overwrite or known.kind != Run.SIMULATE:
        raise NameTaken(known)
    else:
        preset = known
        preset.values = dict(values)
        preset.save(update_fields=["values", "updated_at"])
    audit.record(by=by, action="preset.replaced" if known else "preset.saved", target=preset)
    return preset


@transaction.atomic
def rename(*, by: User | None, preset: RunPreset, name: str) -> RunPreset:
    """Another name for a preset. Raises BadName; nothing is changed then."""
    name = _checked(name)
    known = RunPreset.objects.select_for_update().filter(name=name).exclude(pk=preset.pk).first()
    if known is not None:
        raise NameTaken(known)
    preset.name = name
    preset.save(update_fields=["name", "updated_at"])
    audit.record(by=by, action="preset.renamed", target=preset)
    return preset


@transaction.atomic
def duplicate(*, by: User | None, preset: RunPreset) -> RunPreset:
    """A copy under the next free name: “x, copy”, “x, copy 2”."""
    taken = set(RunPreset.objects.select_for_update().values_list("name", flat=True))
    stem, number = f"{preset.name[: LONGEST - 10]}, copy", 1
    name = stem
    while name in taken:
        number += 1
        name = f"{stem} {number}"
    return save(by=by, name=name, values=preset.values)


@transaction.atomic
def delete(*, by: User | None, preset: RunPreset) -> None:
    """For good. Runs that began from it keep their plans."""
    audit.record(by=by, action="preset.deleted", target=preset)
    preset.delete()


def _created(by: User | None, name: str, values: Mapping[str, Any]) -> RunPreset:
    """Raises NameTaken where somebody else has just saved one under this name."""
    try:
        with transaction.atomic():
            return RunPreset.objects.create(name=name, kind=Run.SIMULATE, values=dict(values), created_by=by)
    except IntegrityError:
        raise NameTaken(RunPreset.objects.get(name=name)) from None


def _checked(name: str) -> str:
    name = spelled(name)
    if not 1 <= len(name) <= LONGEST:
        raise BadName(f"A name of 1 to {LONGEST} characters.")
    if not name.isprintable():
        raise BadName("The name holds a sign that cannot be printed; type it again.")
    if name in {one.name for one in SHIPPED.values()}:
        raise BadName(f"“{name}” comes with the product: choose another name.")
    return name
