"""Figures of a run: the numbers of its events, in both languages and themes, in our colours only."""

import json
import re

import pytest
from toy_traces import toy_trace

from specdemo.core.result import collect
from specdemo.ui import replays
from specdemo.ui.figures import figures
from specdemo.web.colours import THEMES, palette

TRACE = replays.read(toy_trace(gamma=3))


def test_the_race_ends_where_the_lanes_end() -> None:
    race, rounds = figures(TRACE, "en", "light")
    lanes = collect(TRACE.events).lanes
    for line, lane in zip(race.data, lanes.values(), strict=True):
        assert lane.metrics is not None
        assert line.y[-1] == lane.metrics.tokens
        assert line.x[-1] == pytest.approx(lane.metrics.decode_s, rel=1e-4)
    assert sum(sum(bar.y) for bar in rounds.data) == pytest.approx(
        1000 * lanes["speculative"].metrics.decode_s, rel=1e-4
    )


def test_the_title_says_the_speedup() -> None:
    speedup = collect(TRACE.events).compare("speculative", "baseline").speedup
    for language in ("en", "zh"):
        assert f"×{speedup:.2f}" in figures(TRACE, language, "dark")[0].layout.title.text


@pytest.mark.parametrize("theme", THEMES)
def test_only_colours_of_the_style_sheet(theme: str) -> None:
    for figure in figures(TRACE, "zh", theme):
        used = re.findall(r"#[0-9a-fA-F]{3,8}", figure.to_json())
        assert set(used) <= set(palette(theme).values())
        assert len(json.dumps(json.loads(figure.to_json())["layout"]["template"])) < 100, "plotly's own has 7 KB"


def test_a_figure_without_a_baseline_and_without_rounds() -> None:
    lines = toy_trace().splitlines(keepends=True)
    cut = "".join(line for line in lines if '"lane":"baseline"' not in line)
    assert len(figures(replays.read(cut), "en", "light")[0].data) == 1
    started = "".join(lines[:3])
    assert figures(replays.read(started), "en", "light")[1].data[0].y == ()


def test_both_themes_have_the_same_colours_by_name() -> None:
    assert palette("light").keys() == palette("dark").keys()
    assert len(palette("light")) > 10
