"""The page on which profiles are checked, and the one on which one is edited."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from simulation.domain.roles import Role
from simulation.models import Profile
from simulation.selectors import workers
from simulation.services import engine, profile_runs, profiles
from simulation.services.profiling import Profiling
from tests.factories.profiles import FACTS, STYLE, ProposedFactory, warning
from tests.factories.simulation import (
    CorpusFactory,
    MembershipFactory,
    ModelCallFactory,
    ProviderFactory,
    RunFactory,
    StepFactory,
)
from tests.running import work_off

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})


def address(corpus, **asked):
    query = "&".join(f"{key}={value}" for key, value in asked.items())
    return reverse("profile_check", args=[corpus.public_id]) + (f"?{query}" if query else "")


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def act(browser, profile, name, *, htmx=False, **sent):
    fields = {"act": name, "version": profile.version, "show": "proposed", "after": ""} | sent
    return browser.post(
        reverse("profile_act", args=[profile.public_id]), fields, headers=HTMX if htmx else {}
    )


def fresh(profile):
    return Profile.objects.get(pk=profile.pk)


def shown(answer):
    return [card.profile.username for card in answer.context["page"].cards]


# Who may see it, who may act.


def test_who_may_not_see_profiles_does_not_see_them_here(client_of, labeler, adjudicator, corpus):
    for person in (labeler, adjudicator):
        for name in ("profile_check", "profile_diversity"):
            assert client_of(person).get(reverse(name, args=[corpus.public_id])).status_code == 403


def test_a_researcher_sees_and_does_not_act(client_of, researcher, corpus):
    profile = ProposedFactory(corpus=corpus)
    browser = client_of(researcher)
    body = browser.get(address(corpus)).content.decode()
    assert profile.username in body
    assert 'name="act"' not in body
    assert "Generate…" not in body
    assert act(browser, profile, "approve").status_code == 403
    assert browser.post(reverse("profiles_approve", args=[corpus.public_id])).status_code == 403
    assert browser.get(reverse("profile_edit", args=[profile.public_id])).status_code == 403
    assert browser.get(reverse("profile_new", args=[corpus.public_id])).status_code == 403
    assert fresh(profile).state == "proposed"


def test_what_is_a_strangers_is_not_there(client_of, corpus):
    profile = ProposedFactory(corpus=corpus)
    elsewhere = MembershipFactory(role=Role.ADMIN, corpus=CorpusFactory(name="summer")).person
    browser = client_of(elsewhere)
    assert browser.get(address(corpus)).status_code == 404
    assert browser.get(reverse("profile_diversity", args=[corpus.public_id])).status_code == 404
    assert act(browser, profile, "approve").status_code == 404
    assert browser.post(reverse("profiles_approve", args=[corpus.public_id])).status_code == 404
    assert browser.get(reverse("profile_edit", args=[profile.public_id])).status_code == 404
    assert browser.get(reverse("profile_new", args=[corpus.public_id])).status_code == 404
    assert fresh(profile).state == "proposed"


def test_who_sees_here_and_acts_elsewhere_does_not_act_here(client_of, researcher, corpus):
    """A right in another corpus lets nobody act in this one."""
    profile = ProposedFactory(corpus=corpus)
    MembershipFactory(person=researcher, role=Role.ADMIN, corpus=CorpusFactory(name="summer"))
    browser = client_of(researcher)
    assert 'name="act"' not in browser.get(address(corpus)).content.decode()
    assert act(browser, profile, "approve").status_code == 404


# What it shows.


def test_a_profile_stands_there_with_what_does_not_fit_beside_its_fact(client_of, admin, corpus):
    step = StepFactory(run=RunFactory(corpus=corpus, kind="profiles", state="done"), kind="profile")
    call = ModelCallFactory(step=step, model="gpt-4o")
    ProposedFactory(
        corpus=corpus,
        run=step.run,
        call=call,
        warnings=[
            warning("age", "education", text="Young for a master's degree."),
            warning(rule="style_missing", text="There is no writing style yet."),
        ],
    )
    answer = client_of(admin).get(address(corpus))
    card = answer.context["page"].cards[0]
    beside = {fact.attribute.key: list(fact.warnings) for fact in card.facts if fact.warnings}
    assert beside == {"education": ["Young for a master's degree."]}
    assert [one["text"] for one in card.warnings] == ["There is no writing style yet."]
    body = answer.content.decode()
    assert reverse("run_call", args=[step.run.public_id, call.public_id]) in body
    assert reverse("run", args=[step.run.public_id]) in body
    said = words(answer)
    for value in (*map(str, FACTS.values()), "gpt-4o", "Writing style: short and dry."):
        assert value in said


def test_the_tabs_count_and_show_what_they_say(client_of, admin, corpus):
    ProposedFactory(corpus=corpus, username="Clean")
    ProposedFactory(corpus=corpus, username="Odd", warnings=[warning("age")])
    ProposedFactory(corpus=corpus, username="Fine", state="approved", warnings=[warning("age")])
    ProposedFactory(corpus=corpus, username="Out", state="rejected")
    browser = client_of(admin)
    for show, names in (
        ("", ["Clean", "Odd"]),
        ("proposed", ["Clean", "Odd"]),
        ("warned", ["Odd"]),
        ("approved", ["Fine"]),
        ("rejected", ["Out"]),
        ("nonsense", ["Clean", "Odd"]),
    ):
        assert shown(browser.get(address(corpus, show=show))) == names
    assert [number for _, _, number in browser.get(address(corpus)).context["tabs"]] == [2, 1, 1, 1]


def test_pages_go_on_behind_the_last_one_shown(client_of, admin, corpus):
    made = [ProposedFactory(corpus=corpus).username for _ in range(23)]
    browser = client_of(admin)
    first = browser.get(address(corpus))
    assert shown(first) == made[:20]
    second = browser.get(address(corpus, after=first.context["page"].after))
    assert shown(second) == made[20:]
    assert second.context["page"].after == ""


def test_the_number_of_queries_does_not_grow(client_of, admin, corpus):
    run = RunFactory(corpus=corpus, kind="profiles", state="running")
    step = StepFactory(run=run, kind="profile")

    def some(count):
        for _ in range(count):
            ProposedFactory(
                corpus=corpus,
                run=run,
                call=ModelCallFactory(step=step),
                warnings=[warning("age")],
                checked_by=admin,
            )

    browser = client_of(admin)
    needed = []
    for count in (5, 45):
        some(count)
        for target in (address(corpus), reverse("profiles", args=[corpus.public_id])):
            browser.get(target)
            with CaptureQueriesContext(connection) as counted:
                browser.get(target)
            needed.append(len(counted))
    assert needed[:2] == needed[2:]
    assert needed[0] < 20


# Acting without a script.


def test_an_act_leads_to_the_next_profile(client_of, admin, corpus):
    one, two, three = (ProposedFactory(corpus=corpus) for _ in range(3))
    browser = client_of(admin)
    for profile, name, state, following in (
        (two, "approve", "approved", three),
        (three, "reject", "rejected", one),
    ):
        answer = act(browser, profile, name)
        assert fresh(profile).state == state
        assert answer.headers["Location"].endswith(f"#p-{following.public_id}")
    act(browser, three, "restore")
    assert fresh(three).state == "proposed"


def test_a_reason_is_shown_among_the_rejected(client_of, admin, corpus):
    profile = ProposedFactory(corpus=corpus)
    browser = client_of(admin)
    act(browser, profile, "reject", reason="Nobody earns that.")
    assert "Reason: Nobody earns that." in words(browser.get(address(corpus, show="rejected")))


def test_what_was_changed_meanwhile_is_not_approved_unseen(client_of, admin, corpus):
    profile = ProposedFactory(corpus=corpus)
    Profile.objects.update(version=2)
    browser = client_of(admin)
    answer = browser.post(
        reverse("profile_act", args=[profile.public_id]), {"act": "approve", "version": 1}, follow=True
    )
    assert "was changed meanwhile" in words(answer)
    answer = act(browser, profile, "approve", htmx=True)
    assert answer.status_code == 200
    assert "was changed meanwhile" in words(answer)
    assert fresh(profile).state == "proposed"


def test_all_without_warnings_need_one_press_and_a_number(client_of, admin, corpus):
    ProposedFactory(corpus=corpus, warnings=[warning("age")])
    for _ in range(2):
        ProposedFactory(corpus=corpus)
    browser = client_of(admin)
    page = browser.get(address(corpus))
    assert "Approve 2 profiles?" in words(page)
    target = reverse("profiles_approve", args=[corpus.public_id])
    last = page.context["counts"].last
    for bad in ({}, {"expected": "two", "last": last}, {"expected": 2, "last": "nobody"}):
        assert "Nothing was approved" in words(browser.post(target, bad, follow=True))
    assert "now there are 2" in words(browser.post(target, {"expected": 3, "last": last}, follow=True))
    assert Profile.objects.filter(state="approved").count() == 0
    assert "Approved 2 profiles." in words(browser.post(target, {"expected": 2, "last": last}, follow=True))
    assert Profile.objects.filter(state="approved").count() == 2


LONG = "9" * 5000


@pytest.mark.parametrize("version", [LONG, "-1", "two", "1\x00", "1" * 10, "٣"])
def test_a_version_that_is_none_is_refused(client_of, admin, corpus, version):
    profile = ProposedFactory(corpus=corpus)
    sent = {"act": "approve", "version": version}
    for headers in ({}, HTMX):
        answer = client_of(admin).post(
            reverse("profile_act", args=[profile.public_id]), sent, headers=headers
        )
        assert answer.status_code == 400
    assert fresh(profile).state == "proposed"


@pytest.mark.parametrize("expected", [LONG, "-1", "", "1" * 10])
def test_a_number_that_is_none_approves_nothing_and_shows_the_page_again(client_of, admin, corpus, expected):
    profile = ProposedFactory(corpus=corpus)
    target = reverse("profiles_approve", args=[corpus.public_id])
    answer = client_of(admin).post(target, {"expected": expected, "last": profile.public_id})
    assert answer.status_code == 400
    assert "Nothing was approved" in words(answer)
    assert "Approve 1 profile?" in words(answer)
    assert fresh(profile).state == "proposed"


# Acting with htmx.


def test_htmx_gets_the_row_and_the_numbers_anew(client_of, admin, corpus):
    profile = ProposedFactory(corpus=corpus)
    browser = client_of(admin)
    answer = act(browser, profile, "approve", htmx=True)
    body = answer.content.decode()
    assert "<html" not in body
    assert f'id="p-{profile.public_id}"' in body
    assert 'id="tally" hx-swap-oob="true"' in body
    assert 'value="restore"' in body
    assert "HX-Trigger-After-Settle" not in answer.headers
    answer = act(browser, profile, "reject", htmx=True)
    assert answer.headers["HX-Trigger-After-Settle"] == "profiles-changed"


# Made anew.


def test_regenerating_rejects_it_and_asks_the_same_models_once_more(client_of, admin, corpus):
    run = started(corpus)
    work_off(run, Profiling())
    profile = corpus.profiles.first()
    act(client_of(admin), profile, "regenerate")
    assert fresh(profile).state == "rejected"
    again = corpus.runs.exclude(pk=run.pk).get()
    assert (again.kind, again.created_by) == ("profiles", admin)
    assert again.plan["models"] == run.plan["models"]
    answer = act(client_of(admin), profile, "regenerate", htmx=True)
    assert "being made anew already" in words(answer)
    assert corpus.runs.count() == 2


def test_what_no_run_made_is_not_made_anew(client_of, admin, corpus):
    profile = ProposedFactory(corpus=corpus, source="typed")
    browser = client_of(admin)
    assert 'value="regenerate"' not in browser.get(address(corpus)).content.decode()
    assert "No run made this profile" in words(act(browser, profile, "regenerate", htmx=True))
    assert fresh(profile).state == "proposed"


# The panel beside.


def started(corpus, count=4):
    return profile_runs.start_generation(
        by=None,
        corpus=corpus,
        name="people",
        provider=ProviderFactory(),
        model=profile_runs.default_models("scripted")["profile"],
        styler=profile_runs.default_models("scripted")["style"],
        count=count,
        targets=profile_runs.Targets.usual(),
        seed=7,
        max_calls=200,
        max_tokens=1_000_000,
    )


def panel(browser, corpus, **asked):
    query = "&".join(f"{key}={value}" for key, value in asked.items())
    return browser.get(reverse("profile_diversity", args=[corpus.public_id]) + f"?{query}", headers=HTMX)


def test_the_panel_counts_pairs_by_what_they_share(client_of, admin, corpus):
    for place, sex in (("Rome, Italy", "male"), ("Oslo, Norway", "male"), ("Lima, Peru", "female")):
        ProposedFactory(corpus=corpus, facts={"city_country": place, "sex": sex})
    ProposedFactory(corpus=corpus, facts={"city_country": "Rome, Italy", "sex": "male"}, state="rejected")
    seen = client_of(admin).get(address(corpus)).context["diversity"]
    assert [(one.alike, one.pairs) for one in seen.overlaps if one.pairs] == [(0, 2), (1, 1)]
    assert [one.published for one in seen.overlaps] == [27.0, 44.0, 23.0, 5.0, 0.5]
    assert (seen.profiles, seen.n_pairs) == (3, 3)
    sexes = next(rows for attribute, rows, _ in seen.spreads if attribute.key == "sex")
    assert [(one.value, one.n, one.aim) for one in sexes] == [("male", 2, 50.0), ("female", 1, 50.0)]


def test_pairs_that_share_most_are_linked(client_of, admin, corpus):
    one, other = (ProposedFactory(corpus=corpus, facts=FACTS | {"age": age}) for age in (30, 50))
    ProposedFactory(corpus=corpus, facts={"sex": "male"})
    answer = client_of(admin).get(address(corpus))
    (pair,) = answer.context["diversity"].pairs
    assert (pair.one[0], pair.other[0], pair.alike) == (one.public_id, other.public_id, 7)


def test_the_panel_follows_a_run_and_ends_with_it(client_of, admin, corpus):
    browser = client_of(admin)
    assert "every 2s" not in browser.get(address(corpus)).content.decode()
    run = started(corpus)
    page = browser.get(address(corpus))
    assert "every 2s" in page.content.decode()
    mark = page.context["diversity"].mark
    assert panel(browser, corpus, mark=mark).status_code == 204
    work_off(run, Profiling())
    ended = panel(browser, corpus, mark=mark, last="-")
    assert ended.status_code == 200
    assert "every 2s" not in ended.content.decode()
    assert ended.context["arrived"] == corpus.profiles.count() == 4
    assert ended.context["diversity"].n_pairs == 6


# Editing.


def edit_fields(profile, **changes):
    said = {f"fact_{key}": value for key, value in profile.facts.items()}
    said |= {"username": profile.username, "style": profile.style, "version": profile.version}
    return said | {"show": "proposed", "after": ""} | changes


def edit(browser, profile, **changes):
    return browser.post(reverse("profile_edit", args=[profile.public_id]), edit_fields(profile, **changes))


def test_the_form_holds_what_the_profile_says(client_of, admin, corpus):
    profile = ProposedFactory(corpus=corpus, warnings=[warning("education", text="Young for that.")])
    answer = client_of(admin).get(reverse("profile_edit", args=[profile.public_id]))
    form = answer.context["form"]
    assert {key: form[f"fact_{key}"].value() for key in FACTS} == FACTS
    assert "Young for that." in words(answer)


def test_saving_goes_back_to_the_profile_and_approving_to_the_next(client_of, admin, corpus):
    one, two = ProposedFactory(corpus=corpus), ProposedFactory(corpus=corpus)
    browser = client_of(admin)
    answer = edit(browser, one, fact_age=55)
    assert answer.headers["Location"].endswith(f"#p-{one.public_id}")
    answer = edit(browser, fresh(one), fact_age=56, approve="1")
    assert answer.headers["Location"].endswith(f"#p-{two.public_id}")
    kept = fresh(one)
    assert (kept.facts["age"], kept.version, kept.state) == (56, 3, "approved")
    history = words(browser.get(reverse("profile_edit", args=[one.public_id])))
    assert "Age: 55 became 56" in history
    assert "Age: 41 became 55" in history
    assert f"by {admin.username}" in history


def test_what_is_wrong_stands_beside_its_field(client_of, admin, corpus):
    profile = ProposedFactory(corpus=corpus)
    answer = edit(client_of(admin), profile, fact_age=17, fact_city_country="Lisbon", username="")
    assert answer.status_code == 422
    assert {"username"} <= set(answer.context["form"].errors)
    answer = edit(client_of(admin), profile, fact_age=17, fact_city_country="Lisbon")
    assert set(answer.context["form"].errors) == {"fact_age", "fact_city_country"}
    assert fresh(profile).version == 1


def test_a_conflict_shows_both_and_keeps_what_was_typed(client_of, admin, corpus):
    profile = ProposedFactory(corpus=corpus)
    browser = client_of(admin)
    profiles.edit(
        by=admin,
        profile=profile,
        facts=FACTS | {"age": 60},
        style=STYLE,
        username=profile.username,
        expected_version=1,
    )
    answer = edit(browser, profile, fact_age=50)
    assert answer.status_code == 409
    assert [(one.label, one.yours, one.stored) for one in answer.context["conflict"]] == [("Age", 50, 60)]
    assert fresh(profile).facts["age"] == 60
    form = answer.context["form"]
    assert (form["fact_age"].value(), form["version"].value()) == ("50", "2")
    edit(browser, profile, fact_age=50, version=2)
    assert fresh(profile).facts["age"] == 50


def test_a_profile_is_typed_in(client_of, admin, corpus):
    target = reverse("profile_new", args=[corpus.public_id])
    said = {f"fact_{key}": value for key, value in FACTS.items()} | {"username": "Heron", "style": STYLE}
    browser = client_of(admin)
    assert browser.get(target).status_code == 200
    assert browser.post(target, said | {"fact_sex": ""}).status_code == 422
    answer = browser.post(target, said)
    made = Profile.objects.get()
    assert (made.state, made.source, made.facts) == ("proposed", "typed", FACTS)
    assert f"#p-{made.public_id}" in answer.headers["Location"]
    browser.post(target, said | {"username": "Egret", "approve": "1"})
    assert Profile.objects.get(username="Egret").state == "approved"
