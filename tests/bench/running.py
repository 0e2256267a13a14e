"""The run itself: seed, serve, measure, say."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.core.management import call_command

from synthpai_web.supervisor import ChildEnded, Stopped
from tests.bench import evaluating, exchanging, plan, processes, report, simulating, weight
from tests.bench.measuring import NAMES, Against, alternate, as_numbers, quantile
from tests.bench.plan import SIZES, Size
from tests.bench.processes import Client, Missed, Site
from tests.bench.report import Aim

SMALL, LARGE = "_bench", "_bench_large"
APART = ("simulate", "evaluate", "exchange")
"""Parts on databases of their own."""
PARTS = ("levels", "ahead", "scale", "reading", "weight", *APART)


@dataclass(frozen=True)
class Read:
    """A page of the corpus: its address behind that of the corpus, or, from “/” on, of the site."""

    name: str
    path: str = "comments/"
    aim: bool = True
    deep: bool = False
    """Begins behind nine tenths of the corpus."""
    fields: dict[str, str] = field(default_factory=dict)

    def at(self, site: Site) -> str:
        fields = dict(self.fields)
        if self.deep:
            fields["after"] = str(int(site.seeded["comments"]) * 9 // 10)
        path = self.path.format(queue=site.seeded["queue"])
        return f"{'' if path.startswith('/') else site.corpus}{path}?{urlencode(fields)}"


READS = (
    Read("first page"),
    Read("deep page", deep=True),
    Read("words, few hits", fields={"q": plan.RARE}),
    Read("words, half the corpus", fields={"q": "bus"}),
    Read("suggestions of one attribute", fields={"attribute": "age", "certainty_from": "4"}),
    Read("the same, deep", fields={"attribute": "age", "certainty_from": "4"}, deep=True),
    Read("few hits, filtered", fields={"q": plan.RARE, "attribute": "age", "certainty_from": "2"}),
    Read("reviewed here", fields={"said": "reviewed"}),
    Read("one author", fields={"author": "Author7"}),
    # Without an aim: what they show is of the whole corpus or queue.
    Read("(the corpus)", path="", aim=False),
    Read("(its authors)", path="authors/", aim=False),
    Read("(the queue's overview)", path="/queues/{queue}/", aim=False),
    Read("(home)", path="/", aim=False),
)


class Run:
    def __init__(self, size: Size, client: Client, small: Site, large: Site | None) -> None:
        self.size, self.client, self.small, self.large = size, client, small, large
        self.database = processes.postmaster()
        self.aims: list[Aim] = []
        self.found: dict[str, Any] = {}
        if self.database is None:
            say("The database server runs elsewhere: its CPU is not measured.")

    def compare(
        self,
        name: str,
        first: tuple[Site, str, list[str]],
        second: tuple[Site, str, list[str]],
        labels: tuple[str, str],
    ) -> Against:
        found = alternate(
            self.client,
            first,
            second,
            name=name,
            blocks=self.size.blocks,
            seconds=self.size.seconds,
            database=self.database,
        )
        self.found[name] = as_numbers(found)
        say(report.compared(found, *labels))
        return found

    def levels(self) -> None:
        for level in plan.LEVELS:
            people = NAMES[:level]
            name = f"submit + next page, {level} labeler{'s' * (level > 1)}"
            ours, bare = (self.small, self.small.queue, people), (self.small, "bare", people)
            found = self.compare(name, ours, bare, ("ours", "bare"))
            for part, most in (("p50", plan.P50), ("p95", plan.P95), ("cpu", plan.CPU)):
                self.aims.append(Aim(f"{name}: {part} against the bare pair", found.ratio(part), most))

    def ahead(self) -> None:
        self.client.sign_in(self.small, [plan.AHEAD])
        name = f"a labeler {plan.AHEAD_BY} ahead of the others, two people a comment"
        queue = self.small.overlap
        ahead, beginner = (self.small, queue, [plan.AHEAD]), (self.small, queue, NAMES[-1:])
        found = self.compare(name, ahead, beginner, ("ahead", "begins"))
        self.aims.append(Aim(f"{name}: p50", found.ratio("p50"), plan.AHEAD_PAIR))

    def scale(self) -> None:
        assert self.large
        people = NAMES[: plan.AT_SCALE]
        name = f"{self.size.large} comments against {self.size.small}, {len(people)} labelers"
        large, small = (self.large, self.large.queue, people), (self.small, self.small.queue, people)
        found = self.compare(name, large, small, ("large", "small"))
        self.aims.append(Aim(f"{name}: p95", found.ratio("p95"), plan.SCALE_PAIR))

    def reading(self) -> None:
        """Pages of a corpus by somebody who may see all of it, large against small."""
        assert self.large
        for site in (self.small, self.large):
            self.client.sign_in(site, [plan.READER])
        say(f"{'reading, p50 / p95 in ms':<44}{'small':>16}{'large':>16}{'ratio':>9}")
        for page in READS:
            pages = [(site.port, page.at(site)) for site in (self.small, self.large)]
            said = self.client.ask("read", name=plan.READER, pages=pages, times=self.size.reads)
            small, large = ({"p50": statistics.median(ms), "p95": quantile(ms, 0.95)} for ms in said["ms"])
            ratio = large["p95"] / small["p95"]
            self.found[f"reading: {page.name}"] = {"small": small, "large": large, "ratio": ratio}
            say(f"  {page.name:<42}{_pair(small):>16}{_pair(large):>16}{ratio:>9.2f}")
            if page.aim:
                what = f"reading, {page.name}: p95, large against small"
                self.aims.append(Aim(what, ratio, plan.SCALE_READING))

    def weight(self) -> None:
        found = weight.weigh(self.small, NAMES[0])
        self.found["weight"] = found
        if found is None:
            say("NO CHROMIUM: the weight of the page is not measured.")
        else:
            paint = "unknown" if found["first_paint_ms"] is None else f"{found['first_paint_ms']:.0f} ms"
            say(f"review page: {found['kB']:.1f} kB in {found['requests']} requests, first paint {paint}")
            for part in found["parts"]:
                say(f"  {part['bytes'] / 1000:>7.1f} kB  {urlsplit(part.get('url', '')).path}")
        kilobytes, requests = (found["kB"], found["requests"]) if found else (None, None)
        self.aims.append(Aim("the review page on the wire", kilobytes, plan.PAGE_KB, "kB"))
        self.aims.append(Aim("the review page", requests, plan.PAGE_REQUESTS, "requests"))


def _pair(took: dict[str, float]) -> str:
    return f"{took['p50']:.0f} / {took['p95']:.0f}"


def say(text: str) -> None:
    print(text, flush=True)


def run(asked: argparse.Namespace) -> int:
    """0 where every aim is met, 1 where one is missed, 2 where something did not work."""
    parts = asked.only.split(",") if asked.only else list(PARTS)
    if unknown := set(parts) - set(PARTS):
        say(f"--only knows {', '.join(PARTS)}; not {', '.join(sorted(unknown))}")
        return 2
    started = time.monotonic()
    try:
        aims, found = _all(asked, parts)
    except (Missed, ChildEnded) as problem:
        say(f"The bench came to no end: {problem}")
        return 2
    except Stopped:
        say("Stopped.")
        return 2
    finally:
        if not asked.keep:
            for suffix in (SMALL, LARGE):
                processes.drop(suffix)
    say("\n" + "\n".join(aim.line() for aim in aims))
    say(f"\n{report.verdict(aims)} ({time.monotonic() - started:.0f} s, {asked.scale})")
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    results = {
        "scale": asked.scale,
        "machine": {"processors": os.cpu_count(), "python": platform.python_version()},
        "aims": report.as_rows(aims),
        "found": found,
    }
    asked.out.write_text(json.dumps(results, indent=1))
    say(f"Written to {asked.out}")
    return int(any(aim.met is False for aim in aims))


def _all(asked: argparse.Namespace, parts: list[str]) -> tuple[list[Aim], dict[str, Any]]:
    aims: list[Aim] = []
    found: dict[str, Any] = {}
    if reviewing := [part for part in parts if part not in APART]:
        done = _measured(SIZES[asked.scale], reviewing, keep=asked.keep)
        aims, found = done.aims, done.found
    if "simulate" in parts:
        more, of_runs = simulating.measured(asked.scale, say)
        aims, found = aims + more, found | of_runs
    if "evaluate" in parts:
        more, of_results = evaluating.measured(asked.scale, say)
        aims, found = aims + more, found | of_results
    if "exchange" in parts:
        more, of_files = exchanging.measured(asked.scale, say)
        aims, found = aims + more, found | of_files
    return aims, found


def _measured(size: Size, parts: list[str], *, keep: bool) -> Run:
    call_command("collectstatic", verbosity=0, interactive=False)
    with ExitStack() as stack:
        small = stack.enter_context(processes.served(_seeded(SMALL, size.small, keep=keep)))
        large = None
        if {"scale", "reading"} & set(parts):
            large = stack.enter_context(processes.served(_seeded(LARGE, size.large, keep=keep)))
        client = stack.enter_context(Client())
        for site, names in ((small, NAMES), (large, NAMES[: plan.AT_SCALE])):
            if site:
                client.sign_in(site, names)
        found = Run(size, client, small, large)
        sites = [(site, site.stored()) for site in (small, large) if site]
        for part in parts:
            getattr(found, part)()
        for site, before in sites:
            told, stored = site.worked[site.queue], site.stored() - before
            if told != stored:
                raise Missed(f"{told} answers were acknowledged and {stored} are stored")
    return found


def _seeded(suffix: str, comments: int, *, keep: bool) -> dict[str, Any]:
    seeded = processes.seed(suffix, comments, keep=keep)
    took = ", ".join(f"{name} {seconds:g}" for name, seconds in seeded["seconds"].items())
    say(f"{comments} comments, {5 * comments} suggestions; seconds: {took}")
    return seeded
