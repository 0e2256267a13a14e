"""What a person decides about profiles: approved, rejected, edited, typed in. Only approved ones enter a run.

Every act is audited, by key and number alone: an entry of the audit log cannot be erased.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from simulation.domain import profile_rules
from simulation.domain.attributes import CATALOGUE
from simulation.domain.normalise import squeeze
from simulation.models import Corpus, Profile, ProfileVersion, User
from simulation.selectors import profile_checks
from simulation.services import audit

LONGEST_NAME = 100
LONGEST_STYLE = profile_rules.LONGEST_STYLE
LONGEST_REASON = 200
REASON = "rejected"
"""The rule under which a person's reason to reject a profile stands among what does not fit."""
NUMBERED = re.compile(r"^pers(\d{1,9})$")


class ProfileError(Exception):
    """Why it was not done, in a sentence for the person who asked. Nothing was changed."""


class Stale(ProfileError):
    """Somebody changed the profile, or what is counted, since it was read."""


class Unfinished(ProfileError):
    """A run is still to write the profile's style: nobody can have seen it."""


class BadProfile(ProfileError):
    """`problems` maps an attribute's key, `username` or `style` to the sentence that says what to do."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("The profile was not kept: " + " ".join(problems.values()))
        self.problems = dict(problems)


@transaction.atomic
def approve(
    *, by: User | None, profiles: Iterable[Profile], expected_version: int | None = None
) -> list[Profile]:
    """Let proposed profiles enter runs; returns those that were not approved before.

    `expected_version` is the version that the person saw of a single profile. Raises Stale where it has
    another now, or where one was rejected meanwhile, and Unfinished where a style is still being written:
    then none is approved.
    """
    known = _locked(profiles)
    for one in known:
        _require_version(one, expected_version)
        if one.state == Profile.REJECTED:
            raise Stale(f"{one.username} was rejected meanwhile. Restore the profile first.")
    fresh = [one for one in known if one.state != Profile.APPROVED]
    _require_finished(fresh)
    _decide(by, fresh, Profile.APPROVED)
    _audit_many(by, "approved", fresh)
    return fresh


@transaction.atomic
def approve_clean(*, by: User | None, corpus: Corpus, expected: int, last: int) -> int:
    """Approve all proposed profiles without a warning, up to the key `last`, if they are still `expected`.

    Those whose style is still being written are left out. Raises Stale, naming the number there is now, where
    it is another.
    """
    found = Profile.objects.select_for_update(of=("self",), no_key=True).filter(
        profile_checks.CLEAN, corpus=corpus, pk__lte=last
    )
    clean = list(found.order_by("pk"))
    unfinished = set(profile_checks.unstyled(corpus).values_list("pk", flat=True))
    clean = [one for one in clean if one.pk not in unfinished]
    if len(clean) != expected:
        raise Stale(
            f"There were {expected:,} proposed profiles without a warning; now there are {len(clean):,}."
            " Nothing was approved: look at the number and press again."
        )
    _decide(by, clean, Profile.APPROVED)
    _audit_many(by, "approved", clean, corpus)
    return len(clean)


@transaction.atomic
def reject(
    *, by: User | None, profile: Profile, reason: str = "", expected_version: int | None = None
) -> Profile:
    """Keep a profile out of runs. The reason, up to 200 characters, stands with it until it is restored.

    Threads that it wrote stay, and so do the runs that were started with it. Raises Stale, BadProfile.
    """
    reason = squeeze(reason)
    if len(reason) > LONGEST_REASON:
        raise BadProfile({"reason": f"A reason has at most {LONGEST_REASON} characters."})
    known = _locked([profile])[0]
    _require_version(known, expected_version)
    if known.state == Profile.REJECTED:
        return known
    if reason:
        known.warnings = [*known.warnings, {"rule": REASON, "attributes": [], "text": reason}]
    _decide(by, [known], Profile.REJECTED)
    _record(by, "rejected", known, {"with_reason": bool(reason)})
    return known


@transaction.atomic
def restore(*, by: User | None, profile: Profile, expected_version: int | None = None) -> Profile:
    """Make an approved or rejected profile a proposed one again, to be looked at anew. Raises Stale."""
    known = _locked([profile])[0]
    _require_version(known, expected_version)
    if known.state == Profile.PROPOSED:
        return known
    known.warnings = [one for one in known.warnings if one["rule"] != REASON]
    _decide(None, [known], Profile.PROPOSED)
    _record(by, "restored", known)
    return known


@transaction.atomic
def edit(
    *,
    by: User | None,
    profile: Profile,
    facts: Mapping[str, Any],
    style: str,
    username: str,
    expected_version: int,
) -> Profile:
    """Change what a profile says; its state stays. Nothing is written where nothing differs.

    `facts` holds the catalogue's keys; what else the profile has is kept. What an import brought may stay as
    it is, whatever is wrong with it. What a model gave is kept in `original`, each version in a row of its
    own. Raises Stale, and BadProfile field by field.
    """
    _lock_names(profile.corpus_id)
    known = _locked([profile])[0]
    _require_version(known, expected_version)
    facts, style, username = _checked(known.corpus, facts, style, username, known)
    if (facts, style, username) == (known.facts, known.style, known.username):
        return known
    if known.source == Profile.GENERATED and not known.original:
        known.original = {"facts": known.facts, "style": known.style}
    _keep_version(known, None)
    reasons = [one for one in known.warnings if one["rule"] == REASON]
    known.facts, known.style, known.username = facts, style, username
    known.warnings = [*_warnings(facts, style), *reasons]
    known.version += 1
    with _unless_taken(username):
        known.save(update_fields=["facts", "style", "username", "warnings", "original", "version"])
    _keep_version(known, by)
    _record(by, "edited", known, {"version": known.version})
    return known


@transaction.atomic
def add(
    *,
    by: User | None,
    corpus: Corpus,
    facts: Mapping[str, Any],
    style: str,
    username: str,
    approved: bool = False,
) -> Profile:
    """A profile that a person typed, proposed unless `approved`. Raises BadProfile field by field."""
    _lock_names(corpus.pk)
    facts, style, username = _checked(corpus, facts, style, username)
    with _unless_taken(username):
        made = Profile.objects.create(
            corpus=corpus,
            external_id=next_external_id(corpus),
            username=username,
            facts=facts,
            style=style,
            warnings=_warnings(facts, style),
            state=Profile.APPROVED if approved else Profile.PROPOSED,
            source=Profile.TYPED,
            checked_by=by if approved else None,
            checked_at=timezone.now() if approved else None,
        )
    _keep_version(made, by)
    _record(by, "added", made, {"approved": approved})
    return made


def next_external_id(corpus: Corpus) -> str:
    """`pers` and the number behind the highest in the corpus. Call it with the corpus locked."""
    taken = corpus.profiles.filter(external_id__startswith="pers").values_list("external_id", flat=True)
    numbers = [int(found[1]) for found in map(NUMBERED.match, taken) if found]
    return f"pers{max(numbers, default=0) + 1}"


def _checked(
    corpus: Corpus, facts: Mapping[str, Any], style: str, username: str, own: Profile | None = None
) -> tuple[dict[str, Any], str, str]:
    """The three as they are kept; raises BadProfile with what is wrong with each."""
    before: Mapping[str, Any] = own.facts if own else {}
    unknown = {key: value for key, value in before.items() if key not in CATALOGUE}
    known = profile_rules.normalised({key: value for key, value in facts.items() if value not in (None, "")})
    style, username = style.replace("\r\n", "\n").strip(), squeeze(username)
    wrong = dict(profile_rules.problems(known))
    if own and own.source == Profile.IMPORTED:
        there = profile_rules.normalised(before)
        wrong = {key: said for key, said in wrong.items() if known.get(key, "") != there.get(key, "")}
    if not username or len(username) > LONGEST_NAME:
        wrong["username"] = f"A username has 1 to {LONGEST_NAME} characters."
    elif corpus.profiles.exclude(pk=own.pk if own else 0).filter(username=username).exists():
        wrong["username"] = _taken(username)
    if len(style) > LONGEST_STYLE:
        wrong["style"] = f"A style has at most {LONGEST_STYLE:,} characters; this has {len(style):,}."
    if wrong:
        raise BadProfile(wrong)
    return known | unknown, style, username


def _taken(username: str) -> str:
    return f"“{username}” is another profile of this corpus. Choose another name."


@contextmanager
def _unless_taken(username: str) -> Iterator[None]:
    """A run or an import gave somebody this name since it was looked for: BadProfile, as if found at once."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if "profile_username_once" not in str(error):
            raise
        raise BadProfile({"username": _taken(username)}) from None


