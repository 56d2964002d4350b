"""Why a run was slower than plain decoding, and what would help: rules over measured numbers.

All costs are in plain steps, the time of one token of the baseline, so a round pays if τ exceeds its cost. Changes are
predictions from this run's own α, c, v and hit rate, by the formulas of `theory.py`. Knows metrics. Does not know
sentences: a reason and a change are keys with their numbers. `assets/player/why.js` finds the same reasons.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from specdemo.core import theory
from specdemo.core.metrics import Comparison, Metrics

ENOUGH_GAIN = 0.25
"""Tokens won a round below which it is the gain that is missing, unless a cost stands out."""

MOST_GAMMA = 16


@dataclass(frozen=True, slots=True)
class Costs:
    """What a round costs, in plain steps."""

    draft: float
    verify: float
    other: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.draft + self.verify + self.other


@dataclass(frozen=True, slots=True)
class Change:
    """Something to do, and the speedup to expect then.

    key: "gamma" (another γ, 0: do not speculate), "draft" (a draft at half the cost), "verify" (checking that costs one
    step whatever its width), "other" (no overhead), "alpha" (half the rejections gone), "hits" (a guess every round).
    """

    key: str
    speedup: float
    gamma: int | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """reason: "draft", "verify", "other", "alpha", "seldom" or "nothing". changes: what helps most comes first."""

    reason: str
    speedup: float
    costs: Costs
    changes: tuple[Change, ...]


def why(comparison: Comparison, metrics: Metrics) -> Why | None:
    """The reason and the changes; None where nothing is slow or nothing can be judged."""
    if comparison.speedup is None or comparison.speedup >= 1.0 or comparison.too_short:
        return None
    if not metrics.tau or not comparison.adds_up_to:
        return None
    costs = round_costs(comparison, metrics)
    changes = sorted(_changes(costs, metrics), key=lambda change: -change.speedup)
    return Why(_reason(costs, metrics), comparison.speedup, costs, tuple(changes))


def round_costs(comparison: Comparison, metrics: Metrics) -> Costs:
    """The parts of a round. `adds_up_to` = tokens · step / time spent gives the plain step back."""
    assert comparison.adds_up_to
    step = comparison.adds_up_to * metrics.decode_s / metrics.tokens
    parts = (metrics.draft_s, metrics.verify_s, metrics.overhead_s)
    draft, verify, other = (seconds / metrics.rounds / step for seconds in parts)
    return Costs(draft, verify, other)


def _reason(costs: Costs, metrics: Metrics) -> str:
    """What costs most above the one step that a token costs anyway; without a gain, cost is not the reason."""
    if metrics.proposals == 0:
        return "nothing"
    excess = {"draft": costs.draft, "verify": costs.verify - 1.0, "other": costs.other}
    worst = max(excess, key=lambda name: excess[name])
    gain = (metrics.tau or 1.0) - 1.0
    if gain < ENOUGH_GAIN and excess[worst] < 2 * ENOUGH_GAIN:
        return "seldom" if (metrics.hit_rate or 0.0) < 0.5 else "alpha"
    return worst


def _changes(costs: Costs, metrics: Metrics) -> Iterator[Change]:
    tau, hits = metrics.tau or 1.0, metrics.hit_rate or 0.0
    yield Change("draft", tau / (costs.total - costs.draft / 2))
    yield Change("verify", tau / (costs.total - max(0.0, costs.verify - 1.0)))
    yield Change("other", tau / (costs.total - costs.other))
    if not metrics.proposals or metrics.alpha is None:
        yield Change("gamma", 1.0, 0)
        return
    drafted = metrics.drafted / metrics.proposals
    if hits < 1.0:
        # A round with a proposal, every time: what it wins and what checking it costs above one step.
        yield Change("hits", (1.0 + (tau - 1.0) / hits) / (costs.total + (costs.verify - 1.0) * (1.0 / hits - 1.0)))
    better = (1.0 + metrics.alpha) / 2
    scale = theory.tau(better, round(drafted)) / theory.tau(metrics.alpha, round(drafted))
    yield Change("alpha", (1.0 + ((tau - 1.0 + hits) * scale - hits)) / costs.total)
    yield max((_with_gamma(g, costs, metrics, drafted) for g in range(MOST_GAMMA + 1)), key=lambda c: c.speedup)


def _with_gamma(gamma: int, costs: Costs, metrics: Metrics, drafted: float) -> Change:
    """Another γ: drafting in proportion, checking on the line from one step through what it cost here."""
    if gamma == 0:
        return Change("gamma", 1.0, 0)
    hits, alpha = metrics.hit_rate or 0.0, metrics.alpha or 0.0
    share = gamma / drafted
    tau = 1.0 + hits * (theory.tau(alpha, gamma) - 1.0)
    cost = costs.draft * share + 1.0 + max(0.0, costs.verify - 1.0) * share + costs.other
    return Change("gamma", tau / cost, gamma)
