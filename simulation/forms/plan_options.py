"""The run form as options of a command, made from the same tables, so that none is forgotten."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django import forms

from simulation.domain.attributes import CATALOGUE
from simulation.domain.plans import BadPlan
from simulation.domain.profile_filter import AGED, CHOSEN, WORDED
from simulation.forms import plan_how, plan_topics
from simulation.forms.plan_marks import PlanField
from simulation.forms.simulation import SimulationForm
from simulation.models import Provider

PAGE_ONLY = {
    "form": "tells a form that is sent twice",
    "like": "the page's way to take a plan over",
    "same_profiles": "goes with it",
    "preset_name": "presets are saved on the page",
    "preset_overwrite": "goes with it",
    "typed_paste": "--topics reads a file instead",
    "suggested_calls": "what the page proposed last",
    "suggested_tokens": "what the page proposed last",
    "suggested_cost": "what the page proposed last",
}
"""Fields without an option, and why."""
SHARED = {
    "provider": "--provider",
    "model": "--model",
    "max_calls": "--max-calls",
    "max_tokens": "--max-tokens",
}
"""Fields with an option that commands of other runs have too."""
PLAIN = {
    "name": (("--name",), "of the run; default: simulation and its seed"),
    "seed": (("--seed",), "decides whatever chance decides; default: drawn, and said"),
    "platform": (("--platform",), "whose tone the threads have, as reddit"),
    "max_cost": (("--max-cost",), "hard cap in USD; default: one and a half of the dry run; none: no cap"),
    "soft_cost": (("--soft-cost",), "soft cap in USD: the page warns from there on"),
}
ALSO = {"profiles_asked": "--asked"}
"""A second, shorter spelling."""
SWITCHES = {
    "then_tag": ("--tag", "tag the comments afterwards"),
    "then_judge": ("--judge", "then check the tags against the personas; implies --tag"),
}


def add_options(parser: ArgumentParser) -> None:
    """The options of everything that the form asks."""
    parser.add_argument(
        "--threads",
        metavar="AGE=2,SEX=1",
        help=f"how many threads for each target attribute: {', '.join(CATALOGUE)}",
    )
    parser.add_argument(
        "--topics",
        metavar="FILE",
        help='posts of your own, one JSON object a line: {"target", "question", "description"}',
    )
    parser.add_argument(
        "--where",
        "--filter",
        action="append",
        default=[],
        metavar="ATTRIBUTE=VALUE",
        help="profiles that take part, as sex=female, age=18-30, education=masters; may be repeated",
    )
    parser.add_argument(
        "--role",
        action="append",
        default=[],
        metavar="ROLE.WHAT=VALUE",
        help=f"one of {', '.join(plan_how.ROLES)}; what: {', '.join(plan_how.ROLE_FIELDS)}; may be repeated",
    )
    for name, (flags, help_text) in PLAIN.items():
        parser.add_argument(*flags, dest=name, help=help_text)
    for name, (flag, help_text) in SWITCHES.items():
        parser.add_argument(flag, dest=name, action="store_true", default=None, help=help_text)
    for name, field in parameter_fields():
        spelled = [flag_of(name), *([ALSO[name]] if name in ALSO else [])]
        parser.add_argument(*spelled, dest=name, help=_help(field))


def parameter_fields() -> Iterator[tuple[str, forms.Field]]:
    """Every parameter of the algorithm."""
    for fields in (plan_how.count_fields, plan_how.parameter_fields, plan_how.word_fields):
        yield from fields()


def flag_of(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def reached() -> set[str]:
    """The fields of the form that the options can fill."""
    fields = {*SHARED, *PLAIN, *SWITCHES, "parallel", "typed"}
    fields |= {name for name, _ in parameter_fields()}
    fields |= {f"{role}_{what}" for role in plan_how.ROLES for what in plan_how.ROLE_FIELDS}
    fields |= {f"threads_{key}" for key in CATALOGUE}
    fields |= {f"filter_{one.key}" for one in (*CHOSEN, *WORDED)}
    return fields | {f"filter_{one.key}_{side}" for one in AGED for side in ("least", "most")}


def values(options: Mapping[str, Any], *, providers: Iterable[Provider]) -> dict[str, Any]:
    """Field -> value of what was given. Raises BadPlan for what cannot be read."""
    plain = [*PLAIN, *SWITCHES, *(name for name, _ in parameter_fields()), "parallel", "model"]
    said = {name: options[name] for name in plain if options.get(name) is not None}
    said |= {name: options[name] for name in ("max_calls", "max_tokens") if options.get(name) is not None}
    if said.get("then_judge"):
        said["then_tag"] = True
    if said.get("max_cost") == "none":
        said["max_cost"] = ""
    if options.get("threads") is not None:
        targets = read_targets(options["threads"])
        said |= {f"threads_{key}": targets.get(key, 0) for key in CATALOGUE}
    if options.get("topics"):
        said |= plan_topics.row_values(read_file(Path(options["topics"])))
    return said | _where(options.get("where") or ()) | _roles(options.get("role") or (), list(providers))


def read_targets(text: str) -> dict[str, int]:
    """ "age=2,sex=1" as a mapping. Raises BadPlan for anything else."""
    targets: dict[str, int] = {}
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        key, _, count = piece.partition("=")
        key = key.strip()
        if not count.strip().isdecimal():
            raise BadPlan("targets", f"“{piece}”: write the attribute, =, and a number, as age=2.")
        if key not in CATALOGUE:
            raise BadPlan("targets", f"Not in the catalogue of attributes: {key}.")
        targets[key] = targets.get(key, 0) + int(count)
    return targets


def read_file(path: Path) -> list[dict[str, str]]:
    """Posts, one JSON object a line. Raises BadPlan naming the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadPlan("topics", f"{path}: cannot be read: {error}") from None
    posts = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            post = json.loads(line)
            posts.append({key: str(post[key]) for key in ("target", "question", "description")})
        except (ValueError, TypeError, KeyError):
            raise BadPlan(
                "topics", f'{path}, line {number}: an object with "target", "question" and "description".'
            ) from None
        row = plan_topics.Row(posts[-1]["target"], posts[-1]["question"], posts[-1]["description"])
        if row.is_blank or row.problem:
            raise BadPlan("topics", f"{path}, line {number}: {row.problem or 'nothing stands in it.'}")
    return posts


