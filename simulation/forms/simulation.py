"""The form that starts a simulation. A dry run stands beside it, and caps are proposed from that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from itertools import chain
from typing import Any

from django import forms
from django.conf.locale import LANG_INFO
from django.forms import BoundField

from simulation.domain.attributes import CATALOGUE
from simulation.domain.parameters import Parameters
from simulation.domain.plans import RoleModel, TypedTopic
from simulation.domain.profile_filter import AGED, CHOSEN, WORDED, ProfileFilter
from simulation.forms import plan_how, plan_money, plan_topics, plan_who
from simulation.forms.plan_marks import PlanField, published
from simulation.forms.styled import Styled
from simulation.models import Corpus, Provider
from simulation.services.prompts import PLATFORM, platforms

LARGEST_SEED = 2**63 - 1


class SimulationForm(Styled, forms.Form):
    """Everything a run needs to be told. `suggested_*`, `form` and `like` are hidden: what was proposed last,
    the mark by which a form that is sent twice is told, and the run whose plan was taken over."""

    bound_field_class = PlanField

    name = forms.CharField(label="Name", max_length=80)
    provider = plan_how.provider_field((), label="Provider", empty_label=None)
    model = forms.CharField(
        label="Model", required=False, max_length=100, help_text="Empty: the default model of the provider."
    )
    platform = forms.ChoiceField(label="Platform", help_text="Whose tone posts and comments have.")
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="Decides whatever chance decides: who is asked, who answers whom. Drawn for you.",
    )
    then_tag = forms.BooleanField(label="Tag the comments afterwards", required=False, initial=True)
    then_judge = forms.BooleanField(
        label="Then check the tags against the personas", required=False, initial=False
    )
    same_profiles = forms.BooleanField(label="The same profiles as the run", required=False)
    like = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)
    form = forms.UUIDField(widget=forms.HiddenInput)
    preset_name = forms.CharField(
        label="Name of the preset",
        required=False,
        max_length=80,
        help_text="It keeps this form but for the name of the run and the seed.",
    )
    preset_overwrite = forms.BooleanField(label="Replace the one that has this name", required=False)

    def __init__(self, *args: Any, corpus: Corpus, providers: Iterable[Provider], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.corpus, self.providers = corpus, list(providers)
        choice, platform = self.fields["provider"], self.fields["platform"]
        assert isinstance(choice, forms.ModelChoiceField)
        assert isinstance(platform, forms.ChoiceField)
        choice.queryset = Provider.objects.filter(pk__in=[one.pk for one in self.providers])
        self.platforms = platforms(corpus.language)
        platform.choices = [(one.key, one.label) for one in self.platforms]
        published(platform, PLATFORM)
        for name, field in chain(
            plan_who.filter_fields(),
            plan_who.target_fields(),
            plan_topics.topic_fields(),
            plan_how.count_fields(),
            plan_how.parameter_fields(),
            plan_how.word_fields(),
            plan_how.role_fields(self.providers),
            plan_money.money_fields(),
            plan_money.limit_fields(),
            plan_money.suggested_fields(),
        ):
            if not isinstance(field.widget, forms.CheckboxSelectMultiple):
                field.widget.attrs.setdefault("class", "field")
            self.fields[name] = field

    # What the page draws together.

    def filters_chosen(self) -> list[BoundField]:
        return [self[f"filter_{one.key}"] for one in CHOSEN]

    def filters_typed(self) -> list[BoundField]:
        ages = [self[f"filter_{one.key}_{side}"] for one in AGED for side in ("least", "most")]
        return [*ages, *(self[f"filter_{one.key}"] for one in WORDED)]

    def targets(self) -> list[BoundField]:
        return [self[f"threads_{key}"] for key in CATALOGUE]

    def parameters(self) -> list[BoundField]:
        return [self[name] for name, _ in plan_how.parameter_fields()]

    def words(self) -> list[BoundField]:
        return [self[name] for name, _ in plan_how.word_fields()]

    def roles(self) -> Iterator[tuple[str, str, str, list[tuple[str, BoundField]]]]:
        """Key, label, what the role does, and its fields, each with its short name."""
        for role, (label, does) in plan_how.ROLES.items():
            fields = [(words, self[f"{role}_{end}"]) for end, (words, _) in plan_how.ROLE_FIELDS.items()]
            yield role, label, does, fields

    def language_name(self) -> str:
        """The language of the corpus in its own words, or its code."""
        code = self.corpus.language
        return str(LANG_INFO.get(code, {}).get("name_local", code))

    def role_help(self) -> list[tuple[str, str]]:
        """What each field of a role is, said once for all roles."""
        return list(plan_how.ROLE_FIELDS.values())

    def attributes(self) -> list[tuple[str, str]]:
        return [(one.key, one.label) for one in CATALOGUE.values()]

    def marked(self) -> list[PlanField]:
        """The fields that have a published value."""
        return [field for field in self if isinstance(field, PlanField) and field.has_published]

    def parts(self) -> dict[str, list[BoundField]]:
        """The folded parts of the page and the fields in each."""
        return {
            "typed": [self["typed"], self["typed_paste"]],
            "parameters": [*self.parameters(), *self.words()],
            "roles": [field for *_, fields in self.roles() for _, field in fields],
            "filter": [*self.filters_chosen(), *self.filters_typed(), self["same_profiles"]],
            "limits": [self["max_calls"], self["max_tokens"], self["parallel"]],
        }

    def wrong_inside(self) -> dict[str, bool]:
        """Which folded part holds an error, and so is drawn open."""
        return {part: any(field.errors for field in fields) for part, fields in self.parts().items()}

    def used_inside(self) -> dict[str, int]:
        """How many fields of a folded part say something: other than published, or not empty."""
        counted = {}
        for part, fields in self.parts().items():
            counted[part] = sum(
                field.changed
                if isinstance(field, PlanField) and field.has_published
                else self._is_said(field)
                for field in fields
            )
        return counted

    def _is_said(self, field: BoundField) -> bool:
        value = field.value()
        if field.name == "typed":
            return any(not row.is_blank for row in value or ())
        if field.name in ("max_calls", "max_tokens"):
            return str(value or "") != str(self[field.name.replace("max", "suggested")].value() or "")
        return bool(value) and str(value) != str(field.field.initial)

    def topic_rows(self) -> list[plan_topics.Row]:
        return plan_topics.shown_rows(self["typed"].value() or (), more="more" in self.data)

    def topic_faults(self) -> list[str]:
        """What is wrong with the rows as a whole; what is wrong with one stands in it."""
        return [str(error) for error in self["typed"].errors if not str(error).startswith("Row ")]

    # What was asked for. The first three are None where a field they need is wrong.

    def asked_filter(self) -> ProfileFilter | None:
        names = [field.name for field in (*self.filters_chosen(), *self.filters_typed())]
        return plan_who.read_filter(self.cleaned_data) if self.fine(names) else None

    def asked_targets(self) -> dict[str, int] | None:
        """Threads to write for each attribute; those of typed posts are not among them."""
        fine = self.fine([field.name for field in self.targets()])
        return plan_who.read_targets(self.cleaned_data) if fine else None

    def asked_topics(self) -> list[TypedTopic] | None:
        return plan_topics.read_topics(self.cleaned_data) if self.fine(("typed", "typed_paste")) else None

    def asked_parameters(self) -> Parameters | None:
        names = [*plan_how.COUNTS, *(field.name for field in (*self.parameters(), *self.words()))]
        return plan_how.read_parameters(self.cleaned_data) if self.fine(names) else None

    def asked_models(self) -> dict[str, RoleModel] | None:
        """The model of every role; None where a field of one is wrong, or the provider."""
        fine = self.fine(["provider", "model", *(field.name for field in self.parts()["roles"])])
        return plan_how.read_roles(self.cleaned_data, self._model_name()) if fine else None

    def _model_name(self) -> str:
        provider = self.cleaned_data["provider"]
        return str(self.cleaned_data.get("model") or provider.default_model)

    def with_fields(self, fields: Mapping[str, object]) -> SimulationForm:
        """The same form with other values in some fields."""
        sent: Any = copy(self.data)
        for name, value in fields.items():
            sent[name] = str(value)
        return SimulationForm(sent, corpus=self.corpus, providers=self.providers)

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        for prefix, (label, _) in plan_how.WORDS.items():
            least, most = cleaned.get(f"{prefix}_least"), cleaned.get(f"{prefix}_most")
            if least and most and least > most:
                self.add_error(f"{prefix}_most", f"{label}: not less than the least, {least}.")
        for one in AGED:
            least, most = (cleaned.get(f"filter_{one.key}_{side}") for side in ("least", "most"))
            if least and most and least > most:
                self.add_error(f"filter_{one.key}_most", f"Not less than {least}, where it begins.")
        soft, hard = cleaned.get("soft_cost"), cleaned.get("max_cost")
        if soft is not None and hard is not None and soft > hard:
            self.add_error("soft_cost", "It warns before the hard cap: not more than that.")
        if (posts := len(plan_topics.read_topics(cleaned))) > plan_topics.MOST:
            many = f"At most {plan_topics.MOST} posts in one run; with the rows these are {posts:,}."
            self.add_error("typed_paste", many)
        return cleaned

    def fine(self, names: Iterable[str]) -> bool:
        """Whether none of these fields is wrong. What is asked for is read only once it is known."""
        return not any(name in self.errors for name in names)
