"""What a recorded run says of α, c and v: the numbers of an earlier run, for a prediction of later ones.

Knows traces by what they add up to. Does not know files or pages.
"""

from dataclasses import dataclass

from specdemo import drafters
from specdemo.core.result import LaneResult, collect
from specdemo.trace import Trace


@dataclass(frozen=True, slots=True)
class Earlier:
    """α, c and v of one run. v: at `width` positions. alpha: accepted / tested, as counted."""

    drafter: str
    gamma: int
    temperature: float
    accepted: int
    tested: int
    alpha: float
    c: float
    v: float | None
    width: int | None
    speedup: float | None
    processor: str
    recorded: str | None


def earlier(trace: Trace) -> Earlier | None:
    """The numbers of a trace; None where it has no baseline, no α, or a draft that no deployment could use."""
    results = collect(trace.events)
    lanes = {_drafter(lane) == "none": (name, lane) for name, lane in reversed(results.lanes.items())}
    if set(lanes) != {True, False}:
        return None
    (plain, _), (name, lane) = lanes[True], lanes[False]
    metrics, compared = lane.metrics, results.compare(name, plain)
    drafter = _drafter(lane)
    known = drafter in drafters.ids() and not drafters.entry(drafter).control
    if not known or metrics is None or metrics.alpha is None or compared.c is None or lane.started is None:
        return None
    return Earlier(
        drafter=drafter,
        gamma=lane.started.gamma,
        temperature=trace.header.settings.sampling.temperature,
        accepted=metrics.accepted,
        tested=metrics.tested,
        alpha=metrics.alpha,
        c=compared.c,
        v=compared.v,
        width=compared.width,
        speedup=compared.speedup,
        processor=str(trace.header.hardware.get("gpu") or trace.header.hardware.get("processor") or ""),
        recorded=trace.header.recorded,
    )


def _drafter(lane: LaneResult) -> str:
    return lane.started.drafter if lane.started else ""
