"""Many labelers at once on real web processes, with real logins: nothing is lost, doubled or given twice.

They skip, press twice, cut the connection, go away and come back late; meanwhile a web process is killed
and the master starts another. What the database holds in the end is compared with what each of them sent
and was answered. The test plays the clock: it lets the leases of those who went away lapse.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db.models import Count, Q
from django.utils import timezone

from annotation.models import Annotation, AnnotationEvent, Item, Queue, Slot, Submission, Suggestion, Tally
from annotation.services import claims, queues
from simulation.models import Comment, User
from synthpai_web import processes
from tests.factories.simulation import PASSWORD, MembershipFactory, ThreadFactory
from tests.integration.conftest import database_url, wait_until
from tests.labelers import KEYS, Answer, Connection, Labeler, Page, answers

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

PEOPLE_PER_ITEM = 2
TAKEN = (200, 302)
GUESSES = {"age": ["30", "35", "25"], "occupation": ["nurse", "midwife"], "sex": ["female", "male"]}


# --- The site


@dataclass
class Web:
    """gunicorn as in production, its log, and a way to kill one of its processes."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split()]

    def kill_a_worker(self, rng: random.Random) -> None:
        """Kills one; the master notices and starts another."""
        before = self.workers()
        os.kill(rng.choice(before), signal.SIGKILL)
        wait_until(lambda: len(set(self.workers()) - set(before)) == 1, what="a new web worker")


@pytest.fixture
def web(transactional_db: None, tmp_path: Path) -> Iterator[Web]:
    port = processes.free_port(8200)
    log = tmp_path / "web.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            processes.site(port)[0].command,
            env={**os.environ, "DATABASE_URL": database_url(), "REDIS_URL": settings.REDIS_URL},
            cwd=settings.BASE_DIR,
            stdout=out,
            stderr=out,
        )
    started = Web(port, process, log)
    try:
        wait_until(lambda: processes.answers(port) and len(started.workers()) == 2, what="the site")
        yield started
    finally:
        process.terminate()
        process.wait(15)
        sys.stdout.write(log.read_text()[-5000:])  # shown where the test fails


# --- What there is to do


def a_queue(items: int) -> Queue:
    thread = ThreadFactory()
    comments = Comment.objects.bulk_create(
        Comment(
            corpus=thread.corpus,
            thread=thread if number < 40 else ThreadFactory(corpus=thread.corpus),
            external_id=f"c{number}",
            username=f"Author{number % 30}",
            text=f"Comment {number}: since the night shift I sleep until noon.",
            sequence=number,
        )
        for number in range(items)
    )
    Suggestion.objects.bulk_create(
        Suggestion(comment=comment, attribute=key, guesses=guesses, hardness_word="direct", certainty=4)
        for comment in comments
        for key, guesses in GUESSES.items()
    )
    return queues.create(by=None, corpus=thread.corpus, name="round 1", people_per_item=PEOPLE_PER_ITEM)


def accounts(count: int) -> list[str]:
    """Labelers who may sign in; the slow hash is made once, since all have the same password."""
    hashed = PBKDF2PasswordHasher().encode(PASSWORD, "saltsaltsaltsaltsaltsa")
    names = [f"labeler{number}" for number in range(count)]
    for name in names:
        MembershipFactory(person__username=name, person__password=hashed)
    return names


# --- The labelers


@dataclass
class Press:
    """One submission as it left the browser, and whether the browser was told that it arrived."""

    page: Page
    fields: dict[str, str]
    acknowledged: bool = False


