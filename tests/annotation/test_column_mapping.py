"""What columns stand for: the proposal from their names, and the check of what somebody says."""

import pytest

from annotation.domain.column_mapping import faults, fields, plain, propose


def proposed(*columns):
    return dict(propose(columns, thread="file").mapping)


@pytest.mark.parametrize(
    "name", ["author_id", "Author ID", "authorId", " author-id ", "AUTHOR_ID", "Author.Id", "author  id"]
)
def test_names_are_compared_without_case_and_signs(name):
    assert plain(name) == "author_id"


def test_names_of_ours_are_sure_and_others_are_not():
    ours = propose(["external_id", "thread_id", "parent_id", "username", "text"], thread="file")
    assert ours.sure
    assert ours.mapping == {name: name for name in ours.mapping}
    assert propose(["id", "thread_id", "author", "text"], thread="file").sure
    assert not propose(["id", "thread_id", "author", "body"], thread="file").sure
    assert not propose(["id", "author", "text"], thread="file").sure


def test_synonyms_are_known():
    assert proposed(
        "comment_id", "conversation_id", "in_reply_to", "screen_name", "Message", "Posted At"
    ) == {
        "text": "Message",
        "username": "screen_name",
        "external_id": "comment_id",
        "thread_id": "conversation_id",
        "parent_id": "in_reply_to",
        "created_at": "Posted At",
    }


def test_names_that_are_nearly_known_are_proposed():
    assert proposed("usernmae", "comment_txt")["username"] == "usernmae"
    assert proposed("user", "comment_txt")["text"] == "comment_txt"


def test_names_that_mean_nothing_are_left():
    assert proposed("a", "b", "colour") == {"thread_id": {"constant": "file"}}


def test_profiles_and_guesses_are_known_by_attribute():
    said = proposed(
        "text", "user", "Gender", "profile_age", "guess_occupation_1", "occupation_certainty", "age_2"
    )
    assert said["profile.sex"] == "Gender"
    assert said["profile.age"] == "profile_age"
    assert said["guess.occupation.1"] == "guess_occupation_1"
    assert said["guess.occupation.certainty"] == "occupation_certainty"
    assert said["guess.age.2"] == "age_2"


def test_a_column_stands_for_one_field_only():
    said = proposed("id", "user", "text", "body", "comment")
    columns = [column for column in said.values() if isinstance(column, str)]
    assert len(columns) == len(set(columns))
    assert said["text"] == "text"


def test_each_field_has_a_name_and_a_label_of_its_own():
    known = fields()
    assert len({one.name for one in known}) == len({one.label for one in known}) == len(known)


GOOD = {"text": "Body", "username": "User", "thread_id": {"constant": "t"}}


@pytest.mark.parametrize(
    ("mapping", "field", "message"),
    [
        ([], "", "a mapping is an object"),
        ({}, "text", "which column holds the text"),
        ({"text": "Body", "thread_id": "T"}, "username", "which column names the author"),
        ({"text": "Body", "username": "User"}, "thread_id", "which column names the thread"),
        (GOOD | {"mood": "T"}, "mood", "is no field of ours"),
        (GOOD | {"profile.mood": "T"}, "profile.mood", "is no field of ours"),
        (GOOD | {"author": "Nobody"}, "author", "the file has no column “Nobody”; it has Body, User, T"),
        (GOOD | {"author": 5}, "author", "must be the name of a column"),
        (GOOD | {"author": {"constant": "x", "other": 1}}, "author", "must be the name of a column"),
        (GOOD | {"author": {"constant": ""}}, "author", "of 1 to 100 characters"),
        (GOOD | {"author": {"constant": "x" * 101}}, "author", "of 1 to 100 characters"),
        (GOOD | {"author": {"constant": "a\0"}}, "author", "NUL"),
        (GOOD | {"text": {"constant": "x"}}, "text", "needs a column"),
    ],
)
def test_what_is_wrong_with_a_mapping_is_said(mapping, field, message):
    said = {one.field: one.message for one in faults(mapping, ["Body", "User", "T"])}
    assert message in said[field]


def test_a_good_mapping_has_no_faults():
    assert faults(GOOD, ["Body", "User", "T"]) == []
    assert faults({"text": "Body", "author": "User", "thread_id": "T"}, ["Body", "User", "T"]) == []
