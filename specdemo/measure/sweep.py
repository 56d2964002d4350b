"""Runs a sweep on the device thread, turn by turn, and tells what it has come to.

Knows pairs, plans and the bench's races. Does not know pages, threads or languages. A turn is a round or a pass, so
that others never wait long.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from specdemo import drafters
from specdemo.bench.about import Record, environment
from specdemo.bench.measure import DraftCost, Finished, Tick, measure, prepare
from specdemo.bench.plan import Choice, Plan
from specdemo.bench.rows import Row
from specdemo.config import SamplingConfig
from specdemo.core.sampling import Shaping
from specdemo.errors import UserError
from specdemo.measure.cells import Cell, Did, cells
from specdemo.measure.footprint import footprint
from specdemo.measure.strip import Beat, strip
from specdemo.models.loader import Pair

STRIPS = 6
"""Prompts of which the rounds are kept."""


@dataclass(frozen=True, slots=True)
class Began:
    """Before anything is measured. plan: without what this pair cannot draft with; refused: (drafter, why).

    bytes: (label, what the draft adds in bytes).
    """

    plan: Plan
    environment: Record
    bytes: tuple[tuple[str, int], ...]
    refused: tuple[tuple[str, UserError], ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """What has been measured so far, all of it. done: races that are over. strips: (prompt, lane, its rounds)."""

    done: int = 0
    rows: tuple[Row, ...] = ()
    cells: tuple[Cell, ...] = ()
    strips: tuple[tuple[str, str, tuple[Beat, ...]], ...] = field(default=())


def sweep(
    pair: Pair, plan: Plan, cancelled: Callable[[], bool], strips: bool = False
) -> Iterator[Began | DraftCost | Tick | Standing]:
    """Everything in its order; a `Standing` before the first race and after every one.

    strips: also keep the rounds of some prompts. A cancel ends the race that is going on, and what it came to is kept.
    `UserError` if no draft can be had.
    """
    began = begin(pair, plan)
    yield began
    costs: dict[tuple[str, float], DraftCost] = {}
    for step in prepare(pair, began.plan, tick_s=0.0):
        if isinstance(step, DraftCost):
            costs[step.drafter, step.temperature] = step
        yield step
        if cancelled():
            return
    known = {key: cost.costs for key, cost in costs.items()}
    standing, done = Standing(), list[Did]()
    yield standing
    for found in measure(pair, began.plan, known, tick_s=0.0, cancelled=cancelled):
        if isinstance(found, Tick):
            yield found
            continue
        done += kept(found)
        beats = _strips(pair, found) if strips and standing.done < STRIPS else ()
        rows = tuple(did.row for did in done)
        standing = Standing(standing.done + 1, rows, cells(done), (*standing.strips, *beats))
        yield standing


def begin(pair: Pair, plan: Plan) -> Began:
    """What can be drafted with, and what it weighs."""
    able: list[Choice] = []
    weights, refused = [], []
    for choice in plan.choices:
        try:
            drafters.build(
                choice.drafter, pair, Shaping(SamplingConfig(), pair.end_tokens, 0), dict(choice.knobs)
            ).close()
            weights.append((choice.label, footprint(pair, choice)))
        except UserError as error:
            refused.append((choice.drafter, error))
        else:
            able.append(choice)
    if not able:
        raise refused[0][1]
    return Began(replace(plan, choices=tuple(able)), environment(pair.dtype), tuple(weights), tuple(refused))


def kept(found: Finished) -> Iterator[Did]:
    """The rows of a race, of a cut one those in which something was decoded; nothing is said of texts cut short."""
    for row in found.rows:
        metrics = found.results.lanes[row.lane].metrics
        if metrics is None or not row.compared:
            continue
        if row.finish_reason == "cancelled":
            row = replace(row, identical=None, divergence=None, gap=None, tie=None)
        yield Did(row, metrics)


def _strips(pair: Pair, found: Finished) -> tuple[tuple[str, str, tuple[Beat, ...]], ...]:
    """The rounds of every drafted lane of a race."""
    return tuple(
        (found.race.prompt.id, row.lane, strip(found.results.lanes[row.lane], pair.text.detokeniser()))
        for row in found.rows
        if row.drafter != "none"
    )
