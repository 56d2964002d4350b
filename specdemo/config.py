"""The settings of a run: frozen, checked when made, writable as a URL query.

Knows what values make sense. Does not know models, drafters or how a setting is used.
"""

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode

from specdemo.errors import SettingError

GREEDY_BELOW = 1e-4
"""Temperatures below this mean greedy, for target and draft alike: one constant for both sides."""

MAX_GAMMA = 32
EXACT_WIDTH = 8
"""Rows of every pass of an exact run: γ + 1 may not be more."""

MAX_TEMPERATURE = 5.0
MAX_NEW_TOKENS = 10**12
"""More than any context holds: a run that asks for too much is capped by the context and says so."""
REJECTION = "rejection"
RULES = (
    REJECTION,
    "block",
    "greedy-match",
    "sample-match",
    "shared-noise",
    "typical",
    "resample-from-p",
    "argmax-draft",
    "first-unverified",
    "bonus-skipped",
)
"""The verification rules by id, in the order of a menu; each is a file in `core/rules`."""

POLICIES = ("constant", "heuristic", "confidence", "goodput")
DTYPES = ("auto", "float32", "bfloat16", "float16")


def whole(name: str, value: object, low: int, high: int) -> int:
    """`value` as an int in [low, high]: 4.0 is 4; 3.5, None, True and text that is no number raise `SettingError`."""
    number = real(name, value, low, high)
    if number != int(number):
        raise SettingError("not_whole", name=name, value=value)
    # A float holds whole numbers up to 2⁵³ only: the next one must not be taken for it.
    exact = int(str(value)) if str(value).strip().lstrip("+-").isdecimal() else int(number)
    if not low <= exact <= high:
        raise SettingError("out_of_range", name=name, value=value, low=low, high=high)
    return exact


def real(name: str, value: object, low: float, high: float) -> float:
    """`value` as a finite float in [low, high], or `SettingError`."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise SettingError("not_a_number", name=name, value=value)
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise SettingError("not_a_number", name=name, value=value) from None
    if not math.isfinite(number):
        raise SettingError("not_a_number", name=name, value=value)
    if not low <= number <= high:
        raise SettingError("out_of_range", name=name, value=value, low=low, high=high)
    return number


def one_of(name: str, value: str, choices: tuple[str, ...]) -> str:
    """`value` if it is among `choices`, else `SettingError` naming them."""
    if value not in choices:
        raise SettingError("not_a_choice", name=name, value=value, choices=", ".join(choices))
    return value


def _set(frozen: object, name: str, value: object) -> None:
    object.__setattr__(frozen, name, value)


@dataclass(frozen=True, slots=True)
class SamplingConfig:
    """How logits become a law. The same values shape p and q.

    temperature: 0, None or anything below `GREEDY_BELOW` is greedy: the law is one-hot.
    top_k: keep the k most likely ids; 0 or None keeps all.
    top_p: keep the smallest set of ids whose mass reaches top_p; 1 or None keeps all.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        temperature = 0.0 if self.temperature is None else self.temperature
        _set(self, "temperature", real("temperature", temperature, 0.0, MAX_TEMPERATURE))
        _set(self, "top_k", whole("top_k", 0 if self.top_k is None else self.top_k, 0, 10**9))
        top_p = real("top_p", 1.0 if self.top_p is None else self.top_p, 0.0, 1.0)
        if top_p == 0.0:
            raise SettingError("top_p_zero")
        _set(self, "top_p", top_p)

    @property
    def greedy(self) -> bool:
        """True if the law is one-hot whatever the logits: no coin matters."""
        return self.temperature < GREEDY_BELOW


