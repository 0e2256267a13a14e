"""Pages of a listing: complete, in order, with marks that tell nothing."""

import base64

import pytest

from simulation.models import Comment
from simulation.rest.cursors import BadCursor, seal, unseal
from simulation.rest.paging import _behind
from tests.api import api_of, fields_in
from tests.factories.simulation import CommentFactory, CorpusFactory, ThreadFactory

pytestmark = pytest.mark.django_db


def walked(api, address, **query):
    """All rows of a listing, page by page, and the number of pages."""
    rows, pages, cursor = [], 0, {}
    while True:
        page = api.get(address, **query, **cursor).json()
        rows, pages = rows + page["results"], pages + 1
        if page["next"] is None:
            return rows, pages
        cursor = {"cursor": page["next"]}


def test_pages_hold_every_row_once_in_order(researcher):
    made = [CorpusFactory().public_id for _ in range(7)]
    rows, pages = walked(api_of(researcher), "corpora/", limit=3)
    assert [one["id"] for one in rows] == made
    assert pages == 3


def test_a_last_page_that_is_full_is_the_last(researcher):
    for _ in range(4):
        CorpusFactory()
    assert walked(api_of(researcher), "corpora/", limit=2)[1] == 2


def test_the_next_page_is_linked(researcher):
    for _ in range(3):
        CorpusFactory()
    api = api_of(researcher)
    link = api.get("corpora/", limit=2)["Link"]
    assert link.endswith('>; rel="next"')
    assert (
        len(api.get(link.split(";")[0].strip("<>").removeprefix("http://testserver")).json()["results"]) == 1
    )


def test_a_row_that_goes_meanwhile_loses_no_other(researcher):
    made = [CorpusFactory() for _ in range(4)]
    api = api_of(researcher)
    first = api.get("corpora/", limit=2).json()
    made[1].delete()
    second = api.get("corpora/", limit=2, cursor=first["next"]).json()
    assert [one["id"] for one in second["results"]] == [made[2].public_id, made[3].public_id]


def test_a_mark_shows_no_number_of_the_database_and_cannot_be_made_up(researcher):
    CorpusFactory()
    last = CorpusFactory()
    CorpusFactory()
    api = api_of(researcher)
    mark = api.get("corpora/", limit=2).json()["next"]
    raw = base64.urlsafe_b64decode(mark + "=" * (-len(mark) % 4))
    assert str(last.pk).encode() not in raw[12:]
    for wrong in ("x", "ü", mark[:-2], "A" + mark[1:], mark + "AA", "=" * 5):
        assert fields_in(api.get("corpora/", cursor=wrong)) == {"cursor"}


def test_a_mark_belongs_to_its_listing():
    mark = seal([5, "x"], listing="/a?b=1")
    assert unseal(mark, listing="/a?b=1") == [5, "x"]
    assert seal([5, "x"], listing="/a?b=1") == mark
    with pytest.raises(BadCursor):
        unseal(mark, listing="/a?b=2")


def test_a_deep_page_begins_at_its_place_and_not_at_the_first_row(corpus):
    """The place stands as a bound of its own, which an index can begin at, beside the condition with “or”."""
    position = _behind(Comment, ["sequence", "id"], [90_000, 5], descending=False)
    asked = str(Comment.objects.filter(corpus=corpus).filter(position).query)
    assert 'AND "simulation_comment"."sequence" >= 90000' in asked


def test_rows_of_one_place_are_split_over_pages_without_loss(researcher, corpus):
    thread = ThreadFactory(corpus=corpus)
    made = [CommentFactory(thread=thread, sequence=7).public_id for _ in range(5)]
    rows, pages = walked(api_of(researcher), f"corpora/{corpus.public_id}/comments/", limit=2)
    assert ([one["id"] for one in rows], pages) == (made, 3)
