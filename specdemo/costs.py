"""What a pass costs on this machine: t(n) and t_d by a micro-benchmark of their own.

Knows sessions and drafters by their protocols and a clock. Does not know runs: what it measures is a
prediction for them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specdemo.core.metrics import median
from specdemo.core.protocols import Drafter, Session
from specdemo.core.sampling import SeededCoin
from specdemo.core.verify import Fate, Verdict

REPEATS = 7
DRAFTED = 4
"""Tokens in the proposal that is timed."""

WIDTHS = (1, 2, 4, 6, 8, 12, 16)
"""Positions of the target passes that are timed; what lies between is interpolated."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds. passes: (n, t(n)) for the measured widths n, starting with n = 1. t_draft: one draft step."""

    passes: tuple[tuple[int, float], ...]
    t_draft: float

    @property
    def c(self) -> float:
        """One draft step / one target pass over one token."""
        return self.t_draft / self.t(1)

    def t(self, n: int) -> float:
        """Seconds of a target pass over n tokens, linear between and beyond the measured widths."""
        points = self.passes
        right = next((i for i, (width, _) in enumerate(points) if width >= n), len(points) - 1)
        if len(points) == 1 or points[right][0] == n:
            return points[right][1]
        (n0, t0), (n1, t1) = points[max(right - 1, 0)], points[max(right, 1)]
        return t0 + (t1 - t0) * (n - n0) / (n1 - n0)

    def v(self, n: int) -> float:
        """A target pass over n tokens / over one."""
        return self.t(n) / self.t(1)


def measure_costs(
    target: Session,
    drafter: Drafter | None,
    context: Sequence[int],
    clock: Callable[[], float],
    widths: Sequence[int] = WIDTHS,
    repeats: int = REPEATS,
) -> Costs:
    """Medians over `repeats` rounds that visit every width in turn.

    context: ids to stand behind, at least one; cut where the passes would not fit behind it. Closes `drafter`.
    """
    growth = repeats + 1 if drafter is not None else 0
    tokens = list(context)[: max(1, target.limit - max(*widths, DRAFTED + 1) - growth)]
    hidden = target.extend(tokens[:-1], keep=0).hidden
    times: dict[int, list[float]] = {n: [] for n in widths}
    steps: list[float] = []
    try:
        if drafter is not None:
            drafter.prefill(tokens[:-1], hidden)
        for _ in range(repeats + 1):
            for n in widths:
                start = clock()
                target.extend(tokens + tokens[:1] * (n - 1), keep=n)
                times[n].append(clock() - start)
                target.rollback(len(tokens) - 1)
            if drafter is not None:
                steps += _draft_steps(target, drafter, tokens, clock)
    finally:
        if drafter is not None:
            drafter.close()
    # The first visit warms up and is left out.
    passes = tuple((n, median(seen[1:])) for n, seen in times.items())
    return Costs(passes, median(steps[1:]) if len(steps) > 1 else 0.0)


def _draft_steps(target: Session, drafter: Drafter, tokens: list[int], clock: Callable[[], float]) -> list[float]:
    """Seconds per draft step of one proposal, in a list that is empty if nothing was drafted.

    A round like any other in which nothing was accepted: `tokens` grows by one.
    """
    start = clock()
    draft = drafter.propose(tokens, DRAFTED, SeededCoin(0))
    spent = clock() - start
    hidden = target.extend([*tokens, *draft.tokens], keep=0).hidden
    tokens.append(tokens[0])
    target.rollback(len(tokens) - 1)
    drafter.observe(tokens, Verdict(0, tokens[-1], Fate.RESAMPLED, ()), hidden)
    return [spent / draft.steps] if draft.steps else []
