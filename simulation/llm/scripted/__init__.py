"""The scripted model: a provider that needs no network and no money, and that is no language model.

It writes from banks of sentences (`data/*.toml`) and tags by looking for them again, so runs can be shown,
tested and measured offline. What it finds out about an author says nothing about what a real model would.
"""

from simulation.llm.scripted.comments import planted
from simulation.llm.scripted.facts import Clue
from simulation.llm.scripted.finding import clues_in
from simulation.llm.scripted.model import SERVED, SMALL, ScriptedModel

__all__ = ["SERVED", "SMALL", "Clue", "ScriptedModel", "clues_in", "planted"]
