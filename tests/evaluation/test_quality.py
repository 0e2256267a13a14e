"""The numbers of label quality, each against what was worked out by hand on a few comments."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.domain.labels import State
from annotation.models import Annotation, AttributeLabel, FirstAnswer, Item, Suggestion
from annotation.services import queues
from evaluation.metrics.comparing import anchoring_shift
from evaluation.models import Report
from evaluation.selectors import quality as rows_of
from evaluation.selectors import quality_page
from evaluation.services import quality, reports
from simulation.domain.attributes import TARGET_KEYS
from simulation.models import Profile, User
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import CommentFactory, CorpusFactory, ProfileFactory, UserFactory

pytestmark = pytest.mark.django_db
NONE, UNSURE, LEFT = "-", "?", "left"
OSLO = "Oslo, Norway"


def label(said, hardness=2, certainty=4, *, bulk=False):
    """A label's fields: a value, or one of NONE, UNSURE, LEFT."""
    state = {NONE: State.NONE, UNSURE: State.UNSURE, LEFT: State.UNTOUCHED}.get(said, State.VALUE)
    if state is not State.VALUE:
        return {"state": state.value, "value": "30" if said == LEFT else ""}
    marks = {"hardness": hardness, "certainty": certainty}
    return {"state": state.value, "value": said, "bulk": bulk, **marks}


def answer(who, where, *, arm="assisted", first=None, at=0, over_quota=False, **labels):
    """`who` (a person or a reviewer's name) about `where` (an item or a comment)."""
    item = where if isinstance(where, Item) else None
    person = who if isinstance(who, User) else None
    found = Annotation.objects.create(
        comment_id=item.comment_id if item else where.pk,
        item=item,
        person=person,
        reviewer="" if person else who,
        arm=arm if person else "",
        over_quota=over_quota,
        submitted_at=timezone.now() + timedelta(seconds=at),
    )
    shown = {}
    if person and arm != "unassisted":
        shown = {one.attribute: one for one in Suggestion.objects.filter(comment=found.comment_id)}
    for key, said in labels.items():
        fields = label(said) if isinstance(said, str) else said
        AttributeLabel.objects.create(
            annotation=found, attribute=key, outcome="imported", suggestion=shown.get(key), **fields
        )
    if first is not None:
        said = {key: {"outcome": "added", **label(one)} for key, one in first.items()}
        FirstAnswer.objects.create(item=item, person=person, labels=said)
    return found


def suggest(where, key, *guesses, **more):
    comment = where.comment_id if isinstance(where, Item) else where.pk
    return SuggestionFactory(comment_id=comment, attribute=key, guesses=list(guesses), **more)


def counted(corpus, queue=None):
    return quality.Labels().content(corpus, {"queue": queue.public_id if queue else ""})


def judged(content, attribute="", cut="", tagger="imported"):
    (row,) = [
        row
        for row in content["suggestions"]
        if (row["tagger"], row["cut"], row["attribute"]) == (tagger, cut, attribute)
    ]
    return row


def counts(row):
    return {word: n for word, n in row["counts"].items() if n}


def measure(content, attribute, name, part="ordinary"):
    (row,) = [
        row
        for row in content["agreement"]
        if (row["part"], row["attribute"], row["measure"]) == (part, attribute, name)
    ]
    return row


@pytest.fixture
def room(corpus):
    """Eight comments of an author of 34 in Oslo, in a queue for two people."""
    profile = ProfileFactory(corpus=corpus, facts={"age": 34, "sex": "female", "city_country": OSLO})
    for _ in range(8):
        CommentFactory(thread__corpus=corpus, profile=profile)
    return queue_over(corpus, people=2)


@pytest.fixture
def items(room):
    return list(room.items.order_by("position"))


# Suggestions against people


@pytest.fixture
def beside(items, labeler):
    """Ages beside the guesses 30, 35, 25 of hardness 2 and certainty 3; a place; and two added values."""
    for item in items[:5]:
        suggest(item, "age", "30", "35", "25")
    suggest(items[1], "city_country", OSLO, "Bergen, Norway", "Norway")
    answer(labeler, items[0], age=label("30", 3, 4, bulk=True), sex=label("female"))
    answer(labeler, items[1], age="44", city_country="Norway")
    answer(labeler, items[2], age="38")
    answer(labeler, items[3], age=NONE)
    answer(labeler, items[4], age=UNSURE)
    answer(labeler, items[5], age="50", sex=NONE)


