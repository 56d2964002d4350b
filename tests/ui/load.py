"""A class at once: `PYTHONPATH=.:tests/ui python tests/ui/load.py --visitors 60 --seconds 300`.

Starts a page of its own (or takes one at --url) and visits it from this process: a third of the visitors run live, over
and over again, the others watch recorded runs. Tells whether every visitor's tokens are those that the same run gives
alone, how long the first token took, how fairly turns were shared, what went wrong, how memory grew, how fast Stop is.
"""

import argparse
import json
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import psutil
from serving import TOY, serving
from visitor import Seen, Visitor, functions

from specdemo.config import RunConfig, SamplingConfig
from specdemo.core.result import collect
from specdemo.errors import UserError
from specdemo.ui import replays

APP = str(Path(__file__).with_name("real_server.py"))
PROMPTS = (
    "Write a short story about a cat.",
    "List three uses of a brick.",
    "Repeat: one two three one two three",
    "2+2?",
)
STOPPED = 0.15
"""Share of the runs that their visitors stop."""
POLITE = ("waiting already", "queue is full", "Queue is full")
WATCH_S = 5.0
"""Between two recorded runs that somebody watches."""

Tokens = dict[str, tuple[int, ...]]


@dataclass
class Report:
    """What all visitors saw."""

    runs: Counter[str] = field(default_factory=Counter)
    first_s: list[float] = field(default_factory=list)
    stop_s: list[float] = field(default_factory=list)
    watched_s: list[float] = field(default_factory=list)
    healthz_s: list[float] = field(default_factory=list)
    wait_errors_s: list[float] = field(default_factory=list)
    tokens: Counter[int] = field(default_factory=Counter)
    mixed: int = 0
    lost: int = 0
    rss: list[int] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)


def configs(tokens: int) -> list[RunConfig]:
    """What visitors run: greedy and drawn, several drafts and prompts."""
    made = []
    for number, prompt in enumerate(PROMPTS):
        sampling = SamplingConfig(0.8 if number % 2 else 0.0)
        drafter, gamma = (("prompt-lookup", 4), ("random", 2))[number // 2 % 2]
        made.append(
            RunConfig(prompt, "smollm2-135m", drafter, gamma, sampling=sampling, seed=number, max_new_tokens=tokens)
        )
    return made


def tokens_of(seen: Seen) -> Tokens:
    """The tokens of each lane."""
    return {name: lane.tokens for name, lane in collect(replays.read(seen.text).events).lanes.items()}


class Live:
    """Runs again and again, and compares what it gets with what the same run gives alone."""

    def __init__(self, url: str, number: int, alone: dict[int, Tokens], runs: list[RunConfig], report: Report) -> None:
        self._visitor, self._number = Visitor(url), number
        self._alone, self._runs, self._report = alone, runs, report
        self._random = random.Random(number)

    def visit(self, until: float) -> None:
        while time.monotonic() < until:
            which = self._random.randrange(len(self._runs))
            stop = self._random.uniform(0.2, 1.0) if self._random.random() < STOPPED else None
            seen = self._visitor.run(self._runs[which], stop)
            with self._report.lock:
                self._note(seen, self._alone[which])
            time.sleep(self._random.uniform(0.5, 2.0))

    def _note(self, seen: Seen, alone: Tokens) -> None:
        report = self._report
        said = seen.error or seen.notice
        if said:
            polite = any(words in said for words in POLITE)
            report.runs["polite refusal" if polite else "error"] += 1
            report.errors[said] += 1
            return
        if seen.first_s is not None:
            report.first_s.append(seen.first_s)
            report.wait_errors_s += list(wait_errors(seen))
        stopped = seen.stopped_at is not None and seen.ended_s > seen.stopped_at
        report.runs["stopped" if stopped else "whole"] += 1
        if stopped:
            report.stop_s.append(seen.ended_s - seen.stopped_at)
        try:
            got = tokens_of(seen)
        except UserError as broken:
            report.errors[f"unreadable: {broken}"] += 1
            report.lost += 1
            return
        for lane, tokens in got.items():
            report.tokens[self._number] += len(tokens)
            if tokens != alone[lane][: len(tokens)]:
                report.mixed += 1
            elif not stopped and len(tokens) < len(alone[lane]):
                report.lost += 1


def wait_errors(seen: Seen) -> Iterator[float]:
    """Expected minus true wait, for the first place in line that had an expectation."""
    for at, said in seen.places:
        words = said.split("about ")
        if len(words) > 1:
            yield float(words[1].split(" s")[0]) - (seen.first_s - at)
            return


class Watching:
    """Opens the page and fetches recorded runs from time to time; asks for the server's health beside it."""

    def __init__(self, url: str, number: int, report: Report) -> None:
        self._http, self._report = httpx.Client(base_url=url, timeout=60), report
        self._session = f"watch{number}"
        config = self._http.get("/config").json()
        self._stage = next(c["id"] for c in config["components"] if c["props"].get("elem_id") == "stage")
        self._random = random.Random(-number)

    def visit(self, until: float) -> None:
        self._http.get("/")
        while time.monotonic() < until:
            self._timed(self._report.watched_s, self._watch)
            self._timed(self._report.healthz_s, lambda: self._http.get("/healthz").raise_for_status())
            time.sleep(self._random.uniform(0.5, 1.5) * WATCH_S)

    def _watch(self) -> None:
        asked = {"component_id": self._stage, "fn_name": "recorded_run", "session_hash": self._session, "data": "hero"}
        answer = self._http.post("/gradio_api/component_server", json=asked)
        answer.raise_for_status()

    def _timed(self, into: list[float], act: Callable[[], Any]) -> None:
        start = time.monotonic()
        try:
            act()
        except httpx.HTTPError as error:
            with self._report.lock:
                self._report.errors[f"watching: {type(error).__name__} {error}"[:100]] += 1
            return
        with self._report.lock:
            into.append(time.monotonic() - start)


def load(url: str, process: psutil.Process | None, visitors: int, seconds: float, tokens: int) -> Report:
    """The whole test against a page that is up."""
    report, runs = Report(), configs(tokens)
    functions(url)
    alone = {}
    for number, config in enumerate(runs):
        seen = Visitor(url).run(config)
        assert not seen.notice, seen.notice
        assert not seen.error, seen.error
        alone[number] = tokens_of(seen)
    live = max(1, visitors // 3)
    people = [Live(url, number, alone, runs, report) for number in range(live)]
    people += [Watching(url, number, report) for number in range(visitors - live)]
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=one.visit, args=(until,), daemon=True) for one in people]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if process is not None:
            report.rss.append(process.memory_info().rss)
        time.sleep(0.5)
    report.tokens.update(dict.fromkeys(range(live), 0))
    return report


