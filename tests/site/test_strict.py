"""The strict reader of the static site says of every trace what Python's says: the same fault in the same line."""

import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from toy_traces import toy_trace

from specdemo.config import DTYPES, POLICIES, RULES
from specdemo.core.events import Event
from specdemo.errors import TraceError
from specdemo.paths import ASSETS
from specdemo.site.page import MOST_BYTES
from specdemo.trace import Trace
from specdemo.ui import replays
from specdemo.wire import EVENTS

LIMITS = json.dumps({"most": MOST_BYTES, "rules": RULES})

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

NODE = """
import { readFileSync } from "node:fs";
import { Misfit } from "SITE/fields.js";
import { readTrace } from "SITE/strict.js";
const verdict = (text) => {
  try {
    readTrace(text, LIMITS);
    return null;
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    return [error.key, error.params];
  }
};
console.log(JSON.stringify(JSON.parse(readFileSync(process.argv[1], "utf8")).map(verdict)));
"""
RACED = """
import { readFileSync } from "node:fs";
import { raced } from "SITE/raced.js";
import { readTrace } from "SITE/strict.js";
const { texts, names } = JSON.parse(readFileSync(process.argv[1], "utf8"));
process.stdout.write(raced(...texts.map((text) => readTrace(text, LIMITS)), names));
"""


def in_browser(texts: list[str], folder: Path) -> list[Any]:
    """The verdicts of the site's reader: None, or [key, params]."""
    verdicts: list[Any] = json.loads(node(NODE, texts, folder))
    return verdicts


