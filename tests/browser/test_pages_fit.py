"""Every main page, at every width, light and dark: no sideways scroll, no complaint in the console."""

import gzip
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from annotation.domain.known import Known
from annotation.domain.labels import State
from annotation.models import Annotation, DataImport, Decision, Flag, Item, Queue
from annotation.services import gold, guidelines
from simulation.domain.money import NANO
from simulation.domain.run_states import StepState
from simulation.models import Artefact, Corpus, RunPreset, User, Workspace
from simulation.services import artefacts, budget, profiles
from simulation.services.prices import set_price
from tests.browser.evaluation_pages import evaluation_pages
from tests.browser.exchange_pages import exchange_pages
from tests.factories.adjudication import address as decision_page
from tests.factories.adjudication import answer, labelers, value
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.overview import worked_in
from tests.factories.profiles import FACTS, ProposedFactory, warning
from tests.factories.runs import scene
from tests.factories.simulation import (
    AttemptFactory,
    CommentFactory,
    CorpusFactory,
    MembershipFactory,
    ModelCallFactory,
    ProfileFactory,
    ProviderFactory,
    RunFactory,
    StepFactory,
    ThreadFactory,
    UserFactory,
)
from tests.factories.tagging import check, check_run, tag, tagging_run

pytestmark = pytest.mark.django_db(transaction=True)
WIDTHS = (320, 360, 768, 1024, 1440, 1920)


@pytest.fixture
def addresses(corpus, admin):
    return every_page(corpus, admin)


def every_page(corpus: Corpus, admin: User) -> list[str]:
    """The addresses of all pages that an admin can open, over rows with the longest words there are."""
    profile = ProfileFactory(
        corpus=corpus,
        facts={
            "age": 31,
            "city_country": "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch, Wales",
        },
        style="Writing style: terse.",
    )
    root = CommentFactory(thread__corpus=corpus, profile=profile, text="What keeps you awake? " * 20)
    reply = root
    for depth in range(5):
        reply = CommentFactory(thread=root.thread, parent=reply, text=f"Reply {depth} " + "w" * 90)
    endless = CommentFactory(
        thread=root.thread, parent=root, text="x" * 3000, username="U" * 100, external_id="i" * 190
    )
    SuggestionFactory(comment=endless, attribute="occupation", guesses=["g" * 900, "b", "c"])
    SuggestionFactory(
        comment=root, attribute="occupation", guesses=["an extraordinarily long occupation " * 3, "b", "c"]
    )
    queue = queue_over(corpus)
    ThreadFactory(corpus=corpus, external_id="t" * 100)
    one = DataImport.objects.create(
        corpus=corpus,
        by=admin,
        file_name="n" * 200,
        path="",
        state="invalid",
        counts={"rows": [], "problems": 1},
        problems=[{"line": 3, "field": "f" * 120, "message": "m" * 200}],
    )
    undoable = DataImport.objects.create(
        corpus=corpus,
        by=admin,
        file_name="n" * 200,
        path="",
        state="done",
        made={"simulation.comment": [[reply.pk, reply.pk]], "annotation.suggestion": [[10**9, 2 * 10**9]]},
    )
    home = [reverse("home"), reverse("help"), reverse("account"), reverse("corpora"), reverse("queues")]
    home += [reverse("tokens"), reverse("api_docs"), reverse("api_me")]
    inside = [
        reverse(name, args=[corpus.public_id])
        for name in ("corpus", "comments", "profiles", "imports", "export")
    ]
    single = [
        reverse("thread", args=[root.thread.public_id]),
        reverse("comment", args=[reply.public_id]),
        reverse("comment", args=[endless.public_id]),
        reverse("comments", args=[corpus.public_id]) + f"?attribute=occupation&state=both&value={'g' * 200}",
        reverse("profile", args=[profile.public_id]),
        reverse("queue_create", args=[corpus.public_id]),
        reverse("review", args=[queue.public_id]),
        reverse("review_history", args=[queue.public_id]),
        reverse("import_status", args=[one.public_id]),
        reverse("import_status", args=[undoable.public_id]),
        reverse("import_undo", args=[undoable.public_id]),
        reverse("people"),
        reverse("invite"),
        reverse("audit"),
        *leaving_pages(corpus, queue),
        *adjudication_pages(corpus),
        *overview_pages(corpus, admin),
        *steering_pages(corpus, admin),
        *author_pages(corpus, admin),
        *tag_pages(corpus),
        *artefact_pages(corpus, admin),
        *evaluation_pages(corpus, admin),
        *exchange_pages(corpus, admin),
    ]
    return (
        home + inside + single + run_pages(corpus) + money_pages(corpus, admin) + profile_pages(corpus, admin)
    )


