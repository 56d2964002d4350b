"""The laws p and q at one position of a learner's own prompt, for the sampled test (b) on real models.

Knows pairs and drafters. Does not know what is done with the laws.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from specdemo import drafters
from specdemo.config import RunConfig
from specdemo.core import rules
from specdemo.core.sampling import Shaping
from specdemo.models.loader import Pair


@dataclass(frozen=True, slots=True)
class Position:
    """The laws `[V]` of the token that follows `context`. q: None where the drafter has nothing to propose there."""

    context: tuple[int, ...]
    p: Tensor
    q: Tensor | None


def position(pair: Pair, config: RunConfig, output: Sequence[int] = ()) -> Position:
    """What target and draft think after the prompt and `output`, ids taken as emitted. On the device thread."""
    rule = rules.entry(config.rule)
    prompt = pair.text.encode(config.prompt, config.raw)
    context = (*prompt, *output)
    shaping = Shaping(config.sampling, pair.end_tokens, len(prompt) + config.min_new_tokens)
    drafter = rule.wrap(drafters.build(config.drafter, pair, shaping, dict(config.knobs), 0.0, config.seed))
    try:
        target = pair.target()
        drafter.prefill(context[:-1], target.extend(context[:-1], keep=0).hidden)
        p = shaping.laws(target.extend(context, keep=1).logits, len(context))[0]
        draft = drafter.propose(context, 1, rule.coin(config.seed))
    finally:
        drafter.close()
    return Position(context, p, draft.law(0, like=p) if draft.tokens else None)
