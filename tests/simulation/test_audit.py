"""What was done is written down with it, for good, and without personal data."""

import datetime

import pytest
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from simulation.domain.roles import Role
from simulation.models import AuditEntry, Membership
from simulation.selectors import audit as selectors
from simulation.services import audit, invitations, people
from tests.factories.simulation import CorpusFactory, MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db
NOON = datetime.datetime(2026, 3, 2, 12, 0, tzinfo=datetime.UTC)


def written():
    return list(AuditEntry.objects.order_by("id").values_list("action", "actor__username", "details"))


def test_giving_and_taking_a_role_is_written_down(admin, stranger, corpus):
    membership = people.grant(by=admin, person=stranger, role=Role.LABELER, corpus=corpus)
    people.revoke_membership(by=admin, membership=membership)

    assert written() == [
        ("role.granted", "ada", {"role": "labeler"}),
        ("role.revoked", "ada", {"role": "labeler"}),
    ]
    entry = AuditEntry.objects.first()
    assert (entry.object_type, entry.object_id) == ("user", stranger.public_id)
    assert entry.corpus_id_text == corpus.public_id


def test_an_invitation_is_written_down_from_its_making_to_its_end(admin):
    _, token = invitations.invite(by=admin, email="nora@example.org", role=Role.LABELER)
    nora = invitations.accept(token=token, username="nora", password="nine green bottles")
    second, _ = invitations.invite(by=admin, email="olaf@example.org", role=Role.LABELER)
    invitations.revoke_invitation(by=admin, invitation=second)

    assert written() == [
        ("invitation.made", "ada", {"role": "labeler"}),
        ("invitation.accepted", "nora", {"role": "labeler", "person": nora.public_id}),
        ("invitation.made", "ada", {"role": "labeler"}),
        ("invitation.revoked", "ada", {}),
    ]


def test_what_one_does_to_ones_own_account_is_written_down(labeler):
    people.change_password(by=labeler, password="nine green bottles")
    people.set_preferences(by=labeler, theme="dark", email="new@example.org")
    people.set_preferences(by=labeler, theme="dark", email="new@example.org")

    assert written() == [
        ("password.changed", "lena", {}),
        ("account.changed", "lena", {"changed": ["email", "theme"]}),
    ]


def test_a_command_has_no_actor():
    people.create_user(
        username="nora", email="nora@example.org", password="nine green bottles", role=Role.ADMIN
    )

    assert written() == [("person.created", None, {"role": "admin"})]


def test_no_name_and_no_address_is_written_down(admin, stranger):
    _, token = invitations.invite(by=admin, email="nora@example.org", role=Role.LABELER)
    nora = invitations.accept(token=token, username="nora", password="nine green bottles")
    people.set_preferences(by=nora, theme="dark", email="nora.new@example.org")
    people.grant(by=admin, person=stranger, role=Role.LABELER)

    text = str(list(AuditEntry.objects.values("object_type", "object_id", "corpus_id_text", "details")))
    for word in ("nora", "sven", "@example.org"):
        assert word not in text


def test_a_refused_act_is_not_written_down(labeler, stranger):
    with pytest.raises(PermissionDenied):
        people.grant(by=labeler, person=stranger, role=Role.ADMIN)

    assert written() == []


def test_where_the_entry_fails_the_act_does_not_happen(admin, stranger, monkeypatch):
    def fail(**_):
        raise DatabaseError("disk full")

    monkeypatch.setattr(audit, "record", fail)

    with pytest.raises(DatabaseError), transaction.atomic():
        people.grant(by=admin, person=stranger, role=Role.LABELER)
    assert not Membership.objects.filter(person=stranger).exists()


@pytest.mark.parametrize("act", ["update", "delete"])
def test_the_database_refuses_to_change_or_delete_an_entry(admin, act):
    entry = audit.record(by=admin, action="role.granted", target=admin)
    rows = AuditEntry.objects.filter(pk=entry.pk)

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        rows.update(action="nothing") if act == "update" else rows.delete()
    entry.refresh_from_db()
    assert entry.action == "role.granted"


def test_the_page_says_who_did_what_to_whom_where(admin, stranger, corpus, client_of):
    people.grant(by=admin, person=stranger, role=Role.LABELER, corpus=corpus)

    row = client_of(admin).get("/people/audit/").context["page"].rows[0]

    assert (row.actor, row.action, row.object_name, row.corpus_name) == (
        "ada",
        "Role granted",
        "sven",
        "winter",
    )
    assert row.details == [("role", "labeler")]


def test_an_admin_of_one_corpus_sees_what_was_done_in_it(admin, corpus, client_of):
    local = MembershipFactory(role=Role.ADMIN, corpus=corpus).person
    for place in (corpus, CorpusFactory(), None):
        people.grant(by=admin, person=UserFactory(), role=Role.LABELER, corpus=place)

    rows = client_of(local).get("/people/audit/").context["page"].rows
    assert [row.corpus_name for row in rows] == ["winter"]


