"""What a trained draft does in real runs: τ and α per group of prompts, at temperature 0 and 1.

Knows lanes, prompts and sums. Does not know nets or training. The prompts are the project's own set, which no
training text may hold; no time is measured here, that is what `bench` is for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from specdemo import lanes
from specdemo.config import RunConfig, SamplingConfig
from specdemo.core.events import RunFinished
from specdemo.core.metrics import Metrics
from specdemo.models.pair import Pair
from specdemo.prompts import Prompt

GAMMA, NEW_TOKENS = 4, 96


@dataclass(frozen=True, slots=True)
class Score:
    """Sums over the runs of one group at one temperature. positions: (tested, accepted) of each place in a draft."""

    group: str
    temperature: float
    tokens: int
    rounds: int
    positions: tuple[tuple[int, int], ...]

    @property
    def tau(self) -> float:
        """Tokens per target pass."""
        return self.tokens / max(self.rounds, 1)

    @property
    def alpha(self) -> float | None:
        """Accepted / tested; None where nothing was tested."""
        tested = sum(place[0] for place in self.positions)
        return sum(place[1] for place in self.positions) / tested if tested else None

    def __str__(self) -> str:
        places = " ".join(f"{accepted / tested:.2f}" for tested, accepted in self.positions if tested)
        alpha = "–" if self.alpha is None else f"{self.alpha:.3f}"
        return f"{self.group:9} T={self.temperature:g}  τ {self.tau:.2f}  α {alpha}  by place {places}"


def scores(
    pair: Pair,
    drafter: str,
    file: Path | None,
    prompts: Sequence[Prompt],
    temperatures: Sequence[float] = (0.0, 1.0),
    gamma: int = GAMMA,
    knobs: Sequence[tuple[str, str]] = (),
) -> Iterator[Score]:
    """One score per temperature and group, as they are finished. file: the draft, None for the default one."""
    given = (*knobs, ("file", str(file))) if file else tuple(knobs)
    for temperature in temperatures:
        for group in dict.fromkeys(prompt.group for prompt in prompts):
            found = []
            for prompt in prompts:
                if prompt.group == group:
                    config = RunConfig(
                        prompt=prompt.text,
                        drafter=drafter,
                        gamma=gamma,
                        sampling=SamplingConfig(temperature),
                        max_new_tokens=NEW_TOKENS,
                        knobs=given,
                    )
                    found.append(_metrics(pair, config))
            yield total(group, temperature, found)


def total(group: str, temperature: float, found: Sequence[Metrics]) -> Score:
    """The sums of some runs."""
    places = max((len(one.position_tested) for one in found), default=0)
    positions = tuple(
        (
            sum(one.position_tested[i] for one in found if i < len(one.position_tested)),
            sum(one.position_accepted[i] for one in found if i < len(one.position_accepted)),
        )
        for i in range(places)
    )
    return Score(group, temperature, sum(one.tokens for one in found), sum(one.rounds for one in found), positions)


def _metrics(pair: Pair, config: RunConfig) -> Metrics:
    *_, last = lanes.open_lane(pair, config, lanes.SPECULATIVE)
    assert isinstance(last, RunFinished)
    return last.metrics
