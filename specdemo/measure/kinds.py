"""The kinds of measurement, the plan of races behind each, and how large one may be.

Knows settings. Does not know models, pages or results. The races are those of the bench: in each the baseline and
every drafted lane take turns by their own clocks.
"""

from collections.abc import Sequence

from specdemo import drafters
from specdemo.bench.plan import Choice, Plan
from specdemo.config import POLICIES, RunConfig
from specdemo.errors import SettingError
from specdemo.prompts import Prompt

GAMMA, TEMPERATURE, DRAFTERS, POLICY, LUNCH = "gamma", "temperature", "drafters", "policies", "lunch"
SWEEPS = (GAMMA, TEMPERATURE, DRAFTERS, POLICY)
"""Those that race. The free-lunch curve times passes and races nothing."""
KINDS = (*SWEEPS, LUNCH)

WIDEST = 32
"""Positions of the widest pass of the free-lunch curve."""
MOST_VALUES = 8
"""Values of γ or T, or drafters, that one sweep may have."""
MOST_RUNS = 200
MOST_TOKENS = 16_000
"""New tokens of all runs together: about eight minutes of two cores."""


def plan_of(
    kind: str,
    prompts: Sequence[Prompt],
    config: RunConfig,
    gammas: Sequence[int],
    temperatures: Sequence[float],
    names: Sequence[str],
) -> Plan:
    """The races of a sweep. Of γ, T and the draft those that are not swept come from `config`.

    names: ids of drafters. `SettingError` where it would be too large, or without anything to sweep.
    """
    own = Choice(config.drafter, config.knobs)
    choices: tuple[Choice, ...] = (own,)
    if kind == DRAFTERS:
        choices = tuple(own if name == own.drafter else Choice(drafters.entry(name).id) for name in names)
    if kind == POLICY:
        choices = tuple(Choice(own.drafter, own.knobs, policy) for policy in policies(own.drafter))
    plan = Plan(
        prompts=tuple(prompts),
        choices=choices,
        gammas=tuple(gammas) if kind == GAMMA else (config.gamma,),
        temperatures=tuple(temperatures) if kind == TEMPERATURE else (config.sampling.temperature,),
        max_new_tokens=config.max_new_tokens,
        seed=config.seed,
        pair=config.pair,
    )
    require_size(plan)
    return plan


def policies(drafter: str) -> tuple[str, ...]:
    """The policies that are different for a drafter: one without a confidence cannot stop by it."""
    return tuple(policy for policy in POLICIES if policy != "confidence" or drafter in drafters.confident())


def require_size(plan: Plan) -> None:
    """`SettingError` if a plan is more than one visitor may ask for."""
    for name, values in (("gammas", plan.gammas), ("temperatures", plan.temperatures), ("drafters", plan.choices)):
        if len(values) > MOST_VALUES:
            raise SettingError("too_many_values", name=name, count=len(values), most=MOST_VALUES)
    runs = len(plan.races()) * len(plan.lanes())
    tokens = runs * plan.max_new_tokens
    if runs > MOST_RUNS or tokens > MOST_TOKENS:
        raise SettingError("sweep_too_large", runs=runs, most_runs=MOST_RUNS, tokens=tokens, most_tokens=MOST_TOKENS)
