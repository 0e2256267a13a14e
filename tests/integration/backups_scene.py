"""An installation in which people have worked, and what its backups are compared by."""

from pathlib import Path

from django.db import transaction

from synthpai_web.backups import dump, tables
from tests.factories.annotation import queue_over
from tests.factories.overview import worked_in
from tests.factories.simulation import CommentFactory, MembershipFactory, ModelCallFactory

HOSTILE = "tab\there, back\\slash, \\N, “quotes”, nul-free \x01, 🙂 and a\nnew line\r"


def live_in(settings, tmp_path):
    """Answers, events, counts, calls, files; the settings that lead there."""
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.BACKUP_DIR = tmp_path / "backups"
    (settings.MEDIA_ROOT / "imports" / "x").mkdir(parents=True)
    (settings.MEDIA_ROOT / "imports" / "x" / "rows.jsonl").write_text("kept\n")
    people = [MembershipFactory(role="labeler").person for _ in range(2)]
    queue = queue_over(comments=6, people=2)
    worked_in(queue, *people)
    root = CommentFactory(thread__corpus=queue.corpus, text=HOSTILE)
    CommentFactory(thread=root.thread, parent=root, extra={"time": 1.10, "deep": [None, {"a": "\\"}]})
    ModelCallFactory()
    return settings


def digests():
    """Table -> rows and digest, as they are now."""
    with transaction.atomic():
        tables.fix_formats()
        keys = tables.keys_of_all()
        return {
            name: tables.digest(name, columns, keys.get(name, []))
            for name, columns in tables.columns_of_all().items()
        }


def back_up(settings, name="one.zip"):
    path = Path(settings.BACKUP_DIR) / name
    return path, dump.write(path)
