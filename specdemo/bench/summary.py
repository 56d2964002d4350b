"""Many rows as the few numbers of a table: one summary per drafter, γ and temperature.

Knows rows. Every total is a total of counts or seconds divided once, never a mean of rates, except where it says
geometric mean or median.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from specdemo.bench.rows import Row
from specdemo.core.metrics import bootstrap_interval, median, ratio

LOOPING = 0.3
"""A text with a larger share of repeated 8-grams counts as looping: it is easy to guess and earns speedup."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One drafter with one γ at one temperature, over all prompts and repeats.

    alpha: accepted / tested in total; alpha_low, alpha_high: 95 % interval by bootstrap over prompts.
    tau: tokens / rounds in total. c, v: medians over runs. tokens_per_s, token_s, latency_s: totals; latency_s per run.
    speedup: baseline time / its own time in total, for the same tokens; None for baseline and controls.
    groups: (group, speedup of the group); geometric_mean: of them. slowest, middle, fastest: over prompts.
    predicted: the speedup if only model time counted, in total.
    looping: runs whose text loops; speedup_looping, speedup_plain: of those runs and of the others.
    other: share of the decoding time that is neither drafting nor the target pass. identical: of the `greedy` runs.
    """

    drafter: str
    gamma: int
    temperature: float
    control: bool
    prompts: int
    runs: int
    tokens: int
    accepted: int
    tested: int
    alpha: float | None
    alpha_low: float | None
    alpha_high: float | None
    tau: float | None
    c: float | None
    v: float | None
    tokens_per_s: float | None
    token_s: float | None
    latency_s: float | None
    speedup: float | None
    groups: tuple[tuple[str, float], ...]
    geometric_mean: float | None
    slowest: float | None
    middle: float | None
    fastest: float | None
    predicted: float | None
    looping: int
    speedup_looping: float | None
    speedup_plain: float | None
    other: float | None
    greedy: int
    identical: int


def summarise(rows: Iterable[Row]) -> tuple[Summary, ...]:
    """The summaries in the order in which drafter, γ and temperature first appear, temperatures apart."""
    found: dict[tuple[float, str, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row.temperature, row.drafter, row.gamma), []).append(row)
    ordered = sorted(found.items(), key=lambda item: item[0][0])
    return tuple(summary(of_one) for _, of_one in ordered)


def summary(rows: Sequence[Row]) -> Summary:
    """The summary of rows that share drafter, γ and temperature; at least one."""
    first = rows[0]
    tokens, decode_s = sum(r.tokens for r in rows), sum(r.decode_s for r in rows)
    accepted, tested = sum(r.accepted for r in rows), sum(r.tested for r in rows)
    by_prompt = _by(rows, lambda r: r.prompt)
    interval = bootstrap_interval(
        [(sum(r.accepted for r in of_one), sum(r.tested for r in of_one)) for of_one in by_prompt.values()]
    )
    groups = tuple(
        (group, times) for group, of_one in _by(rows, lambda r: r.group).items() if (times := speedup(of_one))
    )
    spread = [times for of_one in by_prompt.values() if (times := speedup(of_one))]
    looping = [r for r in rows if _loops(r)]
    return Summary(
        drafter=first.drafter,
        gamma=first.gamma,
        temperature=first.temperature,
        control=first.control,
        prompts=len(by_prompt),
        runs=len(rows),
        tokens=tokens,
        accepted=accepted,
        tested=tested,
        alpha=ratio(accepted, tested),
        alpha_low=interval[0] if interval else None,
        alpha_high=interval[1] if interval else None,
        tau=ratio(tokens, sum(r.rounds for r in rows)),
        c=_median([r.c for r in rows]),
        v=_median([r.v for r in rows]),
        tokens_per_s=ratio(tokens, decode_s),
        token_s=ratio(decode_s, tokens),
        latency_s=ratio(sum(r.latency_s for r in rows), len(rows)),
        speedup=speedup(rows),
        groups=groups,
        geometric_mean=geometric_mean([times for _, times in groups]),
        slowest=min(spread, default=None),
        middle=_median(spread),
        fastest=max(spread, default=None),
        predicted=_predicted(rows),
        looping=len(looping),
        speedup_looping=speedup(looping),
        speedup_plain=speedup([r for r in rows if not _loops(r)]),
        other=ratio(sum(r.overhead_s for r in rows), decode_s),
        greedy=sum(r.identical is not None for r in rows),
        identical=sum(r.identical is True for r in rows),
    )


def speedup(rows: Sequence[Row]) -> float | None:
    """Total baseline time / total time for the same tokens, of the rows that count as a speedup."""
    counted = [r for r in rows if r.speedup is not None]
    return ratio(sum(r.baseline_s for r in counted), sum(r.seconds for r in counted))


def geometric_mean(values: Sequence[float]) -> float | None:
    """exp of the mean logarithm; None of nothing."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def best(summaries: Iterable[Summary], temperature: float) -> Summary | None:
    """The fastest real drafter at a temperature; baseline and controls have no speedup."""
    real = [s for s in summaries if s.temperature == temperature and s.speedup is not None]
    return max(real, key=lambda s: s.speedup or 0.0, default=None)


def _loops(row: Row) -> bool:
    return row.looped is not None and row.looped > LOOPING


def _predicted(rows: Sequence[Row]) -> float | None:
    """Σ tokens / Σ (tokens / predicted): the runs' times at the given costs add up, t(1) falls out."""
    counted = [(r.tokens, r.predicted) for r in rows if r.predicted]
    return ratio(sum(tokens for tokens, _ in counted), sum(tokens / limit for tokens, limit in counted))


def _median(values: Sequence[float | None]) -> float | None:
    measured = [value for value in values if value is not None]
    return median(measured) if measured else None


def _by(rows: Sequence[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found
