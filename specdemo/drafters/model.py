"""A model that guesses ahead of the target, over any session; quantised copy, layer skip, n-gram and others reuse it.

Knows a session, a law and a coin. Does not know what kind of model answers, nor the target.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from specdemo.core.ids import Ids
from specdemo.core.protocols import Session
from specdemo.core.sampling import Coin, Drawing, Drawn, PerId, SeededCoin, Shaping, draw_of, law, numbers_of
from specdemo.core.verify import Draft, Verdict
from specdemo.drafters.registry import Setup

FULL = "draft context is full"


def make(setup: Setup) -> "SessionDrafter":
    """The pair's draft model. `PairError` if the pair has none."""
    return over(setup.access.draft(), setup, "draft model")


@dataclass(frozen=True, slots=True)
class Support:
    """The ids `[R]`, rising, that a draft can say of V. Its laws are over these alone until they leave it."""

    ids: Tensor
    vocabulary: int

    def shaped(self, shaping: Shaping) -> Shaping:
        """The run's shaping over logits `[1, R]`."""
        columns = [column for column, token in enumerate(self.ids.tolist()) if token in shaping.end_tokens]
        return replace(shaping, end_tokens=tuple(columns))

    def spread(self, laws: Tensor) -> Tensor:
        """Laws `[n, R]` as laws `[n, V]`: zero at every other id."""
        return laws.new_zeros(len(laws), self.vocabulary).scatter_(1, self.ids.expand(len(laws), -1), laws)


def over(
    session: Session, setup: Setup, source: str, support: Support | None = None, on_host: bool = False
) -> "SessionDrafter":
    """A drafter over a session that is shaped as the target is; the knob `mode` says how it picks.

    on_host: the session's logits are not on the device of the models.
    """
    return SessionDrafter(
        session,
        setup.shaping if support is None else support.shaped(setup.shaping),
        source,
        draw=None if on_host else recorded(setup),
        argmax=takes_first(setup),
        min_confidence=setup.min_confidence,
        end_tokens=setup.shaping.end_tokens,
        support=support,
    )


def takes_first(setup: Setup) -> bool:
    """Whether a draft takes its first choice: by the knob `mode`, or as at temperature 0 its law has no other."""
    return setup.shaping.sampling.greedy or setup.knobs.get("mode") == "argmax"


def recorded(setup: Setup) -> Drawing | None:
    """The run's draw from logits on the device, where there is one and it is faster recorded."""
    return None if takes_first(setup) else setup.access.recorded(draw_of(setup.shaping.sampling))


class SessionDrafter:
    """Feeds its session one drafted token after the other. Its cache always holds a prefix of the committed tokens.

    shaping: of the session's own columns. draw: its law and draw in one, for numbers of a seeded coin; None: one after
    the other, as for any other coin.
    argmax: propose the most likely id. That is no draw from q, so the law handed on is one-hot, at any temperature.
    min_confidence: stop where the session's first choice has less than this share at temperature 1, unfiltered
    (q itself is one-hot at temperature 0 and would always be sure).
    end_tokens: nothing is drafted behind one of these.
    support: the ids that the columns of the session's logits stand for; None where column i is id i.
    """

    def __init__(
        self,
        session: Session,
        shaping: Shaping,
        source: str,
        *,
        draw: Drawing | None = None,
        argmax: bool = False,
        min_confidence: float = 0.0,
        end_tokens: Sequence[int] = (),
        support: Support | None = None,
    ) -> None:
        self._session = session
        self._shaping = shaping
        self._draw = draw
        self._source = source
        self._argmax = argmax
        self._min_confidence = min_confidence
        self._end_tokens = frozenset(end_tokens)
        self._support = support

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None = None) -> None:
        if len(tokens) <= self._session.limit:
            self._session.extend(tokens, keep=0)

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        """Up to `gamma` tokens, fewer where confidence, an end token or the draft's own context ends the draft."""
        room = self._session.limit - len(tokens) + 1
        if room < 1:
            return Draft(source=FULL)
        guesses = torch.empty(0, dtype=torch.long)
        laws: list[Tensor] = []
        steps = 0
        # A guess goes from the draw into the next pass without being looked at: on a GPU that would be a wait a step.
        while steps < min(gamma, room):
            logits = self._session.extend(Ids(tokens, guesses), keep=1).logits
            steps += 1
            # Asked before drawing, of the prefix alone. Withholding a token after seeing it would make the tokens
            # that do get proposed follow another law than q, and the test against q would be wrong.
            if self._min_confidence > 0.0 and confidence(logits) < self._min_confidence:
                break
            allowed = self._shaping.allowed(logits, len(tokens) + len(guesses))
            if self._argmax:
                x = self._known(allowed[0].float().argmax(-1, keepdim=True))
            else:
                q, x = self._drawn(allowed, coin)
                laws.append(q)
            guesses = torch.cat([guesses, x]) if len(guesses) else x
            if self._ends(x) or not self._goes_on(logits):
                break
        # The rows that were drawn from are the rows handed on: same numbers, same float32.
        rows = torch.cat(laws) if laws else None
        rows = rows if rows is None or self._support is None else self._support.spread(rows)
        return Draft(Ids((), guesses), rows, source=self._source, steps=steps)

    def _drawn(self, logits: Tensor, coin: Coin) -> Drawn:
        """q and a guess `[1]` from it. logits and q `[1, V]`, or `[1, R]` over the support."""
        if self._draw is None or not isinstance(coin, SeededCoin):
            q = self._law(logits)
            return q, self._picked(q, coin)
        q, x = self._draw(logits, numbers_of(self._shaping.sampling, coin.uniform()))
        return q, self._known(x)

    def _law(self, logits: Tensor) -> Tensor:
        return law(logits, self._shaping.sampling)

    def _picked(self, q: Tensor, coin: Coin) -> Tensor:
        """A guess `[1]` from its law q."""
        if self._support is not None and isinstance(coin, PerId):
            return coin.pick(self._support.spread(q)[0])
        return self._known(coin.pick(q[0]))

    def _known(self, column: Tensor) -> Tensor:
        """The id `[1]` that a column of the logits stands for."""
        return column if self._support is None else self._support.ids[column]

    def _ends(self, x: Tensor) -> bool:
        """Whether x `[1]` is seen to end the text.

        If it is kept the run is over, so what would follow is wasted. It stays in the proposal and is tested like any
        other; only the length of the block depends on it, which no rule's law depends on. On a GPU a wasted step now
        and then is cheaper than to look at every x.
        """
        return bool(self._end_tokens) and not x.is_cuda and int(x) in self._end_tokens

    def _goes_on(self, logits: Tensor) -> bool:
        """Whether another token is worth a step, from the logits of the one just drawn; never from that token."""
        return True

    def observe(self, tokens: Sequence[int], verdict: Verdict, hidden: Tensor | None = None) -> None:
        # The last committed token has not been read in its place; behind it nothing may stay.
        self._session.rollback(min(len(self._session), len(tokens) - 1))

    def close(self) -> None:
        del self._session


def confidence(logits: Tensor) -> float:
    """The largest probability of softmax(logits), logits `[1, V]`, or `[1, R]` of the ids that have any."""
    return float(logits[0].float().softmax(-1).max())
