"""A corpus that an import makes has the language that was asked for."""

import json

import pytest
from django.core.management import CommandError, call_command

from simulation.models import Corpus

pytestmark = pytest.mark.django_db


@pytest.fixture
def profiles(tmp_path):
    path = tmp_path / "profiles.json"
    path.write_text(
        json.dumps({"pers1": {"age": 30, "sex": "männlich", "username": "Amsel"}}), encoding="utf-8"
    )
    return str(path)


def test_the_command_takes_a_language_for_a_new_corpus_and_leaves_a_known_one(profiles, capsys):
    call_command("import_synthpai", profiles, corpus="Winter", language="de")
    call_command("import_synthpai", profiles, corpus="Winter")
    corpus = Corpus.objects.get(name="Winter")
    assert corpus.language == "de"
    assert corpus.profiles.get().facts["sex"] == "männlich"  # a fact stays as its file says it


def test_without_one_it_is_english(profiles, capsys):
    call_command("import_synthpai", profiles, corpus="Winter")
    assert Corpus.objects.get(name="Winter").language == "en"


def test_a_language_without_prompts_is_refused_and_nothing_is_made(profiles):
    with pytest.raises(CommandError, match="The corpus cannot be made: language"):
        call_command("import_synthpai", profiles, corpus="Winter", language="qq")
    assert not Corpus.objects.exists()
