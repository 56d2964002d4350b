"""Copies what followed the same words earlier in prompt and output: free guesses wherever a text repeats itself.

Knows the committed ids and nothing else: no model, no law. Saxena, "Prompt Lookup Decoding" (2023).
"""

from collections.abc import Sequence

from torch import Tensor

from specdemo.core.protocols import Drafter
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft, Verdict
from specdemo.drafters.registry import Setup
from specdemo.errors import SettingError


def make(setup: Setup) -> Drafter:
    """`SettingError` if min_n is above max_n."""
    max_n, min_n = int(setup.knobs["max_n"]), int(setup.knobs["min_n"])
    if min_n > max_n:
        raise SettingError("lookup_min_over_max", low=min_n, high=max_n)
    return PromptLookup(max_n, min_n, int(setup.knobs["min_draft"]), setup.access.vocabulary, setup.shaping.end_tokens)


class PromptLookup:
    """Finds the last n ids of the text at an earlier place and proposes what stood behind them.

    The longest n from `max_n` down to `min_n` wins; among equally long matches the most recent. Finds shorter than
    min_draft (or than γ, where that is less) are withheld and counted in `Draft.skipped`: a wide pass for a token
    or two may not be worth its time. Never proposes ids outside the vocabulary, nor anything behind an end token.
    """

    def __init__(self, max_n: int, min_n: int, min_draft: int, vocabulary: int, end_tokens: Sequence[int] = ()) -> None:
        self._sizes = range(max_n, min_n - 1, -1)
        self._min_draft = min_draft
        self._vocabulary = vocabulary
        self._end_tokens = frozenset(end_tokens)
        self._follows: dict[tuple[int, ...], int] = {}
        self._indexed = 1

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None = None) -> None:
        self._index(tokens)

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        """Up to `gamma` copied ids. `source` is "lookup at i (n=k)": the match is tokens[i : i+k]."""
        found = self.match(tokens)
        if found is None:
            return Draft(source="lookup: no match", steps=1)
        n, behind = found
        copied = self._usable(_copy(tokens, behind, n, gamma))
        source = f"lookup at {behind - n} (n={n})"
        if len(copied) < min(self._min_draft, gamma):
            return Draft(source=f"{source}, too short", steps=1, skipped=len(copied))
        return Draft(copied, source=source, steps=1)

    def match(self, tokens: Sequence[int]) -> tuple[int, int] | None:
        """(n, the index behind the earlier place) of the match that `propose` copies from; None if there is none."""
        self._index(tokens)
        for n in self._sizes:
            behind = self._follows.get(tuple(tokens[-n:])) if n < len(tokens) else None
            if behind is not None:
                return n, behind
        return None

    def observe(self, tokens: Sequence[int], verdict: Verdict, hidden: Tensor | None = None) -> None:
        self._index(tokens)

    def close(self) -> None:
        self._follows.clear()

    def _index(self, tokens: Sequence[int]) -> None:
        """Notes for every n-gram that has a successor where the latest one stands. About 2 µs a token."""
        for i in range(self._indexed, len(tokens)):
            for n in self._sizes:
                if n <= i:
                    self._follows[tuple(tokens[i - n : i])] = i
        self._indexed = max(self._indexed, len(tokens))

    def _usable(self, found: Sequence[int]) -> tuple[int, ...]:
        for i, token in enumerate(found):
            if not 0 <= token < self._vocabulary:
                return tuple(found[:i])
            if token in self._end_tokens:
                return tuple(found[: i + 1])
        return tuple(found)


def _copy(tokens: Sequence[int], behind: int, n: int, most: int) -> list[int]:
    """At most `most` ids from index `behind` on.

    The copy may run into the end of the text. If the match reaches back over the whole stretch from there to the
    end, the text has a period of that length, and the copy goes on from its own ids.
    """
    found = list(tokens[behind : behind + most])
    period = len(tokens) - behind
    if n >= period:
        found += [found[i % period] for i in range(len(found), most)]
    return found
