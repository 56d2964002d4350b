"""The limit of a run: the time it would take if only model passes counted, at costs measured apart from it.

Knows pairs, settings and the shape of rounds. Does not know what a run really took. Runs on the device thread.
"""

from collections.abc import Sequence

from specdemo import drafters
from specdemo.config import RunConfig
from specdemo.core.sampling import Shaping
from specdemo.costs import Costs, measure_costs
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
    costs = costs_behind(pair, config, context, sorted({width for _, width in rounds}))
    return model_time(rounds, costs)


def model_time(rounds: Rounds, costs: Costs) -> float:
    """Σ steps · t_d + t(n)."""
    return sum(steps * costs.t_draft + costs.t(width) for steps, width in rounds)


def costs_behind(pair: Pair, config: RunConfig, context: Sequence[int], widths: Sequence[int]) -> Costs:
    """t(n) and t_d of a configuration behind a context of ids."""
    drafter = None
    if config.drafter != "none":
        shaping = Shaping(config.sampling, pair.end_tokens, 0)
        drafter = drafters.build(config.drafter, pair, shaping, dict(config.knobs), 0.0, config.seed)
    return measure_costs(pair.target(), drafter, context, pair.clock, widths)
