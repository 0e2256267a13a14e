"""Starting runs that generate profiles and writing styles; `Profiling` is their work."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from simulation.domain.diversity import TWIN_FROM
from simulation.domain.plans import LEAST_TOKENS, BadPlan, Forecast, RoleModel
from simulation.domain.profile_answers import SHOWN, one_line
from simulation.domain.profile_groups import HOME, country
from simulation.domain.profile_rules import normalised
from simulation.domain.profile_targets import Targets, plan_asks, wishes_of
from simulation.domain.run_states import ENDED_RUNS
from simulation.domain.seeds import generator
from simulation.domain.usernames import usernames
from simulation.llm.prompts import BadPrompt
from simulation.models import Corpus, Profile, Provider, Run, Step, User
from simulation.services import audit, engine, profiles, prompts
from simulation.services.profile_asking import AUTHOR, PERSONA, PROMPTS, STYLE, STYLER
from simulation.services.profiling import Profiling, style_step
from simulation.services.runs import LARGEST_SEED, check_caps, check_money, check_name, check_prices

__all__ = [
    "MOST_PROFILES",
    "Profiling",
    "forecast_generation",
    "forecast_styles",
    "regenerate",
    "start_generation",
    "start_styles",
]

MOST_PROFILES = 5_000
"""In one run."""
TAKEN_SHOWN = 6
"""Profiles of the same country that a question names to be stayed away from."""
TOKENS = {"profile": 1300, "style": 600}
"""A call, prompt and answer together, generously."""
SHARE_AGAIN = 0.25
"""Of the calls, asked again: twins, broken rules, answers that could not be read."""
NUMBERED = re.compile(r"^(.*?)(\d{1,9})$")


def default_models(model: str) -> dict[str, RoleModel]:
    """`model` in both roles: people differ from each other, styles as in the published runs."""
    return {
        AUTHOR: RoleModel(model, temperature=1.0, max_tokens=600),
        STYLER: RoleModel(model, temperature=0.0, max_tokens=800),
    }


def forecast_generation(count: int) -> Forecast:
    """Two calls a profile, and a quarter as many again for what is asked again."""
    return _forecast(count, ("profile", "style"))


def forecast_styles(count: int) -> Forecast:
    """One call a profile, and a quarter as many again."""
    return _forecast(count, ("style",))


def _forecast(count: int, purposes: Sequence[str]) -> Forecast:
    calls = count * len(purposes)
    tokens = round(count * sum(TOKENS[one] for one in purposes) * (1 + SHARE_AGAIN))
    return Forecast(calls, round(calls * (1 + SHARE_AGAIN)), max(tokens, LEAST_TOKENS) if count else 0, 0)


@transaction.atomic
def start_generation(
    *,
    by: User | None,
    corpus: Corpus,
    name: str,
    provider: Provider,
    model: RoleModel,
    styler: RoleModel,
    count: int,
    targets: Targets,
    seed: int,
    max_calls: int,
    max_tokens: int,
    soft_cost: int | None = None,
    max_cost: int | None = None,
    parallel: int = 32,
    twin_from: int = TWIN_FROM,
    form: str = "",
) -> Run:
    """A run that proposes `count` new profiles for a corpus, each with a style.

    What each is asked to be comes from `targets`, the profiles that are there, and `seed`. Who shares
    `twin_from` of the target attributes with another profile is asked for again. Money in nano-dollars;
    `form` marks the form it came from. Raises BadPlan naming the field and what to do.
    """
    if not 1 <= count <= MOST_PROFILES:
        raise BadPlan("count", f"Ask for 1 to {MOST_PROFILES:,} profiles.")
    if not 2 <= twin_from <= 9:
        raise BadPlan("twin_from", "A number of shared attributes from 2 on; 9 allows twins.")
    _locked(corpus)
    known = _facts(corpus)
    frame = Frame(by, corpus, name, provider, seed, form, parallel)
    run = _start(
        frame,
        Caps(max_calls, max_tokens, soft_cost, max_cost),
        models={AUTHOR: model, STYLER: styler},
        prompt_names=PROMPTS,
        plan={"count": count, "targets": targets.as_dict(), "twin_from": twin_from, "examples": _examples()},
        planned=f"Planned: {count} profiles.",
    )
    _plan_profiles(run, plan_asks(count, targets, known, seed), known)
    engine.wake(run)
    return run


@transaction.atomic
def start_styles(
    *,
    by: User | None,
    corpus: Corpus,
    profiles: Sequence[Profile],
    name: str,
    provider: Provider,
    styler: RoleModel,
    seed: int,
    max_calls: int,
    max_tokens: int,
    soft_cost: int | None = None,
    max_cost: int | None = None,
    parallel: int = 32,
    form: str = "",
) -> Run:
    """A run that writes a style for each of the profiles; one that is there is kept as a version.

    Raises BadPlan naming the field and what to do.
    """
    if not profiles:
        raise BadPlan("profiles", "There is no profile to write a style for: each one has its own.")
    if len(profiles) > MOST_PROFILES:
        raise BadPlan("profiles", f"Choose 1 to {MOST_PROFILES:,} profiles.")
    if any(one.corpus_id != corpus.pk for one in profiles):
        raise BadPlan("profiles", "All profiles must be of this corpus.")
    frame = Frame(by, corpus, name, provider, seed, form, parallel)
    run = _start(
        frame,
        Caps(max_calls, max_tokens, soft_cost, max_cost),
        models={STYLER: styler},
        prompt_names=(PERSONA, STYLE),
        plan={"count": 0, "profiles": [one.external_id for one in profiles], "examples": []},
        planned=f"Planned: {len(profiles)} styles.",
    )
    Step.objects.bulk_create(style_step(run, number, one) for number, one in enumerate(profiles))
    engine.wake(run)
    return run


@transaction.atomic
def regenerate(
    *,
    by: User | None,
    profile: Profile,
    provider: Provider,
    model: RoleModel,
    styler: RoleModel,
    seed: int,
    max_calls: int,
    max_tokens: int,
    soft_cost: int | None = None,
    max_cost: int | None = None,
    form: str = "",
) -> Run:
    """A run with one new proposal that is asked to be what `profile` was; `profile` itself becomes rejected.

    Raises BadPlan as `start_generation` does, and Stale where somebody has rejected or changed the profile
    since it was read: then no run begins.
    """
    corpus = profile.corpus
    _locked(corpus)
    if Profile.objects.select_for_update(no_key=True).get(pk=profile.pk).state != profile.state:
        raise profiles.Stale(f"{profile.username} was judged meanwhile, or is being made anew already.")
    if profile.state == Profile.REJECTED:
        raise profiles.Stale(f"{profile.username} was rejected before. Restore the profile first.")
    profiles.reject(by=by, profile=profile, expected_version=profile.version)
    frame = Frame(by, corpus, f"another for {profile.username}"[:80], provider, seed, form)
    run = _start(
        frame,
        Caps(max_calls, max_tokens, soft_cost, max_cost),
        models={AUTHOR: model, STYLER: styler},
        prompt_names=PROMPTS,
        plan={
            "count": 1,
            "in_place_of": profile.external_id,
            "twin_from": TWIN_FROM,
            "examples": _examples(),
        },
        planned=f"Planned: one profile in place of {profile.external_id}.",
    )
    _plan_profiles(run, [_wishes(profile)], _facts(corpus))
    engine.wake(run)
    return run


def _wishes(profile: Profile) -> dict[str, Any]:
    """What the profile was asked to be; where nobody asked, what it is."""
    asked = profile.call.step.asks.get("wishes") if profile.call else None
    return dict(asked) if asked else wishes_of(normalised(profile.facts))


def _locked(corpus: Corpus) -> None:
    """Ids and names are given to one run at a time."""
    Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)


def _facts(corpus: Corpus) -> list[dict[str, Any]]:
    """Of the profiles that count: who was rejected leaves a place."""
    kept = corpus.profiles.exclude(state=Profile.REJECTED).order_by("pk")
    return list(kept.values_list("facts", flat=True))


def _examples() -> list[dict[str, Any]]:
    """The facts of our own hand-written profiles, from which each question shows a few."""
    path = settings.BASE_DIR / "simulation" / "starter_corpus" / "profiles.json"
    read = json.loads(path.read_text(encoding="utf-8"))
    return [normalised(facts) for facts in read.values()]


@dataclass(frozen=True)
class Frame:
    """What every run is started with."""

    by: User | None
    corpus: Corpus
    name: str
    provider: Provider
    seed: int
    form: str
    parallel: int = 1


@dataclass(frozen=True)
class Caps:
    """Calls, tokens and nano-dollars that a run may spend."""

    max_calls: int
    max_tokens: int
    soft_cost: int | None
    max_cost: int | None


def _start(
    frame: Frame,
    caps: Caps,
    *,
    models: Mapping[str, RoleModel],
    prompt_names: Sequence[str],
    plan: Mapping[str, Any],
    planned: str,
) -> Run:
    """The run's row, checked and audited; its steps come next."""
    check_name(frame.name)
    check_caps(caps.max_calls, caps.max_tokens)
    check_money(caps.soft_cost, caps.max_cost)
    check_prices(frame.provider, models)
    if not 0 <= frame.seed <= LARGEST_SEED:
        raise BadPlan("seed", "A whole number from 0 to 9,223,372,036,854,775,807.")
    try:
        frozen = prompts.freeze(prompts.FOLDER, prompt_names, language=frame.corpus.language)
    except BadPrompt as bad:
        raise BadPlan("corpus", str(bad)) from None
    run = Run.objects.create(
        corpus=frame.corpus,
        kind=Run.PROFILES,
        name=frame.name.strip(),
        seed=frame.seed,
        provider=frame.provider,
        parallel=frame.parallel,
        created_by=frame.by,
        plan={
            "version": 2,
            "language": frame.corpus.language,
            "models": {role: one.as_dict() for role, one in models.items()},
            "prompts": frozen,
            "form": frame.form,
            **plan,
        },
        **asdict(caps),
    )
    details = {"profiles": plan["count"], "max_calls": caps.max_calls, "max_tokens": caps.max_tokens}
    audit.record(by=frame.by, action="run.started", target=run, corpus=run.corpus, details=details)
    engine.tell(run, planned)
    return run


