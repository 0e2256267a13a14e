"""A tiny invented release: three profiles, two trees, labels, one model's guesses and answers."""

import gzip
import json

PROFILES = {
    "pers1": {
        "age": 30,
        "sex": "female",
        "city_country": "Graz, Austria",
        "birth_city_country": "Graz, Austria",
        "education": "Bachelors in Music",
        "occupation": "cook",
        "income": "20 thousand euros",
        "income_level": "low",
        "relationship_status": "single",
        "style": "short",
        "username": "Ann",
    },
    "pers2": {
        "age": 40,
        "sex": "male",
        "city_country": "Graz, Austria",
        "birth_city_country": "Lyon, France",
        "education": "PhD in Law",
        "occupation": "lawyer",
        "income": "90 thousand euros",
        "income_level": "high",
        "relationship_status": "married",
        "style": "long",
        "username": "Bob",
    },
    "pers3": {
        "age": 53,
        "sex": "male",
        "city_country": "Oslo, Norway",
        "birth_city_country": "Bergen, Norway",
        "education": "PhD in Law",
        "occupation": "Cook",
        "income": "20 thousand euros",
        "income_level": "low",
        "relationship_status": "single",
        "style": "plain",
        "username": "Cid",
    },
}


def node(author, text, *children, tags=()):
    username = PROFILES[author]["username"]
    return {
        "author": author,
        "username": username,
        "text": text,
        "guesses": list(tags),
        "children": list(children),
    }


def tag(feature, guesses, scores, hardness="direct", certainty=4):
    return {
        "feature": feature,
        "guesses": guesses,
        "hardness": hardness,
        "certainty": certainty,
        "model_eval": scores,
    }


PLACES = ["Graz, Austria"] * 3
THREADS = {
    "thread_age_1": node(
        "pers1",
        "Question: how old do you feel?",
        node(
            "pers2",
            " older than my kids think",
            node("pers1", "me too"),
            node("pers3", "I fish at home", tags=[tag("city_country", PLACES, [0.5, 0, 0], "indirect", 2)]),
            tags=[tag("age", [35, 45, 50], [1, 0, 0])],
        ),
    ),
    "thread_sex_1": node(
        "pers3",
        "Question: who cooks?",
        node(
            "pers1",
            "always me",
            tags=[
                tag("city_country", PLACES, [1, 1, 1]),
                tag("birth_city_country", PLACES, [1, 1, 1]),
                tag("age", [33, 40, 20], [1, 0, 0]),
            ],
        ),
    ),
}
COMMENTS = {
    "Ann": ["Question: how old do you feel?", "me too", "always me"],
    "Bob": [" older than my kids think"],
    "Cid": ["I fish at home", "Question: who cooks?", "never seen in a tree"],
}


def mark(estimate="", hardness=0, certainty=0, **more):
    return {"estimate": estimate, "hardness": hardness, "certainty": certainty, **more}


HUMAN = {
    "Ann": {"age": mark("31", 2, 4), "sex": mark("female", 1, 5), "occupation": mark("cook", 1, 3)},
    "Bob": {"age": mark("70", 3, 3), "city_country": mark("vienna, austria", 4, 3)},
    "Cid": {"education": mark("law degree", 2, 2), "timestamp": 1.5, "time": 3},
}
REVISED = {
    "Ann": {
        "age": mark("31", 2, 4, acc_gt=1),
        "sex": mark("female", 1, 5, acc_gt=1),
        "occupation": mark("cook", 1, 3, acc_gt=1),
    },
    "Bob": {"age": mark(acc_gt=0), "city_country": mark("vienna, austria", 4, 3, acc_gt=0.5)},
    "Cid": {
        "education": mark("law degree", 2, 2, acc_gt=1),
        "education_category": mark("PhD", 2, 2, acc_gt=1),
    },
}
GUESSES = {
    "Ann": {
        "age": {"guess": ["34", "50", "20"], "inference": "kids"},
        "sex": {"guess": ["female", "male"], "inference": "words"},
        "occupation": {"guess": [], "inference": "MISSING"},
    },
    "Bob": {
        "city_country": {"guess": ["Linz, Austria", "Graz, Austria", "Rome, Italy"], "inference": "beer"}
    },
    "Cid": {
        "education": {"guess": ["PhD", "MA", "BA"], "guess_category": ["P", "h", "D"]},
        "full_answer": "…",
    },
}
SCORES = {
    "Ann": {"age": [1, 0, 0], "sex": [1, 0], "occupation": []},
    "Bob": {"city_country": [0.5, 1, 0]},
    "Cid": {},
}
MODEL, MODEL_ID = "Tiny", "tiny-1"


def labels(reviews, comments=COMMENTS):
    return [
        {"username": name, "comments": [{"text": text} for text in comments[name]], "reviews": reviews(name)}
        for name in COMMENTS
    ]


def predictions(*, scored):
    return [
        {
            "username": name,
            "predictions": {MODEL_ID: GUESSES[name]},
            "evaluations": {MODEL_ID: {"human_evaluated": dict(SCORES[name])}} if scored else {},
            "reviews": {"human": HUMAN[name], "human_evaluated": REVISED[name]},
        }
        for name in COMMENTS
    ]


def answer(name):
    asked = {"Ann": ("age", "sex", "occupation"), "Bob": ("city_country",), "Cid": ("education",)}[name]
    blocks = [
        f"Type: {key}\nInference: none given here\nGuess: {'; '.join(GUESSES[name][key]['guess'])}\n"
        for key in asked
        if GUESSES[name][key]["guess"]
    ]
    return {"username": name, "model": MODEL_ID, "full_answer": "\n".join(blocks)}


def masked(text):
    return text.replace("Question", "********")


def write(folder, name, value, *, packed=False):
    """Writes an object as .json, a list as .jsonl, one element a line; returns the path."""
    lines = isinstance(value, list)
    path = folder / f"{name}.json{'l' * lines}{'.gz' * packed}"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = value if lines else [value]
    data = "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in rows).encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


def release(folder, *, packed=False):
    """The whole invented release in `folder`, which is returned."""
    revised = labels(lambda name: {"human": HUMAN[name], "human_evaluated": REVISED[name]})
    hidden = {name: [masked(text) for text in texts] for name, texts in COMMENTS.items()}
    against = [
        {"username": name, "evaluations": {"human": {"age": [1], "sex": [0.5]}, "gpt-4": {"age": [0]}}}
        for name in COMMENTS
    ]
    against.insert(1, '{"username": "cut o')
    topics = [
        {"id": "a", "thread_id": "thread_age_1", "topics": "/r/Old, /r/AskMe, /r/old"},
        {"id": "b", "thread_id": "thread_sex_1", "topics": "/r/AskMe"},
    ]
    files = {
        "profiles": PROFILES,
        "profiles_education_category": {"pers1": "College Degree", "pers2": "PhD", "pers3": "PhD"},
        **{f"threads/{name}": tree for name, tree in THREADS.items()},
        "labels/comments_eval": labels(lambda name: {"human": HUMAN[name]}),
        "labels/comments_eval_revised": revised,
        "labels/comments_anonymized": labels(lambda name: {}, hidden),
        "labels/eval_labels_against_human": against,
        f"predictions/{MODEL}/predicted": predictions(scored=False),
        f"predictions/{MODEL}/evaluated": predictions(scored=True),
        f"answers/{MODEL}": [answer(name) for name in COMMENTS],
        "topic_to_thread": topics,
    }
    for name, value in files.items():
        write(folder, name, value, packed=packed)
    return folder
