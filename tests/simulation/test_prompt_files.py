"""The prompt files of every language and platform say the same things, and a run is pinned to them."""

import re
import shutil
from pathlib import Path
from string import Template

import pytest

from simulation.domain import replies
from simulation.domain.attributes import CATALOGUE
from simulation.domain.plans import BadPlan
from simulation.llm.prompts import load
from simulation.models import PromptVersion, Run
from simulation.services import asking, prompts
from simulation.services.prompts import FOLDER, PARTS, STYLE, THREAD
from tests.factories.simulation import CorpusFactory, ProfileFactory, RunFactory
from tests.running import start

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("de", "en")
FILES = [*((FOLDER, name) for name in (*THREAD, STYLE)), (ROOT / "annotation" / "prompts", "tag_comment")]
MARK = re.compile(r"</?[a-z]+>")
LABEL = re.compile(r"^[A-Z][\w ]+:(?= <)", re.M)
HEADING = re.compile(r"^[A-Z][\w ]+:", re.M)


def words(prompt):
    return "\n".join(section.content for section in prompt.sections)


def named(text):
    return set(Template(text).get_identifiers())


def test_english_and_german_are_complete():
    assert prompts.languages() == list(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_platforms_with_words_of_its_own(language):
    offered = prompts.platforms(language)
    assert [one.key for one in offered] == ["reddit", "forum", "news"]
    assert all(one.label and one.help for one in offered)
    assert {one.help for one in offered}.isdisjoint(
        one.help for other in LANGUAGES if other != language for one in prompts.platforms(other)
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file[1])
def test_a_translation_asks_with_the_same_variables_parts_marks_and_labels(file):
    english, german = (load(*file, language) for language in ("en", "de"))
    assert (german.name, german.language) == (english.name, "de")
    assert set(german.variables) == set(english.variables)
    assert MARK.findall(words(german)) == MARK.findall(words(english))
    assert LABEL.findall(words(german)) == LABEL.findall(words(english))
    if english.name != "thread/persona":
        assert german.parts.keys() == english.parts.keys()
        assert {key: named(text) for key, text in german.parts.items()} == {
            key: named(text) for key, text in english.parts.items()
        }
    assert HEADING.findall(german.parts.get("form", "")) == HEADING.findall(english.parts.get("form", ""))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", ["reddit", "news", "forum"])
def test_every_platform_has_all_parts(language, key):
    file = load(FOLDER, f"platforms/{key}", language)
    assert file.parts.keys() == PARTS
    assert all(text.strip() for text in file.parts.values())
    assert named(file.parts["post_form"]) == {"question", "description"}
    assert not any(named(text) for part, text in file.parts.items() if part != "post_form")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", ["reddit", "news", "forum"])
@pytest.mark.parametrize("name", THREAD)
def test_a_prompt_on_a_platform_has_no_hole(language, key, name):
    place = load(FOLDER, f"platforms/{key}", language).parts
    prompt = load(FOLDER, name, language)
    given = {variable: place.get(variable, "something") for variable in prompt.variables}
    said = "\n".join(message.content for message in prompt.render(**given))
    assert "$" not in said
    assert "\n\n\n" not in said
    assert not re.search(r"\.\s*\.|,\s*,|:\s*:", said)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fact_of_the_catalogue_is_said_in_the_language(language):
    run = RunFactory.build(plan={"language": language, "prompts": {}})
    parts = load(FOLDER, "thread/persona", language).parts
    for key, one in CATALOGUE.items():
        assert key in parts or f"{key}_holds" in parts
        assert asking.target_phrase(run, key) == one.in_language(language).topic


def test_reddit_keeps_the_form_of_the_published_roots():
    form = Template(load(FOLDER, "platforms/reddit").parts["post_form"])
    post = {"question": "Why $5?", "description": "A story."}
    assert form.substitute(post) == replies.Topic(**post).text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("language", "platform", "field", "says"),
    [
        ("fr", "reddit", "language", r"simulation/prompts/thread/persona\.fr\.md.*There are: de, en\."),
        (
            "en",
            "radio",
            "platform",
            r"simulation/prompts/platforms/radio\.md.*There are: reddit, forum, news",
        ),
        ("de", "../thread/topic", "platform", "lacks the parts"),
        ("../../x", "reddit", "language", "There is no prompt file"),
    ],
)
def test_what_there_is_no_file_for_is_no_plan(language, platform, field, says):
    with pytest.raises(BadPlan, match=says) as refused:
        prompts.freeze_thread(language=language, platform=platform)
    assert refused.value.field == field


def test_a_file_that_is_wrong_is_offered_with_what_is_wrong_and_starts_nothing(tmp_path, monkeypatch):
    shutil.copytree(FOLDER, tmp_path / "prompts")
    monkeypatch.setattr(prompts, "FOLDER", tmp_path / "prompts")
    (tmp_path / "prompts/platforms/radio.md").write_text("On the air.", encoding="utf-8")
    radio = next(one for one in prompts.platforms("en") if one.key == "radio")
    assert "must begin with a head" in radio.help
    with pytest.raises(BadPlan, match=r"radio\.md: .*must begin with a head"):
        prompts._frozen("platforms/radio", "en", "platform")


@pytest.mark.django_db
def test_a_run_is_pinned_to_its_platform(gateway):
    corpus = CorpusFactory(language="de")
    run = start(corpus, platform="news")
    pinned = PromptVersion.objects.get(digest=run.plan["prompts"]["platform"])
    assert (pinned.name, pinned.language) == ("platforms/news", "de")
    step = run.steps.get(kind="topic")
    question = asking.topic(run, step, step.run_thread)
    said = "\n".join(message.content for message in question.messages)
    assert "im Kommentarbereich unter einem Zeitungsartikel" in said
    assert "<target>das Alter</target>" in said
    assert asking.post_text(run, "Warum $5?", "Darum.") == "Warum $5?\n\nDarum."


@pytest.mark.django_db
def test_a_run_from_before_there_were_platforms_goes_on(gateway):
    run = start()
    old = PromptVersion.objects.create(
        name="thread/topic",
        language="en",
        digest="0" * 64,
        source='+++\nname = "thread/topic"\nlanguage = "en"\nvariables = ["persona", "target"]\n+++\n'
        "# user\n$persona Ask about $target.\n",
    )
    plan = run.plan
    del plan["prompts"]["platform"]
    plan["prompts"]["thread/topic"] = old.digest
    Run.objects.filter(pk=run.pk).update(plan=plan)
    run = Run.objects.get(pk=run.pk)
    step = run.steps.get(kind="topic")
    (message,) = asking.topic(run, step, step.run_thread).messages
    assert message.content.endswith("Ask about age.")
    assert asking.post_text(run, "Why?", "So.") == "Question: Why?\n\nQuestion description: So."


@pytest.mark.django_db
def test_a_persona_is_said_in_the_words_of_the_corpus_and_once(gateway, django_assert_num_queries):
    corpus = CorpusFactory(language="de")
    for number in range(3):
        ProfileFactory(
            corpus=corpus,
            external_id=f"pers{number}",
            facts={"age": 30, "sex": "female", "relationship_status": "In Relationship", "education": "PhD"},
        )
    run = start(corpus)
    member = asking.cast_member(run.pk, "pers1")
    said = asking.persona(run, member)
    assert "Du bist weiblich." in said
    assert "Beziehungsstand: in einer Beziehung." in said
    assert "Deine Bildung: Promotion." in said
    with django_assert_num_queries(0):
        assert asking.persona(run, member) == said
