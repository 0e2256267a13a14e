"""Presets of the run form: saved, taken up again, renamed, copied, deleted; and the plan of a run."""

import re

import pytest
from django.urls import reverse

from simulation.domain.plan_values import PUBLISHED_THREADS, SHIPPED
from simulation.domain.roles import Role
from simulation.models import AuditEntry, Profile, Run, RunPreset
from simulation.selectors import presets as selectors
from simulation.selectors import workers
from simulation.services import engine, presets
from tests.factories.simulation import CorpusFactory, MembershipFactory, ProfileFactory, ProviderFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})


@pytest.fixture
def peopled(corpus):
    ProviderFactory(name="scripted model")
    for number in range(12):
        sex = "female" if number % 2 else "male"
        ProfileFactory(corpus=corpus, external_id=f"pers{number}", facts={"age": 20 + number, "sex": sex})
    return corpus


def address(corpus, asked=""):
    return reverse("run_new", args=[corpus.public_id]) + asked


def held(answer):
    form = answer.context["form"]
    values = {field.html_name: field.value() for field in form if field.name != "typed"}
    rows = [row for row in form.topic_rows() if not row.is_blank]
    values |= {
        f"typed_{part}": [getattr(row, part) for row in rows] for part in ("target", "question", "story")
    }
    return {name: value for name, value in values.items() if value is not None and value is not False}


CHANGES = {
    "rounds": 4,
    "mode": "random",
    "filter_sex": ["female"],
    "user_temperature": "0.5",
    "threads_age": 7,
    "then_judge": "on",
    "typed_paste": "age | When? | Then.",
    "max_calls": 4321,
}


def save(browser, corpus, preset="nightly", **changes):
    sent = held(browser.get(address(corpus))) | CHANGES | {"preset_name": preset, "save": "1"} | changes
    return browser.post(address(corpus), sent)


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def test_a_form_is_saved_and_taken_up_again_as_it_was(client_of, admin, peopled):
    browser = client_of(admin)
    saved = save(browser, peopled, " nightly  ", name="first night")
    assert saved.status_code == 200
    assert "Saved as the preset nightly" in words(saved)
    assert saved.context["form"]["name"].value() == "first night"
    assert not Run.objects.exists()

    preset = RunPreset.objects.get()
    assert (preset.name, preset.created_by) == ("nightly", admin)
    assert not {"name", "seed", "form", "max_tokens", "suggested_calls"} & set(preset.values)
    again = held(browser.get(address(peopled, f"?preset={preset.public_id}")))
    for name in ("rounds", "mode", "filter_sex", "user_temperature", "threads_age", "max_calls"):
        assert str(again[name]) == str(CHANGES[name]), name
    assert again["then_judge"] is True
    assert (again["typed_target"], again["typed_question"], again["typed_story"]) == (
        ["age"],
        ["When?"],
        ["Then."],
    )
    assert int(again["max_tokens"]) > 0
    entry = AuditEntry.objects.get(action="preset.saved")
    assert (entry.actor, entry.object_id) == (admin, preset.public_id)


def test_a_preset_starts_the_run_that_the_form_would_have_started(client_of, admin, peopled):
    browser = client_of(admin)
    save(browser, peopled)
    preset = RunPreset.objects.get()
    opened = browser.get(address(peopled, f"?preset={preset.public_id}"))
    assert browser.post(address(peopled), held(opened)).status_code == 302
    run = Run.objects.get()
    assert (run.plan["parameters"]["rounds"], run.plan["parameters"]["mode"]) == (4, "random")
    assert len(run.plan["profiles"]) == 6
    assert run.plan["typed"] == 1


def test_a_name_that_is_taken_asks_before_it_is_replaced(client_of, admin, peopled):
    browser = client_of(admin)
    save(browser, peopled)
    asked = save(browser, peopled, rounds=5)
    assert asked.status_code == 422
    assert "There is a preset “nightly” already." in words(asked)
    assert 'name="preset_overwrite"' in asked.content.decode()
    assert str(RunPreset.objects.get().values["rounds"]) == "4"
    assert save(browser, peopled, rounds=5, preset_overwrite="on").status_code == 200
    assert str(RunPreset.objects.get().values["rounds"]) == "5"
    assert AuditEntry.objects.filter(action="preset.replaced").count() == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"preset_name": ""}, "A name of 1 to 80 characters."),
        ({"preset_name": "as published"}, "comes with the product"),
        ({"rounds": 0}, "no preset was saved"),
    ],
)
def test_what_cannot_be_saved_is_said_and_nothing_is(client_of, admin, peopled, changes, said):
    answer = save(client_of(admin), peopled, **changes)
    assert answer.status_code == 422
    assert said in words(answer)
    assert not RunPreset.objects.exists()
    assert not Run.objects.exists()


