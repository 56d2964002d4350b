"""Runs the races of a plan. Everything here runs on the device thread.

Knows pairs and lanes. Does not know files, tables or the command line.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from specdemo import lanes
from specdemo.bench.plan import Plan, Race
from specdemo.bench.rows import Row, row
from specdemo.core.events import Event, RoundFinished
from specdemo.core.result import Results
from specdemo.costs import Costs
from specdemo.errors import PromptError
from specdemo.models.loader import Pair
from specdemo.outcome import judge

WARM_UP_TOKENS = 8
TICK_S = 0.5
"""Progress is told so rarely because telling it wakes another thread, which takes time from the lanes."""


@dataclass(frozen=True, slots=True)
class DraftCost:
    """Costs for one drafter at one temperature, measured apart from any run."""

    drafter: str
    temperature: float
    costs: Costs


@dataclass(frozen=True, slots=True)
class Tick:
    """How far a race is, 0 … 1."""

    share: float


@dataclass(frozen=True, slots=True)
class Finished:
    """A race is over: a row for every lane, the baseline first."""

    race: Race
    rows: tuple[Row, ...]


def prepare(pair: Pair, plan: Plan, clock: Callable[[], float] = time.monotonic) -> Iterator[Tick | DraftCost]:
    """Refuses prompts that do not fit, warms every drafter up, then measures its costs."""
    require_fitting(pair, plan)
    short = replace(plan, max_new_tokens=WARM_UP_TOKENS, gammas=(max(plan.gammas),))
    for temperature in plan.temperatures:
        race = Race(plan.prompts[0], temperature, 0)
        yield from _ticks(lanes.open_race(pair, short.configs(race)), short, clock)
        baseline, *drafted = plan.lanes()
        passes = lanes.costs_of(pair, plan.config(baseline, race)).passes
        yield DraftCost("none", temperature, Costs(passes, 0.0))
        for lane in {lane.drafter: lane for lane in drafted}.values():
            step = lanes.costs_of(pair, plan.config(lane, race), widths=(1,)).t_draft
            yield DraftCost(lane.drafter, temperature, Costs(passes, step))


def require_fitting(pair: Pair, plan: Plan) -> None:
    """Raises `PromptError` naming the first prompt that leaves no room for an answer."""
    for prompt in plan.prompts:
        tokens = len(pair.text.encode(prompt.text, plan.raw))
        if tokens >= pair.limit:
            raise PromptError("bench_prompt_too_long", id=prompt.id, tokens=tokens, limit=pair.limit)


def measure(
    pair: Pair,
    plan: Plan,
    costs: Mapping[tuple[str, float], Costs],
    done: Collection[tuple[str, float, int]] = (),
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Tick | Finished]:
    """Every race of the plan whose key is not in `done`. `costs`: by drafter label and temperature."""
    for race in plan.races():
        if race.key not in done:
            results = Results()
            yield from _ticks(results.watch(lanes.open_race(pair, plan.configs(race))), plan, clock)
            yield Finished(race, rows(pair, plan, race, results, costs))


def _ticks(events: Iterator[Event], plan: Plan, clock: Callable[[], float]) -> Iterator[Tick]:
    """Runs a race to its end."""
    emitted, told, most = 0, clock(), len(plan.lanes()) * plan.max_new_tokens
    for event in events:
        if isinstance(event, RoundFinished):
            emitted += event.counted.emitted
            if clock() - told >= TICK_S:
                told = clock()
                yield Tick(min(1.0, emitted / most))


def rows(
    pair: Pair, plan: Plan, race: Race, results: Results, costs: Mapping[tuple[str, float], Costs]
) -> tuple[Row, ...]:
    """The rows of a finished race. Where a greedy text departs from the baseline's the target is asked how narrowly."""
    baseline = results.lanes[lanes.BASELINE]
    return tuple(
        row(
            race,
            lane,
            results.lanes[lane.name],
            baseline,
            judge(results, lane.name, lanes.BASELINE, pair.target),
            costs.get((lane.drafter, race.temperature)),
        )
        for lane in plan.lanes()
    )
