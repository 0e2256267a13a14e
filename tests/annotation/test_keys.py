"""The keys of the review page: defaults, a person's changes, and what cannot be a key."""

import pytest
from django.urls import reverse

from annotation.domain import keys
from annotation.services.keys import KeysRefused, set_keys
from simulation.models import User


def key_of(action, changes=()):
    return next(one.key for one in keys.bound(dict(changes)) if one.action == action)


def test_the_keys_as_delivered_have_no_clash_and_all_say_what_they_do():
    assert keys.problems({}) == []
    bound = keys.bound({})
    assert len({one.key for one in bound}) == len(bound)
    assert all(one.words for one in bound)


def test_a_change_moves_one_key_and_an_empty_one_switches_it_off():
    assert key_of("accept", {"accept": "y"}) == "y"
    assert key_of("unsure", {"accept": "y"}) == "u"
    assert keys.problems({"accept": "y", "more": ""}) == []
    assert key_of("more", {"more": ""}) == ""


def test_two_keys_may_be_swapped():
    assert keys.problems({"accept": "x", "no_evidence": "a"}) == []


def test_a_change_of_an_action_that_is_gone_is_ignored_on_the_page_and_refused_in_the_form():
    assert keys.bound({"dance": "d"}) == keys.bound({})
    assert "no such action" in keys.problems({"dance": "d"})[0].message


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("u", "also the key for"),
        ("3", "does something else"),
        (" ", "space bar"),
        ("ab", "not a single key"),
        ("Enter", "not a single key"),
        ("Shift+1", "does something else"),
        ("\x07", "not a single key"),
    ],
)
def test_what_cannot_be_a_key_is_said_with_the_reason(key, said):
    found = keys.problems({"accept": key})
    assert len(found) == 1
    assert said in found[0].message


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("a", "a"), (" a ", "a"), ("A", "Shift+A"), ("shift+a", "Shift+A"), ("Shift A", "Shift+A"), ("?", "?")],
)
def test_a_key_may_be_typed_in_several_ways(typed, kept):
    assert keys.normal(typed) == kept


def test_only_what_differs_from_the_defaults_is_stored(labeler):
    set_keys(by=labeler, changes={"accept": "y", "unsure": "u"}, on=True)
    labeler.refresh_from_db()
    assert labeler.review_keys == {"accept": "y"}


def test_a_clash_is_refused_and_changes_nothing(labeler):
    with pytest.raises(KeysRefused, match="also the key for"):
        set_keys(by=labeler, changes={"accept": "u"}, on=False)
    labeler.refresh_from_db()
    assert (labeler.review_keys, labeler.review_keys_on) == ({}, True)


def posted(**changes):
    fields = {f"key-{one.action}": one.key for one in keys.bound({}) if not one.fixed}
    return {"on": "1", **fields, **{f"key-{action}": key for action, key in changes.items()}}


def test_the_page_shows_the_keys_takes_changes_and_goes_back_to_the_defaults(client_of, labeler):
    browser, address = client_of(labeler), reverse("review_keys")
    assert "Take guess 2" in browser.get(address).content.decode()
    page = browser.post(address, posted(accept="y", thread=""), follow=True)
    assert "Saved." in page.content.decode()
    assert User.objects.get(pk=labeler.pk).review_keys == {"accept": "y", "thread": ""}
    browser.post(address, posted() | {"on": ""} | {"act": "reset"})
    assert User.objects.get(pk=labeler.pk).review_keys == {}


def test_the_page_switches_all_keys_off(client_of, labeler):
    fields = posted()
    del fields["on"]
    client_of(labeler).post(reverse("review_keys"), fields)
    assert User.objects.get(pk=labeler.pk).review_keys_on is False


def test_a_clash_comes_back_beside_its_field_with_what_was_typed(client_of, labeler):
    page = client_of(labeler).post(reverse("review_keys"), posted(accept="u"))
    assert page.status_code == 422
    body = page.content.decode()
    assert "Nothing was changed yet" in body
    assert 'aria-invalid="true"' in body
    assert 'name="key-accept" id="key-accept" value="u"' in body


def test_who_may_not_review_has_no_keys_to_set(client_of, stranger):
    assert client_of(stranger).get(reverse("review_keys")).status_code == 403


def test_the_help_page_shows_a_persons_own_keys(client_of, labeler):
    set_keys(by=labeler, changes={"accept": "ö"}, on=False)
    body = client_of(User.objects.get(pk=labeler.pk)).get(reverse("help")).content.decode()
    assert "<kbd>ö</kbd>" in body
    assert "switched off" in body
