"""The report of diversity: a corpus by hand, runs, what is left out, the published threads."""

import json

import pytest

from annotation.exchange.dataset import import_paths
from evaluation.domain.boards import as_json
from evaluation.metrics.diversity_likeness import ONE_AUTHOR
from evaluation.models import Report
from evaluation.selectors import diversity as selectors
from evaluation.selectors.diversity import Scope
from evaluation.services import diversity as counting
from evaluation.services import reports
from evaluation.services.diversity_profiles import ProfileTally
from simulation.models import CastMember, Comment, CommentEdit, Corpus, Profile, Thread
from tests.evaluation.diversity_scene import fill, goats_in, profile
from tests.factories.simulation import (
    CommentFactory,
    RunFactory,
    RunThreadFactory,
)
from tests.published import FOLDER, needs_published_data

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    return tmp_path / "realism"


@pytest.fixture
def goats(corpus):
    return goats_in(corpus)


def test_by_hand(goats):
    found = counting.count(Scope(goats))
    assert (found.comments, found.threads, found.authors, found.profiles, found.writing) == (5, 2, 2, 3, 2)
    assert (found.words, found.types) == (9, 7)  # who lost keys me me keys never rain again
    assert found.distinct["1"] == pytest.approx(7 / 9)
    assert found.distinct["2"] == 1  # who lost, lost keys, me me, rain again
    characters = found.lengths["characters"]
    assert (characters.n, characters.mean, characters.low, characters.high) == (5, 7.4, 4, 13)
    assert found.lengths["per_author"].mean == 2.5
    assert (found.lengths["per_thread"].mean, found.lengths["agents"].mean) == (2.5, 1.5)
    assert found.lengths["age"].mean == pytest.approx((31 + 47 + 47) / 3)
    assert found.depths == {"0": 2, "1": 2, "2": 1}
    assert found.chains == {"1": 1, "2": 1, "3": 1}
    assert found.replies == {"0": 2, "1": 1}
    assert found.root_replies == {"0": 1, "2": 1}
    assert found.oddities == {
        "self_replies": 0,
        "replies_by_thread_author": 1,
        "same_author_twice_under_one_parent": 1,
    }
    # tilda and bragg: home, birthplace, work; tilda and the third: sex; bragg and the third: age
    assert found.overlap == {"1": 2, "3": 1}
    assert [(one.name, one.count) for one in found.groups["sex"].groups] == [("female", 2), ("male", 1)]
    assert [(one.name, one.count) for one in found.groups["age"].groups] == [("45-54", 2), ("25-34", 1)]
    assert [(one.name, one.count) for one in found.groups["birth_countries"].groups] == [
        ("Austria", 2),
        ("Norway", 1),
    ]
    assert (found.groups["occupation"].n, found.groups["occupation"].missing) == (2, 1)
    assert (found.groups["city_country"].different, found.groups["sex"].different) == (2, None)
    assert ([one.name for one in found.targets.groups], found.targets.missing) == (["age"], 1)
    assert {one.name for one in found.topics["not said"].groups} == {"/r/goats", "/r/keys"}


def test_it_is_kept_as_json_and_read_back(goats):
    report = reports.make(goats, Report.DIVERSITY, {"run": ""})
    report.refresh_from_db()
    assert (report.problem, reports.is_current(report)) == ("", True)
    again = counting.numbers(report)
    assert as_json(again) == as_json(counting.count(Scope(goats)))
    assert again.groups["age"].groups[0].name == "45-54"
    assert counting.numbers(None) is None


def test_a_withdrawn_comment_is_left_out_and_its_replies_are_not(goats):
    Comment.objects.filter(text="me me").update(state="withdrawn")
    found = counting.count(Scope(goats))
    assert (found.comments, found.withdrawn) == (4, 1)
    assert found.depths == {"0": 2, "1": 1, "2": 1}
    assert found.replies == {"0": 1}, "the reply to what was withdrawn is a reply to nobody"


def test_threads_without_a_post_are_counted(goats):
    Comment.objects.filter(text="who lost keys").update(state="withdrawn")
    assert counting.count(Scope(goats)).depths == {"0": 1, "1": 2, "2": 1}


def test_of_a_run_its_threads_and_its_cast_as_it_was(goats):
    run = RunFactory(corpus=goats)
    tilda = Profile.objects.get(facts__age=31)
    CastMember.objects.create(
        run=run, profile=tilda, external_id="x", username="x", facts={"age": 30, "sex": "male"}, version=1
    )
    thread = Thread.objects.get(external_id="odd")
    RunThreadFactory(run=run, thread=thread, target="sex", author=tilda)
    found = counting.count(Scope(goats, run))
    assert (found.comments, found.threads, found.profiles, found.writing) == (1, 1, 1, 0)
    assert found.lengths["age"].mean == 30
    assert [one.name for one in found.targets.groups] == ["sex"]
    assert set(found.topics) == {"sex"}


