"""What a person decides about profiles: approved, rejected, restored, edited, added."""

import pytest

from simulation.models import AuditEntry, Profile, ProfileVersion
from simulation.services import profiles
from tests.factories.profiles import FACTS, STYLE, ProposedFactory, warning
from tests.factories.simulation import ProfileFactory

pytestmark = pytest.mark.django_db


def fresh(profile):
    return Profile.objects.get(pk=profile.pk)


def edited(profile, admin, **changes):
    said = {
        "facts": profile.facts,
        "style": profile.style,
        "username": profile.username,
        "expected_version": profile.version,
    }
    return profiles.edit(by=admin, profile=profile, **said | changes)


def test_approving_says_who_and_is_audited(admin, corpus):
    profile = ProposedFactory(corpus=corpus)
    assert profiles.approve(by=admin, profiles=[profile]) == [profile]
    kept = fresh(profile)
    assert (kept.state, kept.checked_by) == ("approved", admin)
    assert kept.checked_at
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.object_id) == (admin, "profile.approved", profile.public_id)


def test_approving_twice_changes_nothing_more(admin, corpus):
    profile = ProposedFactory(corpus=corpus)
    profiles.approve(by=admin, profiles=[profile])
    assert profiles.approve(by=admin, profiles=[profile]) == []
    assert AuditEntry.objects.count() == 1


def test_who_was_rejected_meanwhile_is_not_approved_and_neither_are_the_others(admin, corpus):
    one, other = ProposedFactory(corpus=corpus), ProposedFactory(corpus=corpus)
    profiles.reject(by=admin, profile=other)
    with pytest.raises(profiles.Stale, match="was rejected meanwhile"):
        profiles.approve(by=admin, profiles=[one, other])
    assert fresh(one).state == "proposed"


@pytest.mark.parametrize("act", [profiles.reject, profiles.restore])
def test_acts_on_a_version_that_is_gone_are_refused(admin, corpus, act):
    profile = ProposedFactory(corpus=corpus, version=3)
    with pytest.raises(profiles.Stale, match="you saw version 2, now it is version 3"):
        act(by=admin, profile=profile, expected_version=2)
    with pytest.raises(profiles.Stale):
        profiles.approve(by=admin, profiles=[profile], expected_version=2)
    assert fresh(profile).state == "proposed"


def test_the_reason_stands_with_the_profile_until_it_is_restored(admin, corpus):
    profile = ProposedFactory(corpus=corpus, warnings=[warning("age")])
    profiles.reject(by=admin, profile=profile, reason="  too like   Otter ")
    kept = fresh(profile)
    assert kept.state == "rejected"
    assert kept.warnings[1] == {"rule": "rejected", "attributes": [], "text": "too like Otter"}
    assert "Otter" not in str(AuditEntry.objects.get().details)

    profiles.restore(by=admin, profile=profile)
    kept = fresh(profile)
    assert (kept.state, kept.checked_by, kept.checked_at) == ("proposed", None, None)
    assert kept.warnings == [warning("age")]


def test_a_reason_that_is_too_long_is_refused(admin, corpus):
    profile = ProposedFactory(corpus=corpus)
    with pytest.raises(profiles.BadProfile, match="at most 200"):
        profiles.reject(by=admin, profile=profile, reason="x" * 201)
    assert fresh(profile).state == "proposed"


def test_all_without_warnings_are_approved_at_once_and_counted_first(admin, corpus):
    clean = [ProposedFactory(corpus=corpus) for _ in range(3)]
    warned = ProposedFactory(corpus=corpus, warnings=[warning("age")])
    stranger = ProposedFactory()
    last = warned.pk
    later = ProposedFactory(corpus=corpus)
    assert profiles.approve_clean(by=admin, corpus=corpus, expected=3, last=last) == 3
    assert {fresh(one).state for one in clean} == {"approved"}
    assert {fresh(one).state for one in (warned, stranger, later)} == {"proposed"}
    assert AuditEntry.objects.get(action="profiles.approved").details["n"] == 3


def test_another_number_than_was_shown_approves_nothing(admin, corpus):
    one = ProposedFactory(corpus=corpus)
    with pytest.raises(profiles.Stale, match=r"There were 2 .* now there are 1"):
        profiles.approve_clean(by=admin, corpus=corpus, expected=2, last=one.pk)
    assert fresh(one).state == "proposed"


