"""Acts that are written down: named alike, and each one in the table of the docs."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
APPS = ("simulation", "annotation", "evaluation", "synthpai_web")
NAME = re.compile(r"[a-z_]+\.[a-z_]+")
DOCS = ROOT / "docs" / "admins.md"


def literals(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may be: both of `a if b else c`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)


def acts() -> dict[str, str]:
    """Name of an act -> the file that writes it down."""
    found = {}
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" in path.parts or "management" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call):
                    for keyword in node.keywords:
                        if keyword.arg == "action":
                            found |= {
                                one: str(path.relative_to(ROOT))
                                for one in literals(keyword.value)
                                if "." in one
                            }
    return found


def test_the_walk_finds_the_acts():
    assert len(acts()) > 60


def test_every_act_is_a_noun_and_a_verb():
    assert not [name for name in acts() if not NAME.fullmatch(name)]


def test_every_act_stands_in_the_docs():
    written = set(re.findall(r"`([a-z_]+\.[a-z_]+)`", DOCS.read_text()))
    missing = {name: path for name, path in acts().items() if name not in written}
    assert not missing, f"Name these in docs/admins.md, “What is written down”: {missing}"
