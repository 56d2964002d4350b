"""The lines of a stream: what is written is read, what was not written so is refused."""

import json
import re
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import HEADER, label, run, two_lanes

from specdemo import wire
from specdemo.codec import plain, typed
from specdemo.config import RunConfig
from specdemo.core.events import Event, Inspected, Judged, RunStarted
from specdemo.errors import TraceError
from specdemo.wire import Decoder, Encoder, Header, decode, encode, header_line, ids

HEAD = header_line(HEADER)


def lines_of(seed: int = 0, **settings: Any) -> list[str]:
    return list(encode(HEADER, two_lanes(seed, **settings), label))


def refusal(lines: list[Any]) -> TraceError:
    with pytest.raises(TraceError) as refused:
        list(decode(lines))
    assert refused.value.say()
    return refused.value


def edited(change: dict[str, Any], event: str) -> list[str]:
    """A good stream in which the first event of a name has other fields."""
    lines = lines_of()
    i = next(i for i, line in enumerate(lines) if json.loads(line).get("event") == event)
    lines[i] = json.dumps(json.loads(lines[i]) | change)
    return lines


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 5), st.sampled_from([0.0, 0.7, 1.0]))
def test_a_stream_that_is_read_and_written_again_is_the_same_to_the_byte(seed: int, gamma: int, heat: float) -> None:
    lines = lines_of(seed, gamma=gamma, temperature=heat, tokens=4)
    decoder = Decoder()
    events = list(decoder.events(lines))
    assert decoder.header is not None
    assert list(encode(decoder.header, events, lambda i: decoder.strings[i])) == lines


def test_events_come_back_as_they_were_up_to_the_digits_written() -> None:
    events = two_lanes()
    read = list(decode(encode(HEADER, events, label)))
    assert [type(event) for event in read] == [type(event) for event in events]
    for event, other in zip(events, read, strict=True):
        if isinstance(event, Judged):
            assert (event.fates, event.emitted, event.pieces) == (other.fates, other.emitted, other.pieces)
            assert [test.u for test in other.tests] == pytest.approx([test.u for test in event.tests], rel=1e-6)


def test_every_tested_position_keeps_its_coin_and_its_laws() -> None:
    for event in decode(lines_of()):
        if isinstance(event, Judged):
            tested = len(event.tests)
        if isinstance(event, Inspected):
            assert len(event.positions) >= tested
            for position in event.positions[:tested]:
                assert position.q_top
                assert position.residual_top
                assert len(position.p_top) == 8
                assert position.beta is not None


def test_every_id_has_its_string_before_the_event_that_mentions_it_and_only_once() -> None:
    known: set[int] = set()
    lines = lines_of()
    for line in lines[1:]:
        record = json.loads(line)
        if "strings" in record:
            new = {int(i) for i in record["strings"]}
            assert not new & known
            known |= new
        else:
            numbers = re.findall(r'"(?:prompt|tokens|emitted)":\[([0-9,]*)\]', line)
            tops = re.findall(r"\[([0-9]+),[0-9.e-]+\]", line)
            mentioned = {int(i) for part in (*numbers, *tops) for i in part.split(",") if i}
            assert mentioned <= known
    assert known == {i for event in two_lanes() for i in ids(event)}
    assert known > set(run()[0].prompt)


@pytest.mark.parametrize("name", wire.EVENTS)
def test_every_event_is_in_the_stream_by_its_snake_case_name(name: str) -> None:
    assert name == re.sub("([A-Z])", r"_\1", wire.EVENTS[name].__name__).lower()[1:]
    assert any(json.loads(line).get("event") == name for line in lines_of())


def test_a_line_is_compact_strict_json_in_utf8() -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    for line in lines_of():
        record = json.loads(line, parse_constant=refuse)
        assert line == json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        assert line.encode().decode() == line


def test_the_header_is_as_documented_and_comes_back() -> None:
    record = json.loads(HEAD)
    assert list(record) == ["specdemo", "kind", "recorded", "models", "settings", "hardware", "versions"]
    assert record["specdemo"] == 1
    assert record["settings"]["sampling"] == {"temperature": 1, "top_k": 0, "top_p": 1}
    decoder = Decoder()
    assert decoder.feed(HEAD) is None
    assert decoder.header == HEADER