@dataclass
class Person:
    """One labeler at work: what they do is drawn from a seed, what comes of it is written down."""

    labeler: Labeler
    queue: str
    rng: random.Random
    left: str = ""
    """The item whose page was left without a word; the clock takes it back."""
    sent: dict[str, list[Press]] = field(default_factory=lambda: defaultdict(list))
    skipped: dict[str, str] = field(default_factory=dict)
    did: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    problem: BaseException | None = None

    def work(self, over: threading.Event) -> None:
        try:
            self.labeler.sign_in()
            while not over.is_set():
                try:
                    page = self.labeler.page or self.labeler.open(self.queue)
                    if page is None:
                        over.wait(0.2)  # all is with others, or done
                    else:
                        self._deal_with(page)
                except OSError:  # the web process was killed; a reload
                    self.did["cut off"] += 1
                    self.labeler.page = None
                    self.labeler.close()
        except BaseException as problem:  # noqa: BLE001 - told by the test
            self.problem = problem
        finally:
            self.labeler.close()

    def _deal_with(self, page: Page) -> None:
        ways = {
            self._submit: 68,
            self._skip: 8,
            self._press_twice: 10,
            self._cut: 8,
            self._go_away: 6,
        }
        act = self.rng.choices(list(ways), list(ways.values()))[0]
        self.did[act.__name__.strip("_")] += 1
        act(page)

    def _press(self, page: Page) -> Press:
        press = Press(page, answers(page, self.rng))
        self.sent[page.item].append(press)
        return press

    def _noted(self, press: Press, answer: Answer) -> None:
        self.statuses[answer.status] += 1
        press.acknowledged |= answer.status in TAKEN
        if answer.status not in (*TAKEN, 409):
            raise AssertionError(f"{answer.status} for {press.page.action}: {answer.body[:2000]!r}")

    def _submit(self, page: Page) -> None:
        self._sent_again(self._press(page))

    def _sent_again(self, press: Press) -> None:
        """Submits, as the page's script does: until the server answers."""
        while not press.acknowledged:
            try:
                answer = self.labeler.submit(press.page, press.fields)
            except OSError:
                self.did["sent again"] += 1
                continue
            self._noted(press, answer)
            if answer.status == 409:
                self.labeler.page = None
                return

    def _skip(self, page: Page) -> None:
        reason = self.rng.choice(["unreadable", "context", "upsetting", "knowledge", "other"])
        while page.item not in self.skipped:
            try:
                answer = self.labeler.skip(self.queue, page, reason, "as the test likes")
            except OSError:
                continue
            self.statuses[answer.status] += 1
            assert answer.status in TAKEN, f"skip: {answer.status}"
            self.skipped[page.item] = reason

    def _press_twice(self, page: Page) -> None:
        """The same submission over two connections at the same time."""
        press = self._press(page)
        lines = [Connection(self.labeler.host, self.labeler.port) for _ in range(2)]
        heard = []
        try:
            for line in lines:
                self._send(line, press)
            for line in lines:
                heard.append(line.receive(page.action))
        except OSError:
            self.did["cut while pressing twice"] += 1
        finally:
            for line in lines:
                line.close()
        for answer in heard:
            self._noted(press, answer)
        if heard:
            self.labeler.page = self.labeler.shown_after(heard[-1])
        else:
            self._sent_again(press)

    def _cut(self, page: Page) -> None:
        """The request is on its way, and nobody waits for the answer."""
        press = self._press(page)
        line = Connection(self.labeler.host, self.labeler.port)
        self._send(line, press)
        line.close()
        if self.rng.random() < 0.6:
            self._sent_again(press)
        else:
            self.labeler.page = None  # a reload: the next item, or the same one if it had not arrived

    def _go_away(self, page: Page) -> None:
        """No answer until others may have the item; then a late one, or a fresh start."""
        self.left = page.item
        time.sleep(self.rng.uniform(0.3, 1.2))
        self.left = ""
        if self.rng.random() < 0.5:
            self.did["late"] += 1
            self._submit(page)
        else:
            self.labeler.page = None

    def _send(self, line: Connection, press: Press) -> None:
        body = urlencode({**press.page.hidden, **press.fields, "act": "submit"}).encode()
        line.send("POST", press.page.action, {**self.labeler.headers(), "HX-Request": "true"}, body)


# --- The clock


