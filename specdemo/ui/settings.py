"""What a visitor may set, checked: widgets and addresses to a `RunConfig` and back.

Knows the fields of the page and what one visitor may ask of a machine that many share. Does not know components.
Every way in passes here, the API's too: what a slider allows binds nobody who does not use the slider.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from specdemo import drafters
from specdemo.config import RunConfig, SamplingConfig, whole
from specdemo.errors import PromptError, SettingError
from specdemo.models.presets import is_folder

FIELDS = (
    "prompt", "pair", "drafter", "gamma", "policy", "confidence",
    "temperature", "top_k", "top_p", "max_new_tokens", "seed", "exact", "rule",
)  # fmt: skip
"""The settings that have a widget of their own, in the order of their values everywhere. The drafter's knobs follow."""

SAMPLING = ("temperature", "top_k", "top_p")
REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
"""OWNER/NAME on the hub."""
Values = dict[str, object]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one visitor may ask for. pairs: the ones on offer, the default first. start: what the page begins with.

    any_pair: any repository of the hub may be named too; never a folder of this machine.
    """

    pairs: tuple[str, ...] = (RunConfig().pair,)
    max_new_tokens: int = 512
    prompt_characters: int = 20_000
    start: RunConfig = field(default_factory=RunConfig)
    any_pair: bool = False

    def offers(self, pair: object) -> bool:
        """True if a visitor may run that pair."""
        if pair in self.pairs:
            return True
        names = pair.split(",") if self.any_pair and isinstance(pair, str) else []
        return 1 <= len(names) <= 2 and all(REPOSITORY.fullmatch(name) and not is_folder(name) for name in names)


def config_of(values: Mapping[str, object], limits: Limits) -> RunConfig:
    """The settings as one checked value. `UserError` names the first field that cannot be used."""
    prompt = values.get("prompt", "")
    if not isinstance(prompt, str) or not prompt.strip():
        raise PromptError("prompt_blank")
    if len(prompt) > limits.prompt_characters:
        raise PromptError("prompt_characters", count=len(prompt), most=limits.prompt_characters)
    config = RunConfig(**_own(values), sampling=SamplingConfig(**{n: values[n] for n in SAMPLING if n in values}))
    whole("max_new_tokens", config.max_new_tokens, 1, limits.max_new_tokens)
    if not limits.offers(config.pair):
        raise SettingError("pair_not_offered", value=config.pair, choices=", ".join(limits.pairs))
    if config.drafter != "none":
        _check_knobs(config)
    return config


def _own(values: Mapping[str, object]) -> dict[str, object]:
    """The arguments of `RunConfig` among the values."""
    own = {name: values[name] for name in FIELDS if name in values and name not in SAMPLING}
    knobs = values.get("knobs") or {}
    if not isinstance(knobs, Mapping):
        raise SettingError("knobs_no_object", value=knobs)
    own["knobs"] = tuple((str(name), str(value)) for name, value in knobs.items())
    return own


def _check_knobs(config: RunConfig) -> None:
    """The drafter's own settings, and that they do not name files: a visitor must not read this machine's."""
    entry = drafters.entry(config.drafter)
    known = {knob.name: knob for knob in entry.knobs if knob.kind != "path"}
    for name, value in config.knobs:
        if name not in known:
            raise SettingError("unknown_knob", drafter=entry.id, name=name, known=", ".join(known) or "none")
        known[name].parse(value)


def values_of(config: RunConfig) -> Values:
    """What the widgets show for a configuration."""
    own: Values = {name: getattr(config, name) for name in FIELDS if name not in SAMPLING}
    return own | {name: getattr(config.sampling, name) for name in SAMPLING} | {"knobs": dict(config.knobs)}


def values_of_query(query: dict[str, str], limits: Limits) -> Values:
    """The settings in an address over the defaults. `UserError` where one cannot be used; then none is."""
    names = ("drafter", "gamma", "max_new_tokens")
    start = {"pair": limits.pairs[0]} | {name: str(getattr(limits.start, name)) for name in names}
    config = RunConfig.from_query(urlencode(start | query))
    values = values_of(config)
    config_of(values | {"prompt": config.prompt or "any"}, limits)
    return values
