"""Styles that come late, and two who act on one profile at once: nothing goes unseen or is paid twice."""

import threading
from contextlib import suppress
from functools import partial

import pytest
from django.db import connection
from django.urls import reverse

from simulation.models import Corpus, Profile, Run
from simulation.selectors import profile_checks
from simulation.services import completions, engine, profile_runs, profiles, steering
from simulation.services.profile_runs import Profiling
from tests.factories.profiles import STYLE, ProposedFactory
from tests.factories.simulation import CorpusFactory, ProfileFactory, ProviderFactory
from tests.inventing import CAPS, MODEL, STYLER, generate, made, scripted, start
from tests.running import committing, work_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def model(gateway):
    gateway.answers = scripted
    return gateway


class Style:
    """A style that was asked for and answered, and is not written down yet."""

    def __init__(self, run):
        self.work, self.claim = Profiling(), engine._claim(run.pk)
        assert self.claim.step.kind == "style"
        renew = partial(engine._renew, self.claim)
        self.asker = completions.Asker(self.claim.run, self.claim.step, self.claim.lease, renew)
        self.outcome = self.work.perform(self.claim, self.asker)

    def arrive(self):
        engine._complete(self.claim, self.outcome, self.work, self.asker, go_on=False)
        return self.claim.run.steps.get(pk=self.claim.step.pk)


def invented(**options):
    """A run of which one person is there, without a style."""
    run = start(count=1, **options)
    engine.advance(run_id=run.pk, work=Profiling())
    return run, made(run)[0]


def styling(*those):
    return profile_runs.start_styles(
        by=None,
        corpus=those[0].corpus,
        profiles=those,
        name="styles",
        provider=ProviderFactory(),
        styler=STYLER,
        seed=1,
        **CAPS,
    )


def edited(profile, **changes):
    said = {"facts": profile.facts, "style": profile.style, "username": profile.username} | changes
    return profiles.edit(by=None, profile=profile, expected_version=profile.version, **said)


def told(run):
    return " ".join(run.happenings.values_list("text", flat=True))


# Approved before the style is there.


def test_a_profile_is_not_approved_while_its_style_is_being_written(model):
    run, profile = invented()
    style = Style(run)
    with pytest.raises(profiles.Unfinished, match="still being written"):
        profiles.approve(by=None, profiles=[profile], expected_version=profile.version)
    style.arrive()
    profile.refresh_from_db()
    assert (profile.state, profile.version) == ("proposed", 2)
    assert profiles.approve(by=None, profiles=[profile], expected_version=2) == [profile]


def test_it_can_be_approved_once_its_run_was_stopped(model):
    run, profile = invented()
    steering.control(by=None, run=run, event=steering.RunEvent.CANCEL)
    assert profiles.approve(by=None, profiles=[profile]) == [profile]


def test_a_new_style_makes_an_approved_profile_a_proposed_one(model, admin):
    bare = ProfileFactory(style="", state="approved", checked_by=admin)
    run = work_off(styling(bare), Profiling())
    bare.refresh_from_db()
    assert (bare.state, bare.checked_by, bare.version) == ("proposed", None, 2)
    assert bare.style
    assert f"{bare.username} was approved without it, so it is proposed again." in told(run)


def test_a_rejected_profile_stays_rejected(model):
    bare = ProfileFactory(style="")
    run = styling(bare)
    profiles.reject(by=None, profile=bare)
    work_off(run, Profiling())
    bare.refresh_from_db()
    assert (bare.state, bool(bare.style)) == ("rejected", True)


def test_all_without_warnings_leave_out_what_is_being_written(model, client_of, admin):
    corpus = CorpusFactory()
    ready, waiting = ProposedFactory(corpus=corpus), ProposedFactory(corpus=corpus)
    run = styling(waiting)
    assert profile_checks.counts(corpus).clean == 1
    with pytest.raises(profiles.Stale, match="now there are 1"):
        profiles.approve_clean(by=None, corpus=corpus, expected=2, last=waiting.pk)
    browser = client_of(admin)
    page = browser.get(reverse("profile_check", args=[corpus.public_id]))
    assert "Left out: 1 whose style is still being written." in page.content.decode()
    sent = {"expected": 1, "last": waiting.public_id}
    answer = browser.post(reverse("profiles_approve", args=[corpus.public_id]), sent, follow=True)
    said = [str(one) for one in answer.context["messages"]]
    assert said == ["Approved 1 profile. Left out: 1 whose style is still being written."]
    assert set(Profile.objects.filter(state="approved")) == {ready}
    work_off(run, Profiling())
    assert profile_checks.counts(corpus).unfinished == 0


def test_another_corpus_run_is_in_nobody_s_way(model):
    run, _ = invented()
    elsewhere = ProposedFactory(external_id=run.steps.get(kind="style").asks["profile"])
    assert profiles.approve(by=None, profiles=[elsewhere]) == [elsewhere]


def test_what_was_saved_and_could_not_be_approved_is_said(model, client_of, admin):
    _, profile = invented()
    fields = {f"fact_{key}": value for key, value in profile.facts.items()}
    fields |= {"username": "Heron", "style": "Mine.", "version": profile.version, "approve": "1"}
    browser = client_of(admin)
    answer = browser.post(reverse("profile_edit", args=[profile.public_id]), fields, follow=True)
    assert "Saved, but not approved. Heron: the style is still being written." in answer.content.decode()
    profile.refresh_from_db()
    assert (profile.username, profile.state) == ("Heron", "proposed")


