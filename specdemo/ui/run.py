"""One live run for one visitor: its time in the line, its turns on the device, its line in the log.

Knows the device, the models, the line and the settings of the run. Does not know components. Nothing is held across an
update but the stream; whoever walks away, or stops reading, ends it.
"""

import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from specdemo import lanes, trace
from specdemo.config import RunConfig
from specdemo.core.events import Event, RoundFinished, RunFinished, RunStarted
from specdemo.device import Device
from specdemo.errors import Cancelled, CapacityError, UserError
from specdemo.models.loader import Pair
from specdemo.ui import logs
from specdemo.ui.models import Models
from specdemo.ui.problems import out_of_memory
from specdemo.ui.stream import pieces
from specdemo.ui.waiting import Line, Place, Ticket
from specdemo.wire import Encoder, Label, header_line

TICK_S = 0.5
"""How often whoever waits hears of it, and whoever left is noticed."""
ABSENT_S = 15.0
"""Seconds without anybody who reads the visitor's updates after which their runs end."""
BLOCK = 64
"""Caches grow by so many tokens."""

Equip = Callable[[Pair], Pair]
"""The pair with what a visitor has of their own."""
Reads = Callable[[str], bool]
"""True while somebody reads what is sent to a visitor."""


def as_it_is(pair: Pair) -> Pair:
    """Nothing of their own."""
    return pair


@dataclass(frozen=True, slots=True)
class _Opened:
    """The first item of a run: what the reader needs to write its events down."""

    header: str
    label: Label


class Stop:
    """Asked before every step whether work for a visitor shall end: somebody said so, or nobody reads any more."""

    def __init__(self, visitor: str, reads: Reads) -> None:
        self._visitor, self._reads = visitor, reads
        self._asked = threading.Event()
        self._seen = time.monotonic()
        self.unread = False

    def set(self) -> None:
        self._asked.set()

    def __call__(self) -> bool:
        now = time.monotonic()
        self._seen = now if self._reads(self._visitor) else self._seen
        self.unread = self.unread or now - self._seen > ABSENT_S
        return self.unread or self._asked.is_set()


class Run:
    """One run of one visitor: its time in the line, its stream, and a line in the log when it is left."""

    def __init__(
        self,
        config: RunConfig,
        stopped: Stop,
        device: Device,
        models: Models,
        line: Line,
        most_s: float,
        equip: Equip = as_it_is,
    ) -> None:
        self._config, self._stopped, self._most_s = config, stopped, most_s
        self._device, self._models, self._line, self._equip = device, models, line, equip
        self._exit = ExitStack()
        self._ticket: Ticket | None = None
        self._late = self._cut = self._whole = False
        self._record = logs.RunRecord(config)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._exit.close()
        self._record.write(_outcome(error, self._stopped()))
        if out_of_memory(error):
            # The frames of the error hold what could not be held.
            traceback.clear_frames(where)
            self._device.call(self._models.make_room)

    def waits(self) -> Iterator[Place | None]:
        """Where the run stands, again and again until it may begin; None while its models are loading."""
        while not self._models.ready(self._config.pair, TICK_S):
            yield self._still(None)
        self._ticket = self._exit.enter_context(self._line.joined(self._device.call(self._bytes)))
        while (place := self._line.place(self._ticket)) is not None:
            yield self._still(place)
            self._line.wait(self._ticket, TICK_S)

    def pieces(self) -> Iterator[str]:
        """The trace, piece by piece. `CapacityError` behind the last one if the run was cut short."""
        self._record.began()
        with self._device.stream(self._job) as stream:
            opened = next((item for item in stream if item is not None), None)
            if opened is None and self._stopped():
                raise Cancelled
            if opened is None:
                raise CapacityError("stopping")
            yield from pieces([opened.header], stream, Encoder(opened.label).encode)
        if self._line.closed and (self._cut or not self._whole):
            raise CapacityError("stopping")
        if self._late and self._cut:
            raise CapacityError("run_seconds", most=round(self._most_s))
        if not self._whole or self._stopped.unread:
            raise CapacityError("run_unread")

    def _still(self, place: Place | None) -> Place | None:
        """The place, for somebody who still wants it."""
        if self._line.closed:
            raise CapacityError("stopping")
        if self._stopped():
            raise Cancelled
        return place

    def _bytes(self) -> int:
        """What the caches of both lanes and of the draft may grow to. On the device thread."""
        config = self._config
        with self._models.using(config.pair) as pair:
            self._record.prompt_tokens = prompt = len(pair.text.encode(config.prompt, config.raw))
            tokens = min(prompt + config.max_new_tokens, pair.limit) + config.gamma + 1
            caches = 1 if config.drafter == "none" else 3
            self._record.bytes = caches * pair.token_bytes * (-(-tokens // BLOCK) * BLOCK)
            return self._record.bytes

    def _job(self) -> Iterator[_Opened | Event | None]:
        """Runs on the device thread. None while costs are measured: every pass is a turn of its own."""
        config = self._config
        with self._models.using(config.pair) as pair:
            own, costs = self._equip(pair), None
            if config.policy == "goodput":
                for found in lanes.visits_of(own, config):
                    costs = found or costs
                    yield None
                    if self._stopped():
                        return
            yield _Opened(header_line(trace.header(config, lanes.models_of(pair, config))), pair.text.label)
            configs = lanes.entrants(config)
            yield from self._timed(lanes.open_race(own, configs, inspect=True, cancelled=self._over, costs=costs), pair)
        self._whole = True

    def _timed(self, events: Iterator[Event], pair: Pair) -> Iterator[Event]:
        """The events, while the time that they take of the device is counted."""
        ticket = self._ticket or Ticket(0)
        try:
            start = pair.clock()
            for event in events:
                self._note(event)
                ticket.spent_s += pair.clock() - start
                self._record.device_s = ticket.spent_s
                yield event
                start = pair.clock()
        finally:
            getattr(events, "close", lambda: None)()

    def _note(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._record.tokens[event.lane] = 0
            case RoundFinished():
                self._record.tokens[event.lane] += event.counted.emitted
                self._record.first_token()
            case RunFinished():
                self._record.tokens[event.lane] = len(event.tokens)
                self._cut = self._cut or event.finish_reason == "cancelled"

    def _over(self) -> bool:
        """Asked before every round."""
        self._late = self._late or (self._ticket is not None and self._ticket.spent_s > self._most_s)
        return self._late or self._stopped()


def _outcome(error: BaseException | None, stopped: bool) -> str:
    """How a run ended, in a word."""
    if error is None:
        return "stopped" if stopped else "finished"
    if isinstance(error, GeneratorExit):
        return "left"
    if isinstance(error, Cancelled):
        return "stopped"
    if isinstance(error, UserError):
        return error.key
    return "memory" if out_of_memory(error) else "fault"
