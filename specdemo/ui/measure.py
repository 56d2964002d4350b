"""What the Measure tab shows, as values of plain data: sweeps and the free-lunch curve on the pair that is loaded.

Knows the device, the models and the measurements of `specdemo.measure`. Does not know components. Everything here that
touches torch is a job in the background of the device thread: live runs go first.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from functools import partial
from typing import Any

from specdemo import lanes
from specdemo.bench.about import environment, machine_line
from specdemo.bench.measure import DraftCost, Tick
from specdemo.bench.plan import Plan
from specdemo.bench.rows import Row
from specdemo.codec import plain
from specdemo.config import MAX_GAMMA, MAX_TEMPERATURE, RunConfig, one_of, real, whole
from specdemo.costs import REPEATS, Costs
from specdemo.device import Device, Stream
from specdemo.errors import SettingError
from specdemo.measure import kinds
from specdemo.measure.earlier import earlier
from specdemo.measure.evaluation import prompts_of
from specdemo.measure.sweep import Began, Standing, sweep
from specdemo.models.loader import Pair
from specdemo.prompts import Prompt
from specdemo.ui.i18n import LANGUAGES, spoken
from specdemo.ui.models import Models
from specdemo.ui.replays import Library, read
from specdemo.ui.runs import Runs
from specdemo.ui.settings import Limits, config_of

State = dict[str, Any]
"""All that a measurement shows at a moment: every value stands alone, so that a lost update loses nothing."""

MOST_TOKENS = 128
"""New tokens of one run, at most."""
TELL_S = 0.5
"""Between two updates: making them takes time from what is measured."""
TITLE = 60
"""Characters of a prompt that stand for it."""
FIELDS = [field.name for field in fields(Row)]
SEPARATORS = re.compile(r"[\s,;，；、]+")


class Measures:
    """Measurements on the pair that a visitor has chosen."""

    def __init__(self, device: Device, models: Models, runs: Runs, limits: Limits, library: Library) -> None:
        self._device, self._models, self._runs, self._library = device, models, runs, library
        self._lock = threading.Lock()
        self._earlier: list[State] | None = None
        self._limits = replace(limits, max_new_tokens=min(limits.max_new_tokens, MOST_TOKENS))

    @property
    def earlier(self) -> list[State]:
        """α, c and v of the recorded runs that have them, worked out for all visitors when the first one asks."""
        with self._lock:
            if self._earlier is None:
                found = ((one, earlier(read(self._library.text(one.id)))) for one in self._library.all)
                self._earlier = [asdict(run) | {"titles": one.titles} for one, run in found if run is not None]
            return self._earlier

    def measure(self, asked: Mapping[str, Any], visitor: str) -> Iterator[State]:
        """A measurement as it goes. `UserError` where something asked for cannot be had."""
        kind = one_of("kind", str(asked.get("kind")), kinds.KINDS)
        if kind == kinds.LUNCH:
            yield from self._lunch(asked, visitor)
            return
        plan = self._plan(kind, asked)
        board = Board(plan, {"kind": kind, "pair": plan.pair, "prompts": [described(one) for one in plan.prompts]})
        yield from self._run(board, partial(self._sweeping, plan, kind == kinds.POLICY), visitor)

    def _lunch(self, asked: Mapping[str, Any], visitor: str) -> Iterator[State]:
        """What a pass over n tokens costs, for n = 1 … 32."""
        prompt = prompts_of("few")[0]
        config = lanes.baseline(self._config(asked, prompt))
        yield from self._run(Curve(config, prompt), partial(self._timing, config), visitor)

    def _plan(self, kind: str, asked: Mapping[str, Any]) -> Plan:
        prompts = prompts_of(str(asked.get("prompts")), str(asked.get("listed", "")), str(asked.get("file", "")))
        checked = [self._config(asked, prompt) for prompt in prompts]
        names, gammas, temperatures = asked.get("drafters"), tuple[float, ...](), tuple[float, ...]()
        if kind == kinds.GAMMA:
            gammas = numbers("gammas", asked.get("gammas"), partial(whole, low=1, high=MAX_GAMMA))
        if kind == kinds.TEMPERATURE:
            temperatures = numbers(
                "temperatures", asked.get("temperatures"), partial(real, low=0.0, high=MAX_TEMPERATURE)
            )
        return kinds.plan_of(
            kind,
            prompts,
            checked[0],
            [int(value) for value in gammas],
            temperatures,
            tuple(dict.fromkeys(map(str, names))) if isinstance(names, list) else (),
        )

    def _config(self, asked: Mapping[str, Any], prompt: Prompt) -> RunConfig:
        values = {name: asked.get(name) for name in ("pair", "drafter", "gamma", "temperature", "max_new_tokens")}
        return config_of(values | {"prompt": prompt.text}, self._limits)

    def _run(
        self, board: "Board | Curve", make: Callable[[Pair, Callable[[], bool]], Iterator[Any]], visitor: str
    ) -> Iterator[State]:
        """Runs a job in the background and shows what it comes to, also while it waits for others."""
        with self._runs.stoppable(visitor) as stopped:

            def job() -> Iterator[Any]:
                with self._models.using(board.pair) as pair:
                    yield from make(pair, stopped)

            for _ in self._models.awaited(board.pair, stopped, TELL_S):
                yield board.state("waiting")
            if stopped():
                yield board.state("stopped")
                return
            with self._device.stream(job, background=True) as items:
                yield from self._shown(board, items, stopped)

    def _shown(self, board: "Board | Curve", items: Stream[Any], stopped: Callable[[], bool]) -> Iterator[State]:
        due, over = 0.0, object()
        while True:
            while not items.ready(TELL_S):
                if stopped():  # whoever waits for a turn is not kept waiting
                    yield board.state("stopped")
                    return
                yield board.state("waiting", ahead=self._device.ahead)
            item = next(items, over)
            if item is over:
                break
            board.add(item)
            if time.monotonic() >= due:
                yield board.state("running")
                due = time.monotonic() + TELL_S
        yield board.state("stopped" if stopped() else "done")

    def _sweeping(self, plan: Plan, strips: bool, pair: Pair, stopped: Callable[[], bool]) -> Iterator[Any]:
        """On the device thread."""
        return sweep(pair, plan, stopped, strips)

    def _timing(self, config: RunConfig, pair: Pair, stopped: Callable[[], bool]) -> Iterator[Any]:
        """On the device thread: the environment, then None at every turn and the costs when they are better known."""
        yield environment(pair.dtype) | {"context": len(pair.text.encode(config.prompt, config.raw))}
        for costs in lanes.visits_of(pair, config, range(1, kinds.WIDEST + 1)):
            yield costs
            if stopped():
                return


class Board:
    """What has been measured of a sweep, from what its job tells."""

    def __init__(self, plan: Plan, told: State) -> None:
        self.pair = plan.pair
        self._plan, self._told = plan, told | {"seed": plan.seed, "max_new_tokens": plan.max_new_tokens}
        self._costs: list[State] = []
        self._racing = False
        self._standing = Standing()
        self._share = 0.0
        self._measured: State = {}

    def add(self, item: Began | DraftCost | Tick | Standing) -> None:
        """Takes in the next thing that the job tells."""
        match item:
            case Began():
                self._plan = item.plan
                self._told |= {"about": item.environment, "line": machine_line(item.environment)}
                self._told |= {"bytes": dict(item.bytes), "lanes": described_lanes(item.plan)}
                self._told |= {"refused": [{"drafter": name, "problem": spoken(why)} for name, why in item.refused]}
            case DraftCost():
                self._costs.append(plain(item))
            case Tick():
                self._share = item.share
            case Standing():
                self._standing, self._share, self._racing = item, 0.0, True
                self._measured = measured(item)

    def state(self, state: str, **more: Any) -> State:
        """All of it. progress: races, and what is raced now; not yet `racing` while drafts are warmed up and timed."""
        races = self._plan.races()
        done = self._standing.done
        now = races[done] if done < len(races) else None
        share = self._share if self._racing else 0.0
        progress: State = {"done": done + share, "of": len(races), "racing": self._racing}
        if now is not None:
            progress |= {"prompt": described(now.prompt), "temperature": now.temperature}
        return {**self._told, **self._measured, "state": state, "progress": progress, "costs": self._costs, **more}


class Curve:
    """What has been measured of the free-lunch curve."""

    def __init__(self, config: RunConfig, prompt: Prompt) -> None:
        self.pair = config.pair
        self._told: State = {"kind": kinds.LUNCH, "pair": config.pair, "prompts": [described(prompt)]}
        self._turns = 0
        self._of = kinds.WIDEST * (REPEATS + 1)

    def add(self, item: State | Costs | None) -> None:
        """Takes in the next thing that the job tells."""
        if isinstance(item, Costs):
            self._told |= {"passes": plain(item.passes), "least": plain(item.least)}
        elif item is None:
            self._turns += 1
        else:
            self._told |= {"about": item, "line": machine_line(item), "context": item["context"]}

    def state(self, state: str, **more: Any) -> State:
        """All of it."""
        return {**self._told, "state": state, "progress": {"done": self._turns, "of": self._of}, **more}


def measured(standing: Standing) -> State:
    """What a page shows of it: every row, every cell, the strips."""
    return {
        "fields": FIELDS,
        "rows": [[plain(getattr(row, name)) for name in FIELDS] for row in standing.rows],
        "cells": [plain(cell) for cell in standing.cells],
        "strips": [
            [prompt, lane, [list(asdict(b).values()) for b in beats]] for prompt, lane, beats in standing.strips
        ],
    }


def described(prompt: Prompt) -> State:
    """A prompt for a page: its title in every language, the beginning of its text where it has none."""
    begin = prompt.text.strip().replace("\n", " ")
    short = begin if len(begin) <= TITLE else begin[: TITLE - 1] + "…"
    return {"id": prompt.id, "titles": dict(prompt.titles) or dict.fromkeys(LANGUAGES, short)}


def described_lanes(plan: Plan) -> dict[str, State]:
    """What each lane is, by its name."""
    return {
        lane.name: {
            "drafter": lane.choice.drafter,
            "policy": lane.choice.policy,
            "gamma": lane.gamma,
            "control": lane.choice.control,
            "label": lane.choice.label,
            "source": lane.source,
        }
        for lane in plan.lanes()
        if lane.choice
    }


def numbers(name: str, given: object, read: Callable[[str, str], float]) -> tuple[float, ...]:
    """`"1, 2 4"` → (1, 2, 4), ascending, each once; `SettingError` for what is no such number or none at all."""
    parts = [part for part in SEPARATORS.split(str(given)) if part] if given is not None else []
    if not parts:
        raise SettingError("bench_nothing", name=name)
    return tuple(sorted({read(name, part) for part in parts}))