def money_pages(corpus: Corpus, admin: User) -> list[str]:
    """Prices and the budget, with large sums, long names, former prices and models without one."""
    provider = ProviderFactory(name="Q" * 60, base_url="http://127.0.0.1:9000/v1", default_model="d" * 100)
    for amount in (Decimal("0.000001"), Decimal(1_000_000), Decimal("999999.999999")):
        set_price(by=admin, provider=provider, model="k" * 100, input=amount, output=amount, note="o" * 300)
    run = RunFactory(corpus=corpus, name="B" * 80, provider=provider)
    call = ModelCallFactory(step=StepFactory(run=run), model="k" * 100)
    budget.set_caps(by=admin, soft_cap=NANO, hard_cap=9_000_000_000 * NANO)
    AttemptFactory(call=call, cost=8_000_000_000 * NANO, ended_at=timezone.now())
    Workspace.objects.update(spent=8_000_000_000 * NANO, held=NANO)
    return [reverse("prices"), reverse("price_new"), reverse("budget")]


def profile_pages(corpus: Corpus, admin: User) -> list[str]:
    """The pages of profiles to be checked, with long words, warnings, versions, and two much alike."""
    facts = FACTS | {
        "occupation": "o" * 200,
        "education": "e" * 190,
        "city_country": f"{'c' * 90}, {'d' * 90}",
    }
    run = RunFactory(corpus=corpus, kind="profiles", name="R" * 80, state="running")
    call = ModelCallFactory(step__run=run, model="m" * 100)
    made = [
        ProposedFactory(
            corpus=corpus,
            username=name * 100,
            facts=facts,
            run=run,
            call=call,
            style="s" * 900,
            warnings=[warning("age", "education", text="w" * 300), warning(text="y" * 300)],
        )
        for name in "EFG"
    ]
    profiles.edit(
        by=admin,
        profile=made[0],
        facts=facts | {"occupation": "p" * 200},
        style="t" * 900,
        username=made[0].username,
        expected_version=1,
    )
    profiles.reject(by=admin, profile=made[2], reason="r" * 200)
    bare = CorpusFactory(name="B" * 80)
    return [
        reverse("corpus_new"),
        reverse("corpus", args=[bare.public_id]),
        reverse("profile_check", args=[bare.public_id]),
        reverse("profile_check", args=[corpus.public_id]),
        reverse("profile_check", args=[corpus.public_id]) + "?show=rejected",
        reverse("profile_edit", args=[made[0].public_id]),
        reverse("profile_new", args=[corpus.public_id]),
        reverse("profile_generate", args=[corpus.public_id]),
        reverse("profile_generate", args=[corpus.public_id]) + "?what=styles",
    ]