def test_another_rule_travels_with_its_thresholds_and_the_taught_one_leaves_no_mark() -> None:
    started, judged = (next(event for event in two_lanes() if isinstance(event, kind)) for kind in (RunStarted, Judged))
    assert '"rule"' not in (line := encoded(started))
    assert '"h"' not in encoded(judged)
    assert typed(json.loads(line), RunStarted, "run_started") == started
    other = replace(started, rule="block")
    assert typed(json.loads(encoded(other)), RunStarted, "run_started") == other
    tests = tuple(replace(test, h=0.25) for test in judged.tests)
    written = json.loads(encoded(replace(judged, tests=tests)))
    assert tests
    assert all(test["h"] == 0.25 for test in written["tests"])
    assert all(test.h == 0.25 for test in typed(written, Judged, "judged").tests)
    header = replace(HEADER, settings=RunConfig(rule="block"))
    decoder = Decoder()
    decoder.feed(header_line(header))
    assert decoder.header == header


def encoded(event: Event) -> str:
    """The fields of an event as its line has them."""
    return json.dumps(plain(event))


@pytest.mark.parametrize("local", ["/home/me/", "C:\\Users\\me\\", "~/", "./", "../models/", "a/b/"])
def test_no_path_is_written(local: str) -> None:
    header = replace(
        HEADER,
        models={"target": f"{local}big", "draft": "owner/small"},
        settings=RunConfig(pair=f"{local}big,owner/small", knobs=(("heads", f"{local}heads.safetensors"),)),
        hardware={"library": f"{local}lib.so"},
    )
    line = header_line(header)
    record = json.loads(line)
    assert json.dumps(local)[1:-1] not in line
    assert record["models"] == {"target": "big", "draft": "owner/small"}
    assert record["settings"]["pair"] == "big,owner/small"
    assert record["settings"]["knobs"] == [["heads", "heads.safetensors"]]
    assert record["hardware"] == {"library": "lib.so"}
    assert header_line(replace(header, models=record["models"])) == line


@pytest.mark.parametrize("prompt", ["猫 🐈", "\ud800 alone", "\u2028\u2029\x00\x85", '"\\\n</script>'])
def test_any_prompt_is_written_and_read(prompt: str) -> None:
    header = replace(HEADER, settings=RunConfig(prompt=prompt))
    decoder = Decoder()
    decoder.feed(header_line(header).encode())
    assert decoder.header == header


def test_inf_nan_and_unknown_kinds_are_never_written() -> None:
    for clock in (float("inf"), float("nan")):
        with pytest.raises(ValueError, match="JSON"):
            Encoder(label).encode(replace(run()[-2], clock_s=clock))
    with pytest.raises(ValueError, match="kind"):
        Encoder(lambda i: ("x", "colour")).encode(run()[0])


def test_an_encoder_names_an_id_once() -> None:
    encoder, start = Encoder(label), run()[0]
    assert isinstance(start, RunStarted)
    assert len(encoder.encode(start)) == 2
    assert len(encoder.encode(start)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "",
        "[1]",
        "{}",
        "null",
        '{"specdemo": true}',
        '{"specdemo": "1"}',
        '{"specdemo": 0}',
        '{"specdemo": 1.0}',
        '{"event": "run_started"}',
        b"\x89PNG\r\n",
        b"\xff\xfe{\x00}\x00",
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"specdemo": NaN}',
        '{"specdemo": ' + "1" * 10_000 + "}",
    ],
)
def test_what_is_no_trace_is_said_to_be_none(line: str | bytes) -> None:
    assert refusal([line]).key == "trace_alien"


def test_an_empty_stream_is_refused() -> None:
    assert refusal([]).key == "trace_empty"


def test_a_newer_version_asks_for_an_update_whatever_else_it_holds() -> None:
    refused = refusal(['{"specdemo": 2, "lanes": []}'])
    assert refused.key == "trace_newer"
    assert "Update specdemo" in str(refused)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "film"}, "header.kind"),
        ({"kind": None}, "header.kind"),
        ({"recorded": "yesterday"}, "header.recorded"),
        ({"recorded": "2025-01-31T12:00:00"}, "header.recorded"),
        ({"recorded": "2025-01-31T12:00:00+02:00"}, "header.recorded"),
        ({"recorded": 5}, "header.recorded"),
        ({"models": {"target": []}}, "header.models"),
        ({"models": "toy"}, "header.models"),
        ({"settings": {"gamma": 99}}, "header.settings"),
        ({"settings": {"gamma": "4"}}, "header.settings.gamma"),
        ({"settings": {"sampling": {"top_p": 0}}}, "header.settings"),
        ({"settings": {"knobs": [["a"]]}}, "header.settings.knobs"),
        ({"extra": 1}, "header"),
    ],
)
def test_a_header_that_cannot_be_is_refused(change: dict[str, Any], field: str) -> None:
    refused = refusal([json.dumps(json.loads(HEAD) | change)])
    assert (refused.key, refused.params) == ("trace_field", {"line": 1, "field": field})


