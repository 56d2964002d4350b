"""Trace files: recorded while a run goes on, read back, replayed; and everything a file can be instead."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import HEADER, label, run, two_lanes

from specdemo import trace, wire
from specdemo.config import RunConfig
from specdemo.core.events import Event, Inspected, Judged, RoundFinished, RunFinished
from specdemo.core.verify import Fate
from specdemo.errors import TraceError

GOLDEN = Path(__file__).parent / "data" / "tiny.jsonl"


def record(path: Path, events: list[Event] | None = None) -> list[Event]:
    return list(trace.record(iter(two_lanes() if events is None else events), HEADER, path, label))


def written(trace_read: trace.Trace) -> bytes:
    lines = wire.encode(trace_read.header, trace_read.events, trace_read.label)
    return "".join(line + "\n" for line in lines).encode()


def refusal(data: bytes) -> TraceError:
    with pytest.raises(TraceError) as refused:
        trace.parse(data)
    assert refused.value.say()
    return refused.value


@pytest.fixture(scope="module")
def good() -> bytes:
    return "".join(line + "\n" for line in wire.encode(HEADER, two_lanes(), label)).encode()


def test_recording_passes_the_events_through_and_the_file_replays_them(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    assert record(path) == two_lanes()
    read = trace.read(path)
    assert read.header == HEADER
    assert list(trace.replay(read)) == list(trace.replay(read)) == list(read.events)
    assert [type(event) for event in read.events] == [type(event) for event in two_lanes()]
    assert os.listdir(tmp_path) == ["run.jsonl"]


def test_reading_and_recording_again_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    record(first)
    read = trace.read(first)
    list(trace.record(trace.replay(read), read.header, second, read.label))
    assert first.read_bytes() == second.read_bytes()


def test_a_replay_needs_no_tokenizer(tmp_path: Path) -> None:
    record(tmp_path / "run.jsonl")
    read = trace.read(tmp_path / "run.jsonl")
    for event in read.events:
        for i in wire.ids(event):
            assert read.label(i) == label(i)
    with pytest.raises(KeyError):
        read.label(10_000)


def test_nothing_is_written_before_the_first_event_is_asked_for(tmp_path: Path) -> None:
    trace.record(iter(run()), HEADER, tmp_path / "run.jsonl", label)
    assert os.listdir(tmp_path) == []


def test_where_the_reader_walks_away_the_part_is_a_valid_trace_and_the_old_file_stays(tmp_path: Path) -> None:
    path, events = tmp_path / "run.jsonl", two_lanes()
    path.write_text("an older recording")
    for count in range(1, len(events)):
        recording = trace.record(iter(events), HEADER, path, label)
        for _ in range(count):
            next(recording)
        part = trace.read(tmp_path / "run.jsonl.part")  # whole lines at any moment, not only after closing
        assert len(part.events) == count
        recording.close()
        assert len(trace.read(tmp_path / "run.jsonl.part").events) == count
    assert path.read_text() == "an older recording"


@pytest.mark.parametrize("leave", ["close", "fail", "finish"])
def test_closing_the_recording_closes_the_run(tmp_path: Path, leave: str) -> None:
    closed = []

    def source() -> Iterator[Event]:
        try:
            yield from run()
            if leave == "fail":
                raise RuntimeError("the run failed")
        finally:
            closed.append(True)

    events = source()  # held here, so that dropping the recording alone would not close it
    recording = trace.record(events, HEADER, tmp_path / "run.jsonl", label)
    next(recording)
    if leave == "close":
        recording.close()
    else:
        with pytest.raises(RuntimeError) if leave == "fail" else contextlib.nullcontext():
            list(recording)
    assert closed == [True]
    assert (tmp_path / "run.jsonl").exists() == (leave == "finish")


def test_a_live_header_is_recorded_as_a_trace(tmp_path: Path) -> None:
    list(trace.record(iter(run()), replace(HEADER, kind="live"), tmp_path / "run.jsonl", label))
    assert trace.read(tmp_path / "run.jsonl").header.kind == "trace"


def test_a_file_that_cannot_be_written_is_said_before_the_run_starts(tmp_path: Path) -> None:
    def never() -> Iterator[Event]:
        raise AssertionError("the run started")
        yield

    with pytest.raises(TraceError) as refused:
        next(trace.record(never(), HEADER, tmp_path / "missing" / "run.jsonl", label))
    assert refused.value.key == "trace_unwritable"
    assert str(tmp_path) not in str(refused.value)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl.part").symlink_to("/dev/full")
    with pytest.raises(TraceError) as refused:
        record(tmp_path / "run.jsonl")
    assert refused.value.key == "trace_unwritable"


def test_a_failure_of_the_run_itself_is_not_mistaken_for_one_of_the_file(tmp_path: Path) -> None:
    def source() -> Iterator[Event]:
        yield run()[0]
        raise OSError("the device is gone")

    with pytest.raises(OSError, match="device"):
        list(trace.record(source(), HEADER, tmp_path / "run.jsonl", label))


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_said(tmp_path: Path, name: str) -> None:
    with pytest.raises(TraceError) as refused:
        trace.read(tmp_path / name)
    assert refused.value.key == "trace_unreadable"


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b"", "trace_empty"),
        (b"\n", "trace_alien"),
        (b"hello", "trace_alien"),
        (b'{"specdemo": 1, "kind"', "trace_alien"),
        (b"\x1f\x8b\x08\x00", "trace_alien"),
        (b"[" * 1_000_000, "trace_alien"),
        (b'{"specdemo": 9}\n', "trace_newer"),
        (b" " * (trace.MAX_BYTES + 1), "trace_bytes"),
        (wire.header_line(HEADER).encode() + b"\n", "trace_empty"),
    ],
)
def test_what_is_no_recorded_run_is_refused(data: bytes, key: str) -> None:
    assert refusal(data).key == key


def test_a_file_is_never_read_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MAX_BYTES", 100)
    record(tmp_path / "run.jsonl")
    with pytest.raises(TraceError) as refused:
        trace.read(tmp_path / "run.jsonl")
    assert refused.value.key == "trace_bytes"


def test_a_file_cut_anywhere_in_a_line_is_refused_with_that_line(good: bytes) -> None:
    ends = [i for i, byte in enumerate(good) if byte == 10]
    for line, end in enumerate(ends[1:8], 2):
        for cut in (end, end - 1, end - 20):
            refused = refusal(good[:cut])
            assert (refused.key, refused.params) == ("trace_cut", {"line": line})


def test_a_file_cut_between_lines_is_the_run_up_to_there(good: bytes) -> None:
    head = b"".join(good.splitlines(keepends=True)[:12])
    assert 0 < len(trace.parse(head).events) < len(two_lanes())


def test_lines_end_with_a_line_feed_only(good: bytes) -> None:
    assert "\u2028".encode() in good
    assert trace.parse(good.replace(b"\n", b"\r\n")).events == trace.parse(good).events


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_damaged_file_is_read_or_refused_and_nothing_else(good: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(good)))
    drop = data.draw(st.integers(0, 40))
    spliced = data.draw(
        st.sampled_from([b"", b"-1", b"1e999", b"null", b'"', b"\n", b"\xff", b"[" * 5_000, b"9" * 400])
    )
    # What is read although it was damaged is a trace like any other: it can be written and read again. Once written
    # it stays as it is; a damaged number may have had more digits than are written.
    with contextlib.suppress(TraceError):
        once = trace.parse(written(trace.parse(good[:at] + spliced + good[at + drop :])))
        assert trace.parse(written(once)).events == once.events


def test_the_header_of_a_run_names_the_machine_and_the_time_in_utc() -> None:
    noon = datetime(2025, 1, 31, 14, tzinfo=timezone(timedelta(hours=2)))
    header = trace.header(RunConfig(), {"target": "toy"}, noon)
    assert (header.kind, header.recorded) == ("trace", "2025-01-31T12:00:00+00:00")
    assert header.hardware["cores"]
    assert header.versions["torch"]
    assert trace.header(RunConfig(), {}).kind == "live"
    assert trace.header(RunConfig(), {}).recorded is None
    assert json.loads(wire.header_line(header))["hardware"] == header.hardware
    assert datetime.fromisoformat(header.recorded).tzinfo == UTC


def test_the_golden_trace_stays_readable() -> None:
    """A file of format version 1 as it was first written. Never regenerate it: it stands for every trace out there."""
    read = trace.read(GOLDEN)
    assert (read.header.kind, read.header.recorded) == ("trace", "2025-01-31T12:00:00+00:00")
    assert read.header.settings.gamma == 3
    assert {type(event).__name__ for event in read.events} == {event.__name__ for event in wire.NAMES}
    ends = {event.lane: event for event in read.events if isinstance(event, RunFinished)}
    assert ends["speculative"].tokens == (5, 1, 1, 0, 10, 7)
    assert ends["speculative"].finish_reason == "length"
    assert len(ends["baseline"].tokens) == 6
    fates = [fate for e in read.events if isinstance(e, Judged) and e.lane == "speculative" for fate in e.fates]
    assert {Fate.ACCEPTED, Fate.REJECTED, Fate.DISCARDED} <= set(fates)
    assert any(e.positions[0].residual_top for e in read.events if isinstance(e, Inspected))
    rounds = [e for e in read.events if isinstance(e, RoundFinished) and e.lane == "speculative"]
    assert sum(e.counted.emitted for e in rounds) == ends["speculative"].metrics.tokens == 6
    assert {read.label(i)[1] for i in read.strings} == set(wire.KINDS)


def test_the_events_of_the_golden_trace_are_written_as_they_were() -> None:
    """The header may gain settings; the lines of the events change only with the format version."""
    assert written(trace.read(GOLDEN)).split(b"\n")[1:] == GOLDEN.read_bytes().split(b"\n")[1:]
