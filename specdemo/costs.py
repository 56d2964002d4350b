"""What a pass costs on this machine: t(n) and t_d by a micro-benchmark of their own.

Knows sessions and drafters by their protocols and a clock. Does not know runs: what it measures is a
prediction for them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from specdemo.core.metrics import median
from specdemo.core.protocols import Drafter, Session
from specdemo.core.sampling import SeededCoin
from specdemo.core.verify import LATER, Fate, Verdict

REPEATS = 7
DRAFTED = 4
"""Tokens in the proposal that is timed."""

WIDTHS = (1, 2, 4, 6, 8, 12, 16)
"""Positions of the target passes that are timed; what lies between is interpolated."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds. passes: (n, t(n)) for the measured widths n, starting with n = 1. t_draft: one draft step.

    least: the fastest pass of each width; far below t(n), something else was using the machine.
    """

    passes: tuple[tuple[int, float], ...]
    t_draft: float
    least: tuple[tuple[int, float], ...] = field(default=(), compare=False, metadata=LATER)

    @property
    def c(self) -> float:
        """One draft step / one target pass over one token."""
        return self.t_draft / self.t(1) if self.t(1) else 0.0

    def t(self, n: int) -> float:
        """Seconds of a target pass over n tokens, linear between and beyond the measured widths."""
        points = self.passes
        right = next((i for i, (width, _) in enumerate(points) if width >= n), len(points) - 1)
        if len(points) == 1 or points[right][0] == n:
            return points[right][1]
        (n0, t0), (n1, t1) = points[max(right - 1, 0)], points[max(right, 1)]
        # A wide pass that seemed quicker than a narrow one was luck: nothing gets cheaper with n for ever.
        slope = (t1 - t0) / (n1 - n0)
        return t0 + slope * (n - n0) if n <= n1 else t1 + max(slope, 0.0) * (n - n1)

    def v(self, n: int) -> float:
        """A target pass over n tokens / over one."""
        return self.t(n) / self.t(1) if self.t(1) else 1.0


def measure_costs(
    target: Session,
    drafter: Drafter | None,
    context: Sequence[int],
    clock: Callable[[], float],
    widths: Sequence[int] = WIDTHS,
    repeats: int = REPEATS,
) -> Costs:
    """Medians over `repeats` visits to every width in turn, after one that warms up. See `visits`."""
    found = [costs for costs in visits(target, drafter, context, clock, widths, repeats) if costs is not None]
    return found[-1]


def visits(
    target: Session,
    drafter: Drafter | None,
    context: Sequence[int],
    clock: Callable[[], float],
    widths: Sequence[int],
    repeats: int,
) -> Iterator[Costs | None]:
    """The measurement turn by turn: None after every pass, after every visit to all widths the costs so far.

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
        for visit in range(repeats + 1):
            # Every visit begins elsewhere: others look at the last one meanwhile, and no width shall pay for that.
            begin = visit * max(1, len(widths) // (repeats + 1)) % len(widths)
            for n in [*widths[begin:], *widths[:begin]]:
                start = clock()
                target.extend(tokens + tokens[:1] * (n - 1), keep=n)
                times[n].append(clock() - start)
                target.rollback(len(tokens) - 1)
                yield None
            if drafter is not None:
                steps += _draft_steps(target, drafter, tokens, clock)
            if visit:  # the first one warms up and is left out
                passes = tuple((n, median(seen[1:])) for n, seen in times.items())
                least = tuple((n, min(seen[1:])) for n, seen in times.items())
                yield Costs(passes, median(steps[1:]) if len(steps) > 1 else 0.0, least)
    finally:
        if drafter is not None:
            drafter.close()


def _draft_steps(target: Session, drafter: Drafter, tokens: list[int], clock: Callable[[], float]) -> list[float]:
    """Seconds per draft step of one proposal, in a list that is empty if nothing was drafted.

    A round like any other in which nothing was accepted: `tokens` grows by one, by an id that is new to them. An old
    one would make the text repeat itself, and whoever copies where it can would be timed at copying.
    """
    start = clock()
    draft = drafter.propose(tokens, DRAFTED, SeededCoin(0))
    spent = clock() - start
    hidden = target.extend([*tokens, *draft.tokens], keep=0).hidden
    tokens.append(next(id for id in range(len(tokens) + 1) if id not in tokens))
    target.rollback(len(tokens) - 1)
    drafter.observe(tokens, Verdict(0, tokens[-1], Fate.RESAMPLED, ()), hidden)
    return [spent / draft.steps] if draft.steps else []
