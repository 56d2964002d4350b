"""Greedy match: the target's first choice or nothing. Exact at T = 0; above it the text is greedy all the same."""

from torch import Tensor

from specdemo.core.rules.entry import Badge, Entry, Side
from specdemo.core.rules.matching import keep_matching
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft, Verdict, look


def match_first_choice(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
    """Keeps guesses that are the largest of p `[γ+1, V]`. No coin is thrown."""
    p_x, q_x, choices = look(draft, p, p.argmax(-1))
    return keep_matching(draft, p_x, q_x, map(int, choices))


RULE = Entry(
    id="greedy-match",
    label="Greedy match",
    badge=Badge.GREEDY,
    side=Side.TARGET,
    source="Stern et al., arXiv 1811.03115",
    summary="Keeps a guess if it is the target's first choice: lossless at T = 0 only",
    judge=match_first_choice,
)
