"""Corpora, threads, comments and profiles through the API."""

from datetime import timedelta

import pytest
from django.utils import timezone

from simulation.domain.roles import Role
from simulation.models import AuditEntry, Corpus
from tests.api import api_of, fields_in, problem_in
from tests.factories.simulation import (
    CommentFactory,
    CorpusFactory,
    MembershipFactory,
    ProfileFactory,
    ThreadFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def thread(corpus):
    """A post with two replies, of which the first has one of its own; all by one author."""
    thread = ThreadFactory(corpus=corpus, external_id="thread_age_1", target_phrase="age")
    author = ProfileFactory(corpus=corpus, username="Otter", facts={"age": 34, "sex": "Female"})
    post = CommentFactory(thread=thread, profile=author, sequence=10, text="The night bus was late again.")
    first = CommentFactory(thread=thread, parent=post, profile=author, sequence=11, text="Which line?")
    CommentFactory(thread=thread, parent=post, profile=author, sequence=13, position=1, text="Take a taxi.")
    CommentFactory(thread=thread, parent=first, profile=author, sequence=12, text="The 27.")
    return thread


@pytest.fixture
def foreign():
    """A researcher of another corpus alone."""
    return MembershipFactory(corpus=CorpusFactory(), role=Role.RESEARCHER).person


def test_a_corpus_is_made_with_an_audit_entry(researcher):
    answer = api_of(researcher).post("corpora/", {"name": " winter ", "licence": "CC0"})
    assert answer.status_code == 201
    made = Corpus.objects.get()
    assert answer.json()["id"] == made.public_id
    assert answer["Location"] == f"/api/v1/corpora/{made.public_id}/"
    assert (made.name, made.licence, made.language) == ("winter", "CC0", "en")
    assert AuditEntry.objects.filter(action="corpus.created", actor=researcher).exists()


def test_a_name_that_is_taken_is_a_conflict(researcher, corpus):
    assert "already" in problem_in(api_of(researcher).post("corpora/", {"name": "winter"}), 409)["detail"]


def test_a_wrong_corpus_is_told_by_field(researcher):
    sent = {"name": "x" * 81, "language": "tlh"}
    assert fields_in(api_of(researcher).post("corpora/", sent)) == {"name", "language"}


def test_a_role_in_one_corpus_is_not_enough_to_make_another(foreign):
    problem_in(api_of(foreign).post("corpora/", {"name": "x"}), 403)


def test_a_corpus_says_how_much_is_in_it(researcher, corpus, thread):
    found = api_of(researcher).get(f"corpora/{corpus.public_id}/").json()
    assert (found["threads"], found["comments"]) == (1, 4)


def test_threads_of_a_corpus(labeler, corpus, thread):
    ThreadFactory(corpus=corpus, source="flat")
    ThreadFactory()
    api, address = api_of(labeler), f"corpora/{corpus.public_id}/threads/"
    assert len(api.get(address).json()["results"]) == 2
    (found,) = api.get(address, target_phrase="age").json()["results"]
    assert (found["id"], found["n_comments"]) == (thread.public_id, 4)
    assert len(api.get(address, source="flat").json()["results"]) == 1
    tomorrow = (timezone.now() + timedelta(days=1)).isoformat()
    assert api.get(address, since=tomorrow).json()["results"] == []


def test_a_whole_thread_comes_in_one_call_in_its_order(labeler, thread):
    found = api_of(labeler).get(f"threads/{thread.public_id}/").json()
    comments = found["comments"]
    assert [one["text"] for one in comments] == [
        "The night bus was late again.",
        "Which line?",
        "The 27.",
        "Take a taxi.",
    ]
    assert [one["depth"] for one in comments] == [0, 1, 2, 1]
    ids = [one["id"] for one in comments]
    assert [one["parent"] for one in comments] == [None, ids[0], ids[1], ids[0]]
    assert found["n_comments"] == 4
    assert "replies" not in comments[0]


def test_it_nests_where_that_is_asked_for(labeler, thread):
    (post,) = api_of(labeler).get(f"threads/{thread.public_id}/", nested="true").json()["comments"]
    assert [one["text"] for one in post["replies"]] == ["Which line?", "Take a taxi."]
    assert [one["text"] for one in post["replies"][0]["replies"]] == ["The 27."]


def test_a_tree_that_is_too_deep_comes_flat_alone(labeler, corpus):
    thread = ThreadFactory(corpus=corpus)
    above = None
    for _ in range(103):
        above = CommentFactory(thread=thread, parent=above)
    api = api_of(labeler)
    assert fields_in(api.get(f"threads/{thread.public_id}/", nested="true")) == {"nested"}
    assert len(api.get(f"threads/{thread.public_id}/").json()["comments"]) == 103


def test_comments_in_the_order_of_the_corpus_and_filtered(labeler, corpus, thread):
    withdrawn = CommentFactory(
        thread=thread, sequence=14, state="withdrawn", username="Heron", text="The bus!"
    )
    edited = thread.comments.get(sequence=11)
    edited.edits.create(before="Which?", after="Which line?")
    thread.comments.update(created_at=timezone.now() - timedelta(days=9))
    api, address = api_of(labeler), f"corpora/{corpus.public_id}/comments/"

    def found(**query):
        return [one["sequence"] for one in api.get(address, **query).json()["results"]]

    assert found() == [10, 11, 12, 13]
    assert found(state="both") == [10, 11, 12, 13, 14]
    assert found(state="withdrawn") == [14]
    assert found(state="both", author=withdrawn.username) == [14]
    assert found(state="both", text="bus") == [10, 14]
    assert found(text='"night bus" -taxi') == [10]
    assert found(thread=thread.public_id) == [10, 11, 12, 13]
    assert found(thread="nothere") == []
    assert found(since=(timezone.now() - timedelta(days=1)).isoformat()) == [11]
    assert fields_in(api.get(address, state="gone", since="yesterday")) == {"state", "since"}


def test_one_comment(labeler, thread):
    comment = thread.comments.get(sequence=12)
    found = api_of(labeler).get(f"comments/{comment.public_id}/").json()
    assert (found["text"], found["thread"], found["edited"]) == ("The 27.", thread.public_id, False)


def test_only_who_may_see_profiles_is_led_to_one(labeler, adjudicator, researcher, corpus, thread):
    profile = corpus.profiles.get()
    for person in (labeler, adjudicator):
        api = api_of(person)
        for address in (f"corpora/{corpus.public_id}/comments/", f"threads/{thread.public_id}/"):
            assert profile.public_id not in api.get(address).content.decode()
        problem_in(api.get(f"corpora/{corpus.public_id}/profiles/"), 403)
        problem_in(api.get(f"profiles/{profile.public_id}/"), 403)
    found = api_of(researcher).get(f"threads/{thread.public_id}/").json()["comments"][0]
    assert found["profile"] == profile.public_id


def test_profiles_and_their_facts(researcher, corpus, thread):
    ProfileFactory(corpus=corpus, state="proposed", source="generated", facts={"age": 51, "sex": "male"})
    ProfileFactory()
    api, address = api_of(researcher), f"corpora/{corpus.public_id}/profiles/"

    def found(**query):
        return [one["facts"]["age"] for one in api.get(address, **query).json()["results"]]

    assert found() == [34, 51]
    assert found(state="proposed") == [51]
    assert found(source="generated") == [51]
    assert found(username="Otter") == [34]
    assert found(attribute="sex", value="female") == [34]
    assert found(attribute="age", value="51") == [51]
    assert fields_in(api.get(address, attribute="sex")) == {"value"}
    assert fields_in(api.get(address, attribute="shoe", value="9")) == {"attribute"}
    profile = corpus.profiles.get(username="Otter")
    assert api.get(f"profiles/{profile.public_id}/").json()["facts"] == {"age": 34, "sex": "Female"}


def test_what_is_in_a_corpus_of_others_is_not_there(foreign, corpus, thread):
    api, comment, profile = api_of(foreign), thread.comments.first(), corpus.profiles.get()
    for address in (
        f"corpora/{corpus.public_id}/",
        f"corpora/{corpus.public_id}/threads/",
        f"corpora/{corpus.public_id}/comments/",
        f"corpora/{corpus.public_id}/profiles/",
        f"threads/{thread.public_id}/",
        f"comments/{comment.public_id}/",
        f"profiles/{profile.public_id}/",
    ):
        problem_in(api.get(address), 404)


@pytest.mark.parametrize("listed", ["threads", "comments", "profiles"])
def test_a_listing_costs_the_same_queries_however_long(
    researcher, corpus, listed, django_assert_max_num_queries
):
    api, address = api_of(researcher), f"corpora/{corpus.public_id}/{listed}/"
    api.get(address)
    counts = []
    for _ in range(2):
        for _ in range(5):
            CommentFactory(thread=ThreadFactory(corpus=corpus), profile=ProfileFactory(corpus=corpus))
        with django_assert_max_num_queries(8) as caught:
            assert len(api.get(address).json()["results"]) >= 5
        counts.append(len(caught))
    assert counts[0] == counts[1]


def test_who_one_is(researcher, stranger, corpus):
    found = api_of(researcher).get("me/").json()
    assert (found["username"], found["roles"]) == ("rosa", [{"role": "researcher", "corpus": None}])
    assert "see profiles" in found["rights"]
    assert found["token"]["scopes"] == ["read", "tag", "label", "import", "run", "release", "manage"]
    assert api_of(stranger).get("me/").json()["rights"] == []


def test_who_one_is_with_a_token_for_one_corpus(corpus):
    other, person = CorpusFactory(), UserFactory()
    MembershipFactory(person=person, corpus=corpus, role=Role.LABELER)
    MembershipFactory(person=person, corpus=other, role=Role.RESEARCHER)
    found = api_of(person, corpus=corpus).get("me/").json()
    assert found["roles"] == [{"role": "labeler", "corpus": corpus.public_id}]
    assert found["rights"] == ["browse", "review"]
    assert found["token"]["corpus"] == corpus.public_id
