"""What others read of a release: a library of datasets by the card's head, Croissant's by its description."""

import json
import warnings

import pytest

from annotation.exchange.dataset import import_paths
from simulation.models import Corpus
from tests.annotation.exchange.samples import row
from tests.evaluation.release_scene import Reviewed, hostile_corpus, lines, make, write_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """Libraries of hubs stay on this machine, and leave their caches in the test's folder."""
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))


@pytest.fixture
def folder(tmp_path):
    make(
        Reviewed(tmp_path).corpus,
        tmp_path / "release",
        title="Talk: at the “harbour” #1",
        licence="CC BY-NC-SA 4.0",
        description="Invented.\n\n---\n\nNot a head.",
    )
    return tmp_path / "release"


@pytest.mark.parametrize("name", ["comments", "suggestions", "annotations", "labels", "profiles"])
def test_one_line_loads_a_table(offline, folder, tmp_path, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from datasets import load_dataset  # noqa: PLC0415 - reads the environment

        read = load_dataset(str(folder), name, split="train", cache_dir=str(tmp_path / "cache"))
        assert read.to_list() == lines(folder, name)


def test_the_card_names_what_can_be_loaded(offline, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from datasets import get_dataset_config_names  # noqa: PLC0415 - as above

        found = get_dataset_config_names(str(folder))
    assert found == ["comments", "suggestions", "annotations", "labels", "profiles"]


def test_the_hub_reads_the_head_of_the_card(offline, folder):
    from huggingface_hub import DatasetCard  # noqa: PLC0415 - as above

    head = DatasetCard.load(folder / "README.md").data
    assert head.pretty_name == "Talk: at the “harbour” #1"
    assert (head.license, head.language, head.size_categories) == ("cc-by-nc-sa-4.0", ["en"], ["n<1K"])


def test_croissant_is_valid_and_its_records_can_be_read(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mlcroissant  # noqa: PLC0415 - warns when it is imported

        described = mlcroissant.Dataset(jsonld=folder / "croissant.json")
        issues = described.metadata.ctx.issues
        assert not issues.errors
        assert [one for one in issues.warnings if "datePublished" not in one] == []
        for name in ("comments", "suggestions", "labels", "profiles"):
            told = lines(folder, name)
            read = list(described.records(record_set=name))
            assert len(read) == len(told)
        first = next(iter(described.records(record_set="comments")))
        assert first["comments/id"] == b"c0"
        evidence = [one["labels/evidence"] for one in described.records(record_set="labels")]
        assert any(evidence)


def test_croissant_names_the_digest_of_every_table(folder):
    said = json.loads((folder / "croissant.json").read_text("utf-8"))
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    named = {one["name"]: one["sha256"] for one in said["distribution"]}
    assert {"comments.parquet", "labels.jsonl", "synthpai.jsonl"} < set(named)
    assert all(manifest["files"][name]["sha256"] == digest for name, digest in named.items())


def test_the_card_is_one_whatever_is_written_into_it(tmp_path):
    corpus = hostile_corpus(tmp_path)
    make(
        corpus,
        tmp_path / "out",
        title='Quotes " and | and: --- \n# no heading',
        licence="our own: ask | us",
        query={"threads": ["thread_age_1"]},
    )
    text = (tmp_path / "out/README.md").read_text("utf-8")
    head = text.split("---\n")[1]
    assert "license: other\nlicense_name: " in head
    assert '# Quotes " and \\| and: --- # no heading' in text
    assert '- `threads`: ["thread_age_1"]' in text
    for words in (
        "## Limits",
        "## Ethics",
        "## Quality",
        "## Scales",
        "## Attributes",
        "Policy: **adjudicated**",
    ):
        assert words in text


def test_the_card_does_not_call_real_people_made_up(tmp_path):
    rows = [row(0, source="real"), row(1, source="synthetic"), row(2)]
    assert import_paths(paths=[write_rows(tmp_path / "rows.jsonl", rows)], corpus_name="mixed").ok
    make(Corpus.objects.get(name="mixed"), tmp_path / "out")
    text = (tmp_path / "out/README.md").read_text("utf-8")
    assert "- 1 comments are by real people" in text
    assert "No living person" not in text
    assert [one["source"] for one in lines(tmp_path / "out", "comments")] == ["real", "synthetic", None]
