"""Runs a coroutine from a test. The test's thread may have a loop already: the browser driver's."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def finish(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """The coroutine's result, or what it raises."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
