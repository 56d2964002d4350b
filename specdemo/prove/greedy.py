"""Test (a): at T = 0 the text equals what the target says alone, token for token.

Knows how to run a rule on a world or on a pair; `outcome.py` compares. Does not know what a page shows.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from specdemo.config import RunConfig, SamplingConfig
from specdemo.core import rules
from specdemo.core.events import Event
from specdemo.core.policy import Constant
from specdemo.core.protocols import Drafter
from specdemo.core.result import Results
from specdemo.core.rules import Entry
from specdemo.drafters.model import SessionDrafter
from specdemo.engine import NoDrafter, Run, speculative
from specdemo.lanes import BASELINE, SPECULATIVE, against_baseline, open_race
from specdemo.models.loader import Pair
from specdemo.models.progress import never
from specdemo.models.toy import ToySession, WordDetokeniser
from specdemo.outcome import Outcome, judge
from specdemo.prove.world import PROMPT, Mistake, World, honest


def greedy(
    rule: Entry, world: World, gamma: int = 3, tokens: int = 40, seed: int = 0, mistake: Mistake = honest
) -> Outcome:
    """The engine on a world at T = 0 against the target alone. mistake: as in `joint`."""
    return race(rule, world.sampled(SamplingConfig()), gamma, tokens, seed, mistake)


def race(
    rule: Entry, world: World, gamma: int = 3, tokens: int = 40, seed: int = 0, mistake: Mistake = honest
) -> Outcome:
    """The engine on a world as it is sampled, against the target alone with the same seed."""
    played, alone = mistake(world), rule if rule.coupled else rules.entry(RunConfig().rule)
    drafter = rule.wrap(SessionDrafter(ToySession(played.draft), played.q_shaping, "draft"))
    results = Results()
    lanes = (
        _lane(SPECULATIVE, rule, played, drafter, gamma, tokens, seed),
        _lane(BASELINE, alone, world, NoDrafter(), 0, tokens, seed),
    )
    for lane in lanes:
        for event in lane:
            results.add(event)
    return judge(results, SPECULATIVE, BASELINE, lambda: ToySession(world.target))


def _lane(
    name: str, rule: Entry, world: World, drafter: Drafter, gamma: int, tokens: int, seed: int
) -> Iterator[Event]:
    run = Run(
        lane=name,
        prompt=PROMPT,
        shaping=world.p_shaping,
        max_new_tokens=tokens,
        detokeniser=WordDetokeniser,
        coin=rule.coin(seed),
        seed=seed,
        policy=Constant(gamma),
        rule=rule.judge,
        rule_id=rule.id,
        tokenwise=rule.tokenwise,
    )
    return speculative(ToySession(world.target), drafter, run)


def greedy_on(pair: Pair, config: RunConfig, cancelled: Callable[[], bool] = never) -> Iterator[Event | Outcome]:
    """The race of a configuration at T = 0 against the target alone on real models, and last what it showed.

    On the device thread. An `Outcome` says where the texts part, how narrowly the target chose there and whether
    rounding alone explains it.
    """
    results = Results()
    configs = against_baseline(replace(config, sampling=SamplingConfig()))
    yield from results.watch(open_race(pair, configs, inspect=True, cancelled=cancelled))
    yield judge(results, SPECULATIVE, BASELINE, pair.target)