def test_labels_are_counted_by_how_they_stand_to_the_suggestion(corpus, beside):
    content = counted(corpus)
    age = judged(content, "age")
    assert counts(age) == {"confirmed": 1, "different": 2, "rejected": 1, "unsure": 1, "added": 1}
    assert counts(judged(content, "city_country")) == {"less_precise": 1}
    assert counts(judged(content, "sex")) == {"added": 1, "none": 1}
    assert (age["first"]["value"], age["first"]["n"]) == (0.25, 4)  # 30 of 30, 44, 38, none
    assert age["top3"]["value"] == 0.5  # 38 is near the second guess
    assert (age["recall"]["value"], age["recall"]["n"]) == (0.25, 4)  # of 30, 44, 38, 50
    assert age["found"]["value"] == 0.75  # nothing was suggested where 50 was said
    assert (age["hardness"]["value"], age["certainty"]["value"], age["hardness"]["n"]) == (1, 1, 1)
    everything = judged(content)
    assert sum(everything["counts"].values()) == 9
    assert (everything["first"]["value"], everything["first"]["n"]) == (0.2, 5)
    assert everything["first"]["low"] < 0.2 < everything["first"]["high"]


def test_labels_set_in_bulk_are_apart(corpus, beside):
    content = counted(corpus)
    assert (judged(content, "age", "bulk")["first"]["value"], judged(content, "age")["bulk"]) == (1, 1)
    assert (judged(content, "age", "single")["first"]["value"], content["bulk"]) == (0, 1)


def test_models_and_prompts_are_apart(corpus, items, labeler):
    suggest(items[0], "age", "30", tagger="small-model")
    suggest(items[1], "age", "30", tagger="large-model")
    answer(labeler, items[0], age="30", sex="female")
    answer(labeler, items[1], age="60")
    content = counted(corpus)
    assert judged(content, "age", tagger="small-model")["first"]["value"] == 1
    assert judged(content, "age", tagger="large-model")["first"]["value"] == 0
    # What nobody suggested belongs to the tagger beside whose suggestions it was said.
    assert counts(judged(content, "sex", tagger="small-model")) == {"added": 1}


def test_reviewers_of_a_file_are_put_beside_its_suggestions(corpus, items):
    comments = [item.comment for item in items]
    suggest(comments[0], "age", "30")
    suggest(comments[1], "age", "30")
    suggest(comments[2], "age", "30")
    suggest(comments[3], "age", "30", tagger="another")
    answer("human", comments[0], age="31", sex=NONE)
    answer("human", comments[1], age=NONE)
    answer("human", comments[2], age=LEFT, sex=UNSURE)
    answer("human", comments[3], age="60")
    content = counted(corpus)
    assert counts(judged(content, "age", "imported")) == {"confirmed": 1, "rejected": 1, "left": 1}
    (source,) = [one for one in quality_page.sources(content) if one.tagger == "imported"]
    suggested, not_suggested = source.margins
    assert (suggested.value, suggested.none, suggested.unsure, suggested.left) == (1, 1, 0, 1)
    assert (not_suggested.value, not_suggested.none, not_suggested.unsure) == (0, 1, 1)
    assert sum(row["counts"]["added"] for row in content["suggestions"] if not row["cut"]) == 2


def test_people_who_saw_no_suggestion_are_put_beside_the_latest(corpus, items, labeler):
    suggest(items[0], "age", "60", tagger="older")
    suggest(items[0], "age", "30", tagger="newer")
    answer(labeler, items[0], arm="unassisted", age="30")
    row = judged(counted(corpus), "age", "unassisted", tagger="newer")
    assert row["first"]["value"] == 1


# Blind against assisted


@pytest.fixture
def arms(items, labeler):
    for item in items[:5]:
        suggest(item, "city_country", OSLO)
    for item, said in zip(items[:3], (OSLO, OSLO, NONE), strict=True):
        answer(labeler, item, city_country=said)
    answer(labeler, items[3], arm="blind", first={"city_country": NONE}, city_country=OSLO)
    answer(labeler, items[4], arm="blind", first={"city_country": "Norway"}, city_country=OSLO)


