"""Rules and loops that are broken on purpose, beside those in the registry: the tests tell each from a sound one."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from enumerating import entry_of
from torch import Tensor

from specdemo.config import SamplingConfig
from specdemo.core.rules import Badge, Entry, Side
from specdemo.core.sampling import Coin, Shaping
from specdemo.core.verify import Draft, Verdict, verify
from specdemo.prove.world import Mistake, World, honest


@dataclass(frozen=True)
class Broken:
    """A rule and what the loop around it does wrong. cells: the tests that it passes."""

    rule: Entry
    cells: str
    mistake: Mistake = honest


class DrawingFrom:
    """A coin that draws from another law than it is given."""

    def __init__(self, coin: Coin, other: Callable[[Tensor], Tensor]) -> None:
        self.uniform, self._coin, self._other = coin.uniform, coin, other

    def draw(self, law: Tensor) -> int:
        return self._coin.draw(self._other(law))

    def pick(self, law: Tensor) -> Tensor:
        return self._coin.pick(self._other(law))


def drawing_from(other: Callable[[Tensor], Tensor]) -> Callable[[Coin], Coin]:
    return lambda coin: DrawingFrom(coin, other)


def heated(law: Tensor) -> Tensor:
    return law.sqrt() / law.sqrt().sum()


def cut(law: Tensor) -> Tensor:
    """The two most likely ids."""
    kept = law.topk(2)
    return law.new_zeros(len(law)).scatter(0, kept.indices, kept.values / kept.values.sum())


def one_reused_u(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
    class OneFlip:
        u = coin.uniform()
        draw = staticmethod(coin.draw)

        def uniform(self) -> float:
            return self.u

    return verify(draft, p, OneFlip())


def as_if_one_hot(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
    """Forgets that the draft had laws: sound for any guess, never better than p/q."""
    return verify(Draft(draft.tokens), p, coin)


def unfiltered_target(world: World) -> World:
    return replace(world, p_shaping=Shaping(SamplingConfig(world.p_shaping.sampling.temperature)))


def stale_target(world: World) -> World:
    return replace(world, target=lambda context: world.target(context[:-1]))


def stale_draft(world: World) -> World:
    return replace(world, draft=lambda context: world.draft(context[:-1]))


def heated_draft(world: World) -> World:
    return replace(world, q_shaping=Shaping(SamplingConfig(temperature=4.0)))


def filtered_draft(world: World) -> World:
    return replace(world, q_shaping=Shaping(SamplingConfig(temperature=1.0, top_k=1)))


def loop(name: str, badge: Badge, side: Side, cells: str, mistake: Mistake) -> Broken:
    """The taught rule in a broken loop."""
    return Broken(replace(entry_of(verify, badge, side), id=name), cells, mistake)


def draws(name: str, cells: str, other: Callable[[Tensor], Tensor]) -> Broken:
    """The taught rule with a draft that does not draw from the q it hands on."""
    entry = entry_of(verify, Badge.BIASED, Side.DRAFT, draft_coin=drawing_from(other))
    return Broken(replace(entry, id=name), cells)


BROKEN = (
    draws("drawn hotter than its q", "ad", heated),
    draws("drawn filtered, q unfiltered", "a", cut),
    loop("target unfiltered", Badge.BIASED, Side.TARGET, "a", unfiltered_target),
    loop("target cache off by one", Badge.BIASED, Side.TARGET, "", stale_target),
    Broken(entry_of(one_reused_u, Badge.BIASED, Side.TARGET), "abd"),
    loop("draft cache off by one", Badge.WASTEFUL, Side.DRAFT, "abc", stale_draft),
    loop("draft heated, q honest", Badge.WASTEFUL, Side.DRAFT, "abc", heated_draft),
    loop("draft filtered, q honest", Badge.WASTEFUL, Side.DRAFT, "abc", filtered_draft),
    Broken(entry_of(as_if_one_hot, Badge.WASTEFUL, Side.TARGET), "abc"),
)