def test_who_starts_runs_in_one_corpus_changes_only_own_presets(client_of, admin, peopled):
    save(client_of(admin), peopled)
    preset = RunPreset.objects.get()
    local = MembershipFactory(role=Role.ADMIN, corpus=peopled).person
    browser = client_of(local)
    assert "nightly" in words(browser.get(reverse("presets")))
    for name in ("preset_rename", "preset_delete"):
        assert browser.post(reverse(name, args=[preset.public_id]), {"name": "mine"}).status_code == 404
    refused = save(browser, peopled, preset_overwrite="on", rounds=9)
    assert "Somebody else saved “nightly”" in words(refused)
    preset.refresh_from_db()
    assert (preset.name, str(preset.values["rounds"])) == ("nightly", "4")
    assert browser.post(reverse("preset_duplicate", args=[preset.public_id])).status_code == 302
    copy = RunPreset.objects.get(created_by=local)
    assert (copy.name, copy.values) == ("nightly, copy", preset.values)
    assert browser.post(reverse("preset_delete", args=[copy.public_id])).status_code == 302
    assert list(RunPreset.objects.all()) == [preset]


@pytest.mark.parametrize(
    "spelling", ["night run", "night  run", "night\u00a0run", " night\trun ", "night \n run"]
)
def test_no_spelling_of_a_name_replaces_the_preset_of_somebody_else(client_of, admin, peopled, spelling):
    save(client_of(admin), peopled, "night run")
    local = MembershipFactory(role=Role.ADMIN, corpus=peopled).person
    refused = save(client_of(local), peopled, spelling, preset_overwrite="on", rounds=9)
    assert refused.status_code == 422
    assert "Somebody else saved “night run”" in words(refused)
    kept = RunPreset.objects.get()
    assert (kept.created_by, str(kept.values["rounds"])) == (admin, "4")
    assert selectors.named(spelling) == kept


def test_saving_itself_looks_whose_preset_it_is(admin, peopled):
    kept = presets.save(by=admin, name="night run", values={"rounds": 4})
    local = MembershipFactory(role=Role.ADMIN, corpus=peopled).person
    with pytest.raises(presets.BadName, match="Somebody else"):
        presets.save(by=local, name="night run", values={"rounds": 9}, overwrite=True)
    with pytest.raises(presets.BadName, match="cannot be printed"):
        presets.rename(by=admin, preset=kept, name="night\x00run")
    assert RunPreset.objects.get().values == {"rounds": 4}


POSTS = [f"age | Number {number}? | It was {number}." for number in range(400)]


def test_a_preset_with_many_posts_can_be_sent_again(client_of, admin, peopled):
    """Each row is three fields of the form, and a server takes only so many."""
    browser = client_of(admin)
    save(browser, peopled, typed_paste="\n".join(POSTS), max_calls=99_999, max_tokens=9_000_000)
    opened = browser.get(address(peopled, f"?preset={RunPreset.objects.get().public_id}"))
    form = opened.context["form"]
    assert len(form.topic_rows()) == 20
    assert form["typed_paste"].value().splitlines() == POSTS[20:]
    assert [topic.question for topic in form.asked_topics()] == [f"Number {n}?" for n in range(400)]
    started = browser.post(address(peopled), held(opened))
    assert started.status_code == 302
    run = Run.objects.get()
    assert run.plan["typed"] == 400
    again = browser.get(address(peopled, f"?like={run.public_id}")).context["form"]
    assert again.asked_topics() == form.asked_topics()


def test_posts_that_are_no_line_keep_their_rows_and_their_order(client_of, admin, peopled):
    browser = client_of(admin)
    stories = [f"One.\nTwo {number}." for number in range(400)] + [f"It was {n}." for n in range(100)]
    typed = {
        "typed_target": ["age"] * 500,
        "typed_question": [f"Number {number}?" for number in range(500)],
        "typed_story": stories,
        "typed_paste": "",
    }
    assert save(browser, peopled, **typed, max_calls=99_999, max_tokens=9_000_000).status_code == 200
    opened = browser.get(address(peopled, f"?preset={RunPreset.objects.get().public_id}"))
    form = opened.context["form"]
    assert len(form.topic_rows()) == 400
    assert [topic.description for topic in form.asked_topics()] == stories
    assert browser.post(address(peopled), held(opened)).status_code == 302


def test_a_preset_is_renamed_copied_and_deleted_on_its_page(client_of, admin, peopled):
    browser = client_of(admin)
    save(browser, peopled)
    save(browser, peopled, "weekly")
    preset = RunPreset.objects.get(name="nightly")
    rename = reverse("preset_rename", args=[preset.public_id])

    taken = browser.post(rename, {"name": "weekly"})
    assert taken.status_code == 422
    assert "There is a preset “weekly” already." in words(taken)
    assert 'value="weekly"' in taken.content.decode()
    browser.post(rename, {"name": "every night"})
    for _ in range(2):
        browser.post(reverse("preset_duplicate", args=[preset.public_id]))
    names = set(RunPreset.objects.values_list("name", flat=True))
    assert names == {"every night", "weekly", "every night, copy", "every night, copy 2"}
    browser.post(reverse("preset_delete", args=[preset.public_id]))
    assert not RunPreset.objects.filter(name="every night").exists()
    assert AuditEntry.objects.filter(action="preset.deleted").count() == 1


