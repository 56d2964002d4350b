"""A world small enough to know everything about: a target and a draft that are tables, and the laws of what they say.

Knows tables, shapings and rules. Does not know real models, text or time. Letters: V vocabulary, γ tokens drafted.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import torch
from torch import Tensor

from specdemo.config import SamplingConfig
from specdemo.core.rules import Entry
from specdemo.core.sampling import Coin, Shaping
from specdemo.core.verify import Draft
from specdemo.models.toy import Table, hashed
from specdemo.prove.coupling import CoupledCoin
from specdemo.prove.enumeration import EnumeratingCoin, outcomes

Law = dict[tuple[int, ...], float]
"""Probability of each sequence of ids."""

Round = Callable[[tuple[int, ...], EnumeratingCoin], tuple[int, ...]]
"""From the committed context to the ids that one round emits."""

Mistake = Callable[["World"], "World"]
"""From the world as it is to the one that a broken loop plays on, e.g. with a stale cache."""

PROMPT = (0, 1)
"""The ids that all proofs start from; any would do."""

FILTERED = SamplingConfig(temperature=0.8, top_k=3)
"""What the proofs sample with: warm enough to be hard, filtered so that some ids are ruled out."""


@dataclass(frozen=True, slots=True)
class World:
    """A target and a draft as tables over the same V ids, and how each one's logits become a law."""

    vocabulary: int
    target: Table
    draft: Table
    p_shaping: Shaping
    q_shaping: Shaping
    _p: Table = field(init=False, repr=False, compare=False)
    _q: Table = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_p", cached(lambda context: law_at(self.target, self.p_shaping, context)))
        object.__setattr__(self, "_q", cached(lambda context: law_at(self.draft, self.q_shaping, context)))

    def p(self, context: Sequence[int]) -> Tensor:
        """The target's law `[V]` after a context."""
        return self._p(context)

    def q(self, context: Sequence[int]) -> Tensor:
        """The draft's law `[V]` after a context."""
        return self._q(context)

    def sampled(self, sampling: SamplingConfig) -> "World":
        """The same tables, both shaped anew."""
        return replace(self, p_shaping=Shaping(sampling), q_shaping=Shaping(sampling))


def honest(world: World) -> World:
    """No mistake."""
    return world


def random_world(
    vocabulary: int = 4, seed: int = 1, sampling: SamplingConfig = FILTERED, unlikeness: float = 1.0
) -> World:
    """Laws that depend on the whole context. The draft's logits are the target's and noise of this size."""
    target, noise = random_table(vocabulary, 2 * seed), random_table(vocabulary, 2 * seed + 1, unlikeness)
    draft = cached(lambda context: target(context) + noise(context))
    return World(vocabulary, target, draft, Shaping(sampling), Shaping(sampling))


def random_table(vocabulary: int, seed: int, spread: float = 1.5) -> Table:
    """Random logits that depend on the whole context, each made once."""
    return cached(hashed(vocabulary, seed, spread, memory=64))


def cached(table: Table) -> Table:
    """The same table, each context looked up once."""
    known = cache(lambda context: table(context))
    return lambda context: known(tuple(context))


def law_at(table: Table, shaping: Shaping, context: Sequence[int]) -> Tensor:
    """The law `[V]` of the token after a context."""
    return shaping.laws(table(context).unsqueeze(0), len(context))[0]


def chain_draft(q: Table, context: Sequence[int], gamma: int, coin: Coin) -> Draft:
    """γ tokens drawn one after the other from the draft's own laws, q: context → `[V]`."""
    tokens: list[int] = []
    laws: list[Tensor] = []
    for _ in range(gamma):
        laws.append(q((*context, *tokens)))
        tokens.append(coin.draw(laws[-1]))
    return Draft(tuple(tokens), torch.stack(laws) if laws else None)


def target_laws(p: Table, context: Sequence[int], draft: Draft) -> Tensor:
    """p `[γ+1, V]` for a draft that follows a context, p: context → `[V]`."""
    return torch.stack([p((*context, *draft.tokens[:i])) for i in range(len(draft.tokens) + 1)])


def propose(rule: Entry, world: World, context: Sequence[int], gamma: int, coin: Coin) -> tuple[Draft, Tensor]:
    """A draft drawn as the rule has it, and the target's laws `[γ+1, V]` along it. coin: of the run."""
    draft = chain_draft(world.q, context, gamma, rule.draft_coin(coin))
    return draft, target_laws(world.p, context, draft)


def one_round(rule: Entry, world: World, gamma: int) -> Round:
    """A round of a rule: draft, look up p, judge."""

    def play(context: tuple[int, ...], coin: EnumeratingCoin) -> tuple[int, ...]:
        draft, p = propose(rule, world, context, gamma, coin)
        return rule.judge(draft, p, coin).block(draft)

    return play


def coin_of(rule: Entry) -> Callable[[Sequence[int]], EnumeratingCoin]:
    """The coin that enumerates a rule's outcomes."""
    return CoupledCoin if rule.coupled else EnumeratingCoin


def target_law(p: Table, prompt: Sequence[int], length: int) -> Law:
    """The law of the first `length` ids after a prompt by the chain rule: what every lossless rule must give."""
    law: Law = {(): 1.0}
    for _ in range(length):
        grown: Law = {}
        for ids, weight in law.items():
            chances = p((*prompt, *ids)).tolist()
            grown |= {(*ids, x): weight * chance for x, chance in enumerate(chances) if chance > 0.0}
        law = grown
    return law


def emitted_law(
    play: Round,
    prompt: Sequence[int],
    length: int,
    coin: Callable[[Sequence[int]], EnumeratingCoin] = EnumeratingCoin,
) -> Law:
    """The law of the first `length` ids when rounds follow one another: a round's law is found once per context."""

    @cache
    def after(context: tuple[int, ...], missing: int) -> Law:
        law: Law = defaultdict(float)
        for block, weight in outcomes(lambda path: play(context, path), coin).items():
            if len(block) >= missing:
                law[block[:missing]] += weight
            else:
                for rest, share in after((*context, *block), missing - len(block)).items():
                    law[(*block, *rest)] += weight * share
        return law

    return dict(after(tuple(prompt), length))
