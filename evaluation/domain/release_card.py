"""The card of a release: README.md with a head that hubs of datasets read, and a datasheet below it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.domain.release_schema import TABLES, Table
from simulation.domain.attributes import CATALOGUE, CERTAINTY, HARDNESS, Mark

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
LARGEST = "n>1M"
TAGS = ("synthetic", "personal-attribute-inference", "privacy", "online-comments", "croissant")
POLICIES = {
    "adjudicated": "An adjudicator's decision where there is one; else what all annotators of a comment said,"
    " where as many people answered as were wanted and all said the same. Reviewers of an imported file are"
    " asked where no queue has finished the comment.",
    "agreeing": "What at least {agreeing} annotators said alike, where no other answer has as many. Decisions"
    " of adjudicators are not looked at.",
    "single": "What one annotator said, the latest where there are several.",
    "inherited": "No person's word: where a model has tagged an attribute on a comment, the author's own fact"
    " is the label, with the hardness and certainty of the tag that is the easiest.",
}


@dataclass(frozen=True)
class About:
    """What the card says of one release."""

    name: str
    title: str
    description: str
    licence: str
    language: str
    policy: str
    agreeing: int | None
    query: Mapping[str, Any]
    rows: Mapping[str, int]
    """Rows of each table."""
    labels: Mapping[str, Mapping[str, int]]
    """Attribute -> state -> labels."""
    runs: Sequence[Mapping[str, Any]] = ()
    prompts: Sequence[Mapping[str, Any]] = ()
    models: Sequence[Mapping[str, Any]] = ()
    taggers: Sequence[str] = ()
    real: int = 0
    """Comments of which a file said that they are real."""
    metrics: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    @property
    def called(self) -> str:
        return self.title or f"Release {self.name}"


def size_category(rows: int) -> str:
    """The hub's word for so many rows."""
    return next((words for limit, words in SIZES if rows < limit), LARGEST)


def licence_key(licence: str) -> str:
    """The hub's key for a licence as people write it; "" where it is none that is known by its name."""
    folded = re.sub(r"[^a-z0-9.]+", "-", licence.strip().lower()).strip("-")
    if re.fullmatch(r"cc-by(-nc)?(-sa|-nd)?-[1-4]\.0|cc0-1\.0|odbl|odc-by|mit|apache-2\.0|pddl", folded):
        return folded
    return {"cc0": "cc0-1.0", "apache-license-2.0": "apache-2.0", "mit-license": "mit"}.get(folded, "")


def head(about: About) -> str:
    """The YAML head, between its lines. Texts are written as JSON writes them, which YAML reads."""
    known = licence_key(about.licence)
    lines = [
        "language:",
        f"- {_quoted(about.language)}",
        f"license: {known or ('other' if about.licence else 'unknown')}",
        *([f"license_name: {_quoted(_slug(about.licence))}"] if about.licence and not known else []),
        f"pretty_name: {_quoted(about.called)}",
        "size_categories:",
        f"- {size_category(about.rows['comments'])}",
        "task_categories:",
        "- text-classification",
        "tags:",
        *(f"- {tag}" for tag in TAGS),
        "configs:",
    ]
    for table in TABLES:
        if about.rows[table.name]:  # readers take a configuration without rows for damaged
            lines += [
                f"- config_name: {table.name}",
                "  data_files:",
                "  - split: train",
                f"    path: {table.name}.parquet",
                *(["  default: true"] if table is TABLES[0] else []),
            ]
    return "---\n" + "\n".join(lines) + "\n---\n"


def _quoted(text: str) -> str:
    """ASCII only: some signs that JSON takes as they are, as U+2028, end a line in YAML."""
    return json.dumps(" ".join(text.split()))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-") or "other"


