"""What a pass costs behind a longer and longer context. Runs on the device thread; knows pairs and costs only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from specdemo.bench.memory import held
from specdemo.core.metrics import ratio
from specdemo.costs import measure_costs
from specdemo.models.loader import Pair
from specdemo.terminal import number

CONTEXTS, FULL = (128, 512, 2048), (128, 512, 2048, 8192)


@dataclass(frozen=True, slots=True)
class GrowthRow:
    """A target pass over `width` positions behind `context` tokens.

    tokens_per_s: width / seconds. share: tokens_per_s / that behind the shortest context. v: seconds / those of one
    position behind the same context. memory_bytes: in use with this context in the cache. peak_memory_bytes: the most
    that was used until then, loading included.
    """

    context: int
    width: int
    seconds: float
    tokens_per_s: float | None
    share: float | None
    v: float | None
    memory_bytes: int
    peak_memory_bytes: int


def fitting(contexts: Sequence[int], widths: Sequence[int], limit: int) -> tuple[int, ...]:
    """The contexts, shortest first; too long ones as long as leaves room for the widest pass."""
    return tuple(sorted({min(context, limit - max(widths)) for context in contexts}))


def grow(
    pair: Pair, text: str, contexts: Sequence[int], widths: Sequence[int], repeats: int = 7
) -> Iterator[GrowthRow]:
    """Rows by context, in their order. `text` fills them, repeated."""
    ids = pair.text.encode(text, raw=True)
    shortest: dict[int, float] = {}
    for context in contexts:
        filled = [ids[i % len(ids)] for i in range(context)]
        session = pair.target()  # held here, so that its cache is still there when memory is read
        passes = measure_costs(session, None, filled, pair.clock, widths, repeats).passes
        memory, one = held(pair.device), dict(passes).get(1)
        for width, seconds in passes:
            share, v = ratio(shortest.setdefault(width, seconds), seconds), ratio(seconds, one) if one else None
            rate = ratio(width, seconds)
            yield GrowthRow(context, width, seconds, rate, share, v, memory, pair.peak_memory())
        del session


def table(rows: Sequence[GrowthRow]) -> Table:
    """One line per width, columns by context; memory in the last two lines."""
    contexts = tuple(dict.fromkeys(r.context for r in rows))
    drawn = Table()
    drawn.add_column("γ", justify="right")
    drawn.add_column("positions", justify="right")
    for context in contexts:
        for head in (f"ms behind {context:,}", "v", *(("of the shortest",) if context != contexts[0] else ())):
            drawn.add_column(head, justify="right")
    found = {(r.context, r.width): r for r in rows}
    for width in dict.fromkeys(r.width for r in rows):
        cells: list[str] = []
        for context in contexts:
            r = found.get((context, width))
            shown = (number(r.seconds * 1000, 1), number(r.v), number(r.share)) if r else ("–",) * 3
            cells += shown[: 2 if context == contexts[0] else 3]
        drawn.add_row(number(width - 1), number(width), *cells)
    for name, field in (("MB in use", "memory_bytes"), ("MB at most so far", "peak_memory_bytes")):
        cells = []
        for context in contexts:
            most = max(getattr(r, field) for r in rows if r.context == context)
            cells += (f"{most / 1e6:,.0f}", "", *(("",) if context != contexts[0] else ()))
        drawn.add_row("", name, *cells)
    return drawn
