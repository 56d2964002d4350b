"""How γ is chosen each round. Deterministic given its numbers, so that a seed gives the same text again.

Knows acceptance counts and cost ratios measured beforehand. Does not know models or clocks. The policy
"confidence" is constant here: its stop is inside the drafters, which see q before they draw.
"""

from collections.abc import Callable
from dataclasses import dataclass

from specdemo.core import theory


@dataclass(frozen=True, slots=True)
class Constant:
    """The same γ every round."""

    limit: int
    name: str = "constant"

    def gamma(self) -> int:
        return self.limit

    def observe(self, drafted: int, accepted: int) -> None:
        pass


class Heuristic:
    """Two more after a round that was accepted whole, one less otherwise, within 1 … limit.

    The schedule of transformers' assisted generation. Starts at half the limit.
    """

    name = "heuristic"

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._gamma = (limit + 1) // 2

    def gamma(self) -> int:
        return self._gamma

    def observe(self, drafted: int, accepted: int) -> None:
        if drafted:
            wanted = self._gamma + 2 if accepted == drafted else self._gamma - 1
            self._gamma = max(min(wanted, self.limit), min(1, self.limit))


class Goodput:
    """The γ with the largest expected speedup for the acceptance seen so far and the given c and v.

    Acceptance starts from one success in two tests. Where γ = 0 looks best, every eighth round still asks
    for one token, so that a better stretch of text is noticed.
    """

    name = "goodput"

    def __init__(self, limit: int, c: float, v: Callable[[int], float]) -> None:
        self.limit = limit
        self._c, self._v = c, v
        self._accepted, self._tested, self._idle = 1.0, 2.0, 0

    def gamma(self) -> int:
        best = theory.best_gamma(self._accepted / self._tested, self._c, self._v, most=self.limit)
        self._idle = 0 if best else self._idle + 1
        return min(1, self.limit) if self._idle and self._idle % 8 == 0 else best

    def observe(self, drafted: int, accepted: int) -> None:
        self._accepted += accepted
        self._tested += accepted + (accepted < drafted)
