"""How alike profiles are, and what new ones are asked to be."""

import gzip
import itertools
import json
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.domain.attributes import CATALOGUE, TARGET_KEYS
from simulation.domain.diversity import overlap_histogram, shares, twins
from simulation.domain.incomes import country_code
from simulation.domain.profile_ages import age_and_relationship, least_for_education
from simulation.domain.profile_groups import band, country, field, group
from simulation.domain.profile_targets import Targets, plan_asks, wishes_of
from tests.published import FOLDER, needs_published_data


def published():
    with gzip.open(FOLDER / "profiles.json.gz") as stream:
        return list(json.load(stream).values())


@needs_published_data
def test_the_histogram_of_the_paper_comes_out():
    expected = json.loads((FOLDER / "expected.json").read_text())["fig3_profile_overlap"]
    found = overlap_histogram(published())
    assert {str(number): pairs for number, pairs in found.items() if pairs} == expected["counts"]
    assert sum(found.values()) == expected["pairs"]


FACTS = st.lists(
    st.dictionaries(st.sampled_from(TARGET_KEYS), st.sampled_from([1, 2, "1", "a", "A", "", None])),
    max_size=9,
)


@given(FACTS)
def test_every_pair_is_counted_as_by_hand(people):
    def shared(one, other):
        return sum(
            one.get(key) not in (None, "")
            and type(one[key]) is type(other.get(key))
            and one[key] == other.get(key)
            for key in TARGET_KEYS
        )

    by_hand = Counter(shared(*pair) for pair in itertools.combinations(people, 2))
    found = overlap_histogram(people)
    assert {number: pairs for number, pairs in found.items() if pairs} == dict(by_hand)
    assert set(found) == set(range(len(TARGET_KEYS) + 1))


def test_the_income_in_words_does_not_count():
    people = [{"age": 30, "income": "10 euros"}, {"age": 30, "income": "10 euros"}]
    assert overlap_histogram(people)[1] == 1


