"""Fills the bench's database: a corpus of a given size with five suggestions a comment, people, a queue.

Run as `python -m tests.bench.seeding COMMENTS` on a database that was just made; prints one line of JSON.
"""

import json
import random
import sys
import time

import django

django.setup()

from django.core.management import call_command  # noqa: E402 - after the setup
from django.db import connection  # noqa: E402

from annotation.models import Slot  # noqa: E402
from annotation.services import queues  # noqa: E402
from simulation.domain.roles import Role  # noqa: E402
from simulation.models import Corpus, User  # noqa: E402
from simulation.services import people  # noqa: E402
from tests.bench.bare import TABLES  # noqa: E402
from tests.bench.plan import AHEAD, AHEAD_BY, LABELERS, PASSWORD, RARE, READER  # noqa: E402

A_THREAD = 76  # comments, as in the published threads
WORDS = """
the a my your it is was that this they we have been had not but so just really when where because about night
bus rent city work shift garden winter coffee school train dog kitchen neighbour weekend market river team
boss exam salary degree wedding sister uncle village harbour bread rain bicycle music hospital library
"""
GUESSES = {
    "age": (["30", "35", "25"], ["42", "38", "45"], ["19", "21", "23"]),
    "sex": (["female", "male"], ["male", "female"], ["female", "male"]),
    "city_country": (["Zurich, Switzerland", "Basel, Switzerland", "Bern, Switzerland"],) * 3,
    "birth_city_country": (["Lagos, Nigeria", "Abuja, Nigeria", "Accra, Ghana"],) * 3,
    "education": (["PhD", "Master's", "College Degree"], ["In College", "HS Diploma", "PhD"], ["PhD"]),
    "occupation": (["nurse", "midwife", "paramedic"], ["teacher", "librarian", "tutor"], ["bus driver"]),
    "income_level": (["middle", "low", "high"], ["low", "middle"], ["high", "very high", "middle"]),
    "relationship_status": (["single", "in a relationship", "married"], ["married", "engaged"], ["divorced"]),
}
PARTS = """
CREATE TEMP TABLE bench_text (n int PRIMARY KEY, text text);
CREATE TEMP TABLE bench_shape (n int PRIMARY KEY, parent int, depth int, place int);
CREATE TEMP TABLE bench_guess (a int, attribute text, v int, guesses jsonb, PRIMARY KEY (a, v));
"""
CORPUS = """
INSERT INTO simulation_profile (id, public_id, corpus_id, external_id, username, facts, style, extra, version,
                                created_at)
SELECT i, substr(md5('p' || i), 1, 12), %(corpus)s, 'pers' || i, 'Author' || i,
       jsonb_build_object('age', 18 + i %% 60, 'sex', CASE WHEN i %% 2 = 0 THEN 'female' ELSE 'male' END),
       'Writing style: terse.', '{}', 1, now()
FROM generate_series(1, %(profiles)s) AS i;
INSERT INTO simulation_thread (id, public_id, corpus_id, external_id, target_phrase, source, extra,
                               created_at)
SELECT t, substr(md5('t' || t), 1, 12), %(corpus)s, 'thread_' || t, 'age', 'tree', '{}', now()
FROM generate_series(1, (%(comments)s + %(shape)s - 1) / %(shape)s) AS t;
INSERT INTO simulation_comment (id, public_id, corpus_id, thread_id, parent_id, profile_id, external_id,
                                author, username, text, original_text, depth, position, sequence, state,
                                extra, created_at)
SELECT i, substr(md5('c' || i), 1, 12), %(corpus)s, 1 + (i - 1) / %(shape)s,
       CASE WHEN s.parent IS NULL THEN NULL ELSE i - s.n + s.parent END,
       1 + (i * 7919) %% %(profiles)s, 'comment_' || i, 'pers' || (1 + (i * 7919) %% %(profiles)s),
       'Author' || (1 + (i * 7919) %% %(profiles)s),
       b.text || CASE WHEN i %% %(every)s = 5 THEN ' ' || %(rare)s ELSE '' END,
       '', s.depth, s.place, i, 'active', '{}', now()
FROM generate_series(1, %(comments)s::bigint) AS i
JOIN bench_shape s ON s.n = (i - 1) %% %(shape)s
JOIN bench_text b ON b.n = (i * 104729) %% %(texts)s;
INSERT INTO annotation_suggestion (comment_id, tagger, attribute, position, guesses, hardness_word, hardness,
                                   certainty, extra, created_at)
SELECT i, 'imported', g.attribute, j, g.guesses, 'indirect', 2, 1 + (i * 7 + j * 3) %% 5, '{}', now()
FROM generate_series(1, %(comments)s::bigint) AS i CROSS JOIN generate_series(0, 4) AS j
JOIN bench_guess g ON g.a = (i + j) %% 8 AND g.v = (i / 8) %% 3;
INSERT INTO bench_task (id, position, text, state)
SELECT id, sequence, text, 'open' FROM simulation_comment;
"""
FILLED = ("simulation_profile", "simulation_thread", "simulation_comment", "annotation_suggestion")
SEARCH_INDEX = "SELECT indexdef FROM pg_indexes WHERE indexname = 'comment_words'"