def quantile(values: list[float], share: float) -> float | None:
    """None where there is nothing."""
    return round(sorted(values)[min(len(values) - 1, int(share * len(values)))], 3) if values else None


def fairness(shares: list[int]) -> float | None:
    """Jain's index: 1 if all have the same, 1 / n if one has all."""
    total = sum(shares)
    return round(total**2 / (len(shares) * sum(share**2 for share in shares)), 3) if total else None


def summary(report: Report) -> dict[str, Any]:
    shares = list(report.tokens.values())
    quarter = max(1, len(report.rss) // 4)
    return {
        "runs": dict(report.runs),
        "tokens": sum(shares),
        "mixed": report.mixed,
        "lost": report.lost,
        "first_token_s": {"p50": quantile(report.first_s, 0.5), "p95": quantile(report.first_s, 0.95)},
        "fair_share": {"jain": fairness(shares), "least": min(shares), "most": max(shares)},
        "stop_s": {"p50": quantile(report.stop_s, 0.5), "most": quantile(report.stop_s, 1.0)},
        "expected_minus_true_wait_s": {
            "median": quantile(report.wait_errors_s, 0.5),
            "p95 of its size": quantile([abs(error) for error in report.wait_errors_s], 0.95),
        },
        "recorded_run_s": {"p50": quantile(report.watched_s, 0.5), "p95": quantile(report.watched_s, 0.95)},
        "healthz_s": {"p95": quantile(report.healthz_s, 0.95), "most": quantile(report.healthz_s, 1.0)},
        "rss_mb": {
            "first quarter": round(median(report.rss[:quarter]) / 2**20) if report.rss else None,
            "last quarter": round(median(report.rss[-quarter:]) / 2**20) if report.rss else None,
            "most": round(max(report.rss) / 2**20) if report.rss else None,
        },
        "errors": dict(report.errors),
    }


@contextmanager
def page(args: argparse.Namespace) -> Iterator[tuple[str, psutil.Process | None]]:
    """The page to visit and its process, if it is ours."""
    if args.url:
        yield args.url.rstrip("/"), None
        return
    with serving() as serve:
        server = serve(*((TOY, "0.002") if args.toy else (APP,)), SPECDEMO_LOG="off")
        yield server.url, psutil.Process(server.process.pid)


def main(argv: list[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--visitors", type=int, default=60)
    options.add_argument("--seconds", type=float, default=300.0)
    options.add_argument("--tokens", type=int, default=32, help="new tokens of a live run")
    options.add_argument("--url", help="a page that is up; without it one is started")
    options.add_argument("--toy", action="store_true", help="start a page over the toy pair")
    args = options.parse_args(argv)
    with page(args) as (url, process):
        found = summary(load(url, process, args.visitors, args.seconds, args.tokens))
    print(json.dumps(found, indent=1, ensure_ascii=False))
    bad = found["mixed"] or found["lost"] or found["runs"].get("error") or found["errors"].keys() - _polite(found)
    return 1 if bad else 0


def _polite(found: dict[str, Any]) -> set[str]:
    return {said for said in found["errors"] if any(words in said for words in POLITE)}


if __name__ == "__main__":
    sys.exit(main())