def test_only_who_starts_runs_sees_presets(client_of, researcher, labeler):
    for person in (researcher, labeler):
        assert client_of(person).get(reverse("presets")).status_code == 403


def test_a_preset_or_run_that_is_not_there_is_404(client_of, admin, peopled):
    for asked in ("?preset=none", "?like=none"):
        assert client_of(admin).get(address(peopled, asked)).status_code == 404


def test_the_shipped_presets_need_no_row(client_of, admin, peopled):
    browser = client_of(admin)
    opened = browser.get(address(peopled, "?preset=published"))
    assert opened.context["preview"].threads == sum(PUBLISHED_THREADS.values()) == 103
    assert not [field.name for field in opened.context["form"].marked() if field.changed]
    small = browser.get(address(peopled, "?preset=small"))
    assert small.context["preview"].threads == 2
    assert small.context["preview"].dry.calls_high < 100
    assert not RunPreset.objects.exists()
    for one in SHIPPED.values():
        assert set(one.values) <= set(opened.context["form"].fields)


def test_begin_from_it_leads_to_the_form_or_to_the_choice_of_a_corpus(client_of, admin, peopled):
    browser = client_of(admin)
    chosen = browser.get(reverse("run_choose") + "?preset=small")
    assert chosen.headers["Location"] == address(peopled, "?preset=small")
    CorpusFactory(name="summer")
    assert (
        address(peopled, "?preset=small")
        in browser.get(reverse("run_choose") + "?preset=small").content.decode()
    )


def test_a_provider_that_is_gone_is_left_out_and_said(client_of, admin, peopled):
    preset = presets.save(by=admin, name="old", values={"provider": "gone", "rounds": 3})
    opened = client_of(admin).get(address(peopled, f"?preset={preset.public_id}"))
    assert "A provider of it is not there any more" in words(opened)
    assert opened.context["preview"].dry is not None
    assert opened.context["form"]["rounds"].value() == 3


def test_a_run_like_an_earlier_one_has_its_plan_and_its_people(client_of, admin, peopled):
    browser = client_of(admin)
    sent = held(browser.get(address(peopled))) | CHANGES | {"max_tokens": 9_000_000, "soft_cost": "0.5"}
    sent |= {"max_cost": "2.5", "seed": 77, "author_seed": 3, "platform": "forum", "parallel": 4}
    assert browser.post(address(peopled), sent).status_code == 302
    first = Run.objects.get()
    ProfileFactory(corpus=peopled, external_id="late", facts={"sex": "female"})

    opened = browser.get(address(peopled, f"?like={first.public_id}"))
    assert f"The plan of {first.name} is filled in" in words(opened)
    assert len(opened.context["preview"].matching) == 6
    assert browser.post(address(peopled), held(opened)).status_code == 302
    second = Run.objects.exclude(pk=first.pk).get()
    ours = ("plan", "seed", "max_calls", "max_tokens", "max_cost", "soft_cost", "parallel")
    one, other = ({name: getattr(run, name) for name in ours} for run in (first, second))
    assert one.pop("plan") | {"form": ""} == other.pop("plan") | {"form": ""}
    assert one == other
    assert [thread.typed for thread in first.run_threads.all()] == [
        thread.typed for thread in second.run_threads.all()
    ]


def test_a_run_of_another_corpus_lends_its_plan_but_not_its_people(client_of, admin, peopled):
    browser = client_of(admin)
    caps = {"rounds": 4, "max_calls": 999, "max_tokens": 999_999}
    browser.post(address(peopled), held(browser.get(address(peopled))) | caps)
    summer = CorpusFactory(name="summer")
    ProfileFactory.create_batch(3, corpus=summer, state=Profile.APPROVED)
    opened = browser.get(address(summer, f"?like={Run.objects.get().public_id}"))
    assert len(opened.context["preview"].matching) == 3
    assert opened.context["form"]["rounds"].value() == 4


def test_a_run_that_a_person_may_not_see_lends_nothing(client_of, admin, peopled):
    browser = client_of(admin)
    browser.post(address(peopled), held(browser.get(address(peopled))))
    summer = CorpusFactory(name="summer")
    ProfileFactory(corpus=summer)
    local = MembershipFactory(role=Role.ADMIN, corpus=summer).person
    asked = f"?like={Run.objects.get().public_id}"
    assert client_of(local).get(address(summer, asked)).status_code == 404
    assert selectors.cast_of(local, Run.objects.get().public_id) == set()
