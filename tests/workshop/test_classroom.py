"""What a workshop takes of the page: runs within limits, points that say what a trace says, pages that are whole."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_pair import ToyPair
from toy_traces import toy_trace

from specdemo import trace
from specdemo.core.result import collect
from specdemo.device import Device
from specdemo.errors import SettingError, UserError
from specdemo.paths import ASSETS
from specdemo.ui.gate import Readers
from specdemo.ui.models import Models
from specdemo.ui.replays import Library
from specdemo.ui.runs import Runs
from specdemo.ui.settings import Limits
from specdemo.ui.workshop import Classroom, Workshop, point_of

PAIR = "smollm2-135m"
ASKED = {"prompt": "the cat sat on the mat", "drafter": "model", "gamma": 3}


@pytest.fixture(scope="module")
def classroom() -> Iterator[Classroom]:
    device = Device()
    models = Models(device, lambda spec, progress: ToyPair())
    readers = Readers()
    readers.gated = True  # as behind the page: who is not known to read is gone
    runs = Runs(device, models, reads=readers.reads)
    models.want(PAIR)
    yield Classroom(runs, Limits((PAIR,)), Library(), readers)
    runs.close()
    device.shutdown()


def lines(classroom: Classroom, most: int = 32, **values: object) -> list[dict[str, Any]]:
    text = "".join(classroom.live(ASKED | values, most, "attendee-1"))
    return [record for record in map(json.loads, text.splitlines()) if "ahead" not in record]


def test_a_run_of_the_class_is_no_longer_than_allowed(classroom: Classroom) -> None:
    records = lines(classroom)
    ended = [record for record in records if record.get("event") == "run_finished"]
    assert [len(record["tokens"]) for record in ended] == [32, 32]
    with pytest.raises(SettingError):
        lines(classroom, max_new_tokens=33)


@pytest.mark.parametrize(
    "values",
    [
        {"pair": "qwen3-4b+0.6b"}, {"knobs": "x"}, {"prompt": ["a"]}, {"drafter": "nonsense"}, {"drafter": None},
        {"gamma": 1e9}, {"temperature": "hot"}, {"prompt": ""}, {"prompt": "x" * 4001}, {"seed": {}}, {"policy": "x"},
    ],
)  # fmt: skip
def test_what_a_class_may_not_set_is_a_sentence(classroom: Classroom, values: dict[str, object]) -> None:
    with pytest.raises(UserError):
        lines(classroom, **values)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["prompt", "drafter", "gamma", "temperature", "max_new_tokens", "seed", "pair", "stop"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()),
        max_size=4,
    )
)
def test_nonsense_is_refused_before_anything_runs(classroom: Classroom, values: dict[str, object]) -> None:
    run = classroom.live({"prompt": ""} | values | {"prompt": " "}, 32, "attendee-1")
    with pytest.raises(UserError):
        next(run)


def test_a_point_says_what_the_trace_says() -> None:
    text = toy_trace(gamma=3, max_new_tokens=32, drafter="model")
    results = collect(trace.parse(text.encode()).events)
    comparison = results.compare("speculative", "baseline")
    point = point_of('{"ahead": 3}\n' + text)
    assert point is not None
    assert (point.drafter, point.gamma, point.temperature, point.tokens) == ("model", 3, 0.0, comparison.tokens)
    assert (point.speedup, point.c, point.v) == (comparison.speedup, comparison.c, comparison.v)
    assert point.alpha == results.lanes["speculative"].metrics.alpha  # type: ignore[union-attr]


def test_what_is_too_short_or_was_stopped_is_no_point() -> None:
    assert point_of(toy_trace(max_new_tokens=24)) is None
    whole = toy_trace(max_new_tokens=40)
    assert point_of(whole) is not None
    assert point_of(whole[: whole.index('"run_finished"') - 12]) is None
    assert point_of(toy_trace(max_new_tokens=40, drafter="none")) is None
    assert point_of("") is None
    assert point_of("nonsense\n") is None


def test_the_pages_ask_nobody_for_anything(classroom: Classroom) -> None:
    attendee, presenter = classroom.page("k7pq", False), classroom.page("k7pq", True)
    for page in (attendee, presenter):
        assert not re.findall(r'(?:src|href)="(?!data:)[^"]', page)
        assert "</script" not in page.split("const specdemoWorkshop", 1)[1].split("</script>", 1)[0]
    assert len(attendee.encode()) < 300_000
    assert "2-one-pass" in presenter
    assert "2-one-pass" not in attendee


def test_all_words_of_the_pages_exist() -> None:
    table = json.loads((ASSETS / "locales" / "en.json").read_text(encoding="utf-8"))
    source = "".join(path.read_text(encoding="utf-8") for path in (ASSETS / "workshop").glob("*.js"))
    used = set(re.findall(r'say\("([\w.]+)"', source))
    assert len(used) > 40
    assert {key for key in used if f"workshop.{key}" not in table} == set()
    composed = re.compile(r"workshop\.(tab_|stage\.|ask\.)")
    unused = [key for key in table if key.startswith("workshop.") and f'"{key[9:]}"' not in source]
    assert [key for key in unused if not composed.match(key)] == []


def test_the_invitation_shows_a_secret_only_if_it_was_made_here(classroom: Classroom, tmp_path: Path) -> None:
    made = Workshop(classroom, str(tmp_path / "a"), None, None)
    assert f"#{made.hub.room.secret}" in made.invitation("http://0.0.0.0:7860/")
    assert f"http://127.0.0.1:7860/w/{made.hub.state.code}?view=present#" in made.invitation("http://0.0.0.0:7860/")
    assert "http://127.0.0.1:7860/w/" in made.invitation("http://localhost:7860/").splitlines()[1]
    assert "localhost" not in made.invitation("http://localhost:7860/")
    given = Workshop(classroom, str(tmp_path / "b"), "from-the-environment", "https://class.example/demo/")
    said = given.invitation("http://0.0.0.0:7860/")
    assert "from-the-environment" not in said
    assert f"attendees: https://class.example/demo/w/{given.hub.state.code}" in said
    empty = Workshop(classroom, str(tmp_path / "c"), "", None)
    assert f"#{empty.hub.room.secret}" in empty.invitation("http://0.0.0.0:7860/"), "as from a variable that is not set"
    empty.hub.close()
    made.hub.close()
    given.hub.close()
    with pytest.raises(SettingError):
        Workshop(classroom, str(tmp_path / "c"), None, "class.example/demo")