def problems(form: SimulationForm) -> list[str]:
    """What is wrong with a form that options filled, each with the option to mend."""
    said = []
    for name, errors in form.errors.items():
        said += [f"{_option(name)}{error}" for error in errors]
    return said


def _option(name: str) -> str:
    """The option of a field, as the beginning of a sentence."""
    if name in SHARED or name in PLAIN or name in dict(parameter_fields()) or name == "parallel":
        return f"{flag_of(name)}: "
    if name in SWITCHES:
        return f"{SWITCHES[name][0]}: "
    if name == "typed":
        return "--topics: "
    role, _, what = name.partition("_")
    if role in plan_how.ROLES and what in plan_how.ROLE_FIELDS:
        return f"--role {role}.{what}: "
    head, _, key = name.partition("_")
    return {"threads": f"--threads {key}: ", "filter": f"--where {key}: "}.get(head, "")


def _where(conditions: Iterable[str]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    chosen, worded, aged = ({one.key for one in kind} for kind in (CHOSEN, WORDED, AGED))
    for condition in conditions:
        key, given, value = (part.strip() for part in condition.partition("="))
        if not given or not value or key not in chosen | worded | aged:
            known = ", ".join(sorted(chosen | worded | aged))
            raise BadPlan("where", f"“{condition}”: write ATTRIBUTE=VALUE; profiles are told by: {known}.")
        if key in chosen:
            said.setdefault(f"filter_{key}", []).append(value)
        elif key in worded:
            said[f"filter_{key}"] = f"{said.get(f'filter_{key}', '')} {value}".strip()
        else:
            least, dash, most = value.partition("-")
            said[f"filter_{key}_least"], said[f"filter_{key}_most"] = least, most if dash else least
    return said


def _roles(given: Iterable[str], providers: list[Provider]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    by_name = {one.name: one.public_id for one in providers}
    for one in given:
        where, equals, value = one.partition("=")
        role, _, what = where.strip().partition(".")
        if not equals or role not in plan_how.ROLES or what not in plan_how.ROLE_FIELDS:
            raise BadPlan(
                "role",
                f"“{one}”: write ROLE.WHAT=VALUE, as user.temperature=0.7."
                f" Roles: {', '.join(plan_how.ROLES)}; what: {', '.join(plan_how.ROLE_FIELDS)}.",
            )
        value = value.strip()
        if what == "provider" and value and value not in by_name:
            raise BadPlan("role", f"There is no provider “{value}”; there are: {', '.join(by_name)}.")
        said[f"{role}_{what}"] = by_name.get(value, "") if what == "provider" else value
    return said


def _help(field: forms.Field) -> str:
    known = PlanField(forms.Form(), field, "x").published
    # A percent sign in help is argparse's own.
    return f"{field.label}: {field.help_text} Published: {known}".replace("%", "%%")
