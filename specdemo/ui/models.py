"""The models that are in memory, shared by all visitors: loaded once, in the background, on the device thread.

Knows the device and functions that fetch and load a pair. Does not know widgets or runs. Files are fetched beside the
device thread, which has runs to go on with meanwhile. A pair that nobody uses makes room for another one.
"""

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Literal

import torch

from specdemo.device import Device, Stream
from specdemo.models.loader import Pair
from specdemo.ui.i18n import Texts
from specdemo.ui.problems import sentence

Progress = Callable[[str, int, int | None], None]
LoadPair = Callable[[str, Progress], Pair]
"""(spec, progress) → pair. Runs on the device thread."""
FetchPair = Callable[[str, Progress], object]
"""(spec, progress): gets the files that loading needs. Runs on a thread of its own, without torch."""
AGAIN_S = 30.0
"""Seconds after which a pair that could not be loaded is tried again for whoever wants to run it."""


def nothing_to_fetch(spec: str, progress: Progress) -> None:
    """Everything is here."""


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
    error: Exception | None = None
    failed_at: float = 0.0


class Models:
    """Pairs by their spec. keep: how many may be in memory at once, as long as no more are in use."""

    def __init__(self, device: Device, load: LoadPair, keep: int = 2, fetch: FetchPair = nothing_to_fetch) -> None:
        self._device, self._load, self._keep, self._fetch = device, load, keep, fetch
        self._slots: dict[str, _Slot] = {}
        self._lock = threading.Condition()

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
                threading.Thread(target=self._fetching, args=(spec, slot), daemon=True).start()
            return slot.status

    def ready(self, spec: str, timeout_s: float = 0.0) -> bool:
        """True once the pair is in memory, False if it is not after so many seconds. Raises why it cannot be loaded."""
        with self._lock:
            slot = self._slots.get(spec)
            again = slot is not None and slot.error is not None and time.monotonic() > slot.failed_at + AGAIN_S
        self.want(spec, again)
        with self._lock:
            self._lock.wait_for(lambda: self.status(spec).state != "loading", timeout_s)
            slot = self._slots.get(spec)
            if slot is not None and slot.error is not None:
                raise slot.error.with_traceback(None)
            return slot is not None and slot.pair is not None

    def awaited(self, spec: str, stopped: Callable[[], bool], tick_s: float = 0.5) -> Iterator[None]:
        """An item every `tick_s` until the pair is in memory, or `stopped`. Raises why it cannot be loaded.

        Never on the device thread: a download there would hold everybody.
        """
        while not self.ready(spec, tick_s) and not stopped():
            yield

    @property
    def statuses(self) -> list[Status]:
        """How far every pair is that somebody wanted."""
        with self._lock:
            return [slot.status for slot in self._slots.values()]

    def make_room(self) -> None:
        """After a run that found no memory: lets go of the pairs that nobody uses but the latest, and of what is spare.

        On the device thread only.
        """
        self._drop_idle(keep=1)
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

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

    def _fetching(self, spec: str, slot: _Slot) -> None:
        """Gets the files, then asks the device thread to load them."""
        try:
            self._fetch(spec, lambda *progress: self._report(spec, *progress))
        except Exception as error:  # kept for whoever waits for the pair
            self._failed(spec, error)
            return
        slot.job = self._device.stream(lambda: self._loading(spec))

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
            self._drop_idle(self._keep - 1)
            self._say(spec, state="loading")
            try:
                slot.pair = self._load(spec, lambda *progress: self._report(spec, *progress))
            except Exception as error:
                self._failed(spec, error)
                raise
            slot.error = None
            self._say(spec, state="ready", facts=(slot.pair.dtype, slot.pair.device))
        return slot

    def _failed(self, spec: str, error: Exception) -> None:
        problem = sentence(error)
        with self._lock:
            # Without the frames that it passed through, which hold what was half loaded.
            slot = self._slots[spec]
            slot.error, slot.failed_at = error.with_traceback(None), time.monotonic()
        self._say(spec, state="failed", problem=problem)

    def _drop_idle(self, keep: int) -> None:
        """Lets go of pairs that nobody uses, the ones unused for longest first, until only so many are left."""
        with self._lock:
            loaded = [(spec, slot) for spec, slot in self._slots.items() if slot.pair is not None]
        idle = [(spec, slot) for spec, slot in loaded if not slot.users]
        for spec, slot in idle[: max(0, len(loaded) - keep)]:
            with self._lock:
                del self._slots[spec]
            slot.pair.close()

    def _report(self, spec: str, stage: str, done: int, total: int | None) -> None:
        self._say(spec, stage=stage, done=done, total=total)

    def _say(self, spec: str, **changes: object) -> None:
        with self._lock:
            slot = self._slots[spec]
            slot.status = replace(slot.status, **changes)
            self._lock.notify_all()
