"""Doors for the worker: ids in, one service call, done."""

from celery import shared_task

from simulation.services import engine
from simulation.services.simulating import Simulation


@shared_task
def advance_simulation(run_id: int) -> None:
    """Does one step of a simulation run. Too many messages do no harm: who finds nothing to do ends."""
    engine.advance(run_id=run_id, work=Simulation())


@shared_task
def sweep_runs() -> None:
    """Takes up runs and steps that a dead worker or a lost message left behind."""
    engine.sweep()