def artefact_pages(corpus: Corpus, admin: User) -> list[str]:
    """Findings with long words: open, edited, one on its own page, and what is asked back."""
    for number, text in enumerate(("y" * 900 + " <br> " + "y" * 900, "so it goes " + "{" * 60, "see <br>")):
        thread = ThreadFactory(corpus=corpus, external_id=f"{number}".rjust(100, "x"))
        CommentFactory(thread=thread, text=text, username="B" * 100)
    artefacts.scan_corpus(corpus, by=admin)
    found = Artefact.objects.filter(comment__corpus=corpus, rule="markup")
    last = found.order_by("pk").last()
    artefacts.edit(
        by=admin, comment=last.comment, text="w" * 700, expected_text=last.comment.text, reason="r" * 300
    )
    return [
        reverse("artefacts", args=[corpus.public_id]) + "?state=all",
        reverse("artefacts", args=[corpus.public_id]) + "?rule=markup&state=edited",
        reverse("artefact", args=[corpus.public_id, found.order_by("pk").first().public_id]) + "?cut=1",
    ]


def tag_pages(corpus: Corpus) -> list[str]:
    """Tagging a part, three runs compared and their checks, with long words in all; and where nothing is."""
    profile = ProfileFactory(corpus=corpus, facts={"occupation": "t" * 300, "age": 31})
    first = CommentFactory(thread__corpus=corpus, profile=profile, text="z" * 900, username="V" * 100)
    runs = [
        tagging_run(corpus, [first], name="N" * 80, group="long", model="m" * 100, variant=name, cost=10**15)
        for name in ("tag_comment", "tag_brief", "tag_" + "v" * 60)
    ]
    judge = check_run(corpus, name="C" * 80)
    for run, letter in zip(runs, "abc", strict=True):
        check(judge, tag(run, first, "occupation", letter * 200, "y" * 200), 0, 0)
    asked = f"?q={'q' * 200}&author={'u' * 100}"
    return [
        reverse("tagging_new", args=[corpus.public_id]),
        reverse("tagging_new", args=[corpus.public_id]) + asked,
        reverse("tagging_new", args=[corpus.public_id]) + "?state=active",
        reverse("tag_compare", args=[corpus.public_id]),
        reverse("tag_compare", args=[corpus.public_id]) + "?group=long",
        reverse("tag_checks", args=[corpus.public_id]),
        reverse("tag_checks", args=[corpus.public_id]) + f"?by={judge.public_id}&attribute=age",
        reverse("tag_check_new", args=[corpus.public_id]),
    ]


def author_pages(corpus: Corpus, admin: User) -> list[str]:
    """The authors, and one whose labels contradict each other in long words: imported, answered, decided."""
    made = [CommentFactory(thread__corpus=corpus, username="A" * 100, text="z" * 400) for _ in range(3)]
    queue = queue_over(corpus, name="Z" * 80)
    for comment, reviewer, words in ((made[0], "", "v" * 1000), (made[1], "r" * 100, "u" * 1000)):
        annotation = Annotation.objects.create(
            comment=comment,
            item=None if reviewer else queue.items.get(comment=comment),
            person=None if reviewer else admin,
            reviewer=reviewer,
            submitted_at=timezone.now(),
        )
        annotation.labels.create(
            attribute="occupation", state="value", value=words, hardness=2, outcome="added"
        )
    Decision.objects.create(
        item=queue.items.get(comment=made[2]),
        attribute="occupation",
        state="value",
        value="t" * 1000,
        hardness=4,
        reason="edge",
        by=admin,
    )
    return [reverse("authors", args=[corpus.public_id]), reverse("author", args=[made[0].public_id])]


def leaving_pages(corpus: Corpus, queue: Queue) -> list[str]:
    """The pages of people who leave and of the trash, with long names in all."""
    person = MembershipFactory(person__username="p" * 150, corpus=CorpusFactory(name="W" * 80)).person
    closed = UserFactory(username="q" * 150, email="e" * 64 + "@example.org", is_active=False)
    trashed = {"trashed_at": timezone.now(), "trashed_by": person}
    Queue.objects.filter(pk=queue_over(corpus, name="T" * 80).pk).update(**trashed)
    CorpusFactory(name="V" * 80, **trashed)
    return [
        reverse("person_deactivate", args=[person.public_id]),
        reverse("person_reactivate", args=[closed.public_id]),
        reverse("person_erase", args=[person.public_id]),
        reverse("trash"),
        reverse("queue_trash", args=[queue.public_id]),
        reverse("corpus_trash", args=[corpus.public_id]),
    ]


