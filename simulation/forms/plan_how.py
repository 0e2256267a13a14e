"""How a simulation works: the parameters of Algorithm 1 and the models by role, with published defaults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django import forms

from simulation.domain.parameters import MOST_WORDS, WHOLE, Parameters
from simulation.domain.plan_values import SPANS
from simulation.domain.plans import RoleModel, published_models
from simulation.forms.plan_marks import published
from simulation.models import Provider

PUBLISHED = Parameters()
ROLES = {
    "author": ("Author", "writes the post that opens a thread"),
    "user": ("User", "writes the replies: nearly all of the tokens"),
    "interest": ("Interest", "answers whether a profile would join"),
    "tagger": ("Tagger", "says what can be inferred from a comment, afterwards"),
    "judge": ("Judge", "compares a tag with the persona, afterwards"),
}
BY_ROLE = published_models("any")
MODES = [("top", "among the best scored"), ("random", "among a random sample")]
LARGEST_MODEL_SEED = 2**31 - 1

COUNTS = {
    "profiles_asked": ("Profiles asked", "Of the matching profiles, how many are asked in each thread."),
    "rounds": ("Rounds", "How often every agent gets its turn in a thread."),
}
ADVANCED = {
    "mode": ("What is answered", "How the comment that a reply answers is drawn."),
    "actions": ("Most actions in a round", "Each agent acts from once to this often in a round; drawn."),
    "start_weight": (
        "Weight of writing",
        "Of 10, in the first round: at 7 an action writes in 70 % of cases. One less in each later round.",
    ),
    "sampled": ("Comments to choose from", "The comment to answer is drawn from this many."),
    "max_depth": ("Deepest target", "Most comments from the root to the one answered, both counted."),
    "max_children": ("Most replies", "A comment with so many gets no more while there are others to answer."),
    "p_critic": ("Share of critics", "Draws of critics in a round, as a share of the profiles asked."),
    "p_short": ("Share of short comments", "The chance that a comment is asked to be short."),
}
WORDS = {
    "short": ("Short comments", "short_words"),
    "long": ("Long comments", "long_words"),
}
ROLE_FIELDS = {
    "provider": ("Provider", "Where its calls go."),
    "model": ("Model", "Empty: the model above."),
    "temperature": ("Temperature", "0 to 2: how varied. Empty: not sent."),
    "penalty": ("Frequency penalty", "-2 to 2: against repetition. Empty: not sent."),
    "tokens": ("Most tokens", "An answer is cut there; set aside before each call."),
    "seed": ("Seed", "Empty: drawn for each call."),
}


class ProviderChoice(forms.ModelChoiceField):
    """Names each provider with the model that it stands for."""

    def label_from_instance(self, obj: Provider) -> str:
        return f"{obj.name} ({obj.default_model})"


def provider_field(providers: Iterable[Provider], **options: Any) -> ProviderChoice:
    """A choice among `providers`."""
    known = Provider.objects.filter(pk__in=[one.pk for one in providers])
    return ProviderChoice(queryset=known, to_field_name="public_id", **options)


def count_fields() -> Iterator[tuple[str, forms.Field]]:
    for name in COUNTS:
        yield name, _parameter(name, COUNTS[name])


def parameter_fields() -> Iterator[tuple[str, forms.Field]]:
    """What Algorithm 1 may vary besides, each with the published value as its default."""
    for name in ADVANCED:
        yield name, _parameter(name, ADVANCED[name])


def word_fields() -> Iterator[tuple[str, forms.Field]]:
    """Least and most words asked of a short and of a long comment."""
    for prefix, (label, name) in WORDS.items():
        for side, number in zip(("least", "most"), getattr(PUBLISHED, name), strict=True):
            field = forms.IntegerField(
                label=f"{label}, {side} words",
                min_value=1,
                max_value=MOST_WORDS,
                help_text="Asked of the model.",
            )
            yield f"{prefix}_{side}", published(field, number)


def read_parameters(cleaned: Mapping[str, Any]) -> Parameters:
    """Raises ValueError where two of them do not go together."""
    values = {name: cleaned[name] for name in (*COUNTS, *ADVANCED)}
    values |= {
        name: (cleaned[f"{prefix}_least"], cleaned[f"{prefix}_most"]) for name, prefix in SPANS.items()
    }
    return Parameters(**values)


def role_fields(providers: Iterable[Provider]) -> Iterator[tuple[str, forms.Field]]:
    """Provider, model, temperature, frequency penalty, completion cap and seed of each role."""
    providers = list(providers)
    for role, (label, _) in ROLES.items():
        fields = _fields_of_role(role, providers)
        for end, (words, _) in ROLE_FIELDS.items():
            field = fields[end]
            field.label = f"{label}: {words.lower()}"
            yield f"{role}_{end}", field


def _fields_of_role(role: str, providers: list[Provider]) -> dict[str, forms.Field]:
    known = BY_ROLE[role]
    tenth = forms.NumberInput(attrs={"step": "0.1"})
    temperature = forms.FloatField(required=False, min_value=0, max_value=2, widget=tenth)
    penalty = forms.FloatField(required=False, min_value=-2, max_value=2, widget=tenth)
    return {
        "provider": provider_field(providers, required=False, empty_label="the run’s"),
        "model": forms.CharField(required=False, max_length=100),
        "temperature": published(temperature, known.temperature),
        "penalty": published(penalty, known.frequency_penalty),
        "tokens": published(forms.IntegerField(min_value=16, max_value=32_000), known.max_tokens),
        "seed": forms.IntegerField(required=False, min_value=0, max_value=LARGEST_MODEL_SEED),
    }


def read_roles(cleaned: Mapping[str, Any], model: str) -> dict[str, RoleModel]:
    """The model of each role. Where no other is named: the default of its own provider, else `model`."""
    return {role: _read_role(cleaned, role, model) for role in ROLES}


def _read_role(cleaned: Mapping[str, Any], role: str, model: str) -> RoleModel:
    own: Provider | None = cleaned.get(f"{role}_provider")
    return RoleModel(
        model=cleaned.get(f"{role}_model") or (own.default_model if own else model),
        temperature=cleaned.get(f"{role}_temperature"),
        frequency_penalty=cleaned.get(f"{role}_penalty"),
        max_tokens=cleaned[f"{role}_tokens"],
        seed=cleaned.get(f"{role}_seed"),
        provider=own.public_id if own else "",
    )


def _parameter(name: str, words: tuple[str, str]) -> forms.Field:
    label, help_text = words
    field: forms.Field
    if name == "mode":
        field = forms.ChoiceField(label=label, choices=MODES, help_text=help_text)
    elif name in WHOLE:
        least, most = WHOLE[name]
        field = forms.IntegerField(label=label, min_value=least, max_value=most, help_text=help_text)
    else:
        step = forms.NumberInput(attrs={"step": "0.05"})
        field = forms.FloatField(label=label, min_value=0, max_value=1, widget=step, help_text=help_text)
    return published(field, getattr(PUBLISHED, name))
