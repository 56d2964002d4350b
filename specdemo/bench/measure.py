"""Runs the races of a plan. Everything here runs on the device thread.

Knows pairs and lanes. Does not know files, tables or the command line.
"""

import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from specdemo import device, lanes
from specdemo.bench.plan import Choice, Plan, Race
from specdemo.bench.rows import Row, row
from specdemo.config import RunConfig
from specdemo.core.events import Event, RoundFinished
from specdemo.core.result import Results
from specdemo.costs import WIDTHS, Costs
from specdemo.errors import PromptError
from specdemo.models.loader import Pair
from specdemo.models.progress import never
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
    """A race is over: a row for every lane, the baseline first, and all that the lanes did."""

    race: Race
    rows: tuple[Row, ...]
    results: Results


def prepare(
    pair: Pair, plan: Plan, clock: Callable[[], float] = time.monotonic, tick_s: float = TICK_S
) -> Iterator[Tick | DraftCost]:
    """Refuses prompts that do not fit, warms every drafter up, then measures its costs. Policies cost nothing."""
    require_fitting(pair, plan)
    sources = {choice.source: Choice(choice.drafter, choice.knobs) for choice in plan.choices}
    short = replace(plan, choices=tuple(sources.values()), max_new_tokens=WARM_UP_TOKENS, gammas=(max(plan.gammas),))
    for temperature in plan.temperatures:
        race = Race(plan.prompts[0], temperature, 0)
        yield from _ticks(lanes.open_race(pair, short.configs(race)), short, clock, tick_s)
        baseline, *drafted = short.lanes()
        passes = (yield from _costs(pair, plan.config(baseline, race), WIDTHS, clock, tick_s)).passes
        yield DraftCost("none", temperature, Costs(passes, 0.0))
        for lane in drafted:
            step = (yield from _costs(pair, plan.config(lane, race), (1,), clock, tick_s)).t_draft
            yield DraftCost(lane.source, temperature, Costs(passes, step))


def _costs(
    pair: Pair, config: RunConfig, widths: Sequence[int], clock: Callable[[], float], tick_s: float
) -> Generator[Tick, None, Costs]:
    """The costs of a configuration, with ticks while they are measured."""
    found, told = None, clock()
    for costs in lanes.visits_of(pair, config, widths):
        found = costs or found
        if clock() - told >= tick_s:
            told = clock()
            yield Tick(0.0)
    assert found is not None
    return found


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
    tick_s: float = TICK_S,
    cancelled: Callable[[], bool] = never,
) -> Iterator[Tick | Finished]:
    """Every race of the plan whose key is not in `done`. `costs`: by drafter and temperature.

    cancelled: asked after every round; the race that it ends is the last one, with the rows that it came to.
    """
    for race in plan.races():
        if race.key not in done and not cancelled():
            results = Results()
            entrants = {
                lane.name: lanes.open_lane(
                    pair,
                    plan.config(lane, race),
                    lane.name,
                    cancelled=cancelled,
                    costs=costs.get((lane.source, race.temperature)),
                )
                for lane in plan.lanes()
            }
            yield from _ticks(results.watch(device.race(entrants)), plan, clock, tick_s)
            yield Finished(race, rows(pair, plan, race, results, costs), results)


def _ticks(events: Iterator[Event], plan: Plan, clock: Callable[[], float], tick_s: float) -> Iterator[Tick]:
    """Runs a race to its end, telling how far it is at most every `tick_s` seconds."""
    emitted, told, most = 0, clock(), len(plan.lanes()) * plan.max_new_tokens
    for event in events:
        if isinstance(event, RoundFinished):
            emitted += event.counted.emitted
            if clock() - told >= tick_s:
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
            costs.get((lane.source, race.temperature)),
        )
        for lane in plan.lanes()
    )
