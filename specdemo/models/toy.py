"""Table models: sessions whose next-token logits are a function of the context. Exact, instant, scriptable.

For tests, lessons and the exact-law lab. Knows contexts and logits. Does not know transformers or text.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from specdemo.core.protocols import Pass, Tables
from specdemo.core.sampling import Draw
from specdemo.errors import PairError

Table = Callable[[Sequence[int]], Tensor]
"""From the whole context (one id or more) to the logits `[V]` of the next token."""


class ToySession:
    """A session over a table. `fed` counts positions sent through it, `calls` the passes that fed something."""

    def __init__(self, table: Table, limit: int = 4096) -> None:
        self._table = table
        self._limit = limit
        self._tokens: list[int] = []
        self.fed = 0
        self.calls = 0

    @property
    def limit(self) -> int:
        return self._limit

    def __len__(self) -> int:
        return len(self._tokens)

    def extend(self, tokens: Sequence[int], keep: int) -> Pass:
        new = len(tokens) - len(self._tokens)
        if new < keep or list(tokens[: len(self._tokens)]) != self._tokens:
            raise ValueError("the cache is no prefix of the sequence, or too few tokens are new")
        if len(tokens) > self._limit:
            raise IndexError(f"{len(tokens)} tokens do not fit {self._limit} positions")
        self.fed += new
        self.calls += new > 0
        self._tokens = list(tokens)
        rows = [self._table(self._tokens[: len(tokens) - keep + i + 1]) for i in range(keep)]
        return Pass(torch.stack(rows) if rows else torch.empty(0, 0))

    def rollback(self, length: int) -> None:
        if not 0 <= length <= len(self._tokens):
            raise ValueError(f"cannot roll back to {length} of {len(self._tokens)}")
        del self._tokens[length:]


def fixed(logits: Tensor) -> Table:
    """The same logits `[V]` in every context."""
    return lambda context: logits


def script(tokens: Sequence[int], start: int, vocabulary: int, strength: float = 20.0) -> Table:
    """Says `tokens` in order after a prompt of `start` ids, then repeats the last; one logit is `strength`."""

    def table(context: Sequence[int]) -> Tensor:
        logits = torch.zeros(vocabulary)
        logits[tokens[min(len(context) - start, len(tokens) - 1)]] = strength
        return logits

    return table


def hashed(vocabulary: int, seed: int, spread: float = 1.0, memory: int = 3) -> Table:
    """Random but fixed logits `[V]` for each context of the last `memory` ids: a model with no structure to exploit."""

    def table(context: Sequence[int]) -> Tensor:
        key = hash((seed, *context[-memory:])) % 2**63
        return torch.randn(vocabulary, generator=torch.Generator().manual_seed(key)) * spread

    return table


class WordDetokeniser:
    """Text of a toy: id 5 is "5 "."""

    def feed(self, token: int) -> str:
        return f"{token} "

    def flush(self) -> str:
        return ""


class ToyAccess:
    """`ModelAccess` over tables: target, draft and a "prefix" or "quantised" copy that is the draft's table."""

    def __init__(self, target: Table, draft: Table, vocabulary: int, limit: int = 4096) -> None:
        self._target, self._draft = target, draft
        self._vocabulary, self._limit = vocabulary, limit

    @property
    def vocabulary(self) -> int:
        return self._vocabulary

    @property
    def name(self) -> str:
        return "toy"

    def target(self) -> ToySession:
        return ToySession(self._target, self._limit)

    def draft(self) -> ToySession:
        return ToySession(self._draft, self._limit)

    def prefix(self, layers: int) -> ToySession:
        return self.draft()

    def quantised(self, scheme: str) -> ToySession:
        return self.draft()

    def recorded(self, draw: Draw) -> None:
        return None

    def tables(self) -> Tables:
        """PairError: a table model has no hidden states."""
        raise PairError("no_hidden_states", name=self.name)