def test_two_million_pairs_agree_with_a_count_by_value_groups():
    """The mean number of shared values, by another road: pairs within each group of equal values."""
    chance = random.Random(5)
    people = [{key: chance.randrange(40) for key in TARGET_KEYS} for _ in range(2000)]
    found = overlap_histogram(people)
    assert sum(found.values()) == 2000 * 1999 // 2
    groups = Counter((key, one[key]) for one in people for key in TARGET_KEYS)
    assert sum(n * pairs for n, pairs in found.items()) == sum(n * (n - 1) // 2 for n in groups.values())


NURSE = {
    "age": 41,
    "sex": "female",
    "city_country": "Bergen, Norway",
    "birth_city_country": "Oslo, Norway",
    "education": "Bachelors in Nursing",
    "occupation": "nurse",
    "income_level": "middle",
    "relationship_status": "married",
}


def test_twins_are_found_whatever_the_spelling():
    six = NURSE | {"age": 50, "sex": "male", "occupation": " Nurse "}
    five = six | {"income_level": "low"}
    assert twins(NURSE, [five, six, NURSE]) == [1, 2]
    assert twins(NURSE, [five, six, NURSE], 5) == [0, 1, 2]
    assert twins(NURSE | {"sex": "F"}, [NURSE], 8) == [0]
    assert twins({}, [{}]) == []


def test_shares_are_counted_in_groups():
    found = shares([NURSE, NURSE | {"age": 19, "city_country": "Wien, Österreich"}, {"age": "?"}])
    assert found["age"] == {"18-24": 1, "35-44": 1}
    assert found["city_country"] == {"Austria": 1, "Norway": 1}
    assert found["birth_city_country"] == {"another country": 1, "same country": 1}
    assert found["education"] == {"College Degree": 2}
    assert found["occupation"] == {"health and care": 2}
    assert set(found) == set(TARGET_KEYS)


@pytest.mark.parametrize(
    ("occupation", "name"),
    [
        ("paediatric nurse", "health and care"),
        ("retired ship's cook", "retired"),
        ("taxi driver", "transport and logistics"),
        ("backend developer", "technology and engineering"),
        ("marketing manager", "office and administration"),
        ("lighthouse ghost", "other"),
    ],
)
def test_occupations_have_fields(occupation, name):
    assert field(occupation) == name


def test_the_share_of_each_value_is_met():
    asks = plan_asks(400, Targets.usual(), [], 3)
    for key in ("sex", "income_level", "education", "relationship_status"):
        row = Targets.usual().shares[key]
        counted = Counter(ask[key] for ask in asks)
        for value, share in row.items():
            assert abs(counted[value] / 400 - share / sum(row.values())) <= 0.02, (key, value)
    ages = Counter(group("age", ask) for ask in asks)
    for name, share in Targets.usual().shares["age"].items():
        assert abs(ages[name] / 400 - share / 100) <= 0.03, name


def test_what_is_there_already_is_counted_in():
    men = [{"sex": "male"}] * 60
    asks = plan_asks(40, Targets.usual(), men, 3)
    assert Counter(ask["sex"] for ask in asks) == {"female": 40}
    assert Counter(ask["sex"] for ask in plan_asks(80, Targets.usual(), men, 3))["female"] == 70


def test_nobody_is_asked_to_be_what_nobody_is():
    for ask in plan_asks(600, Targets.usual(), [], 9):
        assert ask["age"] >= least_for_education(ask["education"])
        assert not age_and_relationship(ask["age"], ask["relationship_status"])
        assert not (ask["education"] == "In College" and ask["age"] > 34)
        assert not (ask["education"] == "In College" and ask["income_level"] in ("high", "very high"))
        assert set(ask) <= set(TARGET_KEYS)


def test_no_country_passes_its_cap_and_there_are_many():
    usual = Targets.usual()
    targets = Targets({**usual.shares, "city_country": {"Peru": 90, "Chile": 5, "Ghana": 5}}, country_cap=0.4)
    counted = Counter(ask["city_country"] for ask in plan_asks(100, targets, [], 1))
    assert counted == {"Peru": 40, "Chile": 30, "Ghana": 30}
    few = Targets({**usual.shares, "city_country": {"Peru": 9, "Chile": 1}}, country_cap=0.1)
    assert Counter(ask["city_country"] for ask in plan_asks(10, few, [], 1)) == {"Peru": 5, "Chile": 5}
    wide = Counter(ask["city_country"] for ask in plan_asks(300, usual, [], 1))
    assert len(wide) >= 70
    assert max(wide.values()) <= 24
    assert len(usual.shares["city_country"]) >= 75
    assert all(country_code(name) for name in usual.shares["city_country"])
    assert all(country(f"x, {name}") == name for name in usual.shares["city_country"])


def test_a_birthplace_abroad_is_another_country():
    asks = plan_asks(300, Targets.usual(), [], 4)
    abroad = [ask for ask in asks if "birth_city_country" in ask]
    assert 30 <= len(abroad) <= 42
    assert all(ask["birth_city_country"] != ask["city_country"] for ask in abroad)


def test_the_seed_alone_decides():
    usual = Targets.usual()
    assert plan_asks(20, usual, [NURSE], 1) == plan_asks(20, usual, [NURSE], 1)
    assert plan_asks(20, usual, [NURSE], 1) != plan_asks(20, usual, [NURSE], 2)
    assert plan_asks(0, usual, [], 1) == []
    with pytest.raises(ValueError, match="at most 10,000"):
        plan_asks(10_001, usual, [], 1)


def test_targets_survive_json():
    usual = Targets.usual()
    assert Targets.from_dict(json.loads(json.dumps(usual.as_dict()))) == usual
    assert Targets.from_dict({}) == usual
    own = Targets.from_dict({"sex": {"female": 2}})
    assert own.shares["sex"] == {"female": 2.0}
    assert own.shares["age"] == usual.shares["age"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"shoes": {"43": 1}}, "shoes: not an attribute"),
        ({"sex": {}}, "sex: write a share"),
        ({"sex": {"male": -1}}, "sex, male: the share"),
        ({"sex": {"male": "half"}}, "sex, male: the share"),
        ({"sex": {"male": 0}}, "at least one share"),
        ({"sex": {"man": 1}}, "sex, man: not one of male, female"),
        ({"age": {"young": 1}}, "age, young: write a band"),
        ({"age": {"12-30": 1}}, "age, 12-30: write a band"),
        ({"age": {"40-30": 1}}, "age, 40-30: write a band"),
        ({"city_country": {"Atlantis": 1}}, "Atlantis: we know no such country"),
        ({"birth_city_country": {"Peru": 1}}, "same country"),
        ({"country_cap": 0}, "country_cap"),
    ],
)
def test_wrong_targets_are_refused_with_the_place(values, words):
    with pytest.raises(ValueError, match=words):
        Targets.from_dict(values)


@given(
    st.integers(0, 40),
    st.integers(0, 2**31),
    st.dictionaries(
        st.sampled_from(["age", "sex", "education", "relationship_status"]),
        st.integers(0, 3),
        max_size=4,
    ),
)
def test_any_targets_give_as_many_asks_as_wanted(count, seed, chosen):
    usual = Targets.usual().shares
    rows = {key: dict([list(usual[key].items())[place % len(usual[key])]]) for key, place in chosen.items()}
    asks = plan_asks(count, Targets.from_dict(rows), [], seed)
    assert len(asks) == count
    for ask in asks:
        assert 18 <= ask["age"] <= 99
        for key, row in rows.items():
            if key not in ("age",) and key in ask:
                assert ask[key] in row


def test_bands_are_read():
    assert band("18-24") == (18, 24)
    assert band("24-18") is None
    assert band("18 to 24") is None


def test_a_person_can_be_turned_into_wishes():
    wishes = wishes_of(NURSE)
    assert wishes["age"] == 41
    assert (wishes["city_country"], wishes["education"]) == ("Norway", "College Degree")
    assert "birth_city_country" not in wishes
    assert set(wishes) <= set(CATALOGUE)
