"""What a verification rule is, beside the function that judges: its badge, its source, what it does to the draft.

Knows rules, coins and drafters by their protocols. Does not know which rules there are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from torch import Tensor

from specdemo.core.protocols import Drafter
from specdemo.core.sampling import Coin, SeededCoin
from specdemo.core.verify import Draft, Rule, Verdict


class Badge(StrEnum):
    """What a rule promises of the text's law."""

    LOSSLESS = "lossless"  # the target's law, whatever the draft
    GREEDY = "greedy"  # lossless at T = 0 only
    LOSSY = "lossy"  # another law, by design
    BIASED = "biased"  # another law, by a mistake
    WASTEFUL = "wasteful"  # the target's law, but fewer tokens a round than the same draft allows


class Side(StrEnum):
    """Whose part of a round a rule changes."""

    TARGET = "target"
    DRAFT = "draft"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule. label and summary: a few words and one line. source: the paper, or where the mistake is seen.

    judge: (draft, p `[γ+1, V]`, coin) → verdict. A draft may be empty: then one token is drawn from the target.
    draft_coin: from the run's coin to the one that the drafter draws with.
    coin: from the run's seed to its coin.
    tokenwise: a token is kept or dropped by a test of its own, so α is defined.
    coupled: the same seed gives the same text with and without a draft. The baseline draws with `coin` too, and
        `coin` and `draft_coin` must be those of `shared_noise`, whose joint law the exact tests know.
    """

    id: str
    label: str
    badge: Badge
    side: Side
    source: str
    summary: str
    judge: Rule
    draft_coin: Callable[[Coin], Coin] = lambda coin: coin
    coin: Callable[[int], Coin] = SeededCoin
    tokenwise: bool = True
    coupled: bool = False

    def keeps_law(self, greedy: bool) -> bool:
        """True if the text follows the target's law, at T = 0 or above."""
        return self.badge in (Badge.LOSSLESS, Badge.WASTEFUL) or (greedy and self.badge is Badge.GREEDY)

    def wrap(self, drafter: Drafter) -> Drafter:
        """The drafter as this rule has it: drawing with `draft_coin`."""
        return DrawingWith(self.draft_coin, drafter)


class DrawingWith:
    """A drafter that is handed another coin than the run's."""

    def __init__(self, coin: Callable[[Coin], Coin], drafter: Drafter) -> None:
        self._coin, self._drafter = coin, drafter

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None = None) -> None:
        self._drafter.prefill(tokens, hidden)

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        return self._drafter.propose(tokens, gamma, self._coin(coin))

    def observe(self, tokens: Sequence[int], verdict: Verdict, hidden: Tensor | None = None) -> None:
        self._drafter.observe(tokens, verdict, hidden)

    def close(self) -> None:
        self._drafter.close()
