"""Sample and match: the target draws for itself and a guess is kept if it is the same. Sound, and never better."""

from torch import Tensor

from specdemo.core.rules.entry import Badge, Entry, Side
from specdemo.core.rules.matching import keep_matching
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft, Verdict, look


def match_sample(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
    """Keeps guesses that equal a draw from p `[γ+1, V]`, with chance Σ p·q; rejection sampling has Σ min(p, q)."""
    p_x, q_x = look(draft, p)
    return keep_matching(draft, p_x, q_x, map(coin.draw, p))


RULE = Entry(
    id="sample-match",
    label="Sample and match",
    badge=Badge.LOSSLESS,
    side=Side.TARGET,
    source="assisted generation of Hugging Face transformers where the draft has no laws",
    summary="Draws the target's own token and keeps the guess if it is the same: chance Σ p·q, at most Σ min(p, q)",
    judge=match_sample,
)
