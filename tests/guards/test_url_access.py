"""Default deny: every address of the site says who may use it."""

from collections.abc import Mapping

from django.urls import URLPattern, URLResolver, get_resolver, reverse

from simulation.domain.roles import Right
from tests.factories.annotation import queue_over
from tests.factories.simulation import CorpusFactory, MembershipFactory

# name -> why anybody may open it
PUBLIC = {
    "healthz": "asked by machines without an account; says only that the process is up",
    "readyz": "asked by machines without an account; names parts, no data",
    "login": "one signs in there",
    "logout": "signing out after the session has ended is no error",
    "join": "the signed link is the permission",
}


def views(patterns=None, prefix=""):
    for pattern in patterns if patterns is not None else get_resolver().url_patterns:
        if isinstance(pattern, URLResolver):
            yield from views(pattern.url_patterns, prefix + str(pattern.pattern))
        elif isinstance(pattern, URLPattern):
            yield prefix + str(pattern.pattern), pattern.name, pattern.callback


def is_api(view):
    """An endpoint of the API declares each of its methods: see test_api_access.py."""
    return isinstance(getattr(view, "access", None), Mapping)


def pages():
    return [(route, name, view) for route, name, view in views() if not is_api(view)]


def test_every_view_declares_who_may_use_it():
    undeclared = [
        f"/{route} ({view.__module__}.{view.__qualname__})"
        for route, _, view in pages()
        if not (
            getattr(view, "access", None) in ("public", "signed in")
            or isinstance(getattr(view, "access", None), Right)
        )
    ]
    assert not undeclared, (
        "Decorate these views with public, signed_in or needs(right) of simulation/selectors/access.py: "
        + ", ".join(undeclared)
    )


def test_what_is_public_is_listed_with_a_reason():
    public = {name for _, name, view in views() if view.access == "public"}
    assert public == set(PUBLIC)


def test_the_walk_still_finds_the_site():
    assert len(list(views())) > 25


def test_every_address_has_a_name_and_no_database_id():
    names = [name for _, name, _ in views()]
    assert len(names) == len(set(names))
    for route, name, _ in views():
        assert name, f"/{route} has no name"
        assert "<int:" not in route, f"/{route} carries a database id"


def test_without_an_account_every_other_page_leads_to_the_login(client, db):
    for route, name, view in pages():
        if view.access == "public":
            continue
        arguments = ["x" * 12] * route.count("<")
        answer = client.get(reverse(name, args=arguments))
        assert answer.status_code in (302, 405), f"{name}: {answer.status_code}"
        if answer.status_code == 302:
            assert answer["Location"].startswith("/login/"), name


def test_pages_that_ask_for_the_right_themselves_refuse_who_lacks_it(
    client_of, stranger, researcher, labeler
):
    queue = queue_over(comments=1)
    item = queue.items.get()
    asking = [(name, route) for route, name, view in views() if getattr(view, "asks_itself", False)]
    assert len(asking) > 8
    foreign = MembershipFactory(role="labeler", corpus=CorpusFactory()).person
    for name, route in asking:
        arguments = [queue.public_id, item.public_id][: route.count("<")]
        for person, status in ((stranger, 403), (researcher, 403), (foreign, 404)):
            for method in ("get", "post"):
                sent = {"item": item.public_id, "reason": "other"}
                answer = getattr(client_of(person), method)(reverse(name, args=arguments), sent)
                assert answer.status_code in (status, 405), f"{method} {name} for {person}"
