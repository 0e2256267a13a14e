"""The run form as a program fills it in: a preset or an earlier run, and over it the fields that it names."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from django import forms

from simulation.domain.plan_values import thread_values
from simulation.forms import plan_options, plan_presets, plan_start, plan_topics
from simulation.forms.plan_start import Preview
from simulation.forms.simulation import SimulationForm
from simulation.models import Corpus, Provider, User
from simulation.selectors import presets, runs

DRAWN_SEEDS = 2**31
TYPED = ("target", "question", "description")
CAPS = ("max_calls", "max_tokens")
NOT_SENT = set(plan_options.PAGE_ONLY) - {"same_profiles"}
"""Fields of a sitting at the page."""


class BadField(ValueError):
    """A field of a plan that is not there, or whose value is none that it could have."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


def filled(
    corpus: Corpus, *, by: User, sent: Mapping[str, Any], preset: str = "", like: str = ""
) -> tuple[SimulationForm, Preview]:
    """The form and what it would lead to, with the caps that are proposed where `sent` has none.

    `preset` and `like` are public ids, of the first also the key of a shipped one. A cap in money that is
    sent as null is none. Without preset and run no thread is asked for, and nothing is tagged. Raises
    BadField.
    """
    providers = list(Provider.objects.all())
    blank = SimulationForm(corpus=corpus, providers=providers)
    values = {name: one.initial for name, one in blank.fields.items() if one.initial is not None}
    values |= thread_values({}) | {"then_tag": False, "then_judge": False}
    values |= {"form": str(uuid.uuid4()), "seed": secrets.randbelow(DRAWN_SEEDS)}
    values["name"] = runs.next_name(corpus)
    if providers:
        values["provider"] = providers[0].public_id
    begun = _begun(corpus, by=by, preset=preset, like=like)
    platforms = [one.key for one in blank.platforms]
    values |= plan_presets.fitting(begun, providers=providers, platforms=platforms)[0]
    values |= dict(_read(blank, sent))
    form = SimulationForm(values, corpus=corpus, providers=providers)
    renewed = plan_start.renewed(form, plan_start.preview(form, by=by))
    if "max_cost" in sent:
        renewed.pop("max_cost", None)
    form = form.with_fields(renewed)
    return form, plan_start.preview(form, by=by)


def _begun(corpus: Corpus, *, by: User, preset: str, like: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if preset:
        found = presets.found(preset)
        if found is None:
            raise BadField("preset", "There is no such preset.")
        values |= found.values
    if like:
        run = presets.like(by, like)
        if run is None:
            raise BadField("like", "There is no such run.")
        values |= plan_presets.taken_over(run)
        if run.corpus_id != corpus.pk:
            values["same_profiles"] = False
    return values


def _read(blank: SimulationForm, sent: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(field, value) as a browser would send them."""
    for name, value in sent.items():
        field = blank.fields.get(name)
        if field is None or name in NOT_SENT:
            raise BadField(f"plan.{name}", "There is no such field.")
        if name == "typed":
            yield from plan_topics.row_values(_posts(value)).items()
            continue
        yield name, _plain(name, field, value)


def _posts(value: Any) -> list[Mapping[str, str]]:
    rows = value if isinstance(value, list) else [value]
    for row in rows:
        fine = isinstance(row, Mapping) and set(row) == set(TYPED)
        if not fine or not all(isinstance(one, str) for one in row.values()):
            raise BadField("plan.typed", f"A list of objects with the texts {', '.join(TYPED)}.")
    return rows


def _plain(name: str, field: forms.Field, value: Any) -> Any:
    if isinstance(field, forms.BooleanField):
        fine, wanted = isinstance(value, bool), "true or false"
    elif isinstance(field, forms.MultipleChoiceField):
        fine = isinstance(value, list) and all(isinstance(one, str) for one in value)
        wanted = "a list of texts"
    else:
        fine = (isinstance(value, str | int | float) and not isinstance(value, bool)) or value is None
        wanted = "a text, a number or null"
    if not fine:
        raise BadField(f"plan.{name}", f"It takes {wanted}.")
    return "" if value is None else value


def problems(form: SimulationForm) -> list[dict[str, str]]:
    """What is wrong with the form, by the field of the plan. That a cap is missing is no fault where none
    could be proposed, since another field is wrong."""
    missing = {name for name in CAPS if form.data.get(name) in (None, "")}
    wrong = {name: said for name, said in form.errors.items() if name not in missing} or form.errors
    return [
        {"field": "plan" if name == "__all__" else f"plan.{name}", "message": str(message)}
        for name, messages in wrong.items()
        for message in messages
    ]
