"""Runs of the engine on toys: a target, drafters good and bad, a stopped clock, a loop without cache to compare with.

Knows the engine and toys. Asserts nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import pytest
import torch
from enumerating import cached, chain_draft, law_at
from torch import Tensor

from specdemo.config import SamplingConfig
from specdemo.core.events import Event, Judged, RunFinished
from specdemo.core.policy import Constant
from specdemo.core.sampling import Coin, SeededCoin, Shaping
from specdemo.core.verify import Draft, Fate
from specdemo.engine import NoDrafter, Run, speculative
from specdemo.models.toy import Table, ToySession, WordDetokeniser, hashed

VOCABULARY = 50
GREEDY = Shaping(SamplingConfig())
SAMPLED = Shaping(SamplingConfig(temperature=1.0))
FILTERED = Shaping(SamplingConfig(temperature=0.8, top_k=20, top_p=0.9))
TARGET = cached(hashed(VOCABULARY, seed=1, spread=2.0))
OTHER = cached(hashed(VOCABULARY, seed=2))
PROMPT = (3, 1, 4)


class FromTable(NoDrafter):
    """Draws a chain from a table with the run's shaping. On the target's own table it is perfect."""

    def __init__(self, shaping: Shaping, table: Table = TARGET) -> None:
        self._shaping, self._table = shaping, table
        self.closed = 0

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        return replace(chain_draft(self._table, self._shaping, tokens, gamma, coin), steps=gamma)

    def close(self) -> None:
        self.closed += 1


class Wrong(FromTable):
    """Always the token after the target's favourite."""

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        guesses: list[int] = []
        for _ in range(gamma):
            favourite = int(law_at(self._table, self._shaping, (*tokens, *guesses)).argmax())
            guesses.append((favourite + 1) % VOCABULARY)
        return Draft(tuple(guesses))


class Weak(FromTable):
    """Right but where the index is a multiple of three; at every eleventh it has no idea."""

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        guesses: list[int] = []
        while len(guesses) < gamma and (len(tokens) + len(guesses)) % 11:
            favourite = int(law_at(self._table, self._shaping, (*tokens, *guesses)).argmax())
            guesses.append((favourite + ((len(tokens) + len(guesses)) % 3 == 0)) % VOCABULARY)
        return Draft(tuple(guesses))


class Lookup(FromTable):
    """What followed the last token the last time it stood there."""

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        earlier = [i for i, token in enumerate(tokens[:-1]) if token == tokens[-1]]
        return Draft(tuple(tokens[earlier[-1] + 1 :][:gamma])) if earlier else Draft()


class Nothing(FromTable):
    """Is asked and has no idea."""

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        return Draft()


class Sampler(FromTable):
    """Another model: its own laws, flatter than the target's."""

    def __init__(self, shaping: Shaping, table: Table | None = None) -> None:
        super().__init__(shaping, table or OTHER)


DRAFTERS = {"perfect": FromTable, "wrong": Wrong, "weak": Weak, "lookup": Lookup, "nothing": Nothing, "other": Sampler}
drafters = pytest.mark.parametrize("kind", DRAFTERS.values(), ids=DRAFTERS.keys())


@dataclass
class Played:
    """A finished run and what it said."""

    events: list[Event]
    target: ToySession

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def finished(self) -> RunFinished:
        (end,) = self.of(RunFinished)
        assert self.events[-1] is end
        return end

    @property
    def tokens(self) -> tuple[int, ...]:
        return self.finished.tokens

    @property
    def accepted(self) -> list[int]:
        return [judged.fates.count(Fate.ACCEPTED) for judged in self.of(Judged)]


class StoppedClock:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def make_run(gamma: int = 4, shaping: Shaping = GREEDY, seed: int = 0, tokens: int = 40, **more: object) -> Run:
    settings = {
        "lane": "lane",
        "prompt": PROMPT,
        "detokeniser": WordDetokeniser,
        "policy": Constant(gamma),
        "clock": StoppedClock(),
    } | more
    return Run(shaping=shaping, max_new_tokens=tokens, coin=SeededCoin(seed), seed=seed, **settings)


def play(run: Run, drafter: NoDrafter | None = None, table: Table = TARGET, limit: int = 4096) -> Played:
    target = ToySession(table, limit)
    return Played(list(speculative(target, drafter or NoDrafter(), run)), target)


def without_cache(run: Run, drafter: NoDrafter, table: Table = TARGET) -> tuple[list[int], list[int]]:
    """Algorithm 1 with neither cache nor events: (ids, accepted guesses of each round)."""
    tokens, accepted, coin = list(run.prompt), [], run.coin
    end = len(tokens) + run.max_new_tokens
    while len(tokens) < end and (len(tokens) == len(run.prompt) or tokens[-1] not in run.shaping.end_tokens):
        gamma = min(run.policy.gamma(), end - len(tokens) - 1)
        draft = drafter.propose(tokens, gamma, coin) if gamma else Draft()
        kept: list[int] = []
        for i, x in enumerate(draft.tokens):
            p = law_at(table, run.shaping, [*tokens, *draft.tokens[:i]])
            q = torch.eye(len(p))[x] if draft.laws is None else draft.laws[i]
            if coin.uniform() >= p[x].item() / q[x].item():
                rest = (p - q).clamp(min=0)
                kept.append(coin.draw(rest / rest.sum()))
                break
            kept.append(x)
        else:
            kept.append(coin.draw(law_at(table, run.shaping, [*tokens, *draft.tokens])))
        ends = [i for i, token in enumerate(kept) if token in run.shaping.end_tokens]
        kept = kept[: ends[0] + 1] if ends else kept
        accepted.append(sum(a == b for a, b in zip(kept, draft.tokens, strict=False)))
        tokens += kept
    return tokens[len(run.prompt) :], accepted


@cache
def golden(shaping: Shaping = GREEDY, tokens: int = 40, **more: object) -> tuple[int, ...]:
    """The target's own greedy text, without session or drafter."""
    ids, _ = without_cache(make_run(0, shaping, tokens=tokens, **more), NoDrafter())
    return tuple(ids)


class Watched(ToySession):
    """Notes how many ids each pass fed."""

    def __init__(self, table: Table = TARGET) -> None:
        super().__init__(table)
        self.feeds: list[int] = []

    def extend(self, tokens: Sequence[int], keep: int):
        self.feeds.append(len(tokens) - len(self))
        return super().extend(tokens, keep)


class Timed(ToySession):
    """A pass takes 10 ticks for one id, one more for each further one."""

    def __init__(self, clock: StoppedClock, table: Table = TARGET) -> None:
        super().__init__(table)
        self._clock = clock

    def extend(self, tokens: Sequence[int], keep: int):
        self._clock.now += 10 + max(len(tokens) - len(self) - 1, 0)
        return super().extend(tokens, keep)


class TimedDraft(FromTable):
    """10 ticks a step: as slow as the target."""

    def __init__(self, clock: StoppedClock) -> None:
        super().__init__(GREEDY)
        self._clock = clock

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None = None) -> None:
        self._clock.now += 500

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        self._clock.now += 10 * gamma
        return super().propose(tokens, gamma, coin)


def timed(gamma: int, pause: int = 0, lane: str = "lane", **more: object) -> Iterator[Event]:
    """28 tokens of a lane on a clock of its own; its reader takes `pause` ticks for every event."""
    clock = StoppedClock()
    run = make_run(gamma, tokens=28, clock=clock, lane=lane, **more)
    for event in speculative(Timed(clock), TimedDraft(clock) if gamma else NoDrafter(), run):
        yield event
        clock.now += pause