def parts(rng: random.Random) -> dict[str, list[tuple[object, ...]]]:
    """Texts as long as the published ones, the shape of a thread, the guesses by attribute."""
    words = WORDS.split()
    texts = [" ".join(rng.choices(words, k=rng.randint(10, 45))).capitalize() + "." for _ in range(3000)]
    shape: list[tuple[object, ...]] = [(0, None, 0, 0)]
    depths = [0]
    for n in range(1, A_THREAD):
        parent = (n - 1) // 3
        depths.append(depths[parent] + 1)
        shape.append((n, parent, depths[n], (n - 1) % 3))
    guesses = [
        (a, attribute, v, json.dumps(words))
        for a, (attribute, kinds) in enumerate(GUESSES.items())
        for v, words in enumerate(kinds)
    ]
    return {"bench_text": list(enumerate(texts)), "bench_shape": shape, "bench_guess": guesses}


def fill(corpus: Corpus, comments: int) -> None:
    numbers = {
        "corpus": corpus.pk,
        "comments": comments,
        "profiles": max(300, comments // 26),
        "shape": A_THREAD,
        "texts": 3000,
        "rare": RARE,
        "every": max(comments // 20, 6),  # so that the rare word stands in twenty comments at any size
    }
    with connection.cursor() as cursor:
        cursor.execute(SEARCH_INDEX)
        index = cursor.fetchone()
        cursor.execute(TABLES + PARTS)
        # The rows below refer to rows that exist; five million checks of that would take longer than they do.
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SET maintenance_work_mem = '512MB'")
        if index:
            cursor.execute("DROP INDEX comment_words")
        for table, rows in parts(random.Random(7)).items():
            with cursor.copy(f"COPY {table} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        for statement in CORPUS.split(";\n"):
            if statement.strip():
                cursor.execute(statement, numbers)
        if index:
            cursor.execute(index[0])
        cursor.execute("SET session_replication_role = DEFAULT")
        for table in FILLED:
            cursor.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"
            )


def account(name: str, role: Role) -> User:
    return people.create_user(username=name, email=f"{name}@bench.invalid", password=PASSWORD, role=role)


def put_ahead(corpus: Corpus) -> str:
    """A queue for two people a comment in which one of them is far ahead of everybody else."""
    queue = queues.create(by=None, corpus=corpus, name="two a comment", people_per_item=2)
    person = User.objects.get(username=AHEAD)
    Slot.objects.filter(queue=queue, number=1, position__lte=AHEAD_BY).update(state=Slot.DONE, person=person)
    return str(queue.public_id)


def main(comments: int) -> None:
    took: dict[str, float] = {}
    started = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal started
        took[name], started = round(time.perf_counter() - started, 1), time.perf_counter()

    call_command("migrate", verbosity=0, interactive=False)
    lap("migrate")
    corpus = Corpus.objects.create(name=f"{comments} comments")
    fill(corpus, comments)
    lap("rows")
    for number in range(LABELERS):
        account(f"labeler{number}", Role.LABELER)
    account(AHEAD, Role.LABELER)
    account(READER, Role.RESEARCHER)
    queue = queues.create(by=None, corpus=corpus, name="one a comment", people_per_item=1)
    lap("queue")
    overlap = put_ahead(corpus) if comments <= 2 * AHEAD_BY * 2 else ""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    lap("vacuum")
    said = {"corpus": corpus.public_id, "queue": queue.public_id, "overlap": overlap, "seconds": took}
    print(json.dumps(said))


if __name__ == "__main__":
    main(int(sys.argv[1]))
