"""Whole streams of events from table models, for the tests of the wire format and of trace files."""

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor

from specdemo.config import RunConfig, SamplingConfig
from specdemo.core.events import Event
from specdemo.core.policy import Constant
from specdemo.core.sampling import Coin, SeededCoin, Shaping
from specdemo.core.verify import Draft, Verdict
from specdemo.device import race
from specdemo.engine import Run, autoregressive, speculative
from specdemo.models.toy import ToySession, WordDetokeniser, hashed
from specdemo.wire import Header

VOCABULARY = 12
PROMPT = (3, 1, 4, 1, 5)

HEADER = Header(
    kind="trace",
    recorded="2025-01-31T12:00:00+00:00",
    models={"target": "toy", "draft": "toy draft", "vocabulary": VOCABULARY},
    settings=RunConfig(prompt="three one four one five", gamma=3, sampling=SamplingConfig(temperature=1.0)),
    hardware={"processor": "table", "cores": 2, "gpu": None},
    versions={"specdemo": "0.1.0"},
)


def label(token: int) -> tuple[str, str]:
    """Strings of every kind, some that are awkward in JSON, in lines or in HTML."""
    awkward = {0: ("<|end|>", "special"), 1: ("F0 9F", "bytes"), 2: ("\n", "text"), 3: (" 猫\u2028", "text")}
    return awkward.get(token, (f' </script>"{token}', "text"))


class TableDrafter:
    """Draws each token from q, the law of its table."""

    def __init__(self, session: ToySession, shaping: Shaping) -> None:
        self._session, self._shaping = session, shaping

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None = None) -> None:
        pass

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        drafted, laws = list(tokens), []
        for _ in range(gamma):
            laws.append(self._shaping.laws(self._session.extend(drafted, keep=1).logits, len(drafted)))
            drafted.append(coin.draw(laws[-1][0]))
        return Draft(tuple(drafted[len(tokens) :]), torch.cat(laws), None, "table", gamma)

    def observe(self, tokens: Sequence[int], verdict: Verdict, hidden: Tensor | None = None) -> None:
        self._session.rollback(min(len(self._session), len(tokens) - 1))

    def close(self) -> None:
        pass


def run(
    seed: int = 0, gamma: int = 3, temperature: float = 1.0, tokens: int = 8, lane: str = "speculative"
) -> list[Event]:
    """The events of an inspected run; γ = 0 is the baseline. A tick of its clock is 1/1024 s."""
    shaping = Shaping(SamplingConfig(temperature=temperature))
    ticks = itertools.count()
    settings = Run(
        lane,
        PROMPT,
        shaping,
        tokens,
        WordDetokeniser,
        SeededCoin(seed),
        seed=seed,
        policy=Constant(gamma),
        clock=lambda: next(ticks) / 1024,
        inspect=True,
    )
    target, draft = (ToySession(hashed(VOCABULARY, s, spread=2.0)) for s in (seed, seed + 1))
    if gamma == 0:
        return list(autoregressive(target, settings))
    return list(speculative(target, TableDrafter(draft, shaping), settings))


def two_lanes(seed: int = 0, gamma: int = 3, temperature: float = 1.0, tokens: int = 8) -> list[Event]:
    """A race of the run above against its baseline."""
    lanes = {"speculative": gamma, "baseline": 0}
    return list(race({name: iter(run(seed, g, temperature, tokens, lane=name)) for name, g in lanes.items()}))
