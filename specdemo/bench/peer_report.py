"""The runs of ours and transformers as one line per method: medians, spread, ratio, equality. Knows rows only."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from specdemo.bench.floor import Floor
from specdemo.bench.peer_methods import PLAIN
from specdemo.bench.peers import OURS, THEIRS, PeerRow
from specdemo.core.metrics import median, ratio
from specdemo.terminal import number


@dataclass(frozen=True, slots=True)
class Speed:
    """One system's rate in tokens/s over its runs: median, least and most."""

    middle: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class PeerSummary:
    """One method, both systems, over a group of prompts ("all": over every one).

    ours, theirs: rates after the first tokens. ours_whole, theirs_whole: all new tokens over all the time, prompt
    included. times, times_whole: median over prompts and repeats of ours / theirs of the same turn.
    identical: runs with the very tokens of transformers' plain greedy decoding, of `runs` each.
    over_limit: median of our wall time / the model time of the same rounds measured apart; over_limit_most: the worst.
    """

    method: str
    group: str
    runs: int
    ours: Speed | None
    theirs: Speed | None
    times: float | None
    ours_whole: Speed | None
    theirs_whole: Speed | None
    times_whole: float | None
    ours_identical: int
    theirs_identical: int
    over_limit: float | None
    over_limit_most: float | None


@dataclass(frozen=True, slots=True)
class FloorShare:
    """Our plain decoding by one method: seconds a token, and the memory floor's share of them."""

    method: str
    step_s: float
    share: float


def summarise(rows: Sequence[PeerRow]) -> tuple[PeerSummary, ...]:
    """Every method over all prompts, then by group where there are several."""
    methods = tuple(dict.fromkeys(row.method for row in rows))
    groups = tuple(dict.fromkeys(row.group for row in rows))
    wanted = [(method, group) for group in ("all", *(groups if len(groups) > 1 else ())) for method in methods]
    return tuple(
        _summary(method, group, [r for r in rows if r.method == method and group in ("all", r.group)])
        for method, group in wanted
    )


def _summary(method: str, group: str, rows: Sequence[PeerRow]) -> PeerSummary:
    over = [r.over_limit for r in rows if r.over_limit is not None]
    mine, peers = [r for r in rows if r.system == OURS], [r for r in rows if r.system == THEIRS]
    return PeerSummary(
        method=method,
        group=group,
        runs=min(len(mine), len(peers)),
        ours=_speed(mine, _decoding),
        theirs=_speed(peers, _decoding),
        times=_times(mine, peers, _decoding),
        ours_whole=_speed(mine, _whole),
        theirs_whole=_speed(peers, _whole),
        times_whole=_times(mine, peers, _whole),
        ours_identical=sum(r.identical for r in mine),
        theirs_identical=sum(r.identical for r in peers),
        over_limit=median(over) if over else None,
        over_limit_most=max(over, default=None),
    )


Rate = Callable[[PeerRow], float | None]


def _decoding(row: PeerRow) -> float | None:
    return row.tokens_per_s


def _whole(row: PeerRow) -> float | None:
    return row.end_to_end


def _speed(rows: Sequence[PeerRow], rate: Rate) -> Speed | None:
    rates = [found for r in rows if (found := rate(r)) is not None]
    return Speed(median(rates), min(rates), max(rates)) if rates else None


def _times(mine: Sequence[PeerRow], peers: Sequence[PeerRow], rate: Rate) -> float | None:
    """Median of ours / theirs over the turns that both finished: machine noise that lasts hits both alike."""
    theirs = {(r.prompt, r.repeat): rate(r) for r in peers}
    pairs = [(rate(r), theirs.get((r.prompt, r.repeat))) for r in mine]
    found = [times for a, b in pairs if a is not None and b is not None and (times := ratio(a, b)) is not None]
    return median(found) if found else None


def floor_shares(summaries: Sequence[PeerSummary], floor: Floor) -> tuple[FloorShare, ...]:
    """How near our plain decoding comes to the floor, by each pass it has."""
    plain = [s for s in summaries if s.group == "all" and s.method.startswith(PLAIN)]
    steps = [(s.method, 1 / s.ours.middle) for s in plain if s.ours is not None]
    return tuple(FloorShare(method, step_s, floor.share(step_s)) for method, step_s in steps)


def floor_lines(floor: Floor, shares: Sequence[FloorShare]) -> Iterator[str]:
    """The floor and the shares as sentences."""
    yield (
        f"Memory floor: {floor.weight_bytes / 1e6:.0f} MB of weights at {floor.bandwidth / 1e9:.1f} GB/s read "
        f"(measured) = {floor.seconds * 1000:.1f} ms a pass."
    )
    for one in shares:
        yield f"{one.method}, ours: {one.step_s * 1000:.1f} ms a token; the floor is {one.share:.2f} of it."


def partings(rows: Sequence[PeerRow]) -> Iterator[str]:
    """Where texts part from transformers' plain greedy text; every place once."""
    found = {(r.system, r.method, r.prompt, r.divergence, r.gap) for r in rows if not r.identical}
    for system, method, prompt, at, gap in sorted(found, key=str):
        yield (
            f"{system}, {method}: on {prompt} the text parts from transformers' plain text at token {at}, where the "
            f"target's two best logits are {number(gap, 3)} apart."
        )


def tables(summaries: Sequence[PeerSummary]) -> Iterator[Table | str]:
    """One table of the decoding rates and whole times over all prompts, one of the ratios by group."""
    yield "New tokens per second, median (least–most); × is the median of ours / transformers in the same turn."
    yield (
        "time / limit: our wall time after the first tokens / the model time of the same rounds, measured apart behind "
        "a context as long as the middle of the run."
    )
    table = Table()
    for head in ("method", "ours", "transformers", "×", "ours, with prompt", "transformers", "×"):
        table.add_column(head, justify="left" if head == "method" else "right")
    table.add_column("time / limit", justify="right")
    table.add_column("identical texts", justify="right")
    for s in summaries:
        if s.group == "all":
            same = f"{s.ours_identical}/{s.runs} · {s.theirs_identical}/{s.runs}"
            whole = (_rate(s.ours_whole), _rate(s.theirs_whole), number(s.times_whole))
            table.add_row(s.method, _rate(s.ours), _rate(s.theirs), number(s.times), *whole, _over(s), same)
    yield table
    groups = tuple(dict.fromkeys(s.group for s in summaries if s.group != "all"))
    if groups:
        yield "Ours / transformers by kind of prompt, after the first tokens:"
        by_group = Table()
        by_group.add_column("method")
        for group in groups:
            by_group.add_column(group, justify="right")
        for method in dict.fromkeys(s.method for s in summaries):
            times = {s.group: s.times for s in summaries if s.method == method}
            by_group.add_row(method, *(number(times[group]) for group in groups))
        yield by_group


def _over(s: PeerSummary) -> str:
    return "–" if s.over_limit is None else f"{s.over_limit:.3f} (most {number(s.over_limit_most, 3)})"


def _rate(speed: Speed | None) -> str:
    return "–" if speed is None else f"{speed.middle:.1f} ({speed.least:.1f}–{speed.most:.1f})"
