"""What the tests take from the package's own exact laws, and a round of a bare rule on two tables."""

from collections.abc import Sequence

from torch import Tensor

from specdemo.core.rules import Badge, Entry, Side
from specdemo.core.sampling import Coin, Shaping
from specdemo.core.verify import Draft, Rule, Verdict
from specdemo.models.toy import Table
from specdemo.prove import world
from specdemo.prove.enumeration import EnumeratingCoin, Interval, distance, mean, outcomes
from specdemo.prove.world import (
    Law,
    Round,
    World,
    cached,
    emitted_law,
    law_at,
    one_round,
    random_table,
)

__all__ = [
    "EnumeratingCoin",
    "Interval",
    "Law",
    "Round",
    "block",
    "cached",
    "chain_draft",
    "distance",
    "emitted_law",
    "entry_of",
    "law_at",
    "mean",
    "outcomes",
    "random_table",
    "speculative_round",
    "target_law",
    "target_laws",
]


def chain_draft(table: Table, shaping: Shaping, context: Sequence[int], gamma: int, coin: Coin) -> Draft:
    """γ tokens drawn one after the other from a table's laws."""
    return world.chain_draft(lambda known: law_at(table, shaping, known), context, gamma, coin)


def target_laws(table: Table, shaping: Shaping, context: Sequence[int], draft: Draft) -> Tensor:
    """p `[γ+1, V]` for a draft that follows a context."""
    return world.target_laws(lambda known: law_at(table, shaping, known), context, draft)


def target_law(table: Table, shaping: Shaping, prompt: Sequence[int], length: int) -> Law:
    """The law of the first `length` ids after a prompt by the chain rule."""
    return world.target_law(lambda known: law_at(table, shaping, known), prompt, length)


def block(draft: Draft, verdict: Verdict) -> tuple[int, ...]:
    """The ids that a verdict emits."""
    return verdict.block(draft)


def entry_of(judge: Rule, badge: Badge = Badge.BIASED, side: Side = Side.TARGET, **more: object) -> Entry:
    """A rule that is in no registry."""
    name = getattr(judge, "__name__", "rule")
    return Entry(name, name, badge, side, "a test", "a test", judge, **more)


def speculative_round(
    rule: Rule, target: Table, draft: Table, p_shaping: Shaping, q_shaping: Shaping, gamma: int
) -> Round:
    """A round of a rule on two tables: draw a chain, look up p, judge."""
    return one_round(entry_of(rule), World(0, target, draft, p_shaping, q_shaping), gamma)
