"""What one lane of a sweep came to over all prompts: summary, interval of the speedup, positions, books.

Knows rows and lane results. Does not know how they were run. Books are of the same run: they explain its speedup and
predict nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from specdemo.bench.rows import Row
from specdemo.bench.summary import Summary, summary
from specdemo.core.metrics import Metrics, bootstrap_interval, ratio


@dataclass(frozen=True, slots=True)
class Books:
    """Where the time of a round went, in plain steps (the baseline's time for a token).

    adds_up_to: τ / (draft + verify + other).
    """

    draft: float
    verify: float
    other: float
    adds_up_to: float


@dataclass(frozen=True, slots=True)
class Cell:
    """One lane at one temperature.

    low, high: 95 % interval of the speedup by bootstrap over prompts, None under two prompts.
    tested, accepted: of the i-th drafted token, in total. drafted: mean γ that was drafted in a round.
    """

    lane: str
    temperature: float
    summary: Summary
    low: float | None
    high: float | None
    tested: tuple[int, ...]
    accepted: tuple[int, ...]
    drafted: float | None
    books: Books | None


@dataclass(frozen=True, slots=True)
class Did:
    """A row with the metrics of its lane."""

    row: Row
    metrics: Metrics


def cells(done: Iterable[Did]) -> tuple[Cell, ...]:
    """A cell for every lane and temperature, in the order in which they first appear."""
    found: dict[tuple[float, str], list[Did]] = {}
    for did in done:
        found.setdefault((did.row.temperature, did.row.lane), []).append(did)
    return tuple(cell(of_one) for of_one in found.values())


def cell(done: Sequence[Did]) -> Cell:
    """The cell of what one lane did at one temperature; at least one."""
    rows = [did.row for did in done]
    interval = speedup_interval(rows)
    return Cell(
        lane=rows[0].lane,
        temperature=rows[0].temperature,
        summary=summary(rows),
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
        tested=_added(did.metrics.position_tested for did in done),
        accepted=_added(did.metrics.position_accepted for did in done),
        drafted=ratio(sum(row.proposed for row in rows), sum(row.rounds for row in rows)),
        books=books(rows),
    )


def speedup_interval(rows: Sequence[Row]) -> tuple[float, float] | None:
    """95 % interval of total baseline time / total time, by resampling prompts; None for baseline and controls."""
    counted: dict[str, tuple[float, float]] = {}
    for row in rows:
        if row.speedup is not None:
            baseline_s, seconds = counted.get(row.prompt, (0.0, 0.0))
            counted[row.prompt] = baseline_s + row.baseline_s, seconds + row.seconds
    return bootstrap_interval(list(counted.values()))


def books(rows: Sequence[Row]) -> Books | None:
    """The books of drafted rows; None for the baseline, controls, and where nothing was decoded."""
    counted = [row for row in rows if row.speedup is not None]
    step = ratio(sum(row.baseline_s for row in counted), sum(row.compared for row in counted))
    rounds, spent = sum(row.rounds for row in counted), sum(row.decode_s for row in counted)
    if not step or not rounds or not spent:
        return None
    draft, verify, other = (
        sum(parts) / rounds / step
        for parts in zip(*((row.draft_s, row.verify_s, row.overhead_s) for row in counted), strict=True)
    )
    return Books(draft, verify, other, sum(row.tokens for row in counted) * step / spent)


def _added(counts: Iterable[Sequence[int]]) -> tuple[int, ...]:
    return tuple(map(sum, zip_longest(*counts, fillvalue=0)))