def steering_pages(corpus: Corpus, admin: User) -> list[str]:
    """Making and steering a queue, with long words in its guidelines and known answers."""
    queue = queue_over(corpus, name="S" * 80)
    text = f"# {'h' * 200}\n\n`{'c' * 300}`\n\n    {'p' * 300}\n\n| {'t' * 200} | b |\n|---|---|\n| 1 | 2 |"
    for more in ("", "\n\n" + "n" * 400):
        guidelines.add_version(by=admin, queue=queue, text=text + more)
    for item in queue.items.all()[:2]:
        known = {"occupation": Known(State.VALUE, "o" * 200, 3, 4)}
        gold.know(by=admin, item=item, labels=known, why="y" * 500)
    asked = f"?q={'q' * 200}&author={'u' * 100}&tagger={'m' * 100}"
    return [
        reverse("queue_create", args=[corpus.public_id]) + asked,
        reverse("queue_create", args=[corpus.public_id]) + "?state=active",
        reverse("queue_settings", args=[queue.public_id]),
        reverse("queue_people", args=[queue.public_id]) + "?people=3",
        reverse("queue_guidelines", args=[queue.public_id]),
        reverse("queue_guidelines", args=[queue.public_id]) + "?version=2",
        reverse("review_guidelines", args=[queue.public_id]),
        reverse("queue_gold", args=[queue.public_id]) + "?q=reply",
        reverse("queue_gold", args=[queue.public_id]) + f"?item={item.public_id}",
    ]


def overview_pages(corpus: Corpus, admin: User) -> list[str]:
    """A queue's overview with people, holds, skips, corrections and slips, with long words in all."""
    queue = queue_over(corpus, name="O" * 80)
    person = MembershipFactory(person__username="r" * 150).person
    worked_in(queue, person, admin, tagger="g" * 100)
    return [
        reverse("queue_overview", args=[queue.public_id]),
        reverse("queue_person", args=[queue.public_id, person.public_id]),
        reverse("queue_person", args=[queue.public_id, person.public_id]) + "?state=skipped",
    ]


def adjudication_pages(corpus: Corpus) -> list[str]:
    """The pages of adjudication, with long values, notes and quotes in all: to decide, settled, agreed."""
    queue = queue_over(corpus, name="J" * 80, people=2)
    differ, settled, agreed, flagged = list(queue.items.all()[:4])
    quote = (differ.comment.public_id, 0, 400, "q" * 400)
    for person, words in zip(labelers(2), ("v" * 200, "w" * 200), strict=True):
        said = {"occupation": value(words, quotes=[quote]), "sex": value("male", len(words) % 5 + 1)}
        answer(person, differ, note="n" * 2000, **said)
        answer(person, settled, occupation=value(words))
        answer(person, agreed, occupation=value("v" * 200))
    for item in (differ, flagged):
        Flag.objects.create(item=item, person=labelers(1)[0], attribute="city_country", note="f" * 500)
        Item.objects.filter(pk=item.pk).update(flagged=True)
    Item.objects.filter(pk=settled.pk).update(agreement="settled")
    Decision.objects.create(
        item=settled,
        attribute="occupation",
        state="value",
        value="d" * 200,
        reason="edge",
        note="e" * 500,
        guideline_gap=True,
        by=labelers(1)[0],
    )
    return [
        reverse("adjudication"),
        reverse("adjudication_queue", args=[queue.public_id]),
        reverse("adjudication_settle", args=[queue.public_id]),
        f"{decision_page(differ)}?model=1",
        decision_page(settled),
        decision_page(flagged),
    ]


