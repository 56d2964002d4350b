"""The limit of a run: the time it would take if only model passes counted, at costs measured apart from it.

Knows pairs, settings and the shape of rounds. Does not know what a run really took. Runs on the device thread.
"""

from collections.abc import Sequence

from specdemo import lanes
from specdemo.config import RunConfig
from specdemo.costs import Costs
from specdemo.models.loader import Pair

Rounds = Sequence[tuple[int, int]]
"""(draft steps, positions of the target pass) of each round."""


def limit(pair: Pair, config: RunConfig, tokens: Sequence[int], rounds: Rounds) -> float | None:
    """Σ steps · t_d + t(n) in seconds; None without rounds.

    tokens: the answer; the costs are measured behind the prompt and its first half, the middle of the run.
    """
    if not rounds:
        return None
    context = [*pair.text.encode(config.prompt, config.raw), *tokens[: len(tokens) // 2]]
    costs = lanes.costs_of(pair, config, sorted({width for _, width in rounds}), context)
    return model_time(rounds, costs)


def model_time(rounds: Rounds, costs: Costs) -> float:
    """Σ steps · t_d + t(n)."""
    return sum(steps * costs.t_draft + costs.t(width) for steps, width in rounds)
