"""What the Prove tab shows, as values of plain data: exact tests on a tiny world, and tests on the pair that is loaded.

Knows the device, the models and the tests of `specdemo.prove`. Does not know components or languages. Everything here
that touches torch is a job on the device thread, in turns of at most about half a second.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from specdemo.config import RunConfig, SamplingConfig, one_of, whole
from specdemo.core import rules
from specdemo.core.events import Event, Inspected, Judged, RunFinished, RunStarted
from specdemo.core.rules import Entry
from specdemo.device import Device, Stream
from specdemo.errors import SettingError
from specdemo.lanes import BASELINE, SPECULATIVE, baseline, open_lane
from specdemo.models.loader import Pair
from specdemo.outcome import Outcome
from specdemo.prove.decision import MOST, simulate
from specdemo.prove.greedy import greedy_on
from specdemo.prove.joint import Joint, joint
from specdemo.prove.matrix import Row, row
from specdemo.prove.position import Position, position
from specdemo.prove.statistics import Sampled
from specdemo.prove.world import random_world
from specdemo.ui.models import Models
from specdemo.ui.precision import in_dtype, room_for
from specdemo.ui.runs import Runs
from specdemo.ui.settings import Limits, config_of

State = dict[str, Any]
"""All that a test shows at a moment: every value stands alone, so that a lost update loses nothing."""

STEP = 20_000
"""Decisions in one turn on the device: 0.15 s over 49,152 ids."""
DEEPEST = 64
"""Tokens of the answer that a position may lie behind."""
LEAST = 100
CONTEXT = 80
"""Characters of the text before a position that are shown."""
MODES: dict[str, tuple[str | None, bool]] = {
    "loaded": (None, False),
    "float32": ("float32", False),
    "bfloat16": ("bfloat16", False),
    "bfloat16-exact": ("bfloat16", True),
}
"""Number type, None for that of the loaded models, and exact mode of the passes, by what a visitor asks for."""
LENGTHS = (2, 3, 4)
"""Tokens of the texts whose law is enumerated."""


class Exact:
    """The rules against the tests on a tiny world: worked out once for all visitors, when the first one asks."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._rows: list[State] = []
        self._job: Stream[None] | None = None
        self._lock = threading.Lock()

    def rows(self) -> State:
        """{rows: of the rules tested so far, of: how many there are}. Returns at once."""
        with self._lock:
            if self._job is None:
                self._job = self._device.stream(self._work)
        return {"rows": list(self._rows), "of": len(rules.entries())}

    def _work(self) -> Iterator[None]:
        for rule in rules.entries():
            self._rows.append(cells_of(row(rule)))
            yield


def cells_of(found: Row) -> State:
    """A rule's row of the table."""
    sampled, waste, world = found.sampled, found.waste, random_world()
    laws = [joint(found.rule, world, length=length) for length in LENGTHS]
    return {
        "rule": found.rule.id,
        "passed": found.passed(),
        "as_promised": found.as_promised(),
        "greedy": {"same": found.greedy.same, "of": found.greedy.of},
        "sampled": {"n": sampled.n, "distance": sampled.distance, "high": sampled.high, "p_value": sampled.p_value},
        "joints": {str(law.length): _law(law) for law in laws},
        "waste": {
            "tau": waste.tau,
            "correct": waste.correct,
            "exact": waste.exact,
            "fewer": waste.fewer,
            "more": waste.more,
            "rounds": waste.rounds,
        },
    }


def _law(found: Joint) -> State:
    texts = [[list(one.tokens), round(one.target, 9), round(one.emitted, 9)] for one in found.rows]
    return {"distance": found.distance, "texts": texts}


def described(rule: Entry) -> State:
    """A rule for the menu; its names are in the locale files."""
    return {"id": rule.id, "badge": rule.badge, "side": rule.side, "source": rule.source}


