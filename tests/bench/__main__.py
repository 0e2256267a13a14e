"""`make bench`. Everything it needs it starts, and ends; see plan.py for what is measured.

python -m tests.bench [--scale small|full] [--keep] [--out var/bench.json] [--only levels,ahead,scale,weight]
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def environment() -> None:
    """As in production, but over plain HTTP on this machine; data of the bench live apart."""
    os.environ["SECRET_KEY"] = secrets.token_urlsafe(50)
    os.environ["SYNTHPAI_DEMO"] = "1"
    os.environ["SYNTHPAI_VAR"] = os.environ.get("BENCH_VAR", str(ROOT / "var" / "bench"))
    os.environ["DEBUG"] = os.environ["HTTPS"] = os.environ["PLAIN_STATIC"] = "0"
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.bench.settings"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--scale", choices=("small", "full"), default=os.environ.get("BENCH_SCALE", "small"))
    parser.add_argument("--keep", action="store_true", help="use, and leave, the seeded databases")
    parser.add_argument("--out", type=Path, default=ROOT / "var" / "bench.json")
    parser.add_argument(
        "--only",
        default="",
        help="some of: levels, ahead, scale, reading, weight, simulate, evaluate, exchange",
    )
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    environment()
    import django  # noqa: PLC0415 - after the environment

    from synthpai_web.start import attach_servers  # noqa: PLC0415

    attach_servers()
    django.setup()
    from tests.bench.running import run  # noqa: PLC0415

    return run(asked)


if __name__ == "__main__":
    sys.exit(main())