def test_the_page_says_before_that_approved_ones_become_proposed(client_of, admin, corpus):
    ProviderFactory()
    ProfileFactory(corpus=corpus, style="", state="approved")
    ProposedFactory(corpus=corpus, style="")
    page = client_of(admin).get(reverse("profile_generate", args=[corpus.public_id]) + "?what=styles")
    assert "1 of these profiles is approved." in page.content.decode()


# Edited before the style is there.


def test_a_late_style_leaves_a_person_s_edit_alone(model):
    run, profile = invented()
    style = Style(run)
    edited(profile, style="My own hand-written style.")
    step = style.arrive()
    profile.refresh_from_db()
    assert (profile.style, profile.version) == ("My own hand-written style.", 2)
    assert (step.state, step.reason) == ("skipped", "edited")
    assert f"No style ({step.key}): edited." in told(run)
    run.refresh_from_db()
    assert (run.state, run.calls) == ("done", 2)


def test_a_style_written_by_hand_before_it_was_asked_for_costs_no_call(model):
    run, profile = invented()
    edited(profile, style="My own hand-written style.")
    run = work_off(run, Profiling())
    profile.refresh_from_db()
    assert (profile.style, run.calls) == ("My own hand-written style.", 1)
    assert run.steps.get(kind="style").reason == "edited"


def test_facts_edited_before_it_was_asked_for_are_asked_about(model):
    run, profile = invented()
    edited(profile, username="Heron")
    work_off(run, Profiling())
    profile.refresh_from_db()
    assert (profile.username, profile.version) == ("Heron", 3)
    assert profile.style


def test_facts_edited_meanwhile_get_their_style_when_it_is_tried_again(model):
    run, profile = invented()
    style = Style(run)
    edited(profile, facts=profile.facts | {"age": 77})
    assert style.arrive().state == "skipped"
    assert not Profile.objects.get(pk=profile.pk).style
    steering.retry(by=None, run=run, reason="edited")
    work_off(run, Profiling())
    profile.refresh_from_db()
    assert profile.style
    assert "77" in str(run.model_calls.filter(purpose="style").order_by("pk").last().request["messages"])


# Two at once.


def anew(profile, run):
    return profile_runs.regenerate(
        by=None, profile=profile, provider=run.provider, model=MODEL, styler=STYLER, seed=1, **CAPS
    )


def test_made_anew_twice_from_one_page_is_one_run(model):
    run = generate(count=1)
    one, other = (Profile.objects.get(pk=made(run)[0].pk) for _ in range(2))
    anew(one, run)
    with pytest.raises(profiles.Stale, match="being made anew already"):
        anew(other, run)
    assert Run.objects.count() == 2


def test_what_was_edited_meanwhile_is_not_made_anew(model):
    run = generate(count=1)
    old = Profile.objects.get(pk=made(run)[0].pk)
    edited(made(run)[0], username="Heron")
    with pytest.raises(profiles.Stale, match="was changed meanwhile"):
        anew(old, run)
    old.refresh_from_db()
    assert (old.state, Run.objects.count()) == ("proposed", 1)


@committing
def test_two_who_give_one_name_at_once_are_both_told(monkeypatch):
    corpus = CorpusFactory()
    pair = [ProposedFactory(corpus=corpus) for _ in range(2)]
    together, said = threading.Barrier(2), []

    def checked(*args):
        found = check(*args)
        with suppress(threading.BrokenBarrierError):  # the other may not come this far
            together.wait(timeout=1)
        return found

    check = profiles._checked
    monkeypatch.setattr(profiles, "_checked", checked)

    def name(profile):
        try:
            edited(profile, username="Heron")
        except profiles.BadProfile as wrong:
            said.append(wrong.problems)
        finally:
            connection.close()

    crew = [threading.Thread(target=name, args=(one,)) for one in pair]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    assert said == [{"username": "“Heron” is another profile of this corpus. Choose another name."}]
    assert Profile.objects.filter(username="Heron").count() == 1


@committing
@pytest.mark.parametrize("act", ["edit", "add"])
def test_a_name_that_a_run_gave_meanwhile_is_said_beside_the_field(monkeypatch, act):
    """Runs and imports do not wait for people."""
    corpus = CorpusFactory()
    mine = ProposedFactory(corpus=corpus)
    check = profiles._checked

    def checked(*args):
        found = check(*args)
        crew = threading.Thread(target=_take, args=(corpus.pk,))
        crew.start()
        crew.join()
        return found

    monkeypatch.setattr(profiles, "_checked", checked)
    with pytest.raises(profiles.BadProfile) as wrong:
        edited(mine, username="Heron") if act == "edit" else typed(mine)
    assert set(wrong.value.problems) == {"username"}
    assert corpus.profiles.count() == 2


def typed(like):
    facts = dict(like.facts)
    return profiles.add(by=None, corpus=like.corpus, facts=facts, style=STYLE, username="Heron")


def _take(corpus):
    ProposedFactory(corpus=Corpus.objects.get(pk=corpus), username="Heron")
    connection.close()
