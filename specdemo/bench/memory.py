"""Does memory grow from run to run? And what the process holds now.

Knows the device thread, pairs and lanes. Read from outside the device thread, as the page is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import psutil
import torch

from specdemo import lanes
from specdemo.bench.plan import Plan, Race
from specdemo.device import Device
from specdemo.models.loader import Pair

RUNS, EARLY = 100, 10
NEW_TOKENS = 4


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes in use after so many runs, all of them over."""

    runs: int
    bytes: int


def held(device: str) -> int:
    """Bytes in use: the accelerator's if there is one, else what of the process lies in memory."""
    if device == "cuda":
        return torch.cuda.memory_allocated()
    return int(psutil.Process().memory_info().rss)


def short_runs(device: Device, pair: Pair, plan: Plan, runs: int = RUNS) -> Iterator[Held]:
    """Race after race of `NEW_TOKENS` tokens: the plan's first drafter against the baseline, each prompt in turn."""
    drafted = plan.lanes()[1]
    for number in range(1, runs + 1):
        race = Race(plan.prompts[number % len(plan.prompts)], 0.0, 0)
        config = replace(plan.config(drafted, race), max_new_tokens=NEW_TOKENS)
        with device.stream(partial(lanes.open_race, pair, lanes.against_baseline(config))) as events:
            for _ in events:
                pass
        events.wait()
        yield Held(number, device.call(lambda: held(pair.device)))


def name(row: Held) -> str:
    """For the progress bar."""
    return f"short run {row.runs}"


def told(rows: Sequence[Held]) -> dict[str, Any]:
    """The early and the last figure; None for what was not reached."""
    by_runs = {row.runs: row.bytes for row in rows}
    return {"early": EARLY, "early_bytes": by_runs.get(EARLY), "runs": RUNS, "bytes": by_runs.get(RUNS)}


def lines(rows: Sequence[Held]) -> Iterator[str]:
    """The same as a sentence."""
    by_runs = {row.runs: row.bytes for row in rows}
    if RUNS in by_runs:
        early, late = by_runs[EARLY] / 1e6, by_runs[RUNS] / 1e6
        yield f"In use after {EARLY} short runs: {early:,.0f} MB; after {RUNS}: {late:,.0f} MB ({late - early:+.1f})."