class Proofs:
    """Tests on the pair that a visitor has chosen."""

    def __init__(self, device: Device, models: Models, runs: Runs, limits: Limits) -> None:
        self._device, self._models, self._runs, self._limits = device, models, runs, limits

    def sampled(self, asked: Mapping[str, Any], visitor: str) -> Iterator[State]:
        """Many decisions at one position, as they come. `UserError` where something asked for cannot be had."""
        n = whole("decisions", asked.get("n"), LEAST, MOST)
        depth = whole("depth", asked.get("depth"), 0, DEEPEST)
        config = self._config(asked, temperature=asked.get("temperature"))
        yield from self._run(config, visitor, lambda stopped: self._sampling(config, depth, n, stopped))

    def greedy(self, asked: Mapping[str, Any], visitor: str) -> Iterator[State]:
        """Two greedy texts side by side as they grow, and at last where they part and why."""
        dtype, exact = MODES[one_of("mode", str(asked.get("mode")), tuple(MODES))]
        config = self._config(
            asked, gamma=asked.get("gamma"), max_new_tokens=asked.get("max_new_tokens"), temperature=0.0
        )
        config = replace(config, exact=exact)
        yield from self._run(config, visitor, lambda stopped: self._racing(config, dtype, stopped))

    def _run(
        self, config: RunConfig, visitor: str, job: Callable[[Callable[[], bool]], Iterator[State]]
    ) -> Iterator[State]:
        """A job on the device thread, once the models are there."""
        with self._runs.stoppable(visitor) as stopped:
            for _ in self._models.awaited(config.pair, stopped):
                yield {"state": "waiting"}
            if stopped():
                yield {"state": "stopped"}
                return
            with self._device.stream(lambda: job(stopped)) as states:
                yield from states

    def _config(self, asked: Mapping[str, Any], **more: Any) -> RunConfig:
        values = {name: asked.get(name) for name in ("prompt", "pair", "drafter", "seed")}
        return replace(config_of(values | more, self._limits), rule=rules.entry(str(asked.get("rule"))).id)

    def _sampling(self, config: RunConfig, depth: int, n: int, stopped: Callable[[], bool]) -> Iterator[State]:
        """On the device thread."""
        with self._models.using(config.pair) as pair:
            output: tuple[int, ...] = ()
            for event in _answer(pair, config, depth, stopped):
                output = event.tokens if isinstance(event, RunFinished) else output
                yield {"state": "reading"}
            found = position(pair, config, [token for token in output if token not in pair.end_tokens])
            if found.q is None:
                raise SettingError("nothing_proposed")
            p, q, history = found.p.cpu(), found.q.cpu(), []
            beta = float(p.minimum(q).sum())
            shown = {"context": _context(pair, found), "dtype": pair.dtype, "rule": config.rule, "beta": beta}
            for result in simulate(rules.entry(config.rule), p, q, n, config.seed, step=STEP):
                history.append([result.n, result.distance, result.expected, result.low, result.high, result.p_value])
                done = "done" if result.n == n else "stopped" if stopped() else "running"
                yield shown | {"state": done, "of": n, "history": history, **_counted(result, pair, q.tolist())}
                if done != "running":
                    return

    def _racing(self, config: RunConfig, dtype: str | None, stopped: Callable[[], bool]) -> Iterator[State]:
        """On the device thread. Models that are held in another number type are held a second time for this."""
        with ExitStack() as held:
            pair, beside = held.enter_context(self._models.using(config.pair)), 0
            if dtype and pair.dtype != dtype:
                beside = room_for(pair, dtype)
                yield {"state": "loading", "dtype": dtype, "bytes": beside}
                pair = held.enter_context(self._models.using(in_dtype(config.pair, dtype)))
            shown = {"dtype": pair.dtype, "rule": config.rule, "exact": config.exact, "gamma": config.gamma}
            for state in _race(pair, config, stopped):
                yield shown | {"beside": beside} | state


def _race(pair: Pair, config: RunConfig, stopped: Callable[[], bool]) -> Iterator[State]:
    """Both texts as they grow; at last what they showed, and the lead of the target's first choice at each token."""
    pieces: dict[str, list[str]] = {SPECULATIVE: [], BASELINE: []}
    margins: dict[int, float] = {}
    for item in greedy_on(pair, config, stopped):
        if isinstance(item, Judged):
            pieces[item.lane].extend(item.pieces)
        elif isinstance(item, RunFinished) and item.tail:
            pieces[item.lane].append(item.tail)
        elif isinstance(item, Inspected) and item.lane == BASELINE and item.positions:
            margins[item.round] = item.positions[0].margin
        state: State = {lane: list(texts) for lane, texts in pieces.items()} | {"state": "running"}
        if isinstance(item, Outcome):
            leads = [round(margins[number], 4) for number in sorted(margins)]
            state |= _outcome(item) | {"margins": leads, "state": "stopped" if stopped() else "done"}
        yield state


def _answer(pair: Pair, config: RunConfig, depth: int, stopped: Callable[[], bool]) -> Iterator[Event]:
    """The first tokens that the target says alone at T = 0."""
    if depth:
        greedy = replace(baseline(config), sampling=SamplingConfig(), max_new_tokens=depth)
        yield from (e for e in open_lane(pair, greedy, BASELINE, cancelled=stopped) if not isinstance(e, RunStarted))


def _context(pair: Pair, found: Position) -> str:
    """The end of the text before a position."""
    detokeniser = pair.text.detokeniser()
    return ("".join(map(detokeniser.feed, found.context)) + detokeniser.flush())[-CONTEXT:]


def _counted(result: Sampled, pair: Pair, q: list[float]) -> State:
    """cells: [what the id is called, p, q, how often it came], the last one for all other ids, called null."""
    listed = [cell.token for cell in result.cells if cell.token is not None]
    rest = max(0.0, 1.0 - sum(q[token] for token in listed))
    return {
        "n": result.n,
        "accepted": result.accepted,
        "cells": [
            [None, cell.chance, rest, cell.count]
            if cell.token is None
            else [pair.text.label(cell.token), cell.chance, q[cell.token], cell.count]
            for cell in result.cells
        ],
        "chi2": min(result.chi2, 1e300),
        "degrees": result.degrees,
        "p_value": result.p_value,
        "passed": result.passed,
    }


def _outcome(found: Outcome) -> State:
    parts = found.divergence
    return {
        "identical": found.identical,
        "same": found.same,
        "of": found.of,
        "divergence": parts and {"gap": parts.gap, "difference": parts.difference, "tie": parts.numerical_tie},
    }