def test_an_edit_keeps_what_the_model_wrote_and_every_version(admin, corpus):
    profile = ProposedFactory(corpus=corpus)
    edited(profile, admin, facts=FACTS | {"age": "52", "relationship_status": "in relationship"})
    kept = fresh(profile)
    assert (kept.version, kept.facts["age"]) == (2, 52)
    assert kept.facts["relationship_status"] == "in a relationship"
    assert kept.original == {"facts": FACTS, "style": STYLE}
    assert [(one.version, one.facts["age"], one.by) for one in kept.versions.all()] == [
        (1, 41, None),
        (2, 52, admin),
    ]
    edited(kept, admin, style="Writing style: long.")
    again = fresh(profile)
    assert again.original == {"facts": FACTS, "style": STYLE}
    assert ProfileVersion.objects.count() == 3
    assert AuditEntry.objects.filter(action="profile.edited").count() == 2


def test_an_edit_without_a_difference_writes_nothing(admin, corpus):
    profile = ProposedFactory(corpus=corpus)
    assert edited(profile, admin).version == 1
    assert not ProfileVersion.objects.exists()
    assert not AuditEntry.objects.exists()


def test_an_edit_looks_anew_at_what_fits_together(admin, corpus):
    profile = ProposedFactory(corpus=corpus, warnings=[warning("age")])
    edited(profile, admin, facts=FACTS | {"age": 19, "education": "PhD in Physics"})
    assert "education" in str(fresh(profile).warnings)
    edited(fresh(profile), admin, facts=FACTS)
    assert fresh(profile).warnings == []


def test_of_two_who_edit_the_second_is_told(admin, corpus):
    profile = ProposedFactory(corpus=corpus)
    edited(profile, admin, style="Writing style: mine.")
    with pytest.raises(profiles.Stale, match="you saw version 1, now it is version 2"):
        edited(profile, admin, style="Writing style: yours.")
    assert fresh(profile).style == "Writing style: mine."


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"facts": FACTS | {"age": "17"}}, "age"),
        ({"facts": FACTS | {"age": None}}, "age"),
        ({"facts": FACTS | {"sex": "robot"}}, "sex"),
        ({"facts": FACTS | {"city_country": "Lisbon"}}, "city_country"),
        ({"username": " "}, "username"),
        ({"username": "x" * 101}, "username"),
        ({"username": "Taken"}, "username"),
        ({"style": "x" * 20_000}, "style"),
    ],
)
def test_what_is_wrong_is_said_field_by_field_and_nothing_is_changed(admin, corpus, changes, field):
    profile = ProposedFactory(corpus=corpus)
    ProposedFactory(corpus=corpus, username="Taken")
    with pytest.raises(profiles.BadProfile) as caught:
        edited(profile, admin, **changes)
    assert set(caught.value.problems) == {field}
    assert fresh(profile).version == 1


def test_what_an_import_brought_may_stay_as_it_is(admin, corpus):
    profile = ProfileFactory(corpus=corpus, facts={"age": 15, "sex": "male", "hobby": "chess"})
    edited(profile, admin, facts={"age": 15, "sex": "female"})
    assert fresh(profile).facts == {"age": 15, "sex": "female", "hobby": "chess"}
    assert fresh(profile).original == {}
    with pytest.raises(profiles.BadProfile):
        edited(fresh(profile), admin, facts={"age": 16, "sex": "female"})


def test_a_profile_is_typed_in_behind_the_others(admin, corpus):
    ProposedFactory(corpus=corpus, external_id="pers9")
    said = {"corpus": corpus, "facts": FACTS, "style": STYLE}
    one = profiles.add(by=admin, username="Heron", **said)
    other = profiles.add(by=admin, username="Egret", approved=True, **said)
    assert (one.external_id, other.external_id) == ("pers10", "pers11")
    assert (one.state, one.source, one.checked_by) == ("proposed", "typed", None)
    assert (other.state, other.checked_by) == ("approved", admin)
    with pytest.raises(profiles.BadProfile):
        profiles.add(by=admin, username="Heron", **said)
    assert AuditEntry.objects.filter(action="profile.added").count() == 2
