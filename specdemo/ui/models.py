"""The models that are in memory, shared by all visitors: loaded once, in the background, on the device thread.

Knows the device and a function that loads a pair. Does not know widgets or runs. A pair that nobody uses makes
room for another one.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Literal

from specdemo.device import Device, Stream
from specdemo.models.loader import Pair
from specdemo.ui.i18n import Texts
from specdemo.ui.problems import sentence

Progress = Callable[[str, int, int | None], None]
LoadPair = Callable[[str, Progress], Pair]
"""(spec, progress) → pair. Runs on the device thread."""


@dataclass(frozen=True, slots=True)
class Status:
    """How far a pair is. done of total: of the stage, total None where nobody knows. facts: dtype and device."""

    spec: str
    state: Literal["idle", "loading", "ready", "failed"] = "idle"
    stage: str = "wait"
    done: int = 0
    total: int | None = None
    problem: Texts | None = None
    facts: tuple[str, str] = ("", "")


@dataclass(slots=True)
class _Slot:
    status: Status
    pair: Pair | None = None
    users: int = 0
    job: Stream[None] | None = None


class Models:
    """Pairs by their spec. keep: how many may be in memory at once, as long as no more are in use."""

    def __init__(self, device: Device, load: LoadPair, keep: int = 2) -> None:
        self._device, self._load, self._keep = device, load, keep
        self._slots: dict[str, _Slot] = {}
        self._lock = threading.Lock()

    def status(self, spec: str) -> Status:
        """How far the pair is now."""
        with self._lock:
            return self._slots[spec].status if spec in self._slots else Status(spec)

    def want(self, spec: str, again: bool = False) -> Status:
        """Begins to load the pair unless it is there, on its way, or failed and not asked for `again`."""
        with self._lock:
            slot = self._slots.get(spec)
            if slot is None or (again and slot.status.state == "failed"):
                slot = self._slots[spec] = _Slot(Status(spec, "loading"))
                slot.job = self._device.stream(lambda: self._loading(spec))
            return slot.status

    @contextmanager
    def using(self, spec: str) -> Iterator[Pair]:
        """The pair, which stays in memory meanwhile. On the device thread only; loads what is not loaded."""
        slot = self._loaded(spec)
        assert slot.pair is not None
        slot.users += 1
        try:
            yield slot.pair
        finally:
            slot.users -= 1

    def _loading(self, spec: str) -> Iterator[None]:
        """The job that loads in the background. Whoever waits for the pair reads in its status what went wrong."""
        with suppress(Exception):
            self._loaded(spec)
        yield

    def _loaded(self, spec: str) -> _Slot:
        """The slot with its pair, on the device thread, where all changes of pairs happen."""
        with self._lock:
            slot = self._slots.setdefault(spec, _Slot(Status(spec, "loading")))
            # Last in the order: used last.
            self._slots[spec] = self._slots.pop(spec)
        if slot.pair is None:
            self._make_room()
            self._say(spec, state="loading")
            try:
                slot.pair = self._load(spec, lambda *progress: self._report(spec, *progress))
            except Exception as error:
                self._say(spec, state="failed", problem=sentence(error))
                raise
            self._say(spec, state="ready", facts=(slot.pair.dtype, slot.pair.device))
        return slot

    def _make_room(self) -> None:
        loaded = [(spec, slot) for spec, slot in self._slots.items() if slot.pair is not None]
        idle = [(spec, slot) for spec, slot in loaded if not slot.users]
        for spec, slot in idle[: max(0, len(loaded) + 1 - self._keep)]:
            with self._lock:
                del self._slots[spec]
            slot.pair.close()

    def _report(self, spec: str, stage: str, done: int, total: int | None) -> None:
        self._say(spec, stage=stage, done=done, total=total)

    def _say(self, spec: str, **changes: object) -> None:
        with self._lock:
            slot = self._slots[spec]
            slot.status = replace(slot.status, **changes)