def node(script: str, given: Any, folder: Path) -> str:
    """What a module prints that reads `given` from a file."""
    file = folder / "given.json"
    file.write_text(json.dumps(given), encoding="utf-8")
    command = [
        "node",
        "--input-type=module",
        "-e",
        script.replace("SITE", (ASSETS / "site").as_uri()).replace("LIMITS", LIMITS),
        str(file),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def in_python(text: str) -> Any:
    try:
        replays.read(text)
    except TraceError as error:
        return [error.key, error.params]
    return None


def agree(texts: list[str], folder: Path) -> list[Any]:
    """Compares both readers and returns what they say."""
    expected = [in_python(text) for text in texts]
    for text, own, other in zip(texts, in_browser(texts, folder), expected, strict=True):
        assert own == other, text[:400]
    return expected


@pytest.fixture(scope="module")
def trace() -> str:
    return toy_trace(max_new_tokens=8)


def lines_of(trace: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in trace.splitlines()]


def text_of(lines: list[Any]) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


# Whole numbers with a fraction of zero are the one difference, and are left out.
VALUES: tuple[Any, ...] = (
    None,
    -1,
    1.5,
    2**53 + 2,
    "x",
    "",
    True,
    [],
    [1],
    ["x"],
    [[1, 0.5]],
    [[1]],
    {},
    {"a": 1},
    0,
    1,
)


def with_each_field_changed(lines: list[dict[str, Any]]) -> Iterator[list[Any]]:
    """Every field of the first line of each kind: missing, doubled under another name, with each value in turn."""
    seen: set[str] = set()
    for number, line in enumerate(lines):
        kind = line.get("event") or min(line)
        if kind in seen:
            continue
        seen.add(kind)
        for path in list(paths(line)):
            for change in (*VALUES, drop, strange):
                changed = json.loads(json.dumps(line))
                apply(changed, path, change)
                yield [*lines[:number], changed, *lines[number + 1 :]]


def drop(table: Any, key: Any) -> None:
    del table[key]


def strange(table: Any, key: Any) -> None:
    if isinstance(table, dict):
        table[f"{key}_"] = table[key]


def apply(value: Any, path: list[Any], change: Any) -> None:
    for key in path[:-1]:
        value = value[key]
    if callable(change):
        change(value, path[-1])
    else:
        value[path[-1]] = change


def paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[list[Any]]:
    """Paths to the fields of a record and of what is in them; of lists the first item."""
    keys: list[Any] = list(value) if isinstance(value, dict) else [0] if isinstance(value, list) and value else []
    for key in keys:
        yield [*above, key]
        yield from paths(value[key], (*above, key))


def test_a_sound_trace_is_taken(trace: str, tmp_path: Path) -> None:
    shipped = [path.read_text(encoding="utf-8") for path in sorted((ASSETS / "traces").glob("*.jsonl"))]
    fixtures = [path.read_text(encoding="utf-8") for path in sorted((ASSETS.parent / "tests/player").glob("*.jsonl"))]
    said = agree([trace, *shipped, *fixtures], tmp_path)
    assert shipped
    assert said[: 1 + len(shipped)] == [None] * (1 + len(shipped))


def test_every_field_is_read_alike(trace: str, tmp_path: Path) -> None:
    lines = lines_of(trace)
    assert {line["event"] for line in lines if "event" in line} == EVENTS.keys()
    said = agree([text_of(changed) for changed in with_each_field_changed(lines)], tmp_path)
    assert sum(verdict is not None for verdict in said) > 1000
    assert any(verdict is None for verdict in said)


def test_the_order_of_lines_is_judged_alike(trace: str, tmp_path: Path) -> None:
    """400 traces with one or two lines dropped, doubled, moved or put in from elsewhere; seeded."""
    chance, lines = random.Random(1), lines_of(trace)
    texts = []
    for _ in range(400):
        changed = list(lines)
        for _ in range(chance.choice((1, 2))):
            taken = changed.pop(chance.randrange(len(changed)))
            for _ in range(chance.choice((0, 1, 2))):
                changed.insert(chance.randrange(len(changed) + 1), taken)
        texts.append(text_of(changed))
    keys = {verdict[0] for verdict in agree(texts, tmp_path) if verdict}
    assert {"trace_order", "trace_string", "trace_alien"} <= keys


def test_what_is_no_trace_is_refused_alike(trace: str, tmp_path: Path) -> None:
    first, second, rest = trace.split("\n", 2)
    header = json.loads(first)
    settings = [
        {"gamma": 33}, {"top_p": 0}, {"temperature": 6}, {"stop": [""]}, {"exact": True, "gamma": 8}, {"rule": "none"},
        {"min_new_tokens": 200}, {"max_new_tokens": 0}, {"confidence": 1.5}, {"dtype": "int4"}, {"policy": "none"},
    ]  # fmt: skip
    settings += (
        [{"policy": one} for one in POLICIES] + [{"dtype": one} for one in DTYPES] + [{"rule": one} for one in RULES]
    )
    texts = [
        "", "\n", "\n\n", "{}", "{}\n", "[]\n", "hello", "hello\n", first, first + "\n", first + "\n" + second,
        trace[:-1], trace[:-20], trace + "\n", trace + "{}\n", trace + "[1]\n", trace + "nonsense\n", " " + trace,
        trace.replace('"specdemo":1', '"specdemo":2', 1), trace.replace('"specdemo":1', '"specdemo":"1"', 1),
        trace.replace('"specdemo":1', '"specdemo":true', 1), trace + '{"event":"__proto__"}\n',
        trace + '{"__proto__":{}}\n', trace + '{"strings":{"01":["a","text"]}}\n',
        trace + '{"strings":{"7":["a","?"]}}\n',
        first + "\n" + second + "\n" + second + "\n" + rest, trace + "[" * 50_000 + "\n", trace + '{"a":NaN}\n',
        "x" * (MOST_BYTES + 1), trace + "\u20ac" * 700_000 + "\n", trace + '"' + "x" * 1_999_998 + '"\n',
        *(text_of([header | {"recorded": moment}]) + second + "\n" + rest for moment in (
            None, "", "yesterday", "2025-01-02T03:04:05+00:00", "2025-01-02T03:04:05Z", "2025-01-02T03:04:05+01:00",
            "2025-13-02T03:04:05+00:00", "2025-01-02T03:04:05", "2025-01-02 03:04:05.123+00:00")),
        *(text_of([header | {"settings": changed}]) + second + "\n" + rest for changed in settings),
        *(text_of([header | {"settings": {"sampling": {name: value}}}]) + second + "\n" + rest for name, value in (
            ("temperature", 5.5), ("top_p", 0), ("top_p", 1.5), ("top_k", 10**10))),
    ]  # fmt: skip
    keys = {verdict[0] for verdict in agree(texts, tmp_path) if verdict}
    assert keys >= {"trace_alien", "trace_bytes", "trace_cut", "trace_empty", "trace_event", "trace_field"}
    assert keys >= {"trace_json", "trace_line", "trace_newer"}


@pytest.mark.parametrize("names", [("hero", "#1"), ("#1", "#1")])
def test_a_race_of_two_recordings_is_the_same_race(names: tuple[str, str], trace: str, tmp_path: Path) -> None:
    other = toy_trace(drafter="prompt-lookup", gamma=2, max_new_tokens=12)
    own = replays.read(node(RACED, {"texts": [trace, other], "names": names}, tmp_path))
    expected = replays.read(replays.written(replays.raced(replays.read(trace), replays.read(other), names)))
    assert own.header == expected.header
    assert own.strings == expected.strings
    assert by_lane(own) == by_lane(expected)


def by_lane(recorded: Trace) -> dict[str, list[Event]]:
    """The events of each lane: the player puts the lanes in order by their clocks."""
    lanes: dict[str, list[Event]] = {}
    for event in recorded.events:
        lanes.setdefault(event.lane, []).append(event)
    return lanes