def test_the_anchoring_shift_is_between_first_answers_and_assisted_ones(corpus, arms):
    (shift,) = [one for one in counted(corpus)["shifts"] if (one["answers"], one["attribute"]) == ("all", "")]
    assert (shift["assisted"]["value"], shift["assisted"]["n"]) == (pytest.approx(2 / 3), 3)
    assert (shift["blind"]["value"], shift["blind"]["n"]) == (0.25, 2)  # none 0, less precise 0.5
    assert shift["shift"]["value"] == pytest.approx(5 / 12)
    plain = anchoring_shift(([1, 1, 0], "abc"), ([0, 0.5], "de"))
    assert (shift["shift"]["low"], shift["shift"]["high"]) == (plain.low, plain.high)


def test_blind_people_are_compared_with_themselves(corpus, arms):
    (move,) = [one for one in counted(corpus)["moves"] if not one["attribute"]]
    assert (move["before"]["value"], move["after"]["value"]) == (0.25, 1)
    assert (move["shift"]["value"], move["shift"]["n"]) == (0.75, 2)


def test_a_comment_in_both_arms_is_left_out_of_both(corpus, items, arms, labeler):
    again = queues.create(by=None, corpus=corpus, name="round 2", people_per_item=1)
    item = again.items.get(comment=items[0].comment_id)
    answer(labeler, item, arm="blind", first={"city_country": OSLO}, city_country=OSLO)
    (shift,) = [one for one in counted(corpus)["shifts"] if (one["answers"], one["attribute"]) == ("all", "")]
    assert (shift["left_out"], shift["assisted"]["n"], shift["blind"]["n"]) == (2, 2, 2)
    assert shift["assisted"]["value"] == 0.5


def test_where_all_is_blind_the_shift_is_undefined_and_says_so(corpus, items, labeler):
    suggest(items[0], "age", "30")
    answer(labeler, items[0], arm="blind", first={"age": "30"}, age="30")
    content = counted(corpus)
    (shift,) = quality_page.shifts(content, "all")[-1:]
    assert (shift.one.text, shift.shift.text) == ("", "")
    assert shift.shift.words
    assert quality_page.moves(content)[-1].shift.words == "All are of one comment: no interval can be given."


# Agreement between people


@pytest.fixture
def two(items, labeler, researcher):
    """Two people about five comments: sex, then places."""
    sexes = [("female", "female"), ("Female", "male"), (NONE, NONE), ("male", "male"), ("female", LEFT)]
    places = [(OSLO, "Norway"), ("Lima, Peru", "lima, peru")]
    for place, item in enumerate(items[:5]):
        one, other = sexes[place]
        more = places[place] if place < 2 else None
        for person, said, at in ((labeler, one, 0), (researcher, other, 1)):
            labels = {"sex": said} | ({"city_country": more[at]} if more else {})
            answer(person, item, **labels)


def test_agreement_by_attribute_is_what_the_formulas_give(corpus, two):
    content = counted(corpus)
    assert measure(content, "sex", "percent")["value"] == 0.75
    # 3 female, 3 male, 2 none: expected disagreement 1 - (6 + 6 + 2) / 56, observed 1/4.
    assert measure(content, "sex", "nominal")["value"] == pytest.approx(2 / 3)
    # π: female 0.5, male 0.3, none 0.2 over five comments; chance 0.31.
    assert measure(content, "sex", "ac1")["value"] == pytest.approx(0.44 / 0.69)
    assert (measure(content, "sex", "nominal")["units"], measure(content, "sex", "nominal")["raters"]) == (
        4,
        2,
    )
    assert measure(content, "city_country", "percent")["value"] == 0.5
    # A city against its country is half a difference: 1/4 observed, 9/12 expected.
    assert measure(content, "city_country", "aware")["value"] == pytest.approx(2 / 3)
    assert measure(content, "city_country", "nominal")["value"] == pytest.approx(1 - 0.5 / (10 / 12))


def test_over_all_attributes_only_the_presence_of_a_value_is_corrected_for_chance(corpus, two):
    content = counted(corpus)
    assert measure(content, "", "percent")["value"] == pytest.approx(4 / 6)
    assert measure(content, "", "nominal")["value"] == 1
    assert measure(content, "", "nominal")["values"] == 2


def test_scales_are_compared_where_both_gave_a_value(corpus, items, labeler, researcher):
    for item, one, other in zip(items, (1, 2, 4), (1, 2, 4), strict=False):
        answer(labeler, item, age=label("30", one, 5))
        answer(researcher, item, age=label("60", other, 1))
    answer(labeler, items[3], age=label("30", 5, 5))
    answer(researcher, items[3], age=NONE)
    content = counted(corpus)
    assert (measure(content, "age", "hardness")["value"], measure(content, "age", "hardness")["units"]) == (
        1,
        3,
    )
    assert measure(content, "", "certainty")["value"] < 0


