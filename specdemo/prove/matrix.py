"""Every rule against every test: (a) greedy text, (b) sampled decisions, (c) exact joint law, (d) waste.

Knows the tests and small random worlds. Does not know real models or how a matrix is shown. What a badge promises:
lossless passes (a) to (c); lossless at T = 0 only passes (a) alone; wasteful passes (a) to (c) and fails (d); biased
and lossy fail one of (a) to (c).
"""

from dataclasses import dataclass

from specdemo.core.rules import Badge, Entry
from specdemo.outcome import Outcome
from specdemo.prove.decision import simulate
from specdemo.prove.greedy import greedy
from specdemo.prove.joint import Joint, joint
from specdemo.prove.statistics import Sampled
from specdemo.prove.waste import Waste, waste
from specdemo.prove.world import PROMPT, Mistake, World, honest, random_world

DECISIONS = 20_000
ROUNDS = 400
TESTS = "abcd"


@dataclass(frozen=True, slots=True)
class Row:
    """One rule and what the four tests found."""

    rule: Entry
    greedy: Outcome
    sampled: Sampled
    joint: Joint
    waste: Waste

    def passed(self) -> dict[str, bool]:
        """The cells, by test."""
        found = (bool(self.greedy.identical), self.sampled.passed, self.joint.passed, self.waste.passed)
        return dict(zip(TESTS, found, strict=True))

    def as_promised(self) -> bool:
        """True if the cells are those that the badge promises."""
        cells = self.passed()
        law = cells["a"] and cells["b"] and cells["c"]
        match self.rule.badge:
            case Badge.LOSSLESS:
                return law
            case Badge.GREEDY:
                return cells["a"] and not law
            case Badge.WASTEFUL:
                return law and not cells["d"]
            case _:
                return not law


def row(rule: Entry, world: World | None = None, seed: int = 1, mistake: Mistake = honest) -> Row:
    """All four tests of a rule. world: of a few ids; a random one if not given. (a) has a wider one of its own."""
    world = world or random_world(seed=seed)
    played = mistake(world)
    *_, counted = simulate(rule, played.p(PROMPT), played.q(PROMPT), DECISIONS, seed, expected=world.p(PROMPT))
    return Row(
        rule=rule,
        greedy=greedy(rule, random_world(24, seed), seed=seed, mistake=mistake),
        sampled=counted,
        joint=joint(rule, world, mistake=mistake),
        waste=waste(rule, world, rounds=ROUNDS, seed=seed, mistake=mistake),
    )