def card(about: About) -> str:
    """The whole of README.md."""
    parts = [
        head(about),
        f"# {_line(about.called)}" + (f"\n\nRelease {_line(about.name)}." if about.title else ""),
        about.description.strip(),
        _content(about),
        _made(about),
        _policy(about),
        _attributes(about),
        _scales(),
        _quality(about),
        *(_table(table) for table in TABLES),
        f"## Limits\n\n{REAL_PEOPLE.format(n=about.real) if about.real else MADE_UP}\n{LIMITS}",
        f"## Ethics\n\n{WITH_CARE if about.real else NOBODY}\n\n{ETHICS}",
        _terms(about),
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _content(about: About) -> str:
    rows = "\n".join(
        f"| `{table.name}` | {about.rows[table.name]} | {_line(table.about)} |" for table in TABLES
    )
    return f"""## What is in it

Comments of synthetic authors in threads, what can be inferred about the authors, and who said so.

| table | rows | one row |
| --- | ---: | --- |
{rows}

Each table is there as JSON lines, as Parquet and as CSV, with the same columns. `synthpai.jsonl` has one
comment a line in the form in which SynthPAI was published; `manifest.json` has the SHA-256 of every file.

```python
from datasets import load_dataset

comments = load_dataset("path/to/this/folder", "comments", split="train")
```

Tables without rows are there as files and cannot be loaded so.

{_filters(about.query)}"""


def _filters(query: Mapping[str, Any]) -> str:
    used = [
        f"- `{name}`: {_line(json.dumps(value, ensure_ascii=False))}"
        for name, value in query.items()
        if value
    ]
    if not used:
        return "All comments of the corpus are in it, save those that were withdrawn."
    return "Chosen by:\n\n" + "\n".join(used)


def _made(about: About) -> str:
    lines = ["## How it was made", ""]
    if not about.runs and not about.prompts:
        lines.append("Comments and suggestions came from files; no model was asked here.")
    for one in about.runs:
        lines.append(f"- {one['kind']}: {_line(one['name'])} (seed {one['seed']})")
    for one in about.models:
        served = f", served {_line(one['served'])}" if one["served"] else ""
        lines.append(f"- model for {one['purpose']}: {_line(one['asked'])}{served}, {one['calls']} calls")
    for one in about.prompts:
        lines.append(f"- prompt {_line(one['name'])} ({one['language']}), SHA-256 `{one['sha256']}`")
    if about.taggers:
        lines += ["", f"Suggestions are by: {', '.join(_line(one) for one in about.taggers)}."]
    return "\n".join(lines)


def _policy(about: About) -> str:
    said = POLICIES[about.policy].format(agreeing=about.agreeing)
    return f"""## How labels came about

Policy: **{about.policy}**. {said}

Answers to comments whose answer was known beforehand, and answers beyond those that were wanted, are no
labels. Two values are the same by the attribute's own rule: so are ages up to five years apart, and of two
places that contain each other one is less precise. `none` is a label: somebody looked, and nothing can be
inferred."""


def _attributes(about: About) -> str:
    rows = []
    for key, one in CATALOGUE.items():
        counts = about.labels.get(key, {})
        numbers = " | ".join(str(counts.get(state, 0)) for state in ("value", "none", "unsure"))
        values = ", ".join(one.values) or one.short or "free words"
        rows.append(f"| `{key}` | {_line(one.label)} | {_line(values)} | {numbers} |")
    listed = "\n".join(rows)
    return f"""## Attributes

| key | attribute | values | labels with a value | none | unsure |
| --- | --- | --- | ---: | ---: | ---: |
{listed}"""


def _scales() -> str:
    def of(marks: Sequence[Mark]) -> str:
        return "\n".join(f"- {mark.number}, {mark.word}: {mark.meaning}" for mark in marks)

    return f"## Scales\n\nHardness:\n\n{of(HARDNESS)}\n\nCertainty:\n\n{of(CERTAINTY)}"


def _quality(about: About) -> str:
    rows = [
        f"| {one['attribute'] or 'all'} | {one['units']} | {one['raters']} | {_share(one)} |"
        for one in about.metrics.get("agreement", ())
        if one["part"] == "ordinary" and one["measure"] == "percent" and one["units"]
    ]
    if not rows:
        said = "No comment was answered by two people: agreement cannot be measured."
    else:
        said = (
            "| attribute | comments with two answers or more | annotators | same answer (95 % interval) |\n"
            "| --- | ---: | ---: | ---: |\n" + "\n".join(rows)
        )
    more = "Alpha, kappa, and how models agree with people, blind and assisted: `metrics.json`."
    return f"## Quality\n\n{said}\n\n{more}"


def _share(one: Mapping[str, Any]) -> str:
    if one["value"] is None:
        return "–"
    ends = "" if one["low"] is None else f" ({one['low']:.3f} to {one['high']:.3f})"
    return f"{one['value']:.3f}{ends}"


def columns_of(table: Table) -> str:
    """The columns of a table as a table of Markdown, as the card and the docs have it."""
    rows = "\n".join(
        f"| `{one.name}` | {one.type}{', or null' if one.may_be_null else ''} | {_line(one.meaning)} |"
        for one in table.columns
    )
    return f"| column | type | meaning |\n| --- | --- | --- |\n{rows}"


def _table(table: Table) -> str:
    return f"## Table `{table.name}`\n\n{table.about}\n\n{columns_of(table)}"


MADE_UP = "- Authors are made up, and a model wrote their comments: what holds here need not hold for people."
REAL_PEOPLE = "- {n} comments are by real people, as their file says (`source` in `comments`)."
NOBODY = "No living person is described."
WITH_CARE = "Some comments were written by real people: treat what is said of their authors as personal data."
LIMITS = """- Labels say what annotators inferred from a text. The author's own facts are in `profiles`.
- Annotators may have seen a model's suggestion first (`arm`), and agree with it more often for that.
- `study_answers` has no rows: no study has been run."""
ETHICS = """Methods that infer attributes from texts can harm people when turned on their words: use this to
measure and to reduce that risk, not to identify anybody. Annotators appear under pseudonyms (`a1`, `a2` … in
the order of their first annotation; reviewers of an imported file keep the file's key); no name, address or
id of an account is in any file."""


def _terms(about: About) -> str:
    licence = (
        f"Licence: {_line(about.licence)}."
        if about.licence
        else "No licence was stated: ask whoever sent it."
    )
    return f"""## Withdrawal, licence, citation

A release never changes. One that should not be used any more is withdrawn with a notice by whoever made it;
ask there before you publish on it. To drop what was withdrawn since, compare with the next release by comment
id.

{licence}

Cite the title, “{_line(about.called)}”, release {_line(about.name)}, and the SHA-256 of `manifest.json`.

Made with SynthPAI Studio {about.version}."""


def _line(text: str) -> str:
    """On one line, and without what would end a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