def let_lapse(queue: Queue, crew: list[Person]) -> None:
    """Ends the leases of those who went away, and frees them as the beat does."""
    now = timezone.now()
    for person in crew:
        if left := person.left:
            # By key: a join would be looked up before the row is locked, and it may be done by then.
            item = Item.objects.get(queue=queue, public_id=left)
            who = User.objects.get(username=person.labeler.username)
            held = Slot.objects.filter(item=item, person=who, state=Slot.LEASED)
            held.update(leased_until=now - timedelta(seconds=1))
    claims.release_expired(queue=queue, now=now)


def see_through(web: Web, queue: Queue, crew: list[Person], *, kills: int, seconds: float) -> None:
    """Lets them work until nothing is left, kills web workers on the way."""
    over = threading.Event()
    threads = [threading.Thread(target=person.work, args=(over,)) for person in crew]
    wanted = Slot.objects.filter(queue=queue).count()
    moments = [wanted * (number + 1) // (kills + 1) for number in range(kills)]
    rng, end = random.Random(4), time.monotonic() + seconds
    for thread in threads:
        thread.start()
    try:
        while Slot.objects.filter(queue=queue, state__in=(Slot.OPEN, Slot.LEASED)).exists():
            assert not (problems := [person.problem for person in crew if person.problem]), problems
            assert time.monotonic() < end, f"not done within {seconds:.0f} s"
            if moments and Slot.objects.filter(queue=queue, state=Slot.DONE).count() >= moments[0]:
                moments.pop(0)
                web.kill_a_worker(rng)
            let_lapse(queue, crew)
            time.sleep(0.25)
    finally:
        over.set()
        for thread in threads:
            thread.join(30)
    assert not [thread for thread in threads if thread.is_alive()]
    assert not (problems := [person.problem for person in crew if person.problem]), problems
    assert not moments, "no web worker was killed"


# --- What must hold


def meant(fields: dict[str, str], key: str) -> tuple[str, str, int | None, int | None]:
    """State, value, hardness and certainty of what was filled in for one attribute."""
    choice = fields[f"{key}-choice"]
    if choice in ("none", "unsure"):
        return choice, "", None, None
    if choice == "other":
        value = fields[f"{key}-text"]
    elif choice.startswith("v:"):
        value = choice[2:]
    else:
        value = GUESSES[key][int(choice[1:])]
    return "value", value, int(fields[f"{key}-hardness"]), int(fields[f"{key}-certainty"])


def said(fields: dict[str, str]) -> dict[str, tuple[object, ...]]:
    return {key: meant(fields, key) for key in KEYS}


def check_slots(queue: Queue, *, most_kept: int) -> None:
    """Every item has had as many people as it wants, none of them twice; skipped slots were replaced."""
    slots = Slot.objects.filter(queue=queue)
    assert set(slots.values_list("state", flat=True)) <= {Slot.DONE, Slot.SKIPPED}
    counted = Item.objects.filter(queue=queue).annotate(
        done=Count("slots", filter=Q(slots__state=Slot.DONE)),
        people=Count("slots__person", distinct=True),
        rows=Count("slots"),
    )
    wrong = [(item.public_id, item.done, item.people, item.rows) for item in counted
             if item.done != PEOPLE_PER_ITEM or item.people != item.rows]  # fmt: skip
    assert wrong == []
    kept = Annotation.objects.filter(item__queue=queue)
    done = set(slots.filter(state=Slot.DONE).values_list("item", "person"))
    assert set(kept.filter(over_quota=False).values_list("item", "person")) == done
    assert not done & set(kept.filter(over_quota=True).values_list("item", "person"))
    assert kept.filter(over_quota=True).count() <= most_kept


def check_tallies(queue: Queue) -> None:
    slots = Slot.objects.filter(queue=queue)
    counted = {
        row["person"]: (row["done"], row["skipped"])
        for row in slots.values("person").annotate(
            done=Count("pk", filter=Q(state=Slot.DONE)), skipped=Count("pk", filter=Q(state=Slot.SKIPPED))
        )
    }
    rows = Tally.objects.filter(queue=queue)
    tallied = {row.person_id: (row.done, row.skipped) for row in rows.exclude(person=None)}
    assert {person: counts for person, counts in tallied.items() if any(counts)} == counted
    assert rows.get(person=None).slots == slots.count()


def check_answers(queue: Queue, crew: list[Person]) -> None:
    """Stored is what was acknowledged, and nothing that nobody sent."""
    people = dict(User.objects.values_list("pk", "username"))
    stored: dict[tuple[str, str], Annotation] = {}
    for row in Annotation.objects.filter(item__queue=queue).select_related("item").prefetch_related("labels"):
        assert row.item
        stored[people[row.person_id], row.item.public_id] = row
    arrived = {str(one.pk): one for one in Submission.objects.filter(annotation__item__queue=queue)}
    unknown = set(stored)
    for person in crew:
        name = person.labeler.username
        for item, presses in person.sent.items():
            told = [press for press in presses if press.acknowledged]
            unknown.discard((name, item))
            row = stored.get((name, item))
            assert row or not told, f"lost: {item} of {name}"
            if row is None:
                continue
            for press in told:
                assert arrived[press.page.submission].annotation_id == row.pk
            # Where several pages were sent, those cut off may have arrived at any time.
            allowed = [press for press in presses if not press.acknowledged] + told[-1:]
            labels = {
                one.attribute: (one.state, one.value, one.hardness, one.certainty) for one in row.labels.all()
            }
            assert labels in [said(press.fields) for press in allowed], f"{item} of {name} is another answer"
    assert unknown == set(), "answers that nobody sent"


def check_skips(queue: Queue, crew: list[Person]) -> None:
    """Skipped is what was skipped; an answer that had been cut off may have arrived before or after."""
    for person in crew:
        mine = Slot.objects.filter(queue=queue, person__username=person.labeler.username, state=Slot.SKIPPED)
        stored = dict(mine.values_list("item__public_id", "skip_reason"))
        assert stored.items() <= person.skipped.items()
        assert person.skipped.keys() - stored.keys() <= person.sent.keys()


def check_events(queue: Queue) -> None:
    """The labels can be rebuilt from the events, and none is there twice."""
    rebuilt: dict[int, dict[str, dict[str, object]]] = defaultdict(dict)
    for event in AnnotationEvent.objects.filter(annotation__item__queue=queue).order_by("id"):
        before = rebuilt[event.annotation_id].get(event.attribute)
        assert event.old == before, "an event that does not follow from the one before"
        rebuilt[event.annotation_id][event.attribute] = event.new
    for row in Annotation.objects.filter(item__queue=queue).prefetch_related("labels"):
        for label in row.labels.all():
            new = rebuilt[row.pk][label.attribute]
            assert {key: new[key] for key in ("state", "value", "hardness", "certainty", "outcome")} == {
                "state": label.state,
                "value": label.value,
                "hardness": label.hardness,
                "certainty": label.certainty,
                "outcome": label.outcome,
            }


@pytest.mark.parametrize(
    ("people", "items", "kills", "seconds"),
    [(8, 60, 1, 90), pytest.param(32, 2000, 8, 1500, marks=pytest.mark.faults)],
)
def test_every_slot_is_filled_once_whatever_labelers_and_processes_do(web, people, items, kills, seconds):
    queue = a_queue(items)
    names = accounts(people)
    crew = [
        Person(
            Labeler(processes.HOST, web.port, name, PASSWORD, timeout=30),
            f"/review/{queue.public_id}/",
            random.Random(number),
        )
        for number, name in enumerate(names)
    ]
    see_through(web, queue, crew, kills=kills, seconds=seconds)

    did: Counter[str] = sum((person.did for person in crew), Counter())
    assert min(did[what] for what in ("submit", "skip", "press_twice", "cut", "go_away", "late")) > 0, did
    check_slots(queue, most_kept=did["late"] + did["cut"])
    check_tallies(queue)
    check_answers(queue, crew)
    check_skips(queue, crew)
    check_events(queue)
    log = web.log.read_text()
    assert "Traceback" not in log, log[-3000:]
