"""What a visitor may set, checked: widgets and addresses to a `RunConfig` and back.

Knows the fields of the page and what one visitor may ask of a machine that many share. Does not know components.
Every way in passes here, the API's too: what a slider allows binds nobody who does not use the slider.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from specdemo import drafters
from specdemo.config import RunConfig, SamplingConfig, whole
from specdemo.errors import PromptError, SettingError

FIELDS = (
    "prompt", "pair", "drafter", "gamma", "policy", "confidence",
    "temperature", "top_k", "top_p", "max_new_tokens", "seed", "exact",
)  # fmt: skip
"""The settings that have a widget of their own, in the order of their values everywhere. The drafter's knobs follow."""

SAMPLING = ("temperature", "top_k", "top_p")
Values = dict[str, object]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one visitor may ask for. pairs: the ones on offer, the default first."""

    pairs: tuple[str, ...] = (RunConfig().pair,)
    max_new_tokens: int = 512
    prompt_characters: int = 20_000


def config_of(values: Mapping[str, object], limits: Limits) -> RunConfig:
    """The settings as one checked value. `UserError` names the first field that cannot be used."""
    prompt = values.get("prompt", "")
    if not isinstance(prompt, str) or not prompt.strip():
        raise PromptError("prompt_blank")
    if len(prompt) > limits.prompt_characters:
        raise PromptError("prompt_characters", count=len(prompt), most=limits.prompt_characters)
    config = RunConfig(**_own(values), sampling=SamplingConfig(**{n: values[n] for n in SAMPLING if n in values}))
    whole("max_new_tokens", config.max_new_tokens, 1, limits.max_new_tokens)
    if config.pair not in limits.pairs:
        raise SettingError("pair_not_offered", value=config.pair, choices=", ".join(limits.pairs))
    if config.drafter != "none":
        _check_knobs(config)
    return config


def _own(values: Mapping[str, object]) -> dict[str, object]:
    """The arguments of `RunConfig` among the values."""
    own = {name: values[name] for name in FIELDS if name in values and name not in SAMPLING}
    knobs = values.get("knobs") or {}
    own["knobs"] = tuple((str(name), str(value)) for name, value in dict(knobs).items())
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
    config = RunConfig.from_query(urlencode({"pair": limits.pairs[0]} | query))
    values = values_of(config)
    config_of(values | {"prompt": config.prompt or "any"}, limits)
    return values
