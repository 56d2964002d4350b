"""Broken on purpose: the draft proposes its first choice and hands on its whole law, from which it did not draw."""

from torch import Tensor

from specdemo.core.rules.entry import Badge, Entry, Side
from specdemo.core.sampling import Coin
from specdemo.core.verify import verify


class FirstChoice:
    """A coin whose draws are no draws."""

    def __init__(self, coin: Coin) -> None:
        self._coin = coin

    def uniform(self) -> float:
        return self._coin.uniform()

    def draw(self, law: Tensor) -> int:
        return int(self.pick(law))

    def pick(self, law: Tensor) -> Tensor:
        return law.argmax(-1, keepdim=True)


RULE = Entry(
    id="argmax-draft",
    label="Argmax draft, full q",
    badge=Badge.BIASED,
    side=Side.DRAFT,
    source="a frequent mistake",
    summary="Proposes the draft's first choice but tests it against the whole q, as if it had been drawn",
    judge=verify,
    draft_coin=FirstChoice,
)
