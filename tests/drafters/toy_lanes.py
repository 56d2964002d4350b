"""Runs of any drafter on toy models, for the tests beside this file.

The target remembers two ids, so that its greedy text is no mere repetition and yet comes back to itself after a
while, which lookup needs. The draft is the target with some noise: right often, wrong often.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from enumerating import cached
from toy_drafts import random_file, with_states

from specdemo import drafters
from specdemo.config import SamplingConfig
from specdemo.core.events import Drafted, Event, RunFinished
from specdemo.core.metrics import Metrics
from specdemo.core.policy import Constant
from specdemo.core.protocols import Drafter
from specdemo.core.sampling import Coin, SeededCoin, Shaping
from specdemo.drafters.ngram_table import NGramTable
from specdemo.engine import Run, autoregressive, speculative
from specdemo.models.toy import Table, ToyAccess, ToySession, WordDetokeniser, hashed

Knobs = Mapping[str, int | float | str]

GREEDY = SamplingConfig()
WARM = SamplingConfig(temperature=1.0)

VARIANTS: tuple[tuple[str, Knobs], ...] = (
    ("prompt-lookup", {}),
    ("prompt-lookup", {"max_n": 2, "min_n": 2, "min_draft": 2}),
    ("ngram", {}),
    ("ngram", {"mode": "argmax", "order": 2}),
    ("model", {}),
    ("model", {"mode": "argmax"}),
    ("tiny-model", {}),
    ("tiny-model", {"mode": "argmax"}),
    ("feature-head", {}),
    ("feature-head", {"mode": "argmax"}),
    ("hybrid", {"min_n": 2, "copy": 8, "head_most": 8, "sure": 0}),
    ("quantised", {"scheme": "int8"}),
    ("layer-skip", {"layers": 2}),
    ("oracle", {}),
    ("dial-alpha", {"alpha": 0.6}),
    ("random", {}),
)
NAMES = [" ".join([id, *(f"{name}={value}" for name, value in knobs.items())]) for id, knobs in VARIANTS]


TRAINED = {"tiny-model": "tiny-model", "feature-head": "feature-head", "hybrid": "feature-head"}
"""Drafters over a trained draft, and its kind."""


class RecordingAccess(ToyAccess):
    """Keeps the sessions it hands out; the draft may have a context limit of its own."""

    def __init__(self, target: Table, draft: Table, vocabulary: int, draft_limit: int = 4096) -> None:
        super().__init__(target, draft, vocabulary)
        self.draft_limit = draft_limit
        self.sessions: list[ToySession] = []

    def draft(self) -> ToySession:
        self.sessions.append(ToySession(self._draft, self.draft_limit))
        return self.sessions[-1]


def noisy(table: Table, vocabulary: int, seed: int, share: float = 0.8) -> Table:
    """The same logits with noise added."""
    noise = hashed(vocabulary, seed, spread=share, memory=3)
    return lambda context: table(context) + noise(context)


def toy(vocabulary: int = 24, seed: int = 6) -> RecordingAccess:
    """A pair whose greedy texts have more than ten different ids."""
    target = cached(hashed(vocabulary, seed, spread=1.5, memory=2))
    return RecordingAccess(target, cached(noisy(target, vocabulary, seed + 1)), vocabulary)


def trained(access: ToyAccess, path: Path, order: int = 3) -> Path:
    """An n-gram table of the target's own sampled texts."""
    shaping, texts = Shaping(SamplingConfig(temperature=0.7)), []
    for seed in range(12):
        run = lane(shaping, [seed % access.vocabulary], 40, SeededCoin(seed))
        texts.append(finished(list(autoregressive(access.target(), run))).tokens)
    NGramTable.train(texts, order, access.vocabulary, min_count=1).save(path)
    return path


def lane(
    shaping: Shaping,
    prompt: Sequence[int],
    new: int,
    coin: Coin,
    gamma: int = 0,
    clock: Callable[[], float] = lambda: 0.0,
) -> Run:
    """A lane whose clock stands still, so that equal runs have equal events."""
    return Run(
        lane="toy",
        prompt=tuple(prompt),
        shaping=shaping,
        max_new_tokens=new,
        detokeniser=WordDetokeniser,
        coin=coin,
        policy=Constant(gamma),
        clock=clock,
    )


class Bench:
    """One toy pair with an n-gram table and trained drafts beside it, on which every drafter can run."""

    def __init__(self, access: ToyAccess, table: Path) -> None:
        self.access = with_states(access)
        self.table = table

    def drafter(self, id: str, knobs: Knobs, shaping: Shaping, confidence: float = 0.0) -> Drafter:
        if id == "ngram":
            knobs = {"table": str(self.table), **knobs}
        if kind := TRAINED.get(id):
            knobs = {"file": str(random_file(kind, self.access.vocabulary, self.table.parent)), **knobs}
        return drafters.build(id, self.access, shaping, knobs, confidence)

    def ready(self, id: str, knobs: Knobs, shaping: Shaping, prompt: Sequence[int]) -> Drafter:
        """A drafter that has read all but the last id of a prompt."""
        drafter = self.drafter(id, knobs, shaping)
        drafter.prefill(prompt[:-1], self.access.target().extend(prompt[:-1], keep=0).hidden)
        return drafter

    def events(
        self,
        id: str,
        knobs: Knobs,
        prompt: Sequence[int],
        *,
        gamma: int = 4,
        new: int = 40,
        sampling: SamplingConfig = GREEDY,
        coin: Coin | None = None,
        end_tokens: tuple[int, ...] = (),
        confidence: float = 0.0,
    ) -> list[Event]:
        """A whole run of a drafter."""
        shaping = Shaping(sampling, end_tokens)
        run = lane(shaping, prompt, new, coin or SeededCoin(0), gamma)
        return list(speculative(self.access.target(), self.drafter(id, knobs, shaping, confidence), run))

    def golden(
        self, prompt: Sequence[int], new: int = 40, sampling: SamplingConfig = GREEDY, end_tokens: tuple[int, ...] = ()
    ) -> tuple[int, ...]:
        """What the target says alone."""
        run = lane(Shaping(sampling, end_tokens), prompt, new, SeededCoin(0))
        return finished(list(autoregressive(self.access.target(), run))).tokens


def finished(events: Sequence[Event]) -> RunFinished:
    """The last event."""
    last = events[-1]
    assert isinstance(last, RunFinished)
    return last


def metrics(events: Sequence[Event]) -> Metrics:
    """The numbers of a whole run."""
    return finished(events).metrics


def drafted(events: Sequence[Event]) -> list[Drafted]:
    """The proposals of a run."""
    return [event for event in events if isinstance(event, Drafted)]
