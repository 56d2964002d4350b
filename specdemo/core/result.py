"""A finished (or running) lane as one value: what the events of a run add up to.

Knows events and metrics. Does not know where the events came from: live, replayed or toy.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from specdemo.core.events import Drafted, Event, Inspected, Judged, Position, RoundFinished, RunFinished, RunStarted
from specdemo.core.metrics import Comparison, Metrics, Round, compare


@dataclass(slots=True)
class LaneResult:
    """What one lane did. `proposed[i]` ids were drafted in round i; `rounds[i]` counts those before the run's end.

    asked[i]: γ of round i, that many ids at most. said, text: the emitted ids and their text so far.
    """

    started: RunStarted | None = None
    finished: RunFinished | None = None
    rounds: list[Round] = field(default_factory=list)
    proposed: list[int] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    said: list[int] = field(default_factory=list)
    text: str = ""
    inspected: dict[int, tuple[Position, ...]] = field(default_factory=dict)
    metrics: Metrics | None = None

    @property
    def tokens(self) -> tuple[int, ...]:
        """The emitted ids; empty until the run has finished."""
        return self.finished.tokens if self.finished else ()

    def margin(self, index: int) -> float | None:
        """Top-1 minus top-2 logit of the target where the token `index` was decided, if that round was inspected."""
        emitted = 0
        for number, r in enumerate(self.rounds, start=1):
            if index < emitted + r.emitted:
                rows = {row.index: row.margin for row in self.inspected.get(number, ())}
                return rows.get(index - emitted)
            emitted += r.emitted
        return None

    def add(self, event: Event) -> None:
        """Takes in the lane's next event."""
        match event:
            case RunStarted():
                self.started = event
            case Drafted():
                self.proposed.append(len(event.tokens))
                self.asked.append(event.gamma)
            case Judged():
                self.said += event.emitted
                self.text += "".join(event.pieces)
            case Inspected():
                self.inspected[event.round] = event.positions
            case RoundFinished():
                self.rounds.append(event.counted)
                self.metrics = event.metrics
            case RunFinished():
                self.finished, self.metrics = event, event.metrics
            case _:
                pass


class Results:
    """The lanes of a stream of events, by name."""

    def __init__(self) -> None:
        self.lanes: dict[str, LaneResult] = {}

    def watch(self, events: Iterable[Event]) -> Iterator[Event]:
        """Passes events through and keeps what they add up to."""
        for event in events:
            self.add(event)
            yield event

    def add(self, event: Event) -> None:
        """Takes in one event of any lane."""
        self.lanes.setdefault(event.lane, LaneResult()).add(event)

    def compare(self, speculative: str, baseline: str) -> Comparison:
        """Speedup, c and v of two lanes."""
        return compare(self.lanes[speculative].rounds, self.lanes[baseline].rounds)


def collect(events: Iterable[Event]) -> Results:
    """Runs a stream of events to its end."""
    results = Results()
    for event in events:
        results.add(event)
    return results


def first_divergence(a: tuple[int, ...], b: tuple[int, ...]) -> int | None:
    """Index of the first id in which two texts differ (the end of the shorter counts), None if they are equal."""
    if a == b:
        return None
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
