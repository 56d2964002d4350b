"""The one format of a live stream, a recorded trace and a replay: a JSON object per line.

    {"specdemo": 1, "kind": …, "recorded": …, "models": …, "settings": …, "hardware": …, "versions": …}
    {"strings": {"123": [" cat", "text"], "5": ["F0 9F", "bytes"], "2": ["<|im_end|>", "special"]}}
    {"event": "run_started", …the fields of the dataclass in core/events.py by name…}

The header comes first; the strings of ids come before the first event that mentions them. Every line ends
with a line feed. Knows headers, strings and events. Does not know files, tokenizers or pages.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from specdemo.codec import DIGITS, Misfit, plain, typed
from specdemo.config import RunConfig
from specdemo.core.events import Drafted, Event, Inspected, Judged, RunFinished, RunStarted
from specdemo.errors import SettingError, TraceError
from specdemo.grammar import Grammar
from specdemo.machine import Facts

VERSION = 1
KINDS = ("text", "bytes", "special")
LAW_DIGITS = 4
"""Significant digits of the inspector's laws: they are half of a trace, and nobody reads more of them."""

MAX_LINE = 2_000_000
MAX_LINES = 200_000

EVENTS: dict[str, type] = {re.sub("(?<!^)(?=[A-Z])", "_", event.__name__).lower(): event for event in get_args(Event)}
"""The events by their names on the wire, e.g. `run_started`."""
NAMES = {event: name for name, event in EVENTS.items()}

