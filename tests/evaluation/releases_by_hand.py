"""A release with files written by hand: what a page, a comparison or a check has to read."""

import hashlib
import json

from evaluation.models import Release

TABLES = ("comments", "suggestions", "annotations", "labels", "profiles")


def comment(number, text="a comment", **more):
    return {"id": f"c{number}", "thread_id": "t1", "author": "p1", "text": text, "state": "active", **more}


def label(number, value, attribute="age", **more):
    said = {"comment_id": f"c{number}", "attribute": attribute, "state": "value", "value": value}
    return {**said, "hardness": 2, "certainty": 3, "basis": "agreed", "people": 1, "decided": False, **more}


def annotation(number, value, annotator="a1", attribute="age"):
    said = {"comment_id": f"c{number}", "annotator": annotator, "attribute": attribute}
    return {**said, "state": "value", "value": value, "queue": "q"}


def suggestion(number, *guesses, tagger="imported", attribute="age"):
    return {
        "comment_id": f"c{number}",
        "attribute": attribute,
        "tagger": tagger,
        "run": None,
        "guesses": guesses,
    }


def written(folder, more=None, **tables):
    """Writes the tables into a folder, with their manifest; returns the manifest."""
    folder.mkdir(parents=True)
    files = {}
    texts = {f"{name}.jsonl": lines(tables.get(name, ())) for name in TABLES} | (more or {})
    for name, text in texts.items():
        (folder / name).write_text(text)
        files[name] = {
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
            "bytes": len(text.encode()),
            "rows": text.count("\n") if name.endswith(".jsonl") else None,
        }
    counts = {name: len(tables.get(name, ())) for name in TABLES}
    manifest = {"files": files, "counts": counts}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return manifest


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def ready(corpus, root, name="1.0", *, more=None, query=None, policy="adjudicated", agreeing=None, **tables):
    """A release that is ready, with these rows in its tables, below `root`."""
    folder = f"releases/{corpus.pk}-{name}"
    manifest = written(root / folder, more, **tables)
    digest = hashlib.sha256((root / folder / "manifest.json").read_bytes()).hexdigest()
    one = Release.objects.create(
        corpus=corpus,
        name=name,
        title=corpus.name,
        query=query or {},
        policy=policy,
        agreeing=agreeing,
        licence="CC-BY-4.0",
    )
    one.state, one.folder, one.manifest, one.digest = Release.READY, folder, manifest, digest
    one.size = sum(path.stat().st_size for path in (root / folder).iterdir())
    one.started_at = one.ended_at = one.created_at
    one.save()
    return one
