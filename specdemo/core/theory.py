"""The formulas of speculative decoding as float functions.

Sources: Leviathan et al. (arXiv 2211.17192) for α, τ and the speedup; the measured-verification form
replaces their flat cost 1 by v(γ+1). The page's `theory.js` has the same functions; both are tested
against `assets/theory-goldens.json`. Knows numbers only.

Letters: α acceptance chance of a tested token, γ tokens drafted a round, c draft step / target step,
v(n) target pass over n tokens / over one, τ tokens emitted a round.
"""

from collections.abc import Callable, Sequence


def beta(p: Sequence[float], q: Sequence[float]) -> float:
    """β = Σ min(p, q): the chance that a token drawn from q survives the test against p."""
    return sum(min(a, b) for a, b in zip(p, q, strict=True))


def tau(alpha: float, gamma: int) -> float:
    """Tokens emitted a round, (1 − α^(γ+1)) / (1 − α), between 1 and γ+1."""
    return sum(alpha**i for i in range(gamma + 1))


def tau_by_position(alphas: Sequence[float]) -> float:
    """Tokens emitted a round where position j has its own acceptance: 1 + Σ_i Π_{j≤i} α_j."""
    total, survives = 1.0, 1.0
    for alpha in alphas:
        survives *= alpha
        total += survives
    return total


def accepted_per_drafted(alpha: float, gamma: int) -> float:
    """Share of drafted tokens that are kept, α(1 − α^γ) / (γ(1 − α)). γ ≥ 1."""
    return (tau(alpha, gamma) - 1) / gamma


def accepted_per_emitted(alpha: float, gamma: int) -> float:
    """Share of emitted tokens that were drafted, (τ − 1) / τ."""
    return 1 - 1 / tau(alpha, gamma)


def flat(n: int) -> float:
    """v of a machine on which checking n tokens costs as much as one."""
    return 1.0


def speedup(alpha: float, gamma: int, c: float, v: Callable[[int], float] = flat) -> float:
    """Expected speed against plain decoding, τ / (γc + v(γ+1))."""
    return tau(alpha, gamma) / (gamma * c + v(gamma + 1))


def arithmetic(alpha: float, gamma: int, c_hat: float = 0.0) -> float:
    """Arithmetic against plain decoding, (γĉ + γ + 1) / τ. ĉ: operations of a draft token / of a target token."""
    return (gamma * c_hat + gamma + 1) / tau(alpha, gamma)


def best_gamma(alpha: float, c: float, v: Callable[[int], float] = flat, most: int = 32) -> int:
    """The γ in 0 … `most` with the largest expected speedup; of equals the smallest."""
    return max(range(most + 1), key=lambda gamma: (speedup(alpha, gamma, c, v), -gamma))


def worth_it(alpha: float, c: float) -> bool:
    """True if some γ gives a speedup above one on a machine with flat verification: α > c."""
    return alpha > c


def limit(
    tokens: int, t_one: float, rounds: Sequence[tuple[int, int]], t_draft: float, t_pass: Callable[[int], float]
) -> float:
    """The speedup that a run would have had if only model time counted: tokens · t(1) / Σ (steps · t_d + t(n)).

    rounds: (draft steps, positions n of the target pass) of each round. All times in seconds, from a
    separate micro-benchmark, so that this is a prediction.
    """
    return tokens * t_one / sum(steps * t_draft + t_pass(n) for steps, n in rounds)