Label = Callable[[int], tuple[str, str]]
"""From an id to (what to show, kind): text, bytes of an unfinished character in hex, or a special token."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a stream is about. recorded: ISO date-time in UTC, None while live. The dicts are flat lists of facts."""

    kind: Literal["trace", "live"]
    recorded: str | None
    models: Facts
    settings: RunConfig
    hardware: Facts
    versions: Facts

    def anonymous(self) -> "Header":
        """The same without paths: a local folder keeps its last name only."""
        settings = replace(
            self.settings,
            pair=",".join(_last_name(part) for part in self.settings.pair.split(",")),
            knobs=tuple((name, _last_name(value)) for name, value in self.settings.knobs),
        )
        models, hardware, versions = (
            {name: _last_name(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}
            for facts in (self.models, self.hardware, self.versions)
        )
        return replace(self, settings=settings, models=models, hardware=hardware, versions=versions)


def _last_name(text: str) -> str:
    """`/home/me/model` → `model`; `owner/model` stays."""
    local = text.startswith(("/", "~", ".")) or "\\" in text or text.count("/") > 1
    return re.split(r"[/\\]", text.rstrip("/\\"))[-1] if local else text


def encode(header: Header, events: Iterable[Event], label: Label) -> Iterator[str]:
    """The lines of a whole stream, each without its line feed."""
    yield header_line(header)
    encoder = Encoder(label)
    for event in events:
        yield from encoder.encode(event)


def header_line(header: Header) -> str:
    """The first line. No paths are written."""
    return _dumps({"specdemo": VERSION, **plain(header.anonymous())})


class Encoder:
    """Writes the events of one stream; remembers which ids have their string."""

    def __init__(self, label: Label) -> None:
        self._label = label
        self._named: set[int] = set()

    def encode(self, event: Event) -> list[str]:
        """One line, or two if the event mentions new ids. ValueError on inf and NaN: no event may hold them."""
        new = [i for i in dict.fromkeys(ids(event)) if i not in self._named]
        self._named.update(new)
        digits = LAW_DIGITS if isinstance(event, Inspected) else DIGITS
        lines = [_dumps({"strings": {str(i): self._string(i) for i in new}})] if new else []
        return [*lines, _dumps({"event": NAMES[type(event)], **plain(event, digits)})]

    def _string(self, token: int) -> tuple[str, str]:
        text, kind = self._label(token)
        if kind not in KINDS:
            raise ValueError(f"a string cannot be of kind {kind!r}")
        return text, kind


def ids(event: Event) -> Iterator[int]:
    """Every token id that an event mentions, in order, perhaps more than once."""
    match event:
        case RunStarted():
            yield from event.prompt
        case Drafted() | RunFinished():
            yield from event.tokens
        case Judged():
            yield from event.emitted
        case Inspected():
            for position in event.positions:
                for top in (position.p_top, position.q_top, position.residual_top):
                    yield from (i for i, _ in top or ())


def _dumps(value: Any) -> str:
    line = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # A lone surrogate, which a prompt may hold, has no UTF-8; its escape has.
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", line)


def decode(lines: Iterable[str | bytes]) -> Iterator[Event]:
    """The events of a stream. `TraceError` at the first line that is not as written by `encode`."""
    return Decoder().events(lines)


class Decoder:
    """Reads one stream line by line. `header` is there after the first line; `strings` grow before they are needed."""

    def __init__(self) -> None:
        self.header: Header | None = None
        self.strings: dict[int, tuple[str, str]] = {}
        self._grammar = Grammar()
        self._line = 0

    def events(self, lines: Iterable[str | bytes]) -> Iterator[Event]:
        """The events of the lines. An empty stream is refused."""
        for line in lines:
            event = self.feed(line)
            if event is not None:
                yield event
        if self.header is None:
            raise TraceError("trace_empty")

    def feed(self, line: str | bytes) -> Event | None:
        """Reads the next line, its line feed or not; the event if it holds one."""
        self._line += 1
        if self._line > MAX_LINES:
            raise TraceError("trace_lines", limit=MAX_LINES)
        if len(line) > MAX_LINE:
            raise TraceError("trace_line", line=self._line, limit=MAX_LINE // 1_000_000)
        try:
            return self._read(_loads(line))
        except Misfit as misfit:
            raise TraceError(misfit.key, line=self._line, **misfit.params) from None

    def _read(self, record: dict[str, Any] | None) -> Event | None:
        if self.header is None:
            self.header = _header(record or {})
            return None
        if record is None:
            raise Misfit("trace_json")
        if record.keys() == {"strings"}:
            self._add(record["strings"])
            return None
        return self._event(record)

    def _add(self, strings: object) -> None:
        for text, label in typed(strings, dict[str, tuple[str, str]], "strings").items():
            # Ids are written one way only: ASCII digits, no leading zero, few enough to be an int.
            if not re.fullmatch("0|[1-9][0-9]{0,9}", text) or label[1] not in KINDS or int(text) in self.strings:
                raise Misfit("trace_field", field="strings")
            self.strings[int(text)] = label

    def _event(self, record: dict[str, Any]) -> Event:
        name = record.pop("event", None)
        if not isinstance(name, str) or name not in EVENTS:
            raise Misfit("trace_event")
        event: Event = typed(record, EVENTS[name], name)
        self._grammar.check(event, name)
        for i in ids(event):
            if i not in self.strings:
                raise Misfit("trace_string", token=i)
        return event


def _loads(line: str | bytes) -> dict[str, Any] | None:
    """The JSON object in a line, None if it is none."""
    try:
        record = json.loads(line.decode() if isinstance(line, bytes) else line, parse_constant=_refuse)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, a number of thousands of digits; nested too deep
        return None
    return record if isinstance(record, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _header(record: dict[str, Any]) -> Header:
    version = record.pop("specdemo", None)
    if type(version) is not int or version < 1:
        raise Misfit("trace_alien")
    if version > VERSION:
        raise Misfit("trace_newer")
    try:
        header: Header = typed(record, Header, "header")
        utc = header.recorded is None or datetime.fromisoformat(header.recorded).utcoffset() == timedelta()
    except SettingError:
        raise Misfit("trace_field", field="header.settings") from None
    except ValueError:
        utc = False
    if not utc:
        raise Misfit("trace_field", field="header.recorded")
    return header
