"""From settings to running lanes: the one place where a pair, a drafter and a configuration meet.

Knows every part below the page. Does not know who reads the events. Everything here runs on the device thread.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from specdemo import drafters
from specdemo.config import REJECTION, RunConfig
from specdemo.core import rules
from specdemo.core.events import Event
from specdemo.core.policy import Constant, Goodput, Heuristic
from specdemo.core.protocols import Policy, Session
from specdemo.core.sampling import Shaping
from specdemo.costs import REPEATS, WIDTHS, Costs, visits
from specdemo.device import race
from specdemo.engine import Run, autoregressive, speculative
from specdemo.errors import SettingError
from specdemo.machine import Facts
from specdemo.models.loader import Pair
from specdemo.models.progress import never

BASELINE, SPECULATIVE = "baseline", "speculative"


def open_lane(
    pair: Pair,
    config: RunConfig,
    lane: str,
    inspect: bool = False,
    cancelled: Callable[[], bool] = never,
    costs: Costs | None = None,
) -> Iterator[Event]:
    """The events of one lane. `drafter="none"` is the baseline. `costs` is needed by the policy "goodput" only."""
    require_confidence(config)
    prompt, rule = pair.text.encode(config.prompt, config.raw), rules.entry(config.rule)
    shaping = Shaping(config.sampling, pair.end_tokens, len(prompt) + config.min_new_tokens)
    run = Run(
        lane=lane,
        prompt=prompt,
        shaping=shaping,
        max_new_tokens=config.max_new_tokens,
        detokeniser=pair.text.detokeniser,
        coin=rule.coin(config.seed),
        seed=config.seed,
        drafter=config.drafter,
        policy=_policy(config, costs),
        stop=config.stop,
        rule=rule.judge,
        rule_id=rule.id,
        tokenwise=rule.tokenwise,
        clock=pair.clock,
        cancelled=cancelled,
        inspect=inspect,
    )
    if config.drafter == "none":
        yield from autoregressive(_target(pair, config), run)
        return
    pair.require_rollback()
    confidence = config.confidence if config.policy == "confidence" else 0.0
    drafter = drafters.build(config.drafter, pair, shaping, dict(config.knobs), confidence, config.seed)
    yield from speculative(_target(pair, config), rule.wrap(drafter), run)


def require_confidence(config: RunConfig) -> None:
    """`SettingError` if the policy stops where the draft is unsure, and this draft cannot say how sure it is."""
    able = drafters.confident()
    if config.policy == "confidence" and config.drafter not in ("none", *able):
        raise SettingError("no_confidence", drafter=config.drafter, able=", ".join(able))


def open_race(
    pair: Pair,
    configs: Mapping[str, RunConfig],
    inspect: bool = False,
    cancelled: Callable[[], bool] = never,
    costs: Costs | None = None,
) -> Iterator[Event]:
    """N lanes by device clocks, by name."""
    return race({name: open_lane(pair, config, name, inspect, cancelled, costs) for name, config in configs.items()})


def against_baseline(config: RunConfig) -> dict[str, RunConfig]:
    """The two lanes of the standard race: the configuration and the same without a draft."""
    return {SPECULATIVE: config, BASELINE: baseline(config)}


def entrants(config: RunConfig) -> dict[str, RunConfig]:
    """The lanes of a run by name: the standard race, or the baseline alone where nothing drafts."""
    return against_baseline(config) if config.drafter != "none" else {BASELINE: config}


def baseline(config: RunConfig) -> RunConfig:
    """The same run without a draft: the target alone, which draws as the rule does where the rule shares its noise."""
    rule = config.rule if rules.entry(config.rule).coupled else REJECTION
    return replace(config, drafter="none", gamma=0, policy="constant", knobs=(), rule=rule)


def costs_of(
    pair: Pair, config: RunConfig, widths: Sequence[int] = WIDTHS, context: Sequence[int] | None = None
) -> Costs:
    """t(n) and t_d for a configuration, measured now, behind a context of ids, else behind its own prompt."""
    return [costs for costs in visits_of(pair, config, widths, context) if costs is not None][-1]


def visits_of(
    pair: Pair, config: RunConfig, widths: Sequence[int] = WIDTHS, context: Sequence[int] | None = None
) -> Iterator[Costs | None]:
    """The same turn by turn, as in `costs.visits`."""
    pair.require_rollback()
    behind = pair.text.encode(config.prompt, config.raw) if context is None else context
    shaping = Shaping(config.sampling, pair.end_tokens, 0)
    drafter = None
    if config.drafter != "none":
        drafter = drafters.build(config.drafter, pair, shaping, dict(config.knobs), 0.0, config.seed)
    yield from visits(_target(pair, config), drafter, behind, pair.clock, widths, REPEATS)


def models_of(pair: Pair, config: RunConfig) -> Facts:
    """What a header says of the models of a run."""
    return {
        "pair": pair.preset.id,
        "target": pair.target_name,
        "draft": pair.draft_name,
        "drafter": config.drafter,
        "dtype": pair.dtype,
        "path": pair.path,
        "device": pair.device,
        "target_bytes": pair.target_bytes,
        "draft_bytes": pair.draft_bytes,
    }


def _target(pair: Pair, config: RunConfig) -> Session:
    return pair.exact_target() if config.exact else pair.target()


def _policy(config: RunConfig, costs: Costs | None) -> Policy:
    if config.drafter == "none":
        return Constant(0)
    match config.policy:
        case "heuristic":
            return Heuristic(config.gamma)
        case "goodput":
            if costs is None:
                raise SettingError("goodput_needs_costs")
            return Goodput(config.gamma, costs.c, costs.v)
        case name:
            return Constant(config.gamma, name)
