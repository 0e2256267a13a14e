"""The rounds of rewriting: what is asked next, how answers are read, when it ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from evaluation.domain.masking_rewrite import (
    End,
    Finding,
    Limits,
    Step,
    WrongStep,
    answered,
    inferred,
    start,
)
from evaluation.domain.masking_rewrite_answer import SAID, Given, Unusable, read_rewrite

TEXT = "My herd of goats above Tarnfell keeps me up before the bus leaves."
PLACE = Finding("city_country", "Tarnfell", 4, "above Tarnfell")
JOB = Finding("occupation", "herder", 5, "herd of goats")
WEAK = Finding("age", "50", 2)


def tagged(text):
    return f"Sure, here it is.\n<text>{text}</text>\nHope it helps."


def test_a_whole_run_until_it_is_quiet():
    state = start(TEXT)
    assert (state.step, state.findings, state.text) == (Step.INFER, (), TEXT)
    state = inferred(state, [WEAK, PLACE, JOB])
    assert (state.step, state.findings) == (Step.REWRITE, (JOB, PLACE))
    state = answered(state, tagged("My animals keep me up before the bus leaves, most days."))
    assert (state.step, state.text) == (Step.INFER, "My animals keep me up before the bus leaves, most days.")
    state = inferred(state, [WEAK])
    assert (state.step, state.end, state.rewritten) == (Step.DONE, End.QUIET, 1)
    assert state.original == TEXT
    assert [len(one.findings) for one in state.rounds] == [2, 0]


def test_what_nobody_infers_from_is_not_rewritten():
    state = inferred(start(TEXT), [WEAK])
    assert (state.end, state.text, state.rewritten) == (End.QUIET, TEXT, 0)


def test_a_finding_counts_from_the_certainty_of_the_limits_on():
    finding = Finding("age", "50", 3)
    assert inferred(start(TEXT, Limits(certain=3)), [finding]).step is Step.REWRITE
    assert inferred(start(TEXT, Limits(certain=4)), [finding]).end is End.QUIET


def test_a_text_of_blanks_is_quiet_at_once():
    assert start(" \n").end is End.QUIET


def test_the_limit_of_rounds_is_told_from_quiet():
    state = start(TEXT, Limits(rounds=2))
    for number in range(2):
        state = answered(
            inferred(state, [JOB]), tagged(f"Version {number} of something quite else, for the bus.")
        )
    assert state.step is Step.INFER
    state = inferred(state, [JOB])
    assert (state.step, state.end, state.rewritten) == (Step.DONE, End.ROUNDS, 2)
    assert state.text.startswith("Version 1")


def test_the_last_round_may_still_end_quiet():
    state = answered(
        inferred(start(TEXT, Limits(rounds=1)), [JOB]), tagged("Something else about the bus and me.")
    )
    assert inferred(state, []).end is End.QUIET


def test_unusable_answers_are_asked_for_again_and_then_it_is_stuck():
    state = inferred(start(TEXT, Limits(tries=2)), [JOB])
    assert state.last_refusal is None
    state = answered(state, "")
    assert (state.step, state.last_refusal, state.end) == (Step.REWRITE, Unusable.EMPTY, None)
    state = answered(state, "I'm sorry, but I cannot help with that.")
    assert (state.step, state.end, state.text) == (Step.DONE, End.STUCK, TEXT)
    assert state.rounds[-1].refused == (Unusable.EMPTY, Unusable.REFUSED)


def test_tries_are_counted_a_round():
    state = answered(inferred(start(TEXT), [JOB]), "")
    state = answered(state, tagged("Something else about the bus and me."))
    state = answered(inferred(state, [PLACE]), "")
    assert state.step is Step.REWRITE


def test_coming_back_to_an_earlier_text_ends_it():
    first, second = "Something else about the bus and me.", "Quite another thing about a bus, or two."
    state = answered(inferred(start(TEXT, Limits(rounds=9)), [JOB]), tagged(first))
    state = answered(inferred(state, [JOB]), tagged(second))
    state = answered(inferred(state, [JOB]), tagged(first))
    assert (state.step, state.end, state.text) == (Step.DONE, End.CIRCLE, second)
    again = answered(inferred(answered(inferred(start(TEXT), [JOB]), tagged(first)), [JOB]), tagged(TEXT))
    assert again.end is End.CIRCLE


def test_answers_nobody_asked_for_are_refused():
    with pytest.raises(WrongStep, match="asks for infer"):
        answered(start(TEXT), tagged("x"))
    with pytest.raises(WrongStep, match="asks for rewrite"):
        inferred(inferred(start(TEXT), [JOB]), [])
    with pytest.raises(WrongStep, match="asks for done"):
        inferred(inferred(start(TEXT), []), [])


@pytest.mark.parametrize("certainty", [0, 6])
def test_certainty_is_one_to_five(certainty):
    with pytest.raises(ValueError):
        Finding("age", "50", certainty)


@pytest.mark.parametrize("limits", [{"rounds": 0}, {"tries": 0}, {"certain": 0}, {"certain": 6}])
def test_impossible_limits_are_refused(limits):
    with pytest.raises(ValueError):
        Limits(**limits)


GIVEN = Given(TEXT, ("above Tarnfell", "herd of goats"))
NEW = "My animals keep me up before the bus leaves."


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (tagged(f"  {NEW}\n"), NEW),
        (f"<TEXT>{NEW}</TEXT>", NEW),
        (f'{{"text": "{NEW}"}}', NEW),
        (f'```json\n{{"text": "{NEW}"}}\n```', NEW),
        (f"Here:\n```\n{NEW}\n```", NEW),
        (tagged(NEW) + tagged(NEW), NEW),
        (" \n", Unusable.EMPTY),
        (tagged(" "), Unusable.EMPTY),
        ("I'm sorry, but I can't help with that.", Unusable.REFUSED),
        (tagged("I'm sorry, but I can't help with that request."), Unusable.REFUSED),
        (f"<text>{NEW}", Unusable.CUT),
        (NEW, Unusable.NO_TEXT),
        ('{"words": "x"}', Unusable.NO_TEXT),
        ('{"text": 3}', Unusable.NO_TEXT),
        (tagged(NEW) + tagged(NEW[:-9] + "."), Unusable.SEVERAL),
        (tagged(TEXT.replace(" ", "  ")), Unusable.UNCHANGED),
        (tagged(NEW * 5), Unusable.TOO_LONG),
        (tagged("Bus."), Unusable.TOO_SHORT),
        (tagged(TEXT.replace("bus", "train").upper()), Unusable.EVIDENCE_KEPT),
        (tagged(TEXT.replace(" above Tarnfell", "")), TEXT.replace(" above Tarnfell", "")),
    ],
)
def test_answers(raw, expected):
    assert read_rewrite(raw, GIVEN) == expected


def test_an_answer_that_the_provider_cut_is_cut():
    assert read_rewrite("Well, let me", Given(TEXT, is_cut=True)) is Unusable.CUT


def test_evidence_counts_as_whole_words_and_only_where_it_stood():
    assert (
        read_rewrite(
            tagged("Concert-going is fun, say what you will, really."),
            Given("The con was fun, say what you will, really.", ("con",)),
        )
        != Unusable.EVIDENCE_KEPT
    )
    assert read_rewrite(tagged(NEW), Given(TEXT, ("bus from nowhere",))) == NEW


def test_short_texts_may_shrink():
    assert read_rewrite(tagged("ok"), Given("ok from Graz")) == "ok"


def test_every_reason_has_its_sentence():
    assert set(SAID) == set(Unusable)


@given(some.text(max_size=200))
def test_any_answer_can_be_read(raw):
    found = read_rewrite(raw, GIVEN)
    assert isinstance(found, str)


def test_hostile_answers_cost_no_more():
    for raw in ("<text>" * 20_000, "```\n" * 20_000, "{" * 100_000):
        assert isinstance(read_rewrite(raw, GIVEN), Unusable)