def run_pages(corpus: Corpus) -> list[str]:
    """The pages of runs, with words of any length in them."""
    ProviderFactory(
        name="P" * 60,
        base_url="https://" + "h" * 200,
        key_variable="K" * 60 + "_API_KEY",
        default_model="m" * 100,
    )
    halted = scene(
        corpus,
        state="halted",
        name="N" * 80,
        reason="The cap of 5 calls is reached. " + "r" * 300,
        calls=1000,
    )
    halted.run.run_threads.update(external_id="t" * 100, reason="w" * 300)
    halted.write("w" * 400)
    halted.turn(StepState.READY, number=9)
    step = halted.skip(number=3, raw="x" * 3000)
    step.detail = "d" * 600
    step.save()
    halted.tell("e" * 400, "danger")
    tags = [{"attribute": "occupation", "guesses": ["g" * 300], "certainty": 4}]
    tagging = RunFactory(corpus=corpus, kind="tag", state="running")
    StepFactory(run=tagging, kind="tag", comment=halted.written[0], result={"tags": tags})
    CorpusFactory(name="C" * 80)
    RunPreset.objects.create(name="R" * 80, values={"typed_question": ["q" * 900]})
    call = ModelCallFactory(
        step=step, served_model="s" * 200, reply={"text": "y" * 2000, "raw": {"k": "z" * 900}}
    )
    return [
        reverse("runs"),
        reverse("presets"),
        reverse("run_choose"),
        reverse("run_new", args=[corpus.public_id]),
        reverse("tagging_new", args=[corpus.public_id]),
        reverse("run", args=[halted.run.public_id]),
        reverse("run_thread", args=[halted.run.public_id, "2"]),
        reverse("run", args=[tagging.public_id]),
        reverse("run_events", args=[halted.run.public_id]),
        reverse("run_call", args=[halted.run.public_id, call.public_id]),
        reverse("run_failures", args=[halted.run.public_id]) + "?reason=unreadable",
        reverse("run_persona", args=[halted.run.public_id]) + "?who=pers1",
        reverse("providers"),
        reverse("provider_new"),
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_scrolls_sideways_at_any_width(open_as, live_server, admin, addresses, scheme):
    page = open_as(admin, color_scheme=scheme)
    too_wide = []
    # Colours change no widths: in the dark a sample will do.
    for address in addresses if scheme == "light" else addresses[::4]:
        answer = page.goto(live_server.url + address)
        assert answer.status == 200, address
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                too_wide.append((page.title(), width))
    assert too_wide == [], "\n".join(f"{title}: {width}" for title, width in too_wide)


def test_the_page_weighs_little_and_asks_for_little(open_as, live_server, admin, addresses):
    page = open_as(admin)
    requests = []
    page.on("response", lambda answer: requests.append(answer))
    page.goto(
        live_server.url + next(one for one in addresses if one.startswith("/review/") and one.count("/") == 3)
    )
    assert len(requests) <= 12
    # Files go out compressed; pages do not, since they hold secrets beside what others wrote.
    sizes = [len(gzip.compress(one.body()) if "/static/" in one.url else one.body()) for one in requests]
    assert sum(sizes) <= 150 * 1024


def test_the_theme_of_the_person_wins_over_the_system_s(open_as, live_server, admin):
    admin.theme = "dark"
    admin.save()
    page = open_as(admin, color_scheme="light")
    page.goto(live_server.url + reverse("home"))
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_the_page_of_an_import_follows_it_without_a_reload(open_as, live_server, researcher, corpus):
    one = DataImport.objects.create(corpus=corpus, by=researcher, file_name="thread_age_1.json", path="")
    page = open_as(researcher)
    page.goto(live_server.url + reverse("import_status", args=[one.public_id]))
    expect(page.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    DataImport.objects.update(state="done", counts={"rows": [], "problems": 0})
    expect(page.get_by_role("heading", name="Imported")).to_be_visible()