@pytest.mark.parametrize("recorded", [None, "2025-01-31T12:00:00Z", "2025-01-31T12:00:00.123+00:00"])
def test_a_header_says_when_in_utc_or_not_at_all(recorded: str | None) -> None:
    assert list(decode([header_line(replace(HEADER, recorded=recorded))])) == []


@pytest.mark.parametrize(
    ("event", "change", "field"),
    [
        ("run_started", {"prompt": [1, -1]}, "run_started.prompt"),
        ("run_started", {"prompt": [10**30]}, "run_started.prompt"),
        ("run_started", {"greedy": 1}, "run_started.greedy"),
        ("judged", {"fates": ["lucky"]}, "judged.fates"),
        ("judged", {"tests": [{"u": 2, "p": 1, "q": 1, "accepted": True}]}, "judged.tests"),
        ("judged", {"tests": [{"u": 0.5, "p": 1, "q": 1}]}, "judged.tests.accepted"),
        ("inspected", {"positions": [{}]}, "inspected.positions.beta"),
        ("round_finished", {"metrics": {}}, "round_finished.metrics.accepted"),
        ("round_finished", {"clock_s": "1"}, "round_finished.clock_s"),
        ("run_finished", {"colour": "red"}, "run_finished"),
    ],
)
def test_an_event_that_cannot_be_is_refused_with_its_field(event: str, change: dict[str, Any], field: str) -> None:
    refused = refusal(edited(change, event))
    assert (refused.key, refused.params["field"]) == ("trace_field", field)
    assert f"Line {refused.params['line']} " in str(refused)


def test_an_event_out_of_order_is_refused_with_its_line() -> None:
    refused = refusal(edited({"round": 7}, "drafted"))
    assert (refused.key, refused.params["event"]) == ("trace_order", "drafted")


@pytest.mark.parametrize(
    "line", ['{"event": "run_paused"}', '{"event": []}', '{"strings": {}, "event": "judged"}', "{}"]
)
def test_an_unknown_event_is_refused(line: str) -> None:
    expected = "trace_field" if "judged" in line else "trace_event"
    assert refusal([HEAD, line]).key == expected


@pytest.mark.parametrize("line", ["", "{", "[]", "7", b'{"\xff": 1}', "[" * 100_000, '{"event": NaN}', "9" * 5_000])
def test_a_line_that_is_no_json_object_is_refused(line: str | bytes) -> None:
    refused = refusal([HEAD, line])
    assert (refused.key, refused.params) == ("trace_json", {"line": 2})


@pytest.mark.parametrize(
    "strings",
    [
        {"-1": ["a", "text"]},
        {"01": ["a", "text"]},
        {"+1": ["a", "text"]},
        {"1 ": ["a", "text"]},
        {"\u0661": ["a", "text"]},
        {"9" * 5_000: ["a", "text"]},
        {"1": ["a"]},
        {"1": ["a", "colour"]},
        {"1": "a"},
        {"1": [1, "text"]},
        [],
        None,
    ],
)
def test_strings_that_cannot_be_are_refused(strings: Any) -> None:
    assert refusal([HEAD, json.dumps({"strings": strings})]).key == "trace_field"


def test_an_id_cannot_change_its_string() -> None:
    line = '{"strings":{"1":["a","text"]}}'
    assert refusal([HEAD, line, line]).key == "trace_field"


def test_an_id_without_a_string_is_refused() -> None:
    lines = lines_of()
    i = next(i for i, line in enumerate(lines) if "strings" in json.loads(line))
    refused = refusal(lines[:i] + lines[i + 1 :])
    assert (refused.key, refused.params["token"]) == ("trace_string", 3)


def test_absurd_sizes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal([HEAD, " " * 2_000_001]).key == "trace_line"
    monkeypatch.setattr(wire, "MAX_LINES", 3)
    assert refusal([HEAD, *['{"strings":{}}'] * 3]).key == "trace_lines"


def test_a_field_name_from_the_file_is_not_repeated_to_the_reader() -> None:
    assert "<b>" not in str(refusal(edited({"<b>": 1}, "drafted")))


def test_the_kinds_of_strings_are_those_of_the_labels() -> None:
    from specdemo.models.text import LabelKind

    assert get_args(LabelKind) == wire.KINDS


def test_header_fields_are_those_documented() -> None:
    assert Header.__slots__ == ("kind", "recorded", "models", "settings", "hardware", "versions")
