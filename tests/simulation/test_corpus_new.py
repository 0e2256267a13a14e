"""A new corpus by its form, and what its page says comes next."""

import re

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from simulation.domain.roles import Role
from simulation.models import AuditEntry, Corpus
from simulation.services import corpora, prompts
from tests.factories.profiles import ProposedFactory
from tests.factories.simulation import CorpusFactory, MembershipFactory

pytestmark = pytest.mark.django_db
SAID = {"name": "Winter", "description": "A test.", "licence": "CC BY 4.0", "language": "en"}


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def make(browser, **changes):
    return browser.post(reverse("corpus_new"), SAID | changes)


@pytest.mark.parametrize("role", [Role.ADMIN, Role.RESEARCHER])
def test_who_imports_or_starts_runs_everywhere_makes_a_corpus(client_of, role):
    person = MembershipFactory(role=role).person
    browser = client_of(person)
    assert reverse("corpus_new") in browser.get(reverse("corpora")).content.decode()
    answer = make(browser)
    made = Corpus.objects.get()
    assert answer.headers["Location"] == reverse("corpus", args=[made.public_id])
    assert {name: getattr(made, name) for name in SAID} == SAID
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action) == (person, "corpus.created")


@pytest.mark.parametrize("role", [Role.LABELER, Role.ADJUDICATOR])
def test_others_do_not(client_of, role):
    browser = client_of(MembershipFactory(role=role).person)
    assert reverse("corpus_new") not in browser.get(reverse("corpora")).content.decode()
    assert browser.get(reverse("corpus_new")).status_code == 403
    assert make(browser).status_code == 403
    assert not Corpus.objects.exists()


def test_a_role_in_one_corpus_is_not_enough(client_of, corpus):
    browser = client_of(MembershipFactory(role=Role.ADMIN, corpus=corpus).person)
    assert reverse("corpus_new") not in browser.get(reverse("corpora")).content.decode()
    assert make(browser).status_code == 403


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"name": " "}, "name", "required"),
        ({"name": "n" * 81}, "name", "at most 80"),
        ({"name": "Taken"}, "name", "There is a corpus of this name already"),
        ({"licence": "l" * 81}, "licence", "at most 80"),
        ({"language": "xx"}, "language", "not one of the available choices"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(client_of, admin, changes, field, said):
    CorpusFactory(name="Taken")
    answer = make(client_of(admin), **changes)
    assert answer.status_code == 422
    assert said in " ".join(answer.context["form"].errors[field])
    assert Corpus.objects.count() == 1


def test_languages_are_those_with_a_file_for_every_prompt(tmp_path, monkeypatch, admin):
    monkeypatch.setattr(prompts, "FOLDER", tmp_path)
    for name in prompts.THREAD:
        for suffix in ("", ".de", ".fr"):
            path = tmp_path / f"{name}{suffix}.md"
            path.parent.mkdir(exist_ok=True)
            path.touch()
    (tmp_path / f"{prompts.THREAD[-1]}.fr.md").unlink()
    assert corpora.languages() == [("en", "English"), ("de", "Deutsch")]
    assert corpora.create_corpus(name="w", language="de", by=admin).language == "de"
    with pytest.raises(ValidationError, match="no prompts for “fr”; there are some for en, de"):
        corpora.create_corpus(name="v", language="fr")


def test_the_page_of_an_empty_corpus_says_what_comes_next(client_of, admin, researcher, corpus):
    page = reverse("corpus", args=[corpus.public_id])
    generate, imports = (reverse(name, args=[corpus.public_id]) for name in ("profile_generate", "imports"))
    body = client_of(admin).get(page).content.decode()
    assert "Next: profiles" in body
    assert generate in body
    assert imports in body
    assert generate not in client_of(researcher).get(page).content.decode()
    ProposedFactory(corpus=corpus)
    assert "Next: profiles" not in client_of(admin).get(page).content.decode()


def test_the_list_and_the_profile_say_in_which_state_it_is(client_of, researcher, corpus):
    profile = ProposedFactory(corpus=corpus, state="rejected", version=3)
    browser = client_of(researcher)
    for page in (
        reverse("profiles", args=[corpus.public_id]),
        reverse("profile", args=[profile.public_id]),
    ):
        answer = browser.get(page)
        assert "Rejected" in words(answer)
        assert "enerated, version 3" in words(answer) or "version 3" in words(answer)
        assert reverse("profile_check", args=[corpus.public_id]) in answer.content.decode()
        assert reverse("profile_edit", args=[profile.public_id]) not in answer.content.decode()
