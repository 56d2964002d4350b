"""The verification rule: which drafted tokens are kept, and what follows them.

This is Algorithm 1 of Leviathan, Kalman and Matias, "Fast Inference from Transformers via Speculative
Decoding" (arXiv 2211.17192): p is the target's law, q the draft's. (Chen et al., arXiv 2302.01318, and
gpt-fast swap the two letters.) Knows laws and coins. Does not know models, caches, text or time.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

import torch
from torch import Tensor

from specdemo.core.sampling import Coin


class Fate(StrEnum):
    """What became of a token."""

    ACCEPTED = "accepted"  # drafted, tested, kept
    REJECTED = "rejected"  # drafted, tested, failed
    DISCARDED = "discarded"  # drafted, never tested: an earlier guess fell
    RESAMPLED = "resampled"  # drawn from the residual in place of a rejected token
    BONUS = "bonus"  # drawn from the target after all γ ≥ 1 guesses were accepted
    PLAIN = "plain"  # drawn from the target with nothing drafted


@dataclass(frozen=True, slots=True)
class Draft:
    """What a drafter proposes in one round.

    tokens: x1 … xγ, perhaps fewer than asked, perhaps none.
    laws: q `[γ, V]`, the law that each token was really drawn from; None means one-hot.
    parents: None for a chain; reserved for trees.
    source: where the proposal came from, in a few words. steps: draft steps taken (for c).
    skipped: tokens found but not proposed (a match too short to be worth a wide pass).
    """

    tokens: tuple[int, ...] = ()
    laws: Tensor | None = None
    parents: tuple[int, ...] | None = None
    source: str = ""
    steps: int = 0
    skipped: int = 0

    def law(self, i: int, like: Tensor) -> Tensor:
        """q at position i as a law `[V]` on the device of `like`."""
        if self.laws is not None:
            return self.laws[i].to(like.device)
        q = torch.zeros_like(like)
        q[self.tokens[i]] = 1.0
        return q

    def chances(self) -> list[float]:
        """q(x) of each drafted token, γ numbers in (0, 1]."""
        if self.laws is None:
            return [1.0] * len(self.tokens)
        return chances(self.laws, self.tokens)


LATER = {"later": True}
"""Marks a field that is left out of a trace while it has its default, so that older traces stay as they are."""


@dataclass(frozen=True, slots=True)
class Test:
    """One coin flip: passed iff u < h, where h is p / q unless a rule says otherwise.

    h: what another rule compared u with, in [0, 1]; 1 or 0 where it compared tokens and no coin decided (u is then 0).
    """

    __test__ = False  # not a test case for pytest

    u: float
    p: float
    q: float
    accepted: bool
    h: float | None = field(default=None, metadata=LATER)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a round: `accepted` drafted tokens are kept and `token` follows them with `fate`.

    token: None where a broken rule leaves it out. tests: the flips in order; of `verify` at most the last one failed.
    """

    accepted: int
    token: int | None
    fate: Fate
    tests: tuple[Test, ...]

    def block(self, draft: Draft) -> tuple[int, ...]:
        """The ids that join the text."""
        kept = draft.tokens[: self.accepted]
        return kept if self.token is None else (*kept, self.token)


Rule = Callable[[Draft, Tensor, Coin], Verdict]
"""A verification rule: (draft, p `[γ+1, V]`, coin) → verdict."""


def verify(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
    """Token-level rejection sampling. Lossless: the emitted tokens follow p whatever q is.

    draft: γ tokens with their laws q `[γ, V]`. p: the target's laws `[γ+1, V]`, row i given the prompt and x1 … xi.
    """
    gamma = len(draft.tokens)
    tests: list[Test] = []
    for i, (p_x, q_x) in enumerate(zip(chances(p, draft.tokens), draft.chances(), strict=True)):
        u = coin.uniform()
        tests.append(Test(u, p_x, q_x, accepted=u < p_x / q_x))
        if not tests[-1].accepted:
            token = coin.draw(residual(p[i], draft.law(i, like=p[i])))
            return Verdict(i, token, Fate.RESAMPLED, tuple(tests))
    return Verdict(gamma, coin.draw(p[gamma]), Fate.BONUS if gamma else Fate.PLAIN, tuple(tests))


def residual(p: Tensor, q: Tensor) -> Tensor:
    """norm(max(0, p − q)) `[V]`: the law of the token that replaces a rejected one."""
    rest = (p - q).clamp_(min=0.0)
    total = rest.sum()
    # p = q up to rounding: nothing can be rejected in exact arithmetic, and p is the law to keep.
    return rest / total if bool(total > 0.0) else p


def chances(laws: Tensor, tokens: tuple[int, ...]) -> list[float]:
    """laws[i, tokens[i]] for each i: one transfer for the whole round."""
    if not tokens:
        return []
    ids = torch.tensor(tokens, device=laws.device).unsqueeze(-1)
    found: list[float] = laws[: len(tokens)].gather(-1, ids).squeeze(-1).tolist()
    return found
