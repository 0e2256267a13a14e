"""The shape of the house: lock, queues, migrations, docs, template safety."""

import ast
import re
import tomllib
from io import StringIO
from pathlib import Path

import pytest
from celery import current_app
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import call_command

ROOT = Path(__file__).resolve().parents[2]
APPS = ("simulation", "annotation", "evaluation", "synthpai_web")


UNLOCKED = {
    "presidio": "opt-in and large: it brings spaCy and a model of it",
    "embedder": "opt-in and large: it brings NumPy and Hugging Face tokenizers for one optional number",
    "real-model": "opt-in and large: nothing but `make test-real-model` installs it",
}
"""Extras that the lock leaves out, each with the reason. In place of a digest they name exact versions."""


def modules():
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            if "migrations" not in path.parts:
                yield path


def test_the_lock_names_every_package_with_a_digest_and_no_address():
    lock = (ROOT / "requirements.lock").read_text()
    assert "://" not in lock
    packages = re.findall(r"^[a-z0-9][\w.-]*==", lock, re.M)
    assert len(packages) > 40
    assert lock.count("--hash=sha256:") >= len(packages)


def test_every_dependency_says_why_it_is_there():
    text = (ROOT / "pyproject.toml").read_text()
    listed = re.findall(r'^  "[\w\[\],.-]+[><=].*$', text, re.M)
    assert len(listed) > 20
    assert [line for line in listed if "#" not in line] == []


def test_every_dependency_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lock = (ROOT / "requirements.lock").read_text().lower()
    extras = project["optional-dependencies"]
    locked = [wanted for extra, listed in extras.items() if extra not in UNLOCKED for wanted in listed]
    assert len(locked) > 10
    for wanted in [*project["dependencies"], *locked]:
        name = re.match(r"[\w.-]+", wanted)[0]
        assert re.search(rf"^{re.escape(name.lower())}==", lock, re.M), name


def test_an_extra_that_is_not_locked_has_a_reason_and_names_exact_versions():
    text = (ROOT / "pyproject.toml").read_text()
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    assert set(UNLOCKED) <= set(extras)
    for extra, reason in UNLOCKED.items():
        assert reason
        assert [wanted for wanted in extras[extra] if not re.fullmatch(r"[\w.-]+==[\w.]+", wanted)] == []


def test_every_task_has_a_queue_that_a_worker_listens_to():
    current_app.loader.import_default_modules()
    tasks = [name for name in current_app.tasks if name.split(".")[0] in APPS]
    assert tasks
    for name in tasks:
        queue = current_app.amqp.router.route({}, name)["queue"].name
        assert queue in settings.CELERY_TASK_QUEUES_NAMES, name
        assert any(
            re.fullmatch(pattern.replace("*", ".*"), name) for pattern in settings.CELERY_TASK_ROUTES
        ), f"name a queue for {name} in CELERY_TASK_ROUTES"


def test_everything_on_the_clock_is_a_task_that_exists():
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        assert entry["task"] in current_app.tasks


@pytest.mark.django_db
def test_models_and_migrations_agree():
    call_command("makemigrations", check=True, dry_run=True, stdout=StringIO())


def test_migrations_are_named_for_what_they_do():
    for app in APPS:
        for path in (ROOT / app).glob("migrations/0*.py"):
            assert "_auto_" not in path.name, path


def test_no_module_is_too_long_and_no_function_unfinished():
    for path in modules():
        text = path.read_text()
        assert text.count("\n") <= 400, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno - node.lineno < 60, f"{path}: {node.name}"


def test_public_functions_of_the_rules_have_docstrings():
    for folder in ("simulation/domain", "annotation/domain", "simulation/services", "annotation/services"):
        for path in (ROOT / folder).glob("*.py"):
            tree = ast.parse(path.read_text())
            assert not path.read_text().strip() or ast.get_docstring(tree), path


def test_no_template_trusts_text():
    for path in (ROOT / "templates").rglob("*.html"):
        text = path.read_text()
        assert "|safe" not in text, path
        assert "autoescape off" not in text, path


def test_every_static_file_that_a_page_names_exists():
    named = set()
    for path in (ROOT / "templates").rglob("*.html"):
        named.update(re.findall(r"{% static '([^']+)' %}", path.read_text()))
    assert len(named) >= 4
    assert [name for name in named if finders.find(name) is None] == []


def test_pages_carry_no_inline_script_or_style():
    for path in (ROOT / "templates").rglob("*.html"):
        text = path.read_text()
        assert not re.search(r"<script(?![^>]*\bsrc=)", text), path
        assert "<style" not in text, path
        assert not re.search(r"\s(style|on\w+)=", text), path


def test_no_code_asks_the_clock_in_a_default_argument():
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                defaults = [*node.args.defaults, *[one for one in node.args.kw_defaults if one]]
                assert not any(isinstance(one, ast.Call) for one in defaults), f"{path}: {node.name}"


def test_logs_and_records_never_use_print():
    for path in modules():
        if "commands" in path.parts:
            continue
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        assert not any(
            isinstance(call.func, ast.Name) and call.func.id == "print"
            for call in calls
            if path.name != "__main__.py"
        ), path
