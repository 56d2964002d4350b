"""Figures of a run for slides and notes: tokens against device time, and the time of each round.

Knows what a trace adds up to and plotly. Does not know components. Ours is the whole style: plotly's default
template is four times as large as these figures and fits neither theme.
"""

from itertools import accumulate

import plotly.graph_objects as go

from specdemo.core.metrics import Round
from specdemo.core.result import LaneResult, Results, collect
from specdemo.errors import sentences
from specdemo.trace import Trace
from specdemo.ui.i18n import text
from specdemo.web.colours import palette

FONT = "system-ui, -apple-system, Segoe UI, Noto Sans, Noto Sans CJK SC, PingFang SC, Microsoft YaHei, sans-serif"
HEIGHT = 380
DASHES = ("solid", "dot", "dashdot")


def figures(trace: Trace, language: str, theme: str) -> tuple[go.Figure, go.Figure]:
    """The race and the rounds of a recorded run. theme: "light" or "dark"."""
    results = collect(trace.events)
    colours = palette(theme)
    return _race(results, language, colours), _rounds(results, language, colours)


def _race(results: Results, language: str, colours: dict[str, str]) -> go.Figure:
    """Tokens of every lane against its own clock, as steps: a round emits its tokens at its end."""
    figure = _empty(language, colours, _race_title(results, language), "figure.seconds", "figure.tokens")
    drafting = 0
    for name, lane in results.lanes.items():
        plain = _is_plain(lane)
        style = (
            {"color": colours["muted"], "dash": "dash", "width": 2.5}
            if plain
            else {"color": colours[("accent", "q", "p")[drafting % 3]], "dash": DASHES[drafting % 3], "width": 3}
        )
        drafting += not plain
        times = [0.0, *accumulate(_seconds(r) for r in lane.rounds)]
        tokens = [0, *accumulate(r.emitted for r in lane.rounds)]
        line = {**style, "shape": "hv"}
        figure.add_scatter(x=times, y=tokens, mode="lines", name=lane_name(name, language), line=line)
    return figure


def _race_title(results: Results, language: str) -> str:
    """The title with the speedup where there is a baseline to compare with."""
    title = sentences(language)["player.chart.race"]
    drafting = next((name for name, lane in results.lanes.items() if not _is_plain(lane)), None)
    plain = next((name for name, lane in results.lanes.items() if _is_plain(lane)), None)
    if drafting is None or plain is None:
        return title
    comparison = results.compare(drafting, plain)
    if comparison.speedup is None:
        return title
    return text("figure.speedup", language, title=title, speedup=f"{comparison.speedup:.2f}", tokens=comparison.tokens)


def _rounds(results: Results, language: str, colours: dict[str, str]) -> go.Figure:
    """Milliseconds of each round of the drafting lane, stacked by what they went into."""
    lane = next((lane for lane in results.lanes.values() if not _is_plain(lane)), next(iter(results.lanes.values())))
    title = sentences(language)["player.chart.rounds"]
    figure = _empty(language, colours, title, "figure.round", "figure.milliseconds")
    numbers = list(range(1, len(lane.rounds) + 1))
    for key, colour, parts in (
        ("draft", colours["draft"], [r.draft_s for r in lane.rounds]),
        ("verify", colours["verify"], [r.verify_s for r in lane.rounds]),
        ("other", colours["other"], [r.overhead_s for r in lane.rounds]),
    ):
        name = sentences(language)[f"player.chart.{key}"]
        figure.add_bar(x=numbers, y=[1000 * seconds for seconds in parts], name=name, marker={"color": colour})
    return figure.update_layout(barmode="stack", bargap=0.15)


def lane_name(name: str, language: str) -> str:
    """A lane's name in a language; lanes of a visitor's own keep theirs."""
    return sentences(language).get(f"player.lane.{name}", name)


def _is_plain(lane: LaneResult) -> bool:
    return lane.started is not None and lane.started.drafter == "none"


def _seconds(r: Round) -> float:
    return r.draft_s + r.verify_s + r.overhead_s


def _empty(language: str, colours: dict[str, str], title: str, x: str, y: str) -> go.Figure:
    axis = {
        "gridcolor": colours["line"], "zerolinecolor": colours["line"], "linecolor": colours["muted"],
        "tickfont": {"color": colours["muted"], "size": 13}, "ticks": "outside", "tickcolor": colours["line"],
        "rangemode": "tozero",
    }  # fmt: skip
    return go.Figure().update_layout(
        template="none",
        height=HEIGHT,
        paper_bgcolor=colours["panel"],
        plot_bgcolor=colours["panel"],
        font={"family": FONT, "size": 14, "color": colours["ink"]},
        title={"text": title, "font": {"size": 16}, "x": 0.01, "xanchor": "left", "y": 0.97, "yanchor": "top"},
        margin={"l": 62, "r": 18, "t": 76, "b": 52},
        xaxis=axis | {"title": _axis_title(x, language, colours)},
        yaxis=axis | {"title": _axis_title(y, language, colours)},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0.0, "xanchor": "left", "traceorder": "normal"},
        hoverlabel={"font": {"family": FONT}},
    )


def _axis_title(key: str, language: str, colours: dict[str, str]) -> dict[str, object]:
    return {"text": text(key, language), "font": {"size": 14, "color": colours["muted"]}}