def _plan_profiles(run: Run, asks: Sequence[Mapping[str, Any]], known: Sequence[Mapping[str, Any]]) -> None:
    ids = _free_ids(run.corpus, len(asks))
    names = usernames(len(asks), _taken(run.corpus, "username"), run.seed)
    homes: dict[str, list[str]] = {}
    for facts in known:
        homes.setdefault(country(str(facts.get(HOME) or "")), []).append(one_line(facts))
    places, shown = range(len(run.plan["examples"])), min(SHOWN, len(run.plan["examples"]))
    Step.objects.bulk_create(
        (
            Step(
                run=run,
                key=f"profile/{number}",
                kind="profile",
                number=number,
                asks={
                    "wishes": dict(wishes),
                    "external_id": external_id,
                    "username": username,
                    "taken": homes.get(str(wishes.get(HOME, "")), [])[-TAKEN_SHOWN:],
                    "examples": generator(run.seed, "examples", number).sample(places, shown),
                },
                due_at=timezone.now(),
            )
            for number, (wishes, external_id, username) in enumerate(zip(asks, ids, names, strict=True))
        ),
        batch_size=1000,
    )


def _taken(corpus: Corpus, what: str) -> set[str]:
    """Ids or names that profiles have, and that runs under way will give."""
    steps = Step.objects.filter(run__corpus=corpus, run__kind=Run.PROFILES, kind="profile")
    planned = steps.exclude(run__state__in=ENDED_RUNS).values_list(f"asks__{what}", flat=True)
    return set(corpus.profiles.values_list(what, flat=True)) | set(planned)


def _free_ids(corpus: Corpus, count: int) -> list[str]:
    """Ids that go on as the corpus' own do (pers1, pers2 .., where it has none), behind the highest."""
    taken = _taken(corpus, "external_id")
    found = [(match[1], int(match[2])) for name in taken if (match := NUMBERED.match(name))]
    prefixes = [prefix for prefix, _ in found]
    prefix = max(sorted(set(prefixes)), key=prefixes.count, default="pers")
    highest = max((number for one, number in found if one == prefix), default=0)
    width = max(
        (len(name) - len(prefix) for name in taken if re.fullmatch(rf"{re.escape(prefix)}0\d+", name)),
        default=0,
    )
    return [f"{prefix}{highest + place:0{width}d}" for place in range(1, count + 1)]
