"""Live runs: a race on the device thread as text for one visitor.

Knows the device, the models and the settings of one run. Does not know components. Nothing is held across an
update but the stream of the run; whoever walks away ends it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from specdemo import lanes, trace
from specdemo.config import RunConfig
from specdemo.core.events import Event
from specdemo.device import Device
from specdemo.ui.models import Models
from specdemo.ui.stream import pieces
from specdemo.wire import Encoder, Label, header_line


@dataclass(frozen=True, slots=True)
class _Opened:
    """The first item of a run: what the reader needs to write its events down."""

    header: str
    label: Label


class Runs:
    """The runs going on. Stop ends those of one visitor."""

    def __init__(self, device: Device, models: Models) -> None:
        self._device, self._models = device, models
        self._stops: dict[str, set[threading.Event]] = {}
        self._lock = threading.Lock()

    def stop(self, visitor: str) -> None:
        """Asks for the end of the visitor's runs; each ends after its current round with all that it has."""
        with self._lock:
            for stop in self._stops.get(visitor, ()):
                stop.set()

    @property
    def going(self) -> int:
        """Runs that have not ended."""
        with self._lock:
            return sum(map(len, self._stops.values()))

    def live(self, config: RunConfig, visitor: str) -> Iterator[str]:
        """The trace of a race against the baseline, piece by piece, as it happens."""
        with (
            self.stoppable(visitor) as stopped,
            self._device.stream(lambda: self._job(config, stopped)) as stream,
        ):
            opened = next(stream)
            yield from pieces([opened.header], stream, Encoder(opened.label).encode)

    def _job(self, config: RunConfig, stopped: Callable[[], bool]) -> Iterator[_Opened | Event]:
        """Runs on the device thread."""
        with self._models.using(config.pair) as pair:
            costs = lanes.costs_of(pair, config) if config.policy == "goodput" else None
            yield _Opened(header_line(trace.header(config, lanes.models_of(pair, config))), pair.text.label)
            configs = lanes.against_baseline(config) if config.drafter != "none" else {lanes.BASELINE: config}
            yield from lanes.open_race(pair, configs, inspect=True, cancelled=stopped, costs=costs)

    @contextmanager
    def stoppable(self, visitor: str) -> Iterator[Callable[[], bool]]:
        """Work that `stop` ends: within, a function that says whether it shall end."""
        stop = threading.Event()
        with self._lock:
            self._stops.setdefault(visitor, set()).add(stop)
        try:
            yield stop.is_set
        finally:
            stop.set()
            with self._lock:
                mine = self._stops[visitor]
                mine.discard(stop)
                if not mine:
                    del self._stops[visitor]
