"""What a model thought, apart from the comment that it wrote."""

from simulation.domain.sections import Section, sections


def test_an_answer_is_told_section_by_section_and_nothing_is_left_out():
    answer = (
        "Sure!\n**Thread so far:** people talk.\nReasoning: I am shy.\nSo I am.\n\nMy new comment: Not: mine."
    )
    found = sections(answer)
    assert found == [
        Section("", "Sure!"),
        Section("Thread so far", "people talk."),
        Section("Reasoning", "I am shy.\nSo I am."),
        Section("My new comment", "Not: mine."),
    ]
    assert [one.is_comment for one in found] == [False, False, False, True]


def test_an_answer_without_a_label_is_one_section():
    assert sections("Yes, reasoning: none.") == [Section("", "Yes, reasoning: none.")]
    assert sections("") == []
