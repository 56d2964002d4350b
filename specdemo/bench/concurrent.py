"""Several runs at once over the one device thread, taking turns as visitors of the page do.

Knows the device thread, pairs and lanes. The runs are read from outside the device thread, round-robin, so that none
waits for its reader. What is counted is counted on the device thread.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rich.table import Table

from specdemo import lanes
from specdemo.bench.memory import held
from specdemo.bench.plan import Plan, Race
from specdemo.config import RunConfig
from specdemo.core.events import Event, RoundFinished, RunFinished
from specdemo.core.metrics import ratio
from specdemo.device import Device
from specdemo.models.loader import Pair
from specdemo.terminal import number

SIZES = (1, 2, 4, 8, 16)
NEW_TOKENS = 32


@dataclass(frozen=True, slots=True)
class ConcurrentRow:
    """So many runs of plain decoding at once, each of a prompt of its own and of `NEW_TOKENS` tokens at most.

    seconds: from the first turn to the end of the last run, prompts included. tokens_per_s: of all; each: of one.
    fairness: least / most device time of a run at the moment when the first of them ended; 1 is fair.
    peak_memory_bytes: the most in use at any turn.
    """

    runs: int
    tokens: int
    seconds: float
    tokens_per_s: float | None
    each: float | None
    fairness: float | None
    peak_memory_bytes: int


class Meter:
    """Counts what runs do, turn by turn. Used on the device thread only."""

    def __init__(self, pair: Pair, runs: int) -> None:
        self._pair = pair
        self._used = [0.0] * runs
        self._began: float | None = None
        self._ended = 0.0
        self._tokens = self._peak = 0
        self._fairness: float | None = None

    def watch(self, run: int, config: RunConfig) -> Iterator[Event]:
        """The events of one run; its turns are timed."""
        clock = self._pair.clock
        events = lanes.open_lane(self._pair, config, f"run {run}")
        while True:
            start = clock()
            event = next(events, None)
            self._ended = clock()
            self._used[run] += self._ended - start
            self._began = start if self._began is None else self._began
            self._peak = max(self._peak, held(self._pair.device))
            if event is None:
                return
            if isinstance(event, RoundFinished):
                self._tokens += event.counted.emitted
            if isinstance(event, RunFinished) and self._fairness is None:
                self._fairness = ratio(min(self._used), max(self._used))
            yield event

    def row(self) -> ConcurrentRow:
        """What was counted."""
        seconds, runs = self._ended - (self._began or 0.0), len(self._used)
        rate, each = ratio(self._tokens, seconds), ratio(self._tokens, seconds * runs)
        return ConcurrentRow(runs, self._tokens, seconds, rate, each, self._fairness, self._peak)


def crowds(device: Device, pair: Pair, plan: Plan, sizes: Sequence[int] = SIZES) -> Iterator[ConcurrentRow]:
    """A row for each number of runs at once."""
    for size in sizes:
        yield together(device, pair, [_config(plan, run) for run in range(size)])


def together(device: Device, pair: Pair, configs: Sequence[RunConfig]) -> ConcurrentRow:
    """Starts all runs, reads them to their ends and says how it went."""
    meter = Meter(pair, len(configs))
    streams = [device.stream(partial(meter.watch, run, config)) for run, config in enumerate(configs)]
    try:
        reading = list(streams)
        while reading:
            reading = [stream for stream in reading if next(stream, None) is not None]
    finally:
        for stream in streams:
            stream.close()
    return meter.row()


def _config(plan: Plan, run: int) -> RunConfig:
    """Plain decoding of as many tokens for every run: none ends early."""
    prompt = plan.prompts[run % len(plan.prompts)]
    tokens = min(plan.max_new_tokens, NEW_TOKENS)
    config = plan.config(plan.lanes()[0], Race(prompt, 0.0, 0))
    return replace(config, max_new_tokens=tokens, min_new_tokens=tokens)


def name(row: ConcurrentRow) -> str:
    """For the progress bar."""
    return f"{row.runs} at once"


def table(rows: Sequence[ConcurrentRow]) -> Table:
    """One line per number of runs."""
    drawn = Table(title="Runs of plain decoding at once, by fair turns", title_justify="left")
    for head in ("at once", "tokens", "seconds", "tokens/s", "tokens/s each", "fairness", "peak memory, MB"):
        drawn.add_column(head, justify="right")
    for r in rows:
        rates = (number(r.tokens_per_s, 1), number(r.each, 1), number(r.fairness))
        drawn.add_row(number(r.runs), number(r.tokens), number(r.seconds), *rates, f"{r.peak_memory_bytes / 1e6:,.0f}")
    return drawn
