"""The published data, found by SYNTHPAI_DATA; without it the tests that need them are skipped, loudly."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("SYNTHPAI_DATA") or "/nonexistent")

needs_published_data = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="NO PUBLISHED DATA: set SYNTHPAI_DATA to its folder to run this test"
)
