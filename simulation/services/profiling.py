"""The work of a profile run: people are invented one by one, and each gets a way of writing.

Steps `profile/<n>` ask for a person and write the profile, proposed; each plans its `style/<n>`. An answer
that breaks the rules, or is a near twin of somebody, is asked for again as another sample. Nothing is written
before the step ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from simulation.domain import profile_rules
from simulation.domain.attributes import CATALOGUE
from simulation.domain.diversity import twins
from simulation.domain.run_states import StepState
from simulation.domain.usernames import usernames
from simulation.llm.structured import Parsed
from simulation.models import Comment, ModelCall, Profile, ProfileVersion, Run, Step
from simulation.services import engine, profile_asking
from simulation.services.claiming import Claim
from simulation.services.completions import Asker
from simulation.services.work import Outcome, Work

TWIN, INVALID, GONE, EDITED = "twin", "invalid", "gone", "edited"
"""Reasons for which a step ends without a profile or style, beside those of any answer."""
AGAIN = 3
"""How often another sample is asked for after the first."""
KEPT_RULE = "rejected"
"""A person's reason to reject stands among the warnings; a new style does not take it away."""


class Profiling(Work):
    """The work of a profile run; see `work.Work`."""

    def perform(self, claim: Claim, asker: Asker) -> Outcome:
        return _invent(claim, asker) if claim.step.kind == "profile" else _describe(claim, asker)

    def record(self, claim: Claim, outcome: Outcome) -> Comment | None:
        if outcome.state is StepState.SKIPPED:
            what = "No profile" if claim.step.kind == "profile" else "No style"
            engine.tell(claim.run, f"{what} ({claim.step.key}): {outcome.reason}. {outcome.detail}", "warn")
        elif claim.step.kind == "profile":
            _propose(claim, outcome)
        else:
            _write_style(claim, outcome)
        return None


def _invent(claim: Claim, asker: Asker) -> Outcome:
    if _made(claim.run, claim.step):
        return Outcome(StepState.SKIPPED, reason="made", detail="This profile has been written already.")
    tried = claim.step.asks.get("again", 0)
    reason = detail = ""
    result: dict[str, Any] = {}
    for sample in range(tried, AGAIN + 1):
        answered = asker.ask(profile_asking.invention(claim.run, claim.step, sample))
        result = {"call": answered.call.public_id, "sample": sample}
        if not isinstance(answered.read, Parsed):
            return Outcome(
                StepState.SKIPPED, result, reason=answered.read.why.value, detail=answered.read.problem
            )
        facts = profile_rules.normalised(answered.read.value.model_dump())
        seen = _last(claim.run)
        reason, detail = _wrong(claim.run, facts, above=0)
        if not reason:
            return Outcome(result=result | {"facts": facts, "seen": seen})
    return Outcome(StepState.SKIPPED, result, reason=reason, detail=detail)


def _made(run: Run, step: Step) -> bool:
    return run.made_profiles.filter(external_id=step.asks["external_id"]).exists()


def _last(run: Run) -> int:
    newest = Profile.objects.filter(corpus=run.corpus_id).order_by("-pk").values_list("pk", flat=True)
    return newest.first() or 0


def _wrong(run: Run, facts: Mapping[str, Any], *, above: int) -> tuple[str, str]:
    """(reason, detail) for which facts are not taken; empty where nothing is wrong. Of the profiles those are
    looked at whose key is above a number: the others were before."""
    if bad := profile_rules.problems(facts):
        said = "; ".join(f"{CATALOGUE[key].label}: {problem}" for key, problem in bad.items())
        return INVALID, said[:500]
    known = Profile.objects.filter(corpus=run.corpus_id, pk__gt=above).exclude(state=Profile.REJECTED)
    others = list(known.order_by("pk").values_list("username", "facts"))
    if not above:
        others += [("an example of the prompt", facts) for facts in run.plan["examples"]]
    alike = twins(facts, [other for _, other in others], run.plan["twin_from"])
    return (TWIN, f"Nearly the same as {others[alike[0]][0]}.") if alike else ("", "")


def _propose(claim: Claim, outcome: Outcome) -> None:
    """Writes the profile and plans its style. A twin that was written since the question was asked makes
    this one ask again."""
    run, step, facts = claim.run, claim.step, dict(outcome.result["facts"])
    reason, detail = _wrong(run, facts, above=outcome.result["seen"] or 0)
    if reason:
        _ask_again(claim, outcome, reason, detail)
        return
    call = ModelCall.objects.only("pk").get(public_id=outcome.result["call"])
    profile = Profile.objects.create(
        corpus_id=run.corpus_id,
        external_id=_free_id(run, step.asks["external_id"]),
        username=_free_name(run, step),
        facts=facts,
        warnings=[one.as_dict() for one in profile_rules.warnings(facts)],
        state=Profile.PROPOSED,
        source=Profile.GENERATED,
        run=run,
        call=call,
    )
    keep_version(profile)
    engine.plan(claim, [style_step(run, step.number, profile)])
    engine.tell(run, f"{profile.external_id}: {profile.username} is proposed.", "ok")


