"""What a pass costs behind a longer and longer context. Runs on the device thread; knows pairs and costs only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from specdemo.core.metrics import ratio
from specdemo.costs import measure_costs
from specdemo.models.loader import Pair
from specdemo.terminal import number

CONTEXTS, FULL = (128, 512, 2048), (128, 512, 2048, 8192)


@dataclass(frozen=True, slots=True)
class GrowthRow:
    """A target pass over `width` positions behind `context` tokens.

    tokens_per_s: width / seconds. share: tokens_per_s / that behind the shortest context. peak_memory_bytes: the most
    that was used until then.
    """

    context: int
    width: int
    seconds: float
    tokens_per_s: float | None
    share: float | None
    peak_memory_bytes: int


def grow(
    pair: Pair, text: str, contexts: Sequence[int], widths: Sequence[int], repeats: int = 7
) -> Iterator[GrowthRow]:
    """Rows by context, shortest first. `text` fills them, repeated; what exceeds the limit is left out."""
    ids = pair.text.encode(text, raw=True)
    shortest: dict[int, float] = {}
    for context in sorted(contexts):
        if context + max(widths) > pair.limit:
            continue
        filled = [ids[i % len(ids)] for i in range(context)]
        costs = measure_costs(pair.target(), None, filled, pair.clock, widths, repeats)
        for width, seconds in costs.passes:
            share = ratio(shortest.setdefault(width, seconds), seconds)
            yield GrowthRow(context, width, seconds, ratio(width, seconds), share, pair.peak_memory())


def table(rows: Sequence[GrowthRow]) -> Table:
    """One line per context and width."""
    drawn = Table()
    for head in ("context", "width", "ms a pass", "tokens/s", "of the shortest", "peak memory, MB"):
        drawn.add_column(head, justify="right")
    for r in rows:
        cells = (
            number(r.seconds * 1000, 1),
            number(r.tokens_per_s, 1),
            number(r.share),
            f"{r.peak_memory_bytes >> 20:,}",
        )
        drawn.add_row(number(r.context), number(r.width), *cells)
    return drawn
