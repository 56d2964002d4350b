"""The live runs of all visitors: how one is asked for, stopped, and counted.

Knows visitors by a name. Does not know components, nor what a run does (`run.py`).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from specdemo.config import RunConfig
from specdemo.device import Device
from specdemo.errors import CapacityError
from specdemo.models.loader import Pair
from specdemo.ui.models import Models
from specdemo.ui.run import Reads, Run, Stop
from specdemo.ui.tables import Tables
from specdemo.ui.waiting import Capacity, Line

MOST_S = 120.0
"""Seconds of computing that one run may use."""


def everyone(visitor: str) -> bool:
    """Nobody is known to be away."""
    return True


class Runs:
    """The runs going on. Stop ends those of one visitor. most_s: of computing, for one run."""

    def __init__(
        self,
        device: Device,
        models: Models,
        capacity: Capacity | None = None,
        most_s: float = MOST_S,
        reads: Reads = everyone,
        tables: Tables | None = None,
    ) -> None:
        self.capacity = capacity or Capacity()
        self._device, self._models, self._most_s, self._reads = device, models, most_s, reads
        self._line, self._tables = Line(self.capacity), tables or Tables()
        self._stops: dict[str, set[Stop]] = {}
        self._lock = threading.Lock()

    def stop(self, visitor: str) -> None:
        """Asks for the end of the visitor's runs; each ends after its current round with all that it has."""
        with self._lock:
            for stop in self._stops.get(visitor, ()):
                stop.set()

    def close(self) -> None:
        """Ends all runs as a stop does and lets no more begin."""
        self._line.close()
        with self._lock:
            for stops in self._stops.values():
                for stop in stops:
                    stop.set()

    @property
    def going(self) -> int:
        """Runs that have not ended."""
        with self._lock:
            return sum(map(len, self._stops.values()))

    @property
    def counts(self) -> tuple[int, int]:
        """Runs that take turns on the device, and runs that wait for that."""
        return self._line.counts

    @contextmanager
    def asked(self, config: RunConfig, visitor: str) -> Iterator[Run]:
        """A race against the baseline; within, first read its `waits`, then its `pieces`."""

        def equip(pair: Pair) -> Pair:
            return self._tables.lent(pair, visitor)

        with (
            self.stoppable(visitor) as stopped,
            Run(config, stopped, self._device, self._models, self._line, self._most_s, equip) as run,
        ):
            yield run

    def live(self, config: RunConfig, visitor: str) -> Iterator[str]:
        """The trace of a race against the baseline, piece by piece, as it happens; "" now and then while it waits."""
        with self.asked(config, visitor) as run:
            for _ in run.waits():
                yield ""
            yield from run.pieces()

    @contextmanager
    def stoppable(self, visitor: str) -> Iterator[Stop]:
        """Work that `stop` ends: within, what says whether it shall end.

        `CapacityError` where the visitor has as much of it going as one may.
        """
        stop = Stop(visitor, self._reads)
        with self._lock:
            mine = self._stops.get(visitor, set())
            if len(mine) >= self.capacity.per_visitor:
                raise CapacityError("visitor_runs", count=len(mine))
            self._stops[visitor] = mine | {stop}
        try:
            yield stop
        finally:
            stop.set()
            with self._lock:
                mine = self._stops[visitor] - {stop}
                if mine:
                    self._stops[visitor] = mine
                else:
                    del self._stops[visitor]
