"""What an installation does whose catalogue has a ninth attribute, in a corpus in German.

`test_ninth_attribute.py` runs this file in a process of its own, with SYNTHPAI_ATTRIBUTES set: the
catalogue is read once, when a process begins. Alone it is not collected.
"""

import csv
import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.exchange.dataset import import_paths
from annotation.exchange.export import stream
from annotation.models import Annotation, AttributeLabel, Suggestion
from annotation.services import queues
from annotation.services.tagging import Tagging, start_tagging
from simulation.domain.attributes import CATALOGUE, TARGET_KEYS
from simulation.domain.parameters import Parameters
from simulation.domain.plans import published_models
from simulation.models import Comment, Corpus, ModelCall, Thread
from simulation.services import runs
from tests.annotation.test_review_page import answer
from tests.factories.simulation import CommentFactory, CorpusFactory, ProviderFactory, ThreadFactory
from tests.running import committing, work_off

KEY = "transport"
PROFILES = {
    f"pers{number}": {
        "age": 30 + number,
        "sex": "female" if number % 2 else "male",
        "relationship_status": "married",
        "occupation": "Bäckerin",
        KEY: ["bicycle", "car", "train", "on foot"][number % 4],
        "username": f"Autorin{number}",
        "style": "Du schreibst kurz.",
    }
    for number in range(5)
}
MODELS = published_models("scripted")


@pytest.fixture
def german(db, tmp_path):
    """A corpus in German, its profiles imported with the ninth fact by the command of the operators."""
    path = tmp_path / "profiles.json"
    path.write_text(json.dumps(PROFILES), encoding="utf-8")
    call_command("import_synthpai", str(path), corpus="Winter", language="de", verbosity=0)
    return Corpus.objects.get(name="Winter")


def simulated(corpus, **options):
    run = runs.start_simulation(
        by=None,
        corpus=corpus,
        name="a run",
        provider=ProviderFactory(),
        targets={KEY: 1},
        profiles=list(corpus.profiles.order_by("pk")),
        parameters=Parameters(rounds=1, actions=2, profiles_asked=4, long_words=(10, 50), p_short=0.2),
        models=MODELS,
        seed=5,
        max_calls=500,
        max_tokens=1_000_000,
        **options,
    )
    return work_off(run)


def asked(run, purpose):
    """All words of the first question of a kind, as the ledger keeps it."""
    call = ModelCall.objects.filter(run=run, purpose=purpose).first()
    return "\n".join(message["content"] for message in call.request["messages"])


def written(corpus, text):
    return CommentFactory(thread=ThreadFactory(corpus=corpus), username="Autorin1", text=text)


def test_the_ninth_fact_is_imported_and_goes_out_again(german):
    assert TARGET_KEYS[-1] == KEY
    assert german.language == "de"
    assert german.profiles.get(external_id="pers0").facts[KEY] == "bicycle"


@committing
def test_a_run_and_its_tagger_ask_about_it_in_german(german):
    run = simulated(german)
    assert run.state == "done"
    topic, reply = asked(run, "topic"), asked(run, "turn")
    assert "Eröffne einen neuen Thread" in topic
    assert "<target>das liebste Verkehrsmittel</target>" in topic
    assert "Verkehrsmittel: " in topic.split("</persona>")[0]
    assert "Beziehungsstand: verheiratet." in reply
    assert "Schreibe zwischen" in reply
    assert "Write" not in reply
    assert "Would this person" not in asked(run, "interest")
    root = Comment.objects.filter(corpus=german, parent=None).get()
    assert root.text.startswith("Frage: ")
    assert Thread.objects.get(corpus=german).target_phrase == "das liebste Verkehrsmittel"
    assert german.comments.count() > 1
    _tagged(german)


def _tagged(german):
    """A tagging run asks for it in German, and the German answer is read."""
    comment = written(
        german,
        "Verkehrsmittel? Bei mir ganz klar: zu Fuß. Ich bin verheiratet, das erklärt vielleicht manches.",
    )
    run = work_off(
        start_tagging(
            by=None,
            corpus=german,
            name="tags",
            provider=ProviderFactory(),
            model="scripted",
            max_calls=200,
            max_tokens=1_000_000,
        ),
        Tagging(),
    )
    assert run.state == "done"
    prompt = asked(run, "tag")
    assert "transport: Verkehrsmittel (Fahrrad, Auto, Bahn, zu Fuß)" in prompt
    assert "Welche dieser Merkmale" in prompt
    replies = ModelCall.objects.filter(run=run).values_list("reply", flat=True)
    said = json.dumps(list(replies), ensure_ascii=False)
    assert "zu Fuß" in said
    found = {one.attribute: one.guesses for one in Suggestion.objects.filter(comment=comment)}
    assert found[KEY][0] == "on foot"
    assert found["relationship_status"][0] == "married"


