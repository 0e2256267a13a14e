"""Colours of figures: those of the site's tokens (static/css/tokens.css), light and dark.

Series differ by colour and by marker, steps of a scale by shade and by the number written on them, so that a
figure reads in grey and for the colour-blind. Source of the hues: M. Okabe and K. Ito (2008), Color Universal
Design, made darker or lighter until they stand 3:1 against the ground.
"""

from __future__ import annotations

from dataclasses import dataclass

FONTS = (
    "-apple-system, 'Segoe UI Variable Text', 'Segoe UI', Roboto, 'Noto Sans', Ubuntu, Cantarell, "
    "'Liberation Sans', Arial, sans-serif"
)
"""The site's own stack (`--sans`): nothing is embedded, nothing is loaded."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


@dataclass(frozen=True)
class Theme:
    """One palette. `ramp` are five steps from little to much, `on_ramp` the ink that reads on each."""

    ground: str
    ink: str
    ink_2: str
    ink_3: str
    hair: str
    edge: str
    accent: str
    base: str
    faint: str
    series: tuple[str, ...]
    ramp: tuple[str, ...]
    on_ramp: tuple[str, ...]


LIGHT = Theme(
    ground="#ffffff",
    ink="#191e26",
    ink_2="#464f5d",
    ink_3="#5d6674",
    hair="#e2e6eb",
    edge="#858e9b",
    accent="#2b57cf",
    base="#7d4c00",
    faint="#d3d9e1",
    series=("#0067a3", "#b84f00", "#00785a", "#a8467c", "#7a6000", "#3a7fb5", "#464f5d", "#6738bd"),
    ramp=("#d7e2fa", "#adc4f4", "#7ea2eb", "#3f6ae0", "#21408f"),
    on_ramp=("#191e26", "#191e26", "#191e26", "#ffffff", "#ffffff"),
)
DARK = Theme(
    ground="#161a20",
    ink="#e8ebf0",
    ink_2="#b6beca",
    ink_3="#949eac",
    hair="#2a313b",
    edge="#6d7786",
    accent="#94b3ff",
    base="#f0c06a",
    faint="#38414d",
    series=("#6bb8f0", "#ff9d57", "#4fcfa4", "#f09ccb", "#e0c65c", "#a6d4f2", "#b6beca", "#c4abff"),
    ramp=("#213359", "#305298", "#3f6ae0", "#94b3ff", "#d7e2fa"),
    on_ramp=("#e8ebf0", "#e8ebf0", "#ffffff", "#161a20", "#161a20"),
)
THEMES = {"light": LIGHT, "dark": DARK}
