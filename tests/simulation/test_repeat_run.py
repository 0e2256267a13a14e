"""The options of commands that take money, seeds and places: a sentence and status 2, never a traceback."""

import json

import pytest
from django.core.management import CommandError, call_command

from simulation.domain.money import NANO
from simulation.models import Run
from simulation.services import terminal
from tests.running import committing, start, work_off

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("text", "kept"),
    [("2.50", 2_500_000_000), ("$3", 3 * NANO), ("0", 0), ("none", None), ("None", None), (None, 7)],
)
def test_amounts_on_the_command_line(text, kept):
    assert terminal.money("--max-cost", text, default=7) == kept


@pytest.mark.parametrize("text", ["NaN", "sNaN", "Infinity", "abc", "", "-1", "9000000001", "1e400", "1,5"])
def test_what_is_no_amount_is_status_2(text):
    with pytest.raises(CommandError, match=r"^--max-cost .*: an amount in dollars") as refused:
        terminal.money("--max-cost", text)
    assert refused.value.returncode == terminal.USAGE


@pytest.mark.parametrize(
    ("how", "options", "said"),
    [
        ("again", ["--max-cost", "NaN"], "--max-cost NaN: an amount"),
        ("fork", ["--max-cost", "abc"], "--max-cost abc: an amount"),
        ("again", ["--max-calls", "0"], "from 1 to"),
        ("fork", ["--seed", "-1"], "--seed -1: a whole number from 0"),
        ("fork", ["--seed", str(2**63)], f"--seed {2**63}: a whole number from 0"),
        ("fork", ["--thread", "0"], "--thread 0: a whole number from 1"),
        ("fork", ["--thread", "2"], "no such thread"),
        ("fork", ["--thread", str(2**70)], "a whole number from 1"),
        ("fork", ["--turn", "-1"], "--turn -1: a whole number from 0"),
        ("fork", ["--turn", "999"], "A turn from 0 to"),
    ],
)
def test_a_wrong_option_starts_nothing(gateway, how, options, said):
    run = work_off(start())
    with pytest.raises(CommandError) as refused:
        call_command("repeat_run", how, run.public_id, "--here", "1", *options)
    assert said in str(refused.value)
    assert refused.value.returncode == terminal.USAGE
    assert Run.objects.count() == 1


@committing
def test_none_is_no_cap_in_money(gateway, capsys):
    run = work_off(start(max_cost=NANO))
    for how, cost, kept in (("again", "none", None), ("fork", "0.25", NANO // 4)):
        options = ["--max-cost", cost, "--here", "1", "--json"]
        call_command("repeat_run", how, run.public_id, *options)
        assert json.loads(capsys.readouterr().out)["state"] == "done"
        assert Run.objects.latest("pk").max_cost == kept
