"""A corpus of goatherds that numbers can be worked out of by hand, and chatter to tell apart."""

import json
import random

from simulation.models import Profile
from tests.factories.simulation import CommentFactory, ProfileFactory, ThreadFactory

WORDS = [f"word{number}" for number in range(60)]


def profile(corpus, age, sex, home, **more):
    return ProfileFactory(
        corpus=corpus,
        facts={"age": age, "sex": sex, "city_country": home, "birth_city_country": home, **more},
    )


def goats_in(corpus):
    """A thread of four comments by two authors and one of one; three profiles, one of which wrote nothing."""
    tilda = profile(corpus, 31, "female", "Graz, Austria", occupation="goatherd")
    bragg = profile(corpus, 47, "male", "Graz, Austria", occupation="goatherd")
    profile(corpus, 47, "female", "Oslo, Norway")
    ProfileFactory(corpus=corpus, facts={"age": 99}, state=Profile.REJECTED)
    thread = ThreadFactory(corpus=corpus, external_id="thread_age_1", target_phrase="age")
    root = CommentFactory(thread=thread, profile=tilda, text="who lost keys")
    first = CommentFactory(thread=thread, parent=root, profile=bragg, text="me me")
    CommentFactory(thread=thread, parent=first, profile=tilda, text="keys")
    CommentFactory(thread=thread, parent=root, profile=bragg, text="never")
    other = ThreadFactory(corpus=corpus, external_id="odd", extra={"topics": ["/r/Goats", "/r/keys"]})
    CommentFactory(thread=other, profile=bragg, text="rain again")
    return corpus


def fill(corpus, n):
    for number in range(n):
        who = profile(corpus, 20 + number, "male", "Graz, Austria")
        thread = ThreadFactory(corpus=corpus)
        root = CommentFactory(thread=thread, profile=who, text=f"goat {number}")
        CommentFactory(thread=thread, parent=root, profile=who)


def chatter(corpus, *, authors=12, each=3, mark="", seed=1):
    rng = random.Random(seed)
    for _ in range(authors):
        who = ProfileFactory(corpus=corpus)
        thread = ThreadFactory(corpus=corpus)
        for _ in range(each):
            CommentFactory(
                thread=thread, profile=who, text=" ".join([*rng.choices(WORDS, k=8), mark]).strip()
            )


def lines(n=12, mark="", seed=2, each=3):
    rng = random.Random(seed)
    return [
        json.dumps({"text": " ".join([*rng.choices(WORDS, k=8), mark]), "author": f"a{who}"}).encode()
        for who in range(n)
        for _ in range(each)
    ]
