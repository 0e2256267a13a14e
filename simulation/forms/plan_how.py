"""How a simulation works: the parameters of Algorithm 1 and the models by role, with published defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms

from simulation.domain.parameters import MOST_WORDS, WHOLE, Parameters
from simulation.domain.plans import RoleModel, published_models

PUBLISHED = Parameters()
ROLES = {
    "author": ("Author", "writes the post that opens a thread"),
    "user": ("User", "writes the replies: nearly all of the tokens"),
    "interest": ("Interest", "answers whether a profile would join"),
    "tagger": ("Tagger", "says what can be inferred from a comment, afterwards"),
}
BY_ROLE = {role: model for role, model in published_models("any").items() if role in ROLES}

COUNTS = {
    "profiles_asked": ("Profiles asked", "Of the matching profiles, how many are asked in each thread."),
    "rounds": ("Rounds", "How often every agent gets its turn in a thread."),
}
ADVANCED = {
    "actions": ("Most actions in a round", "Each agent acts from once to this often in a round; drawn."),
    "start_weight": (
        "Weight of writing",
        "Of 10, in the first round: at 7 an action writes in 70 % of cases. One less in each later round.",
    ),
    "sampled": ("Comments to choose from", "The target of a reply is drawn from this many best scored."),
    "max_depth": ("Deepest target", "Most comments from the root to the one answered, both counted."),
    "max_children": ("Most replies", "A comment with so many gets no more while there are others to answer."),
    "p_critic": ("Share of critics", "Draws of critics in a round, as a share of the profiles asked."),
    "p_short": ("Share of short comments", "The chance that a comment is asked to be short."),
}
WORDS = {
    "short": ("Short comments", "short_words"),
    "long": ("Long comments", "long_words"),
}


def count_fields() -> Iterator[tuple[str, forms.Field]]:
    for name, (label, help_text) in COUNTS.items():
        yield name, _whole(name, label, help_text)


def parameter_fields() -> Iterator[tuple[str, forms.Field]]:
    """What Algorithm 1 may vary besides, each with the published value as its default."""
    for name, (label, help_text) in ADVANCED.items():
        yield (
            name,
            _whole(name, label, help_text) if name in WHOLE else _share(name, label, help_text),
        )


def word_fields() -> Iterator[tuple[str, forms.Field]]:
    """Least and most words asked of a short and of a long comment."""
    for prefix, (label, name) in WORDS.items():
        for side, number, words in zip(
            ("least", "most"), getattr(PUBLISHED, name), ("least", "most"), strict=True
        ):
            yield (
                f"{prefix}_{side}",
                forms.IntegerField(
                    label=f"{label}, {words} words",
                    min_value=1,
                    max_value=MOST_WORDS,
                    initial=number,
                    help_text=f"Asked of the model. Published: {number}.",
                ),
            )


def read_parameters(cleaned: Mapping[str, Any]) -> Parameters:
    """Raises ValueError where two of them do not go together."""
    values = {name: cleaned[name] for name in (*COUNTS, *ADVANCED)}
    values |= {name: (cleaned[f"{one}_least"], cleaned[f"{one}_most"]) for one, (_, name) in WORDS.items()}
    return Parameters(**values)


def role_fields() -> Iterator[tuple[str, forms.Field]]:
    """Model, temperature, frequency penalty and completion cap of each role."""
    for role, (label, _) in ROLES.items():
        known = BY_ROLE[role]
        yield (
            f"{role}_model",
            forms.CharField(label=f"{label}: model", required=False, max_length=100),
        )
        yield (
            f"{role}_temperature",
            forms.FloatField(
                label=f"{label}: temperature",
                required=False,
                min_value=0,
                max_value=2,
                initial=known.temperature,
            ),
        )
        yield (
            f"{role}_penalty",
            forms.FloatField(
                label=f"{label}: frequency penalty",
                required=False,
                min_value=-2,
                max_value=2,
                initial=known.frequency_penalty,
            ),
        )
        yield (
            f"{role}_tokens",
            forms.IntegerField(
                label=f"{label}: most tokens", min_value=16, max_value=32_000, initial=known.max_tokens
            ),
        )


def read_roles(cleaned: Mapping[str, Any], model: str) -> dict[str, RoleModel]:
    """The model of each role; `model` where no other is named."""
    return {
        role: RoleModel(
            cleaned.get(f"{role}_model") or model,
            cleaned.get(f"{role}_temperature"),
            cleaned.get(f"{role}_penalty"),
            cleaned[f"{role}_tokens"],
        )
        for role in ROLES
    }


def _whole(name: str, label: str, help_text: str) -> forms.Field:
    least, most = WHOLE[name]
    known = getattr(PUBLISHED, name)
    return forms.IntegerField(
        label=label,
        min_value=least,
        max_value=most,
        initial=known,
        help_text=f"{help_text} Published: {known}.",
    )


def _share(name: str, label: str, help_text: str) -> forms.Field:
    known = getattr(PUBLISHED, name)
    return forms.FloatField(
        label=label,
        min_value=0,
        max_value=1,
        initial=known,
        widget=forms.NumberInput(attrs={"step": "0.05"}),
        help_text=f"{help_text} Published: {known}.",
    )