def test_of_two_answers_by_one_person_the_later_counts(corpus, items, labeler, researcher):
    again = queues.create(by=None, corpus=corpus, name="round 2", people_per_item=1)
    answer(labeler, again.items.get(comment=items[0].comment_id), at=60, age="30")
    answer(labeler, items[0], age="60")
    answer(researcher, items[0], age="30")
    assert measure(counted(corpus), "age", "percent")["value"] == 1


def test_gold_comments_are_apart(corpus, items, labeler, researcher):
    Item.objects.filter(pk=items[0].pk).update(gold=True)
    answer(labeler, items[0], age="30")
    answer(researcher, items[0], age="60")
    content = counted(corpus)
    assert measure(content, "age", "percent", "gold")["value"] == 0
    assert measure(content, "age", "percent")["undefined"] == "empty"
    assert (content["gold"], content["labels"], content["suggestions"]) == (2, 0, [])


def test_answers_beyond_the_quota_and_of_trashed_queues_are_out(corpus, room, items, labeler, researcher):
    answer(labeler, items[0], age="30")
    answer(researcher, items[0], age="60", over_quota=True)
    content = counted(corpus)
    assert (content["answers"], measure(content, "age", "percent")["undefined"]) == (1, "empty")
    room.trashed_at = timezone.now()
    room.save()
    assert counted(corpus)["answers"] == 0


def test_every_two_people_are_compared_on_what_both_answered(corpus, items, labeler, researcher):
    third = UserFactory(username="otto")
    said = [("30", "31"), (NONE, NONE), ("40", NONE), (NONE, NONE), ("50", "50")]
    for item, (one, other) in zip(items, said, strict=False):
        answer(labeler, item, age=one)
        answer(researcher, item, age=other)
    answer(third, items[0], age="30")
    people = quality_page.people(counted(corpus))
    assert [one.letter for one in people.people] == ["A", "B", "C"]
    letter = {one.name: one.letter for one in people.people}
    (pair,) = [one for one in people.pairs if one.kappa.text]
    # Both said value twice, both none twice: 4 of 5; by chance 3/5 · 2/5 + 2/5 · 3/5.
    assert pair.kappa.text == f"{(0.8 - 0.48) / 0.52:.2f}" == "0.62"
    assert (pair.comments, pair.same.text, pair.same.few) == (5, "60.0 %", True)
    assert set(pair.letters.split("–")) == {letter["lena"], letter["rosa"]}
    assert [one.kappa.words for one in people.pairs if not one.kappa.text] == [
        "Too few comments in common."
    ] * 2


def test_who_said_it_makes_no_difference(corpus, items, two, labeler, researcher):
    for item in items[:4]:
        suggest(item, "sex", "female")
    answer(labeler, items[5], age="30")
    before = counted(corpus)
    away = UserFactory()
    Annotation.objects.filter(person=labeler).update(person=away)
    Annotation.objects.filter(person=researcher).update(person=labeler)
    Annotation.objects.filter(person=away).update(person=researcher)
    after = counted(corpus)
    for part in ("suggestions", "agreement", "hardness", "truth", "counts", "shifts"):
        assert after[part] == before[part]


# Hardness, truth, counts


def test_hardness_of_model_and_person_is_a_table(corpus, items, labeler):
    for item in items[:3]:
        suggest(item, "age", "30", hardness=4)
    answer(labeler, items[0], age=label("30", 4))
    answer(labeler, items[1], age=label("60", 3))
    answer(labeler, items[2], arm="blind", first={"age": "30"}, age=label("30", 5))
    everything, same, first = quality_page.hardness(counted(corpus))
    assert (everything.n, same.n, first.n) == (3, 2, 1)
    rows = {number: (word, row) for number, word, row in everything.rows}
    assert rows[4] == ("complicated", [0, 0, 1, 1, 1])
    assert set(rows) == {1, 2, 4}
    assert everything.same.text == "33.3 %"
    assert {number: row for number, _, row in first.rows}[4] == [0, 1, 0, 0, 0]


