"""Recorded runs for the stage: those that ship with the project, a visitor's files, two raced against each other.

Knows traces as text and as events. Does not know components. What a visitor sends is read strictly and written
anew, so that only what this project would have written itself reaches a page.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from specdemo import trace
from specdemo.core.events import Event, RunStarted
from specdemo.device import race
from specdemo.errors import TraceError
from specdemo.paths import ASSETS
from specdemo.wire import encode

SHIPPED = ASSETS / "traces"
INDEX = "index.json"
MOST_BYTES = 5_000_000
"""The largest trace that a visitor may send: three times the longest run of this page."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """A recorded run that ships with the project. titles: language → title. hero: it plays first."""

    id: str
    titles: dict[str, str]
    hero: bool = False


class Library:
    """The recorded runs of a folder, in the order of its index; none if none were recorded yet."""

    def __init__(self, folder: Path = SHIPPED) -> None:
        self._folder = folder
        index = folder / INDEX
        records: list[dict[str, Any]] = json.loads(index.read_text(encoding="utf-8")) if index.is_file() else []
        self.all = tuple(Shipped(record["id"], record["titles"], record.get("hero", False)) for record in records)

    @property
    def hero(self) -> Shipped | None:
        """The run that plays first."""
        return next((one for one in self.all if one.hero), self.all[0] if self.all else None)

    def text(self, id: object) -> str:
        """The trace of that name, or `TraceError`."""
        if not any(one.id == id for one in self.all):
            raise TraceError("trace_unknown", value=id, choices=", ".join(one.id for one in self.all))
        return (self._folder / f"{id}.jsonl").read_text(encoding="utf-8")


def read(text: object) -> trace.Trace:
    """A visitor's trace, read strictly. `TraceError` says what is wrong and where."""
    if not isinstance(text, str):
        raise TraceError("trace_alien")
    data = text.encode("utf-8", errors="replace")
    if len(data) > MOST_BYTES:
        raise TraceError("trace_bytes", limit=MOST_BYTES // 1_000_000)
    return trace.parse(data)


def written(recorded: trace.Trace) -> str:
    """A trace as text."""
    return "".join(line + "\n" for line in encode(recorded.header, recorded.events, recorded.label))


def raced(first: trace.Trace, second: trace.Trace, names: tuple[str, str]) -> trace.Trace:
    """Two recorded runs as one race by their own clocks: the drafting lane of each, and a baseline if there is one.

    names: of the two lanes. The header is the first run's.
    """
    strings = _merged(first, second)
    lanes: dict[str, Iterator[Event]] = {}
    for recorded, name in zip((first, second), _apart(names), strict=True):
        lanes[name] = _lane(recorded, _drafting(recorded), name)
    for recorded in (first, second):
        plain = _plain(recorded)
        if plain is not None and plain not in lanes:
            lanes[plain] = _lane(recorded, plain, plain)
    return trace.Trace(first.header, strings, tuple(race(lanes)))


def _lane(recorded: trace.Trace, lane: str, name: str) -> Iterator[Event]:
    """The events of one lane under another name."""
    return (replace(event, lane=name) for event in recorded.events if event.lane == lane)


def _merged(first: trace.Trace, second: trace.Trace) -> dict[int, tuple[str, str]]:
    """The strings of both. Two tokenizers give an id two meanings: then there is no race between them."""
    for token in first.strings.keys() & second.strings.keys():
        if first.strings[token] != second.strings[token]:
            raise TraceError("trace_tokenizers")
    return first.strings | second.strings


def _apart(names: tuple[str, str]) -> tuple[str, str]:
    return names if names[0] != names[1] else (names[0], f"{names[1]} (2)")


def _started(recorded: trace.Trace) -> list[RunStarted]:
    return [event for event in recorded.events if isinstance(event, RunStarted)]


def _drafting(recorded: trace.Trace) -> str:
    """The lane that drafts, else the first."""
    started = _started(recorded)
    return next((event.lane for event in started if event.drafter != "none"), started[0].lane)


def _plain(recorded: trace.Trace) -> str | None:
    return next((event.lane for event in _started(recorded) if event.drafter == "none"), None)
