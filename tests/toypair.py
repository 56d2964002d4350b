"""A pair of toys with the attributes of a loaded pair, on a clock that only moves with the work done."""

from collections.abc import Sequence

import torch

from specdemo.core.protocols import Pass
from specdemo.models.toy import Table, ToyAccess, ToySession, WordDetokeniser

VOCABULARY = 50
END = 49


def cycle(period: int) -> Table:
    """Counts 0, 1, … `period` - 1 and starts again, whatever came before the last id."""

    def table(context: Sequence[int]) -> torch.Tensor:
        logits = torch.zeros(VOCABULARY)
        logits[(context[-1] + 1) % period] = 20.0
        return logits

    return table


class Clock:
    """Seconds of pretended work."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class TimedSession(ToySession):
    """A pass over n new ids takes `base` + `each` · n seconds. Prefill takes none."""

    def __init__(self, table: Table, limit: int, clock: Clock, base: float, each: float) -> None:
        super().__init__(table, limit)
        self._clock, self._base, self._each = clock, base, each

    def extend(self, tokens: Sequence[int], keep: int) -> Pass:
        if keep:
            self._clock.now += self._base + self._each * (len(tokens) - len(self))
        return super().extend(tokens, keep)


class ToyText:
    """Numbers in a prompt are its ids."""

    def encode(self, text: str, raw: bool) -> tuple[int, ...]:
        return tuple(int(word) for word in text.split())

    def detokeniser(self) -> WordDetokeniser:
        return WordDetokeniser()

    def label(self, token: int) -> tuple[str, str]:
        return f"{token} ", "text"


class ToyPair(ToyAccess):
    """Target passes take 1 + 0.1 · n seconds, draft passes 0.2."""

    target_name = "toy"
    dtype = "float32"
    device = "cpu"
    end_tokens = (END,)
    draft_bytes = 0

    def __init__(self, target: Table | None = None, draft: Table | None = None, limit: int = 4096) -> None:
        super().__init__(target or cycle(10), draft or cycle(10), VOCABULARY, limit)
        self.clock = Clock()
        self.text = ToyText()

    @property
    def limit(self) -> int:
        return self._limit

    def target(self) -> ToySession:
        return TimedSession(self._target, self._limit, self.clock, 1.0, 0.1)

    def draft(self) -> ToySession:
        return TimedSession(self._draft, self._limit, self.clock, 0.2, 0.0)

    def require_rollback(self) -> None:
        pass

    def peak_memory(self) -> int:
        return 1 << 20

    def close(self) -> None:
        pass