def test_labels_are_put_beside_the_facts_of_profiles(corpus, items, labeler, beside):
    content = counted(corpus)
    by_name = {one.name: one for one in quality_page.truth(content, "labels", by="attribute")}
    # The author is 34: 30 and 38 are within five years, 44 and 50 are not.
    assert (by_name["Age"].same, by_name["Age"].different, by_name["Age"].n) == (2, 2, 4)
    assert (by_name["All"].same, by_name["All"].less_precise, by_name["All"].n) == (3, 1, 6)
    assert by_name["All"].share.words == "All are of one profile: no interval can be given."
    hard = quality_page.truth(content, "labels", by="hardness")
    assert [(one.name[0], one.n, one.same) for one in hard] == [("2", 5, 2), ("3", 1, 1)]
    suggested = {one.name: one for one in quality_page.truth(content, "suggestions", by="attribute")}
    assert (suggested["Age"].same, suggested["Age"].different) == (1, 2)


def test_labels_are_counted_by_attribute_and_hardness(corpus, items, labeler, beside):
    found = {one.name: one.counts for one in quality_page.comment_counts(counted(corpus))}
    assert len(found) == len(TARGET_KEYS)
    assert found["Age"] == [0, 3, 1, 0, 0]
    assert found["Sex"] == [0, 1, 0, 0, 0]


# What there may not be


def test_an_empty_corpus_has_no_numbers_and_no_errors():
    content = counted(CorpusFactory())
    assert (content["answers"], content["labels"], content["suggestions"]) == (0, 0, [])
    assert quality_page.agreement(content, "ordinary") == []
    assert [one.n for one in quality_page.hardness(content)] == [0, 0, 0]
    assert quality_page.people(content).people == []


def test_one_person_without_suggestions(corpus, items, labeler):
    answer(labeler, items[0], age="30", sex=NONE)
    content = counted(corpus)
    (source,) = quality_page.sources(content)
    assert (source.name, source.margins[1].value, source.margins[1].none) == (
        "No suggestion to compare with",
        1,
        1,
    )
    assert judged(content, tagger="")["first"]["value"] is None
    assert measure(content, "age", "percent")["undefined"] == "empty"


def test_one_queue_counts_its_own_answers_only(corpus, room, items, labeler):
    answer(labeler, items[0], age="30")
    answer("human", items[1].comment, age="30")
    assert counted(corpus)["answers"] == 2
    assert counted(corpus, room)["answers"] == 1


# Up to date or not


def test_the_stamp_follows_what_is_counted(corpus, items, labeler):
    def stamp():
        return quality.Labels().stamp(corpus, {"queue": ""})

    seen = [stamp()]
    assert stamp() == seen[0]
    found = answer(labeler, items[0], age="30")
    seen.append(stamp())
    Annotation.objects.filter(pk=found.pk).update(version=2)
    seen.append(stamp())
    suggest(items[0], "age", "30")
    seen.append(stamp())
    Profile.objects.update(version=2)
    seen.append(stamp())
    Item.objects.filter(pk=items[1].pk).update(gold=True)
    seen.append(stamp())
    assert len(set(seen)) == len(seen)


def test_a_queue_that_is_gone_ends_its_report_with_words(corpus, room, items, labeler):
    room.trashed_at = timezone.now()
    room.save()
    report = reports.make(corpus, Report.LABELS, {"queue": room.public_id})
    assert (report.content, report.problem) == (None, reports.STOPPED)


def test_reading_takes_a_fixed_number_of_queries_a_chunk(
    corpus, items, labeler, researcher, django_assert_num_queries
):
    def count():
        return sum(1 for _ in rows_of.said(corpus, None))

    answer("human", items[0].comment, age="30")
    answer(labeler, items[0], arm="blind", first={"age": "31"}, age="30")
    with django_assert_num_queries(9):
        assert count() == 2
    for item in items[1:]:
        suggest(item, "age", "30")
        answer(labeler, item, age="30")
        answer(researcher, item, arm="blind", first={"age": "31"}, age="30")
    with django_assert_num_queries(9):
        assert count() == 16


def test_chunks_leave_nothing_out(corpus, items, labeler, monkeypatch):
    for item in items:
        suggest(item, "age", "30")
        answer(labeler, item, age="30")
    whole = list(rows_of.said(corpus, None))
    monkeypatch.setattr(rows_of, "CHUNK", 3)
    assert list(rows_of.said(corpus, None)) == whole
    assert len(whole) == 8
