"""What a race showed: who was faster, whether the texts are the same, and if not, why.

Knows two finished lanes and, to explain a divergence, the target. Does not know how the lanes were run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from specdemo.config import REJECTION
from specdemo.core import rules
from specdemo.core.metrics import Comparison
from specdemo.core.protocols import Session
from specdemo.core.result import LaneResult, Results, first_divergence


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where two greedy texts part.

    index: of the first token that differs. gap: the target's top-1 minus top-2 logit there.
    difference: how much these logits move between a pass over one position and a pass over several.
    numerical_tie: gap ≤ 2 · difference, i.e. rounding alone explains it; otherwise it is a fault.
    """

    index: int
    gap: float
    difference: float

    @property
    def numerical_tie(self) -> bool:
        """True if rounding alone explains the divergence."""
        return self.gap <= 2 * self.difference


@dataclass(frozen=True, slots=True)
class Outcome:
    """A speculative lane against its baseline. identical: None where sampling makes no such promise.

    same: leading tokens in common, of `of` tokens of the longer text. divergence: of greedy texts.
    rule: by which the guesses were judged.
    """

    comparison: Comparison
    identical: bool | None
    same: int
    of: int
    divergence: Divergence | None
    rule: str = REJECTION


def judge(results: Results, speculative: str, baseline: str, target: Callable[[], Session]) -> Outcome:
    """Compares two lanes; `target` opens a session to look closer at a divergence of greedy texts."""
    fast, slow = results.lanes[speculative], results.lanes[baseline]
    comparison = results.compare(speculative, baseline)
    at = first_divergence(fast.tokens, slow.tokens)
    of = max(len(fast.tokens), len(slow.tokens))
    same = of if at is None else at
    rule = fast.started.rule if fast.started else REJECTION
    greedy = fast.started is not None and fast.started.greedy
    if not greedy and not rules.entry(rule).coupled:
        return Outcome(comparison, None, same, of, None, rule)
    cut_short = at is not None and at >= min(len(fast.tokens), len(slow.tokens))
    if at is None or cut_short or not greedy:
        return Outcome(comparison, at is None, same, of, None, rule)
    return Outcome(comparison, False, same, of, explain(fast, at, target()), rule)


def explain(lane: LaneResult, index: int, session: Session) -> Divergence:
    """Measures the target's top-2 gap before token `index`, and how far a wide pass moves it."""
    assert lane.started is not None
    context = [*lane.started.prompt, *lane.tokens[:index]]
    width = min(max(r.width for r in lane.rounds), len(context))
    alone = _logits(session, context, 1)
    block = _logits(session, context, width)
    top = alone.topk(2)
    moved = float((alone - block)[top.indices].abs().max())
    return Divergence(index, float(top.values[0] - top.values[1]), moved)


def _logits(session: Session, context: Sequence[int], width: int) -> Tensor:
    """Logits `[V]` after `context`, whose last `width` ids are fed in one pass."""
    session.rollback(0)
    session.extend(context[: len(context) - width], keep=0)
    return session.extend(context, keep=width).logits[-1].float()