def reviewed(corpus, client, comment):
    """The ninth row of the review page filled in and submitted."""
    queue = queues.create(by=None, corpus=corpus, name="round 1", people_per_item=1)
    page = client.get(reverse("review", args=[queue.public_id]), follow=True)
    item = page.context["item"]
    assert item.comment == comment
    fields = {f"{KEY}-choice": "v:train", f"{KEY}-hardness": "1", f"{KEY}-certainty": "5"}
    address = reverse("review_item", args=[queue.public_id, item.public_id])
    assert client.post(address, answer(**fields), follow=True).status_code == 200
    return page


@pytest.mark.django_db
def test_its_row_is_reviewed_and_exported_and_comes_back(german, client_of, labeler, tmp_path):
    profile = german.profiles.get(external_id="pers2")
    comment = CommentFactory(
        thread=ThreadFactory(corpus=german),
        profile=profile,
        author="pers2",
        username=profile.username,
        text="Ich fahre alles mit der Bahn.",
    )
    Suggestion.objects.create(
        comment=comment, tagger="imported", attribute=KEY, guesses=["train", "bicycle", "car"]
    )
    page = reviewed(german, client_of(labeler), comment)
    assert [row.key for row in page.context["rows"]][8] == KEY
    assert 'value="v:train"' in page.content.decode()
    label = AttributeLabel.objects.get(annotation=Annotation.objects.get(), attribute=KEY)
    assert (label.value, label.hardness, label.certainty) == ("train", 1, 5)

    plain = json.loads("".join(stream(corpus=german, layout="jsonl")))
    assert plain["profile"][KEY] == "train"
    assert plain["annotations"][0]["labels"][KEY]["value"] == "train"
    table = list(csv.DictReader("".join(stream(corpus=german, layout="csv")).splitlines()))
    assert [(row["value"], row["suggestion_1"]) for row in table if row["attribute"] == KEY] == [
        ("train", "train")
    ]
    out = "".join(stream(corpus=german, layout="synthpai"))
    row = json.loads(out)
    assert row["guesses"][0]["feature"] == KEY
    assert next(iter(row["reviews"].values()))[KEY] == {"estimate": "train", "hardness": 1, "certainty": 5}
    path = tmp_path / "rows.jsonl"
    path.write_text(out, encoding="utf-8")
    report = import_paths(paths=[path], corpus_name="Frühling", language="de")
    assert (report.problems, report.warnings) == ((), ())
    there = Corpus.objects.get(name="Frühling")
    assert "".join(stream(corpus=there, layout="synthpai")) == out
    assert AttributeLabel.objects.get(annotation__comment__corpus=there, attribute=KEY).value == "train"
    assert Suggestion.objects.get(comment__corpus=there).attribute == KEY
    assert there.profiles.get(external_id="pers2").facts[KEY] == "train"


@pytest.mark.django_db
def test_a_tree_with_it_is_read(tmp_path):
    corpus = CorpusFactory(language="de")
    path = tmp_path / "thread_transport_1.json"
    tree = {
        "author": "pers1",
        "username": "Autorin1",
        "profile": {**PROFILES["pers1"], "guess_feature": "das liebste Verkehrsmittel"},
        "text": "Wie kommt ihr ins Büro?",
        "guesses": [
            {"feature": KEY, "guesses": ["car"], "hardness": "direct", "certainty": 4, "model_eval": None}
        ],
        "reviews": {"rosa": {KEY: {"estimate": "car", "hardness": 2, "certainty": 3}}},
        "children": [],
    }
    path.write_text(json.dumps(tree), encoding="utf-8")
    report = import_paths(paths=[path], corpus_name=corpus.name)
    assert (report.problems, report.warnings) == ((), ())
    assert AttributeLabel.objects.get(annotation__comment__corpus=corpus).attribute == KEY


def test_every_page_of_labels_knows_it(german, client_of, admin):
    """Pages that go through the catalogue show the ninth attribute, and none of them breaks."""
    browser = client_of(admin)
    ProviderFactory()
    comment = written(german, "Mit dem Rad.")
    Suggestion.objects.create(comment=comment, tagger="t", attribute=KEY, guesses=["bicycle"])
    queue = queues.create(by=None, corpus=german, name="round 1", people_per_item=1)
    profile = german.profiles.get(external_id="pers0")
    for address in (
        reverse("profile", args=[profile.public_id]),
        reverse("profiles", args=[german.public_id]),
        reverse("comments", args=[german.public_id]) + f"?attribute={KEY}&q=Rad",
        reverse("comment", args=[comment.public_id]),
        reverse("authors", args=[german.public_id]),
        reverse("author", args=[comment.public_id]),
        reverse("queue_overview", args=[queue.public_id]),
        reverse("queue_gold", args=[queue.public_id]),
        reverse("adjudication_queue", args=[queue.public_id]),
        reverse("run_new", args=[german.public_id]),
        reverse("help"),
    ):
        page = browser.get(address, follow=True)
        assert page.status_code == 200, address
    page = browser.get(reverse("run_new", args=[german.public_id])).content.decode()
    assert f'name="threads_{KEY}"' in page
    assert f'name="filter_{KEY}"' in page
    assert "on foot" in page
    assert CATALOGUE[KEY].label in browser.get(reverse("profile", args=[profile.public_id])).content.decode()