def test_an_empty_corpus(corpus):
    found = counting.count(Scope(corpus))
    assert (found.comments, found.threads, found.profiles, found.mattr) == (0, 0, 0, None)
    assert (found.depths, found.overlap, found.lengths["characters"].mean) == ({}, {}, None)
    assert found.targets.groups == ()


def test_one_author_has_no_interval(corpus):
    who = profile(corpus, 31, "female", "Graz, Austria")
    for _ in range(3):
        CommentFactory(thread__corpus=corpus, profile=who)
    found = counting.count(Scope(corpus))
    assert (found.authors, found.likeness.low, found.likeness.words) == (1, None, ONE_AUTHOR)
    assert found.likeness.value == pytest.approx(1)


def test_queries_do_not_grow(corpus, django_assert_num_queries):
    for _ in range(2):
        fill(corpus, 6)
        with django_assert_num_queries(6):
            counting.count(Scope(corpus))
        with django_assert_num_queries(5):
            selectors.state_of(Scope(corpus))


def test_every_change_makes_it_old(goats):
    def stamp():
        return reports.MAKERS[Report.DIVERSITY].stamp(goats, {"run": ""})

    seen = {stamp()}
    comment = Comment.objects.get(text="never")
    CommentEdit.objects.create(comment=comment, before="never", after="ever")
    seen.add(stamp())
    Comment.objects.filter(pk=comment.pk).update(state="withdrawn")
    seen.add(stamp())
    Profile.objects.filter(corpus=goats, facts__age=31).update(version=2)
    seen.add(stamp())
    CommentFactory(thread__corpus=goats)
    seen.add(stamp())
    assert len(seen) == 5
    CommentFactory()
    assert stamp() in seen


def test_a_run_that_is_gone(goats):
    report = reports.make(goats, Report.DIVERSITY, {"run": "nothere"})
    assert report.problem == reports.STOPPED


def test_pairs_of_very_many_profiles_are_those_of_a_seeded_sample():
    def taken(seed):
        tally = ProfileTally(seed=seed, most=4)
        for number in range(40):
            tally.take({"age": 20 + number, "sex": "male" if number % 2 else "female"})
        return tally

    one = taken(1)
    assert (one.profiles, one.compared, sum(one.overlap().values())) == (40, 4, 6)
    assert taken(1).overlap() == one.overlap()
    assert one.groups()["sex"].n == 40


@pytest.mark.parametrize(
    ("phrase", "name", "target"),
    [
        ("gender", "x", "sex"),
        ("  Age ", "x", "age"),
        ("das Alter", "x", "age"),
        ("", "thread_city_country_12", "city_country"),
        ("weather", "thread_weather_1", ""),
        ("", "income_level", "income_level"),
    ],
)
def test_what_a_thread_asks_about(phrase, name, target):
    assert selectors.target_of(phrase, name) == target


# --- the published threads


@pytest.mark.published
@needs_published_data
def test_the_published_corpus_has_the_numbers_of_the_paper():
    import_paths(paths=[FOLDER], corpus_name="published")
    corpus = Corpus.objects.get(name="published")
    found, expected = counting.count(Scope(corpus)), json.loads((FOLDER / "expected.json").read_text())
    wanted = expected["threads"]
    assert (found.threads, found.comments) == (wanted["threads"], wanted["nodes"])
    for mine, theirs in (
        (found.depths, "depth_histogram"),
        (found.chains, "leaf_chain_length_histogram"),
        (found.replies, "children_per_reply_histogram"),
        (found.root_replies, "children_per_root_histogram"),
    ):
        assert mine == wanted[theirs], theirs
    assert found.oddities == {key: wanted[key] for key in found.oddities}
    for key, theirs in (
        ("per_thread", "nodes_per_thread"),
        ("agents", "authors_per_thread"),
        ("chain", "mean_chain_length_per_thread"),
    ):
        assert _summary(found.lengths[key]) == pytest.approx(wanted[theirs], abs=1e-9), theirs
    profiles = expected["profiles"]
    assert found.profiles == profiles["n"]
    assert _summary(found.lengths["age"]) == pytest.approx(profiles["age"], abs=1e-9)
    assert found.overlap == expected["fig3_profile_overlap"]["counts"]
    assert sum(found.overlap.values()) == expected["fig3_profile_overlap"]["pairs"]
    for key in ("sex", "income_level"):
        assert {one.name: one.count for one in found.groups[key].groups} == profiles[key]
    for key in ("occupation", "city_country", "birth_city_country", "education"):
        assert found.groups[key].different == profiles["unique"][key]
    assert len(found.groups["birth_countries"].groups) == profiles["countries"]["birth_city_country"]
    same = {one.name: one.count for one in found.groups["birth_city_country"].groups}
    assert same["same country"] == profiles["born_in_country_of_residence"]
    assert found.targets.missing == 0
    assert sum(one.count for one in found.targets.groups) == found.targets.n


def _summary(spread):
    return {
        "n": spread.n,
        "mean": spread.mean,
        "std": spread.std,
        "median": spread.quantiles["0.5"],
        "min": spread.low,
        "max": spread.high,
    }
