"""The forms that start runs over profiles: new ones with their styles, or styles for those without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any

from django import forms
from django.forms import BoundField

from simulation.domain.attributes import CATALOGUE, Attribute
from simulation.domain.money import nanos
from simulation.domain.plans import RoleModel
from simulation.domain.profile_targets import Targets
from simulation.forms.dollars import AmountField
from simulation.forms.plan_how import ProviderChoice
from simulation.forms.runs import LARGEST_CAP
from simulation.forms.simulation import LARGEST_SEED
from simulation.forms.styled import Styled
from simulation.models import Provider
from simulation.services.profile_asking import AUTHOR, STYLER
from simulation.services.profile_runs import MOST_PROFILES, default_models

USUAL_COUNT = 300
ROUNDING = 0.1
"""Percent by which a sum of shares may miss 100 and is not worth a word."""
MOST_FIELDS = 14
"""An attribute with more wishes has one field of lines instead of a field for each."""
USUAL_MODELS = default_models("any")
ROLES = {
    AUTHOR: ("Facts", "invents who each author is"),
    STYLER: ("Style", "describes how each author writes"),
}
ROLE_FIELDS = {"name": "Model", "temperature": "Temperature", "tokens": "Most tokens"}
PARTS = {"name": "model", "temperature": "temperature", "tokens": "most tokens"}


class StylesForm(Styled, forms.Form):
    """Which model writes styles, and what that may cost. `suggested_*` and `form` are hidden: the caps that
    were proposed, and the mark by which a form that is sent twice is told."""

    roles_asked: tuple[str, ...] = (STYLER,)

    name = forms.CharField(label="Name", max_length=80)
    provider = ProviderChoice(
        queryset=Provider.objects.none(), label="Provider", to_field_name="public_id", empty_label=None
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="Decides whatever chance decides. Drawn for you.",
    )
    max_calls = forms.IntegerField(label="Calls, at most", min_value=1, max_value=LARGEST_CAP)
    max_tokens = forms.IntegerField(label="Tokens, at most", min_value=1, max_value=LARGEST_CAP)
    soft_cost = AmountField(label="Warn from, USD", help_text="Empty: never.")
    max_cost = AmountField(label="Cost in USD, at most", help_text="Empty: calls and tokens alone limit it.")
    suggested_calls = forms.IntegerField(required=False, widget=forms.HiddenInput)
    suggested_tokens = forms.IntegerField(required=False, widget=forms.HiddenInput)
    form = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, providers: Iterable[Provider], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.providers = list(providers)
        provider = self.fields["provider"]
        assert isinstance(provider, forms.ModelChoiceField)
        provider.queryset = Provider.objects.filter(pk__in=[one.pk for one in self.providers])
        for name, field in (*self.role_fields(), *self.own_fields()):
            field.widget.attrs.setdefault("class", "field")
            self.fields[name] = field

    def own_fields(self) -> Iterator[tuple[str, forms.Field]]:
        yield from ()

    def role_fields(self) -> Iterator[tuple[str, forms.Field]]:
        for role in self.roles_asked:
            label, usual = ROLES[role][0], USUAL_MODELS[role]
            yield (
                f"{role}_name",
                forms.CharField(label=f"{label}: {PARTS['name']}", required=False, max_length=100),
            )
            yield (
                f"{role}_temperature",
                forms.FloatField(
                    label=f"{label}: {PARTS['temperature']}",
                    required=False,
                    min_value=0,
                    max_value=2,
                    initial=usual.temperature,
                ),
            )
            yield (
                f"{role}_tokens",
                forms.IntegerField(
                    label=f"{label}: {PARTS['tokens']}",
                    min_value=16,
                    max_value=32_000,
                    initial=usual.max_tokens,
                ),
            )

    def roles(self) -> Iterator[tuple[str, str, list[tuple[str, BoundField]]]]:
        """Label, what the role does, and its fields, each with its short name."""
        for role in self.roles_asked:
            fields = [(words, self[f"{role}_{what}"]) for what, words in ROLE_FIELDS.items()]
            yield *ROLES[role], fields

    def model_of(self, role: str) -> RoleModel:
        """The model of a role; the provider's default where none is named."""
        said = self.cleaned_data
        provider = said.get("provider")
        name = said.get(f"{role}_name") or (provider.default_model if provider else "")
        return RoleModel(
            name,
            temperature=said.get(f"{role}_temperature"),
            max_tokens=said.get(f"{role}_tokens") or USUAL_MODELS[role].max_tokens,
        )

    def cost_caps(self) -> dict[str, int | None]:
        """The two caps in nano-dollars."""
        said = {name: self.cleaned_data.get(name) for name in ("soft_cost", "max_cost")}
        return {name: None if amount is None else nanos(amount) for name, amount in said.items()}

    def clean(self) -> dict[str, Any]:
        soft, hard = self.cleaned_data.get("soft_cost"), self.cleaned_data.get("max_cost")
        if soft is not None and hard is not None and soft > hard:
            self.add_error("soft_cost", "It warns before the run halts: not more than the most it may cost.")
        return self.cleaned_data

    def with_fields(self, fields: Mapping[str, Any]) -> StylesForm:
        """The same form with other values in some fields."""
        sent: Any = copy(self.data)
        for name, value in fields.items():
            sent[name] = str(value)
        return type(self)(sent, providers=self.providers)


