"""Recorded runs: the shipped ones, a visitor's file, two raced, one as a page."""

import json
import re
from pathlib import Path

import pytest
from toy_traces import toy_trace

from specdemo.core.events import Judged, RunStarted
from specdemo.core.result import collect
from specdemo.errors import TraceError
from specdemo.ui import export, replays
from specdemo.ui.answers import answers
from specdemo.ui.replays import Library

MOST_BYTES = 100_000


def answer(name: str, question: object, library: Library | None = None) -> dict[str, object]:
    named = {function.__name__: function for function in answers(library or Library())}
    return named[name](question)


def test_two_runs_race_by_their_own_clocks() -> None:
    one, two = replays.read(toy_trace(gamma=2)), replays.read(toy_trace(gamma=6, drafter="prompt-lookup"))
    both = replays.raced(one, two, ("#1", "#2"))
    started = [event for event in both.events if isinstance(event, RunStarted)]
    assert [(event.lane, event.gamma) for event in started] == [("#1", 2), ("#2", 6), ("baseline", 0)]
    for lane, recorded in (("#1", one), ("#2", two)):
        assert collect(both.events).lanes[lane].rounds == collect(recorded.events).lanes["speculative"].rounds


def test_a_race_of_two_runs_can_be_saved_and_read_again() -> None:
    one = replays.read(toy_trace())
    text = replays.written(replays.raced(one, one, ("#1", "#1")))
    assert replays.written(replays.read(text)) == text


def test_runs_of_different_tokenizers_do_not_race() -> None:
    other = toy_trace().replace('"," cat"', '"," dog"').replace('[" cat","text"]', '[" dog","text"]')
    with pytest.raises(TraceError) as caught:
        replays.raced(replays.read(toy_trace()), replays.read(other), ("#1", "#2"))
    assert caught.value.key == "trace_tokenizers"


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("recorded_run", "../../../etc/passwd"),
        ("recorded_run", {"a": 1}),
        ("opened_file", ""),
        ("opened_file", "{}\n"),
        ("opened_file", "<script>alert(1)</script>"),
        ("opened_file", 7),
        ("raced_runs", {"names": ["a"], "texts": []}),
        ("raced_runs", None),
        ("saved_page", {"text": "x", "language": "zh"}),
        ("saved_page", {"language": "en"}),
    ],
)
def test_any_question_gets_an_answer(name: str, question: object) -> None:
    problem = answer(name, question)["problem"]
    assert isinstance(problem, dict)
    assert problem["en"]
    assert problem["zh"]


def test_an_opened_file_comes_back_as_we_write_it() -> None:
    text = toy_trace()
    assert answer("opened_file", text) == {"text": text}


def test_every_shipped_run_is_small_whole_and_in_both_languages() -> None:
    library = Library()
    for one in library.all:
        text = library.text(one.id)
        recorded = replays.read(text)
        assert len(text.encode()) <= MOST_BYTES, one.id
        assert recorded.header.kind == "trace"
        assert recorded.header.recorded
        assert set(one.titles) == {"en", "zh"}
        assert "/" not in str(recorded.header.models["target"])
        assert all(lane.finished for lane in collect(recorded.events).lanes.values())


def test_an_export_holds_everything_and_asks_for_nothing() -> None:
    text = toy_trace()
    file = export.page(text, "zh", 'a "title" <b>')
    assert not re.search(r"<link|<script[^>]+src|<img[^>]+src=[^x]|@import|url\(|fetch\(", file)
    assert "<title>a &quot;title&quot; &lt;b&gt;</title>" in file
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', file, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["trace"] == text


def test_hostile_tokens_cannot_end_an_exports_script() -> None:
    file = export.page(toy_trace(max_new_tokens=40), "en", "x")
    texts = [
        piece
        for event in replays.read(toy_trace(max_new_tokens=40)).events
        if isinstance(event, Judged)
        for piece in event.pieces
    ]
    assert "</script>" in texts
    assert len(re.findall(r"</script", file, re.IGNORECASE)) == len(re.findall(r"<script", file, re.IGNORECASE)) == 3


def test_a_folder_without_an_index_has_no_runs(tmp_path: Path) -> None:
    assert Library(tmp_path).hero is None
    assert "problem" in answer("recorded_run", "hero", Library(tmp_path))