def all_pages(browser):
    seen, mark = [], ""
    for _ in range(20):
        page = browser.get(f"/people/audit/?before={mark}").context["page"]
        seen.append([row.action for row in page.rows])
        mark = page.before
        if not mark:
            return seen
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize("same_moment", [True, False])
def test_the_pages_show_every_entry_once_newest_first(
    admin, client_of, monkeypatch, time_machine, same_moment
):
    monkeypatch.setattr(selectors, "PAGE", 3)
    browser = client_of(admin)
    time_machine.move_to(NOON, tick=False)
    for number in range(8):
        audit.record(by=admin, action=f"act.{number}", target=admin)
        if not same_moment:
            time_machine.shift(datetime.timedelta(seconds=1))

    pages = all_pages(browser)

    assert [len(page) for page in pages] == [3, 3, 2]
    assert [action for page in pages for action in page] == [f"Act {number}" for number in reversed(range(8))]


@pytest.mark.parametrize("mark", ["nonsense", "-", "9" * 30 + "-1", "1-" + "9" * 30, "-5--5"])
def test_a_mark_that_is_none_of_ours_does_no_harm(admin, client_of, mark):
    assert client_of(admin).get("/people/audit/", {"before": mark}).status_code == 200


def test_the_number_of_queries_does_not_grow_with_the_entries(admin, corpus, client_of):
    browser = client_of(admin)

    def queries():
        with CaptureQueriesContext(connection) as captured:
            browser.get("/people/audit/")
        return len(captured)

    people.grant(by=admin, person=UserFactory(), role=Role.LABELER, corpus=corpus)
    before = queries()
    for _ in range(10):
        people.grant(by=admin, person=UserFactory(), role=Role.LABELER, corpus=CorpusFactory())
    assert queries() == before


def test_an_empty_page_says_what_will_stand_there(admin, client_of):
    assert "Nothing written down yet" in client_of(admin).get("/people/audit/").content.decode()


def some_acts(admin, corpus, time_machine):
    time_machine.move_to(NOON, tick=False)
    people.grant(by=admin, person=UserFactory(), role=Role.LABELER, corpus=corpus)
    time_machine.move_to(NOON + datetime.timedelta(days=2), tick=False)
    people.grant(by=admin, person=UserFactory(), role=Role.LABELER, corpus=CorpusFactory())
    audit.record(by=None, action="backup.made", target=admin, details={"file": "=HYPERLINK(1)"})


@pytest.mark.parametrize(
    ("asked", "n"),
    [
        ({}, 3),
        ({"action": "role.granted"}, 2),
        ({"who": "command"}, 1),
        ({"since": "2026-03-03"}, 2),
        ({"until": "2026-03-02"}, 1),
        ({"since": "2026-03-02", "until": "2026-03-04"}, 3),
        ({"since": "0001-01-01", "until": "9999-12-31"}, 3),
        ({"who": "nobody"}, 0),
        ({"since": "yesterday"}, 3),
    ],
)
def test_the_page_and_the_file_are_narrowed_alike(admin, corpus, client_of, time_machine, asked, n):
    some_acts(admin, corpus, time_machine)
    browser = client_of(admin)
    page = browser.get("/people/audit/", asked)
    assert len(page.context["page"].rows) == n
    table = b"".join(browser.get("/people/audit.csv", asked).streaming_content).decode()
    assert len(table.splitlines()) == n + 1
    assert ("is not a day" in page.content.decode()) == (asked.get("since") == "yesterday")


def test_who_and_where_narrow_the_page(admin, corpus, client_of, time_machine):
    some_acts(admin, corpus, time_machine)
    mine = client_of(admin).get("/people/audit/", {"who": admin.public_id, "corpus": corpus.public_id})
    assert len(mine.context["page"].rows) == 1


def test_a_cell_that_begins_like_a_formula_is_no_formula_in_the_file(admin, corpus, client_of, time_machine):
    audit.record(by=admin, action="=SUM(1)", target=admin)
    table = b"".join(client_of(admin).get("/people/audit.csv").streaming_content).decode()
    assert ",'=sum(1)," in table


def test_the_file_is_for_who_manages_people_and_shows_their_corpora_only(corpus, client_of, labeler, admin):
    assert client_of(labeler).get("/people/audit.csv").status_code == 403
    of_another = MembershipFactory(role="admin", corpus=CorpusFactory()).person
    people.grant(by=admin, person=UserFactory(), role=Role.LABELER, corpus=corpus)
    table = b"".join(client_of(of_another).get("/people/audit.csv").streaming_content).decode()
    assert len(table.splitlines()) == 1


def test_details_are_words_and_not_those_of_a_programming_language(admin, client_of):
    details = {"query": {"notes": False, "queues": [], "least": 2}, "cap": None, "sets": ["a", "b"]}
    audit.record(by=None, action="release.asked", target=admin, details=details)
    answer = client_of(admin).get("/people/audit/")
    (row,) = answer.context["page"].rows
    assert sorted(row.details) == [
        ("cap", "none"),
        ("query", "least 2, notes no, queues none"),
        ("sets", "a, b"),
    ]
    assert "&#x27;" not in answer.content.decode().split("<tbody>")[1].split("</tbody>")[0]
