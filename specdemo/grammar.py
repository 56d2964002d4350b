"""Which event may follow which, and what its numbers may be. One `Grammar` per stream.

Knows events. Does not know JSON, lines or files. The engine keeps these rules by construction; they are for
streams that come from elsewhere, so that a player can rely on them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from specdemo.codec import Misfit
from specdemo.config import MAX_GAMMA, RULES
from specdemo.core.events import Drafted, Event, Inspected, Judged, Prefilled, RoundFinished, RunFinished, RunStarted

AFTER: dict[type, tuple[type, ...]] = {
    Prefilled: (RunStarted, Prefilled),
    Drafted: (RunStarted, Prefilled, RoundFinished),
    Judged: (Drafted,),
    RoundFinished: (Judged,),
    RunFinished: (RunStarted, Prefilled, RoundFinished),
}
"""What an event of a lane may come after. `Inspected` may come late: any time between its verdict and the end."""

SLACK = 1e-4
"""How far over one a probability may be: float32 sums over a large vocabulary do not end on one exactly."""


@dataclass(slots=True)
class _Lane:
    """Where a lane is. drafted: the number of tokens of each round's draft. judged: rounds with a verdict."""

    last: type = RunStarted
    drafted: list[int] = field(default_factory=list)
    judged: int = 0
    inspected: set[int] = field(default_factory=set)
    clock_s: float = 0.0


class Grammar:
    """Follows the lanes of one stream and refuses what cannot be."""

    def __init__(self) -> None:
        self._lanes: dict[str, _Lane] = {}

    def check(self, event: Event, name: str) -> None:
        """Takes in the next event, called `name` in messages. `Misfit` if it may not stand here."""
        if not all(0.0 <= chance <= 1.0 + SLACK for chance in _chances(event)):
            raise Misfit("trace_field", field=f"{name}.{'tests' if isinstance(event, Judged) else 'positions'}")
        if isinstance(event, RunStarted) and event.rule not in RULES:
            raise Misfit("trace_field", field=f"{name}.rule")
        if isinstance(event, RunStarted | Drafted) and event.gamma > MAX_GAMMA:
            raise Misfit("trace_field", field=f"{name}.gamma")
        if not self._follows(event):
            raise Misfit("trace_order", event=name)

    def _follows(self, event: Event) -> bool:
        if isinstance(event, RunStarted):
            fresh = event.lane not in self._lanes
            self._lanes[event.lane] = _Lane()
            return fresh
        lane = self._lanes.get(event.lane)
        if lane is None or lane.last is RunFinished:
            return False
        if isinstance(event, Inspected):
            return _inspectable(lane, event)
        if lane.last not in AFTER[type(event)]:
            return False
        lane.last = type(event)
        return _advance(lane, event)


def _inspectable(lane: _Lane, event: Inspected) -> bool:
    """True if the laws belong to a judged round that has had none yet, and to positions of it."""
    if not 1 <= event.round <= lane.judged or event.round in lane.inspected:
        return False
    lane.inspected.add(event.round)
    return all(position.index <= lane.drafted[event.round - 1] for position in event.positions)


def _advance(lane: _Lane, event: Event) -> bool:
    """Moves the lane on; False if the event contradicts the round that it belongs to."""
    match event:
        case Drafted():
            lane.drafted.append(len(event.tokens))
            return event.round == len(lane.drafted)
        case Judged():
            lane.judged += 1
            tested, known = len(event.tests), len(event.fates)
            parallel = len(event.emitted) == len(event.emitted_fates) == len(event.pieces)
            return event.round == lane.judged and tested <= known <= lane.drafted[-1] and parallel
        case RoundFinished():
            before, lane.clock_s = lane.clock_s, event.clock_s
            return event.round == lane.judged and event.clock_s >= before
    return True


def _chances(event: Event) -> Iterator[float]:
    if isinstance(event, Judged):
        for test in event.tests:
            yield from (test.u, test.p, test.q, test.h or 0.0)
    if isinstance(event, Inspected):
        for position in event.positions:
            yield 0.0 if position.beta is None else position.beta
            for top in (position.p_top, position.q_top, position.residual_top):
                yield from (chance for _, chance in top or ())
