"""Test (d): tokens a round under a rule and under rejection sampling, from the same draft and the same random numbers.

Knows worlds and rules. Does not know real models.
"""

import math
import random
from dataclasses import dataclass

import torch
from torch import Tensor

from specdemo.config import REJECTION
from specdemo.core import rules
from specdemo.core.rules import Entry
from specdemo.core.sampling import inverse_cdf
from specdemo.prove.joint import EXACT, exact_tau
from specdemo.prove.world import PROMPT, Mistake, World, honest, propose


@dataclass(frozen=True, slots=True)
class Waste:
    """Tokens a round over the same rounds. tau: of the rule, correct: of rejection sampling.

    error: standard error of their difference. fewer, more: rounds in which the rule emitted fewer or more tokens.
    exact: the expected difference by enumeration, in the mean over one prompt for each id. It decides.
    """

    rounds: int
    tau: float
    correct: float
    error: float
    fewer: int
    more: int
    exact: float

    @property
    def passed(self) -> bool:
        """True unless the rule must be expected to emit fewer tokens."""
        return self.exact > -EXACT


class PairedCoin:
    """Flips and draws from two sequences, so that the i-th flip is the same however many draws came before it."""

    def __init__(self, seed: int) -> None:
        self._flips, self._draws = random.Random(f"{seed} flips"), random.Random(f"{seed} draws")

    def uniform(self) -> float:
        return self._flips.random()

    def draw(self, law: Tensor) -> int:
        return inverse_cdf(law, self._draws.random())

    def pick(self, law: Tensor) -> Tensor:
        return torch.tensor([self.draw(law)])


def waste(
    rule: Entry, world: World, gamma: int = 2, rounds: int = 1000, seed: int = 0, mistake: Mistake = honest
) -> Waste:
    """Plays single rounds behind random prompts of four ids; in each, both rules get the same draft and coins.

    Where the draft itself is what a rule or a mistake changes, both drafts are drawn with the same numbers.
    """
    played, correct = mistake(world), rules.entry(REJECTION)
    drafting = rule if rule.coupled else correct
    prompts = random.Random(seed)
    mine, theirs = [], []
    for i in range(rounds):
        context = tuple(prompts.randrange(world.vocabulary) for _ in range(4))
        key = seed * rounds + i
        draft, p = propose(rule, played, context, gamma, rule.coin(key))
        coin = rule.coin(key) if rule.coupled else PairedCoin(key)
        mine.append(len(rule.judge(draft, p, coin).block(draft)))
        draft, p = propose(drafting, world, context, gamma, drafting.coin(key))
        theirs.append(len(correct.judge(draft, p, PairedCoin(key)).block(draft)))
    gaps = [a - b for a, b in zip(mine, theirs, strict=True)]
    gap = sum(gaps) / rounds
    error = math.sqrt(sum((one - gap) ** 2 for one in gaps) / rounds / max(rounds - 1, 1))
    fewer, more = sum(one < 0 for one in gaps), sum(one > 0 for one in gaps)
    exact = _expected(rule, world, gamma, mistake) - _expected(correct, world, gamma, honest)
    return Waste(rounds, sum(mine) / rounds, sum(theirs) / rounds, error, fewer, more, exact)


def _expected(rule: Entry, world: World, gamma: int, mistake: Mistake) -> float:
    """Expected tokens of a round, in the mean over prompts that end in each of the ids."""
    ends = range(world.vocabulary)
    return sum(exact_tau(rule, world, (*PROMPT, x), gamma, mistake) for x in ends) / len(ends)
