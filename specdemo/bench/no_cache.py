"""What the next token costs without a KV cache: `python -m specdemo.bench.no_cache`, for the lesson that says so.

Knows pairs, sessions and a clock. Does not know runs. With the cache a step feeds one token; without it the whole text
is fed again. Both are timed in turn on one session.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from specdemo.config import RunConfig
from specdemo.core.metrics import median
from specdemo.device import Device
from specdemo.machine import hardware
from specdemo.models.loader import Pair, load_pair
from specdemo.paths import ASSETS
from specdemo.prompts import hero

FILE = ASSETS / "lessons" / "no-cache.json"
LENGTHS = (64, 256, 1024)
REPEATS = 5


@dataclass(frozen=True, slots=True)
class Row:
    """Median seconds of the next token behind `tokens` tokens. with_cache: one row is fed. without: all rows are."""

    tokens: int
    with_cache_s: float
    without_s: float


def measure(pair: Pair, lengths: Sequence[int] = LENGTHS, repeats: int = REPEATS) -> list[Row]:
    """A row for each length. On the device thread."""
    ids = pair.text.encode(hero().text, raw=True)
    return [_row(pair, [ids[i % len(ids)] for i in range(length + 1)], repeats) for length in lengths]


def _row(pair: Pair, text: list[int], repeats: int) -> Row:
    session, with_cache, without = pair.target(), [], []
    for _ in range(repeats + 1):
        session.rollback(0)
        start = pair.clock()
        session.extend(text, keep=1)
        without.append(pair.clock() - start)
        session.rollback(len(text) - 1)
        start = pair.clock()
        session.extend(text, keep=1)
        with_cache.append(pair.clock() - start)
    # The first visit warms up and is left out.
    return Row(len(text) - 1, median(with_cache[1:]), median(without[1:]))


def main() -> None:
    """Measures and writes the file."""
    device = Device()
    try:
        pair = device.call(lambda: load_pair(RunConfig().pair))
        rows = device.call(lambda: measure(pair))
        machine = device.call(hardware)
    finally:
        device.shutdown()
    told = {
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python -m specdemo.bench.no_cache",
        "target": pair.target_name,
        "dtype": pair.dtype,
        "hardware": machine,
        "repeats": REPEATS,
        "rows": [asdict(row) for row in rows],
    }
    FILE.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    for row in rows:
        one, all_ = 1000 * row.with_cache_s, 1000 * row.without_s
        print(f"{row.tokens} tokens: {one:.1f} ms with the cache, {all_:.1f} without")


if __name__ == "__main__":
    main()
