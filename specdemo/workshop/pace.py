"""How often one page may ask: a bucket of tokens each, of which the oldest are forgotten.

Knows names and a clock. Does not know addresses of machines: a class has one for all, so they would say nothing.
"""

import time
from collections import OrderedDict
from collections.abc import Callable

from specdemo.workshop.refusal import Refusal

Clock = Callable[[], float]
MOST_NAMES = 2000


class Pace:
    """At most `burst` at once and `per_second` in the long run, for each name."""

    def __init__(self, per_second: float, burst: int, clock: Clock = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, name: str) -> None:
        """Takes a token, or raises `Refusal`."""
        now = self._clock()
        left, then = self._buckets.pop(name, (float(self._burst), now))
        left = min(self._burst, left + (now - then) * self._per_second)
        self._buckets[name] = (max(left - 1, left if left < 1 else 0.0), now)
        while len(self._buckets) > MOST_NAMES:
            self._buckets.popitem(last=False)
        if left < 1:
            raise Refusal("workshop_pace", status=429)
