"""What a bench is to measure: prompts × temperatures × repeats, each one race of all lanes.

Knows settings. Does not know models, files or results.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from specdemo import drafters
from specdemo.config import POLICIES, RunConfig, SamplingConfig, one_of, whole
from specdemo.errors import PromptError, SettingError
from specdemo.lanes import BASELINE
from specdemo.prompts import Prompt

MOST_REPEATS = 1000


@dataclass(frozen=True, slots=True)
class Choice:
    """A drafter, those of its knobs that are not left at their default, and how γ is chosen."""

    drafter: str
    knobs: tuple[tuple[str, str], ...] = ()
    policy: str = RunConfig().policy

    @classmethod
    def parse(cls, text: str) -> "Choice":
        """`layer-skip`, `layer-skip:layers=12:mode=argmax` or `hybrid:policy=goodput`. Raises `SettingError`."""
        name, *settings = text.split(":")
        known = {knob.name: knob for knob in drafters.entry(name).knobs}
        pairs, policy = [], RunConfig().policy
        for setting in settings:
            key, equals, value = setting.partition("=")
            if not equals:
                raise SettingError("knob_syntax", value=setting)
            if key == "policy":
                policy = one_of(key, value, POLICIES)
                continue
            if key not in known:
                raise SettingError("unknown_knob", drafter=name, name=key, known=", ".join(known) or "none")
            known[key].parse(value)
            pairs.append((key, value))
        return cls(name, tuple(pairs), policy)

    @property
    def label(self) -> str:
        """How tables call it, e.g. `layer-skip(layers=12)` or `ngram, goodput`."""
        name = self.source
        return name if self.policy == RunConfig().policy else f"{name}, {self.policy}"

    @property
    def source(self) -> str:
        """The same without the policy: what a draft step costs depends on no more."""
        knobs = ", ".join(f"{name}={value}" for name, value in self.knobs)
        return f"{self.drafter}({knobs})" if knobs else self.drafter

    @property
    def control(self) -> bool:
        """True for a yardstick that no deployment would use."""
        return drafters.entry(self.drafter).control


@dataclass(frozen=True, slots=True)
class Race:
    """One prompt at one temperature, for the `repeat`-th time (from 0): the unit that is saved and resumed."""

    prompt: Prompt
    temperature: float
    repeat: int

    @property
    def key(self) -> tuple[str, float, int]:
        """What its rows carry."""
        return self.prompt.id, self.temperature, self.repeat


@dataclass(frozen=True, slots=True)
class Lane:
    """One entrant of a race. choice: None is the baseline."""

    name: str
    choice: Choice | None
    gamma: int

    @property
    def drafter(self) -> str:
        """The label of its drafter, "none" for the baseline."""
        return self.choice.label if self.choice else "none"

    @property
    def source(self) -> str:
        """What its costs are measured for."""
        return self.choice.source if self.choice else "none"


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a bench measures. `repeat` counts races per prompt and temperature; each has a seed of its own."""

    prompts: tuple[Prompt, ...]
    choices: tuple[Choice, ...]
    gammas: tuple[int, ...] = (1, 3, 5, 7)
    temperatures: tuple[float, ...] = (0.0, 1.0)
    max_new_tokens: int = 96
    repeat: int = 1
    seed: int = 0
    raw: bool = False
    pair: str = RunConfig().pair
    dtype: str = "auto"
    device: str = "auto"

    def __post_init__(self) -> None:
        whole("repeat", self.repeat, 1, MOST_REPEATS)
        for name in ("prompts", "choices", "gammas", "temperatures"):
            if not getattr(self, name):
                raise SettingError("bench_nothing", name=name)
        for race in self.races()[:: len(self.prompts)]:
            self.configs(race)  # every temperature, γ and seed is checked before anything is loaded

    def lanes(self) -> tuple[Lane, ...]:
        """The baseline and every drafter with every γ."""
        drafted = (Lane(f"{choice.label} γ{gamma}", choice, gamma) for choice in self.choices for gamma in self.gammas)
        return (Lane(BASELINE, None, 0), *drafted)

    def races(self) -> tuple[Race, ...]:
        """All races; every prompt is raced before any is repeated, so that a part is already a picture of the whole."""
        return tuple(
            Race(prompt, temperature, repeat)
            for repeat in range(self.repeat)
            for temperature in self.temperatures
            for prompt in self.prompts
        )

    def configs(self, race: Race) -> dict[str, RunConfig]:
        """The settings of every lane of a race, by the lane's name."""
        return {lane.name: self.config(lane, race) for lane in self.lanes()}

    def config(self, lane: Lane, race: Race) -> RunConfig:
        """The settings of one lane of a race."""
        return RunConfig(
            prompt=race.prompt.text,
            pair=self.pair,
            drafter=lane.choice.drafter if lane.choice else "none",
            gamma=lane.gamma,
            policy=lane.choice.policy if lane.choice else RunConfig().policy,
            sampling=SamplingConfig(race.temperature),
            seed=self.seed + race.repeat,
            max_new_tokens=self.max_new_tokens,
            raw=self.raw,
            dtype=self.dtype,
            knobs=lane.choice.knobs if lane.choice else (),
        )

    def settings(self) -> dict[str, Any]:
        """What must be equal for two benches to be one, as JSON values. The prompts' texts are in it as a hash."""
        texts = "\0".join(f"{prompt.id}\0{prompt.group}\0{prompt.text}" for prompt in self.prompts)
        return {
            "pair": self.pair,
            "dtype": self.dtype,
            "device": self.device,
            "drafters": [choice.label for choice in self.choices],
            "gammas": list(self.gammas),
            "temperatures": list(self.temperatures),
            "max_new_tokens": self.max_new_tokens,
            "repeat": self.repeat,
            "seed": self.seed,
            "raw": self.raw,
            "prompts": [prompt.id for prompt in self.prompts],
            "prompts_sha256": hashlib.sha256(texts.encode("utf-8", "surrogatepass")).hexdigest(),
        }


def choose(prompts: Sequence[Prompt], groups: Sequence[str], limit: int | None) -> tuple[Prompt, ...]:
    """The prompts of the groups (none given: all), at most `limit` of each group, in their order."""
    known = tuple(dict.fromkeys(prompt.group for prompt in prompts))
    for group in groups:
        if group not in known:
            raise PromptError("bench_no_group", group=group, known=", ".join(known))
    chosen, seen = [], dict.fromkeys(known, 0)
    for prompt in prompts:
        if (not groups or prompt.group in groups) and (limit is None or seen[prompt.group] < limit):
            seen[prompt.group] += 1
            chosen.append(prompt)
    return tuple(chosen)
