"""Test (c): the exact joint law of the first tokens under a rule, against the target's own. No chance is involved.

Knows worlds and rules. Does not know real models.
"""

from dataclasses import dataclass

from specdemo.core.rules import Entry
from specdemo.prove.enumeration import distance, mean, outcomes
from specdemo.prove.world import PROMPT, Mistake, World, coin_of, emitted_law, honest, one_round, target_law

EXACT = 1e-6
"""Laws closer than this are equal: what rounding in float32 can do is some 10⁻⁷."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """One text of a few ids: its chance under the target and under the rule."""

    tokens: tuple[int, ...]
    target: float
    emitted: float


@dataclass(frozen=True, slots=True)
class Joint:
    """Two laws over all texts of a length, in the order of their ids. distance: total variation, ½ Σ |difference|."""

    length: int
    distance: float
    rows: tuple[Sequence, ...]

    @property
    def passed(self) -> bool:
        """True if the laws are equal up to rounding."""
        return self.distance < EXACT


def joint(
    rule: Entry,
    world: World,
    prompt: tuple[int, ...] = PROMPT,
    gamma: int = 2,
    length: int = 3,
    mistake: Mistake = honest,
) -> Joint:
    """The law of the first `length` ids after a prompt, over as many rounds as they take.

    mistake: one outside the rule; the law is held to that of `world` as it is.
    """
    expected = target_law(world.p, prompt, length)
    emitted = emitted_law(one_round(rule, mistake(world), gamma), prompt, length, coin_of(rule))
    texts = sorted(expected.keys() | emitted.keys())
    rows = tuple(Sequence(ids, expected.get(ids, 0.0), emitted.get(ids, 0.0)) for ids in texts)
    return Joint(length, distance(expected, emitted), rows)


def exact_tau(
    rule: Entry, world: World, prompt: tuple[int, ...] = PROMPT, gamma: int = 2, mistake: Mistake = honest
) -> float:
    """Expected tokens of one round after a prompt."""
    play = one_round(rule, mistake(world), gamma)
    return mean(outcomes(lambda coin: play(prompt, coin), coin_of(rule)), len)