@dataclass(frozen=True, slots=True)
class RunConfig:
    """All that a visitor chooses for one run.

    pair: preset id, or `target,draft`, or a single `target` (hub ids or local folders).
    drafter: id in the drafter registry; `none` is the baseline.
    gamma: tokens proposed in a round, the upper limit for adaptive policies; 0 proposes nothing.
    policy: how γ is chosen each round (`POLICIES`).
    rule: how guesses are judged (`RULES`).
    exact: every pass has `EXACT_WIDTH` rows, so that lanes agree bit by bit in any dtype.
    confidence: for policy `confidence`: stop drafting where max q falls below it.
    max_new_tokens: the most tokens to emit, the end token included. min_new_tokens: an end token may come only after
        so many others; a stop string counts only once so many are there.
    stop: strings that end the run; the token that completes one is the last token.
    raw: True feeds the prompt as it is, False through the chat template.
    knobs: the drafter's own settings by name, unset ones take the drafter's defaults.
    """

    prompt: str = ""
    pair: str = "smollm2-135m"
    drafter: str = "prompt-lookup"
    gamma: int = 4
    policy: str = "constant"
    confidence: float = 0.4
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    seed: int = 0
    max_new_tokens: int = 96
    min_new_tokens: int = 0
    stop: tuple[str, ...] = ()
    raw: bool = False
    dtype: str = "auto"
    knobs: tuple[tuple[str, str], ...] = ()
    rule: str = REJECTION
    exact: bool = False

    def __post_init__(self) -> None:
        _set(self, "gamma", whole("gamma", self.gamma, 0, MAX_GAMMA))
        _set(self, "confidence", real("confidence", self.confidence, 0.0, 1.0))
        _set(self, "seed", whole("seed", self.seed, 0, 2**53))
        _set(self, "max_new_tokens", whole("max_new_tokens", self.max_new_tokens, 1, MAX_NEW_TOKENS))
        _set(self, "min_new_tokens", whole("min_new_tokens", self.min_new_tokens, 0, MAX_NEW_TOKENS))
        if self.min_new_tokens > self.max_new_tokens:
            raise SettingError("min_over_max", low=self.min_new_tokens, high=self.max_new_tokens)
        one_of("policy", self.policy, POLICIES)
        one_of("dtype", self.dtype, DTYPES)
        one_of("rule", self.rule, RULES)
        if self.exact and self.gamma >= EXACT_WIDTH:
            raise SettingError("exact_gamma", value=self.gamma, high=EXACT_WIDTH - 1)
        if any(not stop for stop in self.stop):
            raise SettingError("empty_stop")

    def to_query(self) -> str:
        """The settings that differ from the defaults as a URL query, e.g. `gamma=6&temperature=0.7`."""
        plain = RunConfig()
        pairs: list[tuple[str, str]] = []
        for name in (f.name for f in fields(self) if f.name not in ("sampling", "stop", "knobs")):
            if getattr(self, name) != getattr(plain, name):
                pairs.append((name, _as_text(getattr(self, name))))
        for name in (f.name for f in fields(self.sampling)):
            if getattr(self.sampling, name) != getattr(plain.sampling, name):
                pairs.append((name, _as_text(getattr(self.sampling, name))))
        pairs += [("stop", text) for text in self.stop]
        pairs += [(f"knob.{name}", value) for name, value in self.knobs]
        return urlencode(pairs, errors="replace")

    @classmethod
    def from_query(cls, query: str) -> Self:
        """The inverse of `to_query`. Ignores unknown names (the page has its own); `SettingError` for a bad value."""
        given = parse_qsl(query, keep_blank_values=True)
        named = dict(given)
        own: dict[str, Any] = {f.name: named[f.name] for f in fields(cls) if f.name in named}
        own |= {name: own[name] in ("1", "true") for name in ("raw", "exact") if name in own}
        sampling: dict[str, Any] = {f.name: named[f.name] for f in fields(SamplingConfig) if f.name in named}
        own["sampling"] = SamplingConfig(**sampling)
        own["stop"] = tuple(value for name, value in given if name == "stop")
        own["knobs"] = tuple((n.removeprefix("knob."), v) for n, v in given if n.startswith("knob."))
        return cls(**own)

    def with_knob(self, name: str, value: object) -> "RunConfig":
        """A copy in which the drafter's knob `name` has the given value."""
        kept = tuple(pair for pair in self.knobs if pair[0] != name)
        return replace(self, knobs=(*kept, (name, str(value))))


def _as_text(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