class GenerationForm(StylesForm):
    """How many profiles, and which shares of them should have which values."""

    roles_asked = (AUTHOR, STYLER)

    count = forms.IntegerField(
        label="Profiles",
        min_value=1,
        max_value=MOST_PROFILES,
        initial=USUAL_COUNT,
        help_text="How many new ones.",
    )

    def own_fields(self) -> Iterator[tuple[str, forms.Field]]:
        for key, values in _usual().items():
            if len(values) > MOST_FIELDS:
                yield f"shares_{key}", _lines_field(CATALOGUE[key], values)
                continue
            for place, (value, share) in enumerate(values.items()):
                yield f"share_{key}_{place}", _share_field(value, share)

    def shares(self) -> Iterator[tuple[Attribute, list[BoundField], float]]:
        """Attribute, its fields, and the sum of what stands in them."""
        for key, values in _usual().items():
            if len(values) > MOST_FIELDS:
                bound = [self[f"shares_{key}"]]
                total = sum(_lines(str(bound[0].value() or ""))[0].values())
            else:
                bound = [self[f"share_{key}_{place}"] for place in range(len(values))]
                total = sum(_number(one.value()) for one in bound)
            yield CATALOGUE[key], bound, round(total, 2)

    def uneven(self) -> list[tuple[Attribute, float]]:
        """The attributes whose shares do not add up to 100, with the sum."""
        return [(attribute, total) for attribute, _, total in self.shares() if abs(total - 100) > ROUNDING]

    def n_even(self) -> int:
        return len(_usual()) - len(self.uneven())

    def asked_targets(self) -> Targets:
        """The shares as they were typed: parts of their sum. Raises ValueError for what cannot be asked."""
        return Targets.from_dict({key: self._row(key) for key in _usual()})

    def _row(self, key: str) -> dict[str, float]:
        values = _usual()[key]
        if len(values) > MOST_FIELDS:
            return _lines(self.cleaned_data.get(f"shares_{key}", ""))[0]
        sent = {value: self.cleaned_data.get(f"share_{key}_{place}") for place, value in enumerate(values)}
        return {value: share for value, share in sent.items() if share is not None}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        for attribute, bound, _ in self.shares():
            if any(one.name in self.errors for one in bound):
                continue
            try:
                if bound[0].name == f"shares_{attribute.key}":
                    _require_lines(cleaned[bound[0].name])
                Targets.from_dict({attribute.key: self._row(attribute.key)})
            except ValueError as problem:
                said = str(problem).partition(": ")[2] or str(problem)
                self.add_error(bound[0].name, f"{attribute.label}: {said[:1].lower()}{said[1:]}")
        return cleaned


def _usual() -> Mapping[str, Mapping[str, float]]:
    return Targets.usual().shares


def _share_field(value: str, share: float) -> forms.Field:
    return forms.FloatField(
        label=value,
        required=False,
        min_value=0,
        max_value=1_000_000,
        initial=f"{share:g}",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )


def _lines_field(attribute: Attribute, values: Mapping[str, float]) -> forms.Field:
    return forms.CharField(
        label=attribute.label,
        initial="\n".join(f"{value}: {share:g}" for value, share in values.items()),
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        help_text="One a line, each with its share: Portugal: 1.5",
    )


def _lines(text: str) -> tuple[dict[str, float], str]:
    """Value -> share from lines such as "Portugal: 1.5", and what is wrong with the first bad line."""
    found: dict[str, float] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        value, _, share = line.rpartition(":")
        if not line.strip():
            continue
        try:
            found[value.strip()] = float(share)
        except ValueError:
            return found, f"Line {number}, “{line.strip()[:60]}”: write a value, a colon and a number."
    return found, ""


def _require_lines(text: str) -> None:
    if wrong := _lines(text)[1]:
        raise ValueError(f"shares: {wrong}")


def _number(sent: Any) -> float:
    try:
        return float(sent or 0)
    except (TypeError, ValueError):
        return 0.0