def _ask_again(claim: Claim, outcome: Outcome, reason: str, detail: str) -> None:
    run, step, used = claim.run, claim.step, outcome.result["sample"] + 1
    if used > AGAIN:
        Step.objects.filter(pk=step.pk).update(state=StepState.SKIPPED, reason=reason, detail=detail)
        engine.tell(run, f"No profile ({step.key}): {reason}. {detail}", "warn")
        return
    key = f"profile/{step.number}/{used}"
    Step.objects.filter(pk=step.pk).update(reason=reason, detail=f"{detail} Asked again: {key}.")
    again = Step(
        run=run,
        key=key,
        kind="profile",
        number=step.number,
        asks={**step.asks, "again": used},
        due_at=timezone.now(),
    )
    engine.plan(claim, [again])


def style_step(run: Run, number: int, profile: Profile) -> Step:
    """The step that describes how a profile writes; not saved yet."""
    return Step(
        run=run,
        key=f"style/{number}",
        kind="style",
        number=number,
        asks={"profile": profile.external_id, "version": profile.version},
        due_at=timezone.now(),
    )


def _free_id(run: Run, planned: str) -> str:
    """The planned id, or one like it where an import or a person took it meanwhile."""
    profiles, name, number = Profile.objects.filter(corpus=run.corpus_id), planned, 2
    while profiles.filter(external_id=name).exists():
        name, number = f"{planned}_{number}", number + 1
    return name


def _free_name(run: Run, step: Step) -> str:
    planned = str(step.asks["username"])
    profiles = Profile.objects.filter(corpus=run.corpus_id)
    if not profiles.filter(username__iexact=planned).exists():
        return planned
    taken = profiles.values_list("username", flat=True)
    return usernames(1, list(taken), run.seed + step.number + 1)[0]


def _describe(claim: Claim, asker: Asker) -> Outcome:
    profile = _profile(claim)
    if profile is None:
        return Outcome(StepState.SKIPPED, reason=GONE, detail="The profile is not there any more.")
    if _styled_since(profile, claim.step):
        return Outcome(StepState.SKIPPED, reason=EDITED, detail=_edited(profile))
    answered = asker.ask(profile_asking.style(claim.run, claim.step, profile))
    result = {"call": answered.call.public_id}
    if not isinstance(answered.read, Parsed):
        why = answered.read.why.value
        return Outcome(StepState.SKIPPED, result, reason=why, detail=answered.read.problem)
    return Outcome(result=result | {"style": answered.read.value.text, "version": profile.version})


def _profile(claim: Claim) -> Profile | None:
    profiles = Profile.objects.filter(corpus=claim.run.corpus_id)
    return profiles.filter(external_id=claim.step.asks["profile"]).first()


def _styled_since(profile: Profile, step: Step) -> bool:
    """Whether somebody wrote another style after this one was planned: theirs stays."""
    planned = step.asks.get("version", profile.version)
    if planned == profile.version:
        return False
    before = profile.versions.filter(version=planned).values_list("style", flat=True).first()
    return before != profile.style


def _edited(profile: Profile) -> str:
    return f"{profile.username} was edited meanwhile (now version {profile.version}) and stays as it is."


def _write_style(claim: Claim, outcome: Outcome) -> None:
    """The style as the profile's next version, unless somebody edited the profile since it was asked for.

    An approved profile becomes a proposed one: nobody has seen it with this style.
    """
    profiles = Profile.objects.select_for_update(no_key=True, of=("self",)).filter(corpus=claim.run.corpus_id)
    profile = profiles.filter(external_id=claim.step.asks["profile"]).first()
    if profile is None:
        return
    if profile.version != outcome.result["version"] or _styled_since(profile, claim.step):
        detail = _edited(profile)
        Step.objects.filter(pk=claim.step.pk).update(state=StepState.SKIPPED, reason=EDITED, detail=detail)
        engine.tell(claim.run, f"No style ({claim.step.key}): {EDITED}. {detail}", "warn")
        return
    keep_version(profile)
    profile.style = str(outcome.result["style"])
    said = [one for one in profile.warnings if one["rule"] == KEPT_RULE]
    found = profile_rules.warnings(profile.facts, profile.style)
    profile.warnings = [one.as_dict() for one in found] + said
    profile.version += 1
    anew = profile.state == Profile.APPROVED
    if anew:
        profile.state, profile.checked_by, profile.checked_at = Profile.PROPOSED, None, None
    profile.save(update_fields=["style", "warnings", "version", "state", "checked_by", "checked_at"])
    keep_version(profile)
    engine.tell(claim.run, f"{profile.external_id}: {profile.username} has a style.", "ok")
    if anew:
        engine.tell(
            claim.run, f"{profile.username} was approved without it, so it is proposed again.", "warn"
        )


def keep_version(profile: Profile) -> None:
    """A row for the version that the profile has now; one that is there stays."""
    values = {"username": profile.username, "facts": profile.facts, "style": profile.style}
    ProfileVersion.objects.get_or_create(profile=profile, version=profile.version, defaults=values)