def _lock_names(corpus_id: int) -> None:
    """One person at a time names profiles of a corpus; before any profile is locked."""
    Corpus.objects.select_for_update(no_key=True).get(pk=corpus_id)


def _warnings(facts: Mapping[str, Any], style: str) -> list[dict[str, Any]]:
    return [one.as_dict() for one in profile_rules.warnings(facts, style)]


def _keep_version(profile: Profile, by: User | None) -> None:
    """A row for the version as it is; the one that a run wrote stays."""
    values = {"username": profile.username, "facts": profile.facts, "style": profile.style, "by": by}
    ProfileVersion.objects.get_or_create(profile=profile, version=profile.version, defaults=values)


def _locked(profiles: Iterable[Profile]) -> list[Profile]:
    keys = [one.pk for one in profiles]
    rows = Profile.objects.select_for_update(of=("self",), no_key=True).select_related("corpus")
    return list(rows.filter(pk__in=keys).order_by("pk"))


def _require_version(profile: Profile, expected: int | None) -> None:
    if expected is not None and profile.version != expected:
        raise Stale(
            f"{profile.username} was changed meanwhile: you saw version {expected}, now it is version"
            f" {profile.version}. Nothing of yours was written."
        )


def _require_finished(profiles: list[Profile]) -> None:
    for corpus in {one.corpus for one in profiles}:
        asked = [one.pk for one in profiles]
        waiting = profile_checks.unstyled(corpus).filter(pk__in=asked).values_list("username", flat=True)
        if names := list(waiting[:3]):
            raise Unfinished(
                f"{', '.join(names)}: the style is still being written. Approve when it is there; if its run"
                " is not going on, resume or stop the run first."
            )


def _decide(by: User | None, profiles: Iterable[Profile], state: str) -> None:
    """The state, and who said so when; a proposed profile has been checked by nobody."""
    now = None if state == Profile.PROPOSED else timezone.now()
    changed = list(profiles)
    for one in changed:
        one.state, one.checked_by, one.checked_at = state, by, now
    Profile.objects.bulk_update(changed, ["state", "checked_by", "checked_at", "warnings"], batch_size=500)


def _record(by: User | None, verb: str, profile: Profile, details: Mapping[str, Any] | None = None) -> None:
    audit.record(by=by, action=f"profile.{verb}", target=profile, corpus=profile.corpus, details=details)


def _audit_many(by: User | None, verb: str, profiles: list[Profile], corpus: Corpus | None = None) -> None:
    """One entry for a single profile; for many at once one that counts them, at the corpus."""
    if len(profiles) == 1 and corpus is None:
        _record(by, verb, profiles[0])
    elif profiles:
        corpus = corpus or profiles[0].corpus
        details = {"n": len(profiles), "first": profiles[0].public_id, "last": profiles[-1].public_id}
        audit.record(by=by, action=f"profiles.{verb}", target=corpus, corpus=corpus, details=details)
