"""What the review page weighs in a real browser, with an empty cache."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import sync_playwright

from synthpai_web.processes import HOST
from tests.bench.plan import PASSWORD
from tests.bench.processes import Site
from tests.browser.conftest import FLAGS, chromium


def weigh(site: Site, name: str) -> dict[str, Any] | None:
    """Requests, bytes on the wire, milliseconds to the first paint; None where there is no browser."""
    path = chromium()
    if path is None:
        return None
    base = f"http://{HOST}:{site.port}"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.goto(f"{base}/login/")
        page.fill("input[name=username]", name)
        page.fill("input[name=password]", PASSWORD)
        page.press("input[name=password]", "Enter")
        page.wait_for_url(lambda url: "/login/" not in url)
        found = _watched(page, base + site.queue)
        browser.close()
    return found


def _watched(page: Any, address: str) -> dict[str, Any]:
    parts: dict[str, dict[str, Any]] = {}
    watcher = page.context.new_cdp_session(page)
    watcher.send("Network.enable")
    watcher.send("Network.setCacheDisabled", {"cacheDisabled": True})
    watcher.on("Network.responseReceived", lambda it: parts.setdefault(it["requestId"], {}).update(_seen(it)))
    watcher.on(
        "Network.loadingFinished",
        lambda it: parts.setdefault(it["requestId"], {}).update(bytes=it["encodedDataLength"]),
    )
    page.goto(address, wait_until="networkidle")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null")
    seen = [
        part for part in parts.values() if "bytes" in part and not part.get("url", "").startswith("data:")
    ]
    return {
        "requests": len(seen),
        "kB": sum(part["bytes"] for part in seen) / 1000,
        "first_paint_ms": paint,
        "parts": sorted(seen, key=lambda part: -part["bytes"]),
    }


def _seen(event: dict[str, Any]) -> dict[str, Any]:
    answer = event["response"]
    return {"url": answer["url"], "status": answer["status"], "type": event["type"]}
