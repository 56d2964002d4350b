"""Recorded runs: written while they happen, read back, replayed without model or tokenizer.

Knows files. Does not know how a line is written (`wire.py`) or where events come from.
"""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from specdemo import machine
from specdemo.config import RunConfig
from specdemo.core.events import Event
from specdemo.errors import TraceError
from specdemo.machine import Facts
from specdemo.wire import Decoder, Encoder, Header, Label, header_line

__all__ = ["Header", "Trace", "header", "parse", "read", "record", "replay"]

MAX_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded run. strings: id → (what to show, kind), for every id that its events mention."""

    header: Header
    strings: dict[int, tuple[str, str]]
    events: tuple[Event, ...]

    def label(self, token: int) -> tuple[str, str]:
        """What to show for an id, and its kind; what a tokenizer would have said. KeyError for an id not in the run."""
        return self.strings[token]


def header(settings: RunConfig, models: Facts, recorded: datetime | None = None) -> Header:
    """The header of a run on this machine. recorded: an aware date and time; None for a live stream."""
    return Header(
        kind="live" if recorded is None else "trace",
        recorded=None if recorded is None else recorded.astimezone(UTC).isoformat(timespec="seconds"),
        models=models,
        settings=settings,
        hardware=machine.hardware(),
        versions=machine.versions(),
    )


def replay(trace: Trace) -> Iterator[Event]:
    """The events of a trace: the same as the run that was recorded, up to the digits written."""
    return iter(trace.events)


def record(events: Iterator[Event], header: Header, path: Path, label: Label) -> Iterator[Event]:
    """Passes events through and writes them to `path`.

    The lines go to `path` + ".part", which takes its final name after the last event. Where the reader walks
    away or the run fails, the part file stays: whole lines, readable as a trace of what had happened.
    `TraceError` where a file cannot be written. Closing the recording closes `events`.
    """
    encoder, part = Encoder(label), path.with_name(path.name + ".part")
    try:
        with _writing(path):
            file = part.open("wb", buffering=0)
        with file:
            _append(file, [header_line(replace(header, kind="trace"))], path)
            for event in events:
                _append(file, encoder.encode(event), path)
                yield event
        with _writing(path):
            os.replace(part, path)
    finally:
        getattr(events, "close", lambda: None)()


def read(path: Path) -> Trace:
    """The trace in a file. `TraceError` says what is wrong with it and in which line."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise TraceError("trace_unreadable", name=path.name, reason=error.strerror) from error
    return parse(data)


def parse(data: bytes) -> Trace:
    """The trace in the bytes of a file."""
    if len(data) > MAX_BYTES:
        raise TraceError("trace_bytes", limit=MAX_BYTES // 1_000_000)
    decoder = Decoder()
    events = tuple(decoder.events(_lines(data)))
    if not events or decoder.header is None:
        raise TraceError("trace_empty")
    return Trace(decoder.header, decoder.strings, events)


def _lines(data: bytes) -> Iterator[bytes]:
    """Lines end with a line feed and nothing else; text may hold other separators that Python would split at."""
    for number, line in enumerate(io.BytesIO(data), 1):
        # A first line without an end is left to the decoder: most likely this is no trace at all.
        if number > 1 and not line.endswith(b"\n"):
            raise TraceError("trace_cut", line=number)
        yield line


def _append(file: io.FileIO, lines: list[str], path: Path) -> None:
    data = "".join(line + "\n" for line in lines).encode()
    with _writing(path):
        if file.write(data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise TraceError("trace_unwritable", name=path.name, reason=error.strerror) from error
