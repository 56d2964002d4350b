"""The verification rule: which drafted tokens are kept, and what follows them.

This is Algorithm 1 of Leviathan, Kalman and Matias, "Fast Inference from Transformers via Speculative
Decoding" (arXiv 2211.17192): p is the target's law, q the draft's. (Chen et al., arXiv 2302.01318, and
gpt-fast swap the two letters.) Knows laws and coins. Does not know models, caches, text or time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import torch
from torch import Tensor

from specdemo.core import ids
from specdemo.core.sampling import Coin, SeededCoin, located, one_hot


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

    tokens: x1 … xγ, perhaps fewer than asked, perhaps none; perhaps not looked at so far (`Ids`).
    laws: q `[γ, V]`, the law that each token was really drawn from; None means one-hot.
    parents: None for a chain; reserved for trees.
    source: where the proposal came from, in a few words. steps: draft steps taken (for c).
    skipped: tokens found but not proposed (a match too short to be worth a wide pass).
    """

    tokens: Sequence[int] = ()
    laws: Tensor | None = None
    parents: tuple[int, ...] | None = None
    source: str = ""
    steps: int = 0
    skipped: int = 0

    def law(self, i: int | Tensor, like: Tensor) -> Tensor:
        """q at position i (see `row`) as a law `[V]` on the device of `like`."""
        if self.laws is not None:
            return row(ids.to_device(self.laws, like.device), i)
        return one_hot(row(ids.to_device(ids.tensor(self.tokens), like.device), i), like.shape[-1])


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
        kept = tuple(draft.tokens[: self.accepted])
        return kept if self.token is None else (*kept, self.token)


Rule = Callable[[Draft, Tensor, Coin], Verdict]
"""A verification rule: (draft, p `[γ+1, V]`, coin) → verdict."""


def verify(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
    """Token-level rejection sampling. Lossless: the emitted tokens follow p whatever q is.

    draft: γ tokens with their laws q `[γ, V]`. p: the target's laws `[γ+1, V]`, row i given the prompt and x1 … xi.
    """
    gamma = len(draft.tokens)
    seen = Sight(draft, p, coin)
    tests: list[Test] = []
    for i, (p_x, q_x) in enumerate(zip(seen.p, seen.q, strict=True)):
        u = coin.uniform()
        tests.append(Test(u, p_x, q_x, accepted=u < p_x / q_x))
        if not tests[-1].accepted:
            return Verdict(i, seen.draw(i), Fate.RESAMPLED, tuple(tests))  # from the residual
    return Verdict(gamma, seen.draw(gamma), Fate.BONUS if gamma else Fate.PLAIN, tuple(tests))


def residual(p: Tensor, q: Tensor) -> Tensor:
    """norm(max(0, p − q)) `[V]`: the law of the token that replaces a rejected one."""
    rest = _rest(p, q)
    return rest.div_(rest.sum())


def _rest(p: Tensor, q: Tensor) -> Tensor:
    """max(0, p − q) `[V]`, or p where nothing is left."""
    return or_law((p - q).clamp_(min=0.0), p)


def or_law(rest: Tensor, p: Tensor) -> Tensor:
    """`rest` `[V]`, or p where it is zero: in exact arithmetic nothing could be rejected there. Does not ask
    the device which. Overwrites `rest`."""
    return rest.addcmul_(p.to(rest.dtype), (rest.sum() == 0.0).to(rest.dtype))


class Sight:
    """What `verify` asks about a round, brought over by one transfer. p, q: p(x) and q(x) of each guess, γ numbers.

    Where the coin's next numbers are known, so is where the flips will end. The token that will be drawn there is
    then found on the device beforehand; `verify` itself still decides, and gets any other draw just as well.
    """

    def __init__(self, draft: Draft, p: Tensor, coin: Coin) -> None:
        self._draft, self._laws, self._coin = draft, p, coin
        self.p: list[float] = []
        self.q: list[float] = []
        self._foreseen: dict[int, int] = {}
        if draft.tokens:  # with nothing drafted there is one draw to make, and that is the transfer
            p_x, q_x = chances(draft, p)
            end = _end(draft, p, p_x / q_x, coin) if isinstance(coin, SeededCoin) else ()
            self.p, self.q, *foreseen = ids.bring(draft.tokens, p_x, q_x, *end)
            self._foreseen = {int(kept): int(token) for kept, token in zip(*foreseen, strict=True)} if foreseen else {}

    def draw(self, kept: int) -> int:
        """The token behind `kept` guesses: from p behind all of them, else from the residual."""
        if kept in self._foreseen:
            self._coin.uniform()  # the number that it was drawn with
            return self._foreseen[kept]
        p = self._laws[kept]
        return self._coin.draw(residual(p, self._draft.law(kept, p)) if kept < len(self._draft.tokens) else p)


def _end(draft: Draft, p: Tensor, ratios: Tensor, coin: SeededCoin) -> tuple[Tensor, Tensor]:
    """How many guesses `verify` will keep and the token that it will draw behind them, both `[1]`, on the device."""
    gamma = len(ratios)
    u = ids.to_device(torch.tensor(coin.coming(gamma + 1), dtype=torch.float64), p.device)
    kept = (u[:gamma] < ratios).cumprod(0).sum(0, keepdim=True)
    p_row = row(p, kept)
    # Behind all guesses nothing is taken away from p.
    q_row = draft.law(kept.clamp(max=gamma - 1), p_row) * (kept < gamma)
    return kept, located(_rest(p_row, q_row), row(u, (kept + 1).clamp(max=gamma)))


def row(rows: Tensor, i: int | Tensor) -> Tensor:
    """rows[i]; i may be an index on the device, `[1]`."""
    return rows[i] if isinstance(i, int) else rows.index_select(0, i)[0]


def chances(draft: Draft, p: Tensor) -> tuple[Tensor, Tensor]:
    """p(x) and q(x) of each guess, both `[γ]` in float64 on the device of p."""
    x = ids.to_device(ids.tensor(draft.tokens), p.device).unsqueeze(-1)
    p_x = p[: len(x)].gather(-1, x).squeeze(-1).double()
    if draft.laws is None:
        return p_x, torch.ones_like(p_x)
    return p_x, ids.to_device(draft.laws, p.device).gather(-1, x).squeeze(-1).double()


def look(draft: Draft, p: Tensor, *more: Tensor) -> list[list[float]]:
    """p(x) and q(x) of each guess, γ numbers each, and the numbers of `more`, each `[n]`: by one transfer."""
    return ids.bring(draft.tokens, *chances(draft, p), *more)
