"""What whoever runs the page decides: every setting once, with its name in the environment, its values and its help.

Knows names, values and sentences. Does not know what a setting changes. An empty variable counts as not set.
"""

import argparse
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields

from specdemo.config import DTYPES, RunConfig, one_of, real, whole
from specdemo.errors import SettingError
from specdemo.models.loader import DEVICES
from specdemo.models.presets import PRESETS, resolve
from specdemo.ui.logs import FORMATS

PREFIX = "SPECDEMO_"
ELSEWHERE = ("SPECDEMO_CACHE",)
"""Variables that other parts read."""
IN_WORDS = {
    "host": "127.0.0.1",
    "port": "7860",
    "pairs": "all presets",
    "workshop_address": "the browser's or this machine's own",
    "workshop_folder": "`workshop` in the cache folder",
    "workshop_secret": "made anew",
}
"""Defaults that are not what they say."""
SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True)
class Settings:
    """What whoever starts the page chooses; `OPTIONS` says what each one means.

    start: the settings that the page begins with, None those that suit the first pair.
    """

    host: str | None = None
    port: int | None = None
    pairs: tuple[str, ...] = tuple(PRESETS)
    any_pair: bool = False
    device: str = "auto"
    dtype: str = "auto"
    keep: int = 2
    max_new_tokens: int = 512
    max_seconds: float = 120.0
    prompt_characters: int = 20_000
    runs_at_once: int = 4
    runs_per_visitor: int = 2
    waiting: int = 64
    memory_mb: int = 2048
    visitors: int = 500
    embed: str = "https://huggingface.co https://*.hf.space"
    log: str = "text"
    stop_seconds: float = 10.0
    workshop: bool = False
    workshop_address: str | None = None
    workshop_folder: str | None = None
    workshop_secret: str | None = None
    start: RunConfig | None = None


Read = Callable[[str, str], object]
"""(name that was used, text) → value. Raises SettingError."""


@dataclass(frozen=True, slots=True)
class Option:
    """One setting. field: of `Settings`. values: which ones there are, in words."""

    field: str
    says: str
    values: str
    read: Read
    many: bool = False

    @property
    def variable(self) -> str:
        return PREFIX + self.field.upper()

    @property
    def flag(self) -> str:
        return "--" + (self.field.removesuffix("s") if self.many else self.field).replace("_", "-")


def _whole(low: int, high: int) -> Read:
    return lambda name, text: whole(name, text, low, high)


def _real(low: float, high: float) -> Read:
    return lambda name, text: real(name, text, low, high)


def _one_of(choices: Sequence[str]) -> Read:
    return lambda name, text: one_of(name, text, tuple(choices))


def _switch(name: str, text: str) -> bool:
    return SWITCH[one_of(name, text.lower(), tuple(SWITCH))]


def _text(name: str, text: str) -> str:
    return text


def _header(name: str, text: str) -> str:
    """Goes into a header of every answer, so it is one line without the separator of its parts."""
    if ";" in text or not text.isprintable():
        raise SettingError("no_header_text", name=name, value=text)
    return text


def _pairs(name: str, text: str) -> tuple[str, ...]:
    specs = tuple(filter(None, (spec.strip() for spec in text.split(";"))))
    for spec in specs:
        resolve(spec)
    return specs or Settings().pairs


# fmt: off
OPTIONS = (
    Option("host", "the address to listen on; 0.0.0.0 lets other machines in", "an address", _text),
    Option("port", "the port; without it the first free one from 7860 on", "1 … 65535", _whole(1, 65535)),
    Option("pairs", "the pairs on offer, separated by `;`; the first is loaded at once", "preset ids, `TARGET`, `TARGET,DRAFT`", _pairs, many=True),  # noqa: E501
    Option("any_pair", "visitors may name any hub repository too (never a folder of this machine)", "on, off", _switch),
    Option("device", "where the models are", ", ".join(DEVICES), _one_of(DEVICES)),
    Option("dtype", "what weights are held and computed in", ", ".join(DTYPES), _one_of(DTYPES)),
    Option("keep", "pairs in memory at once", "1 … 100", _whole(1, 100)),
    Option("max_new_tokens", "tokens that one run may ask for", "8 … 100000", _whole(8, 100_000)),
    Option("max_seconds", "seconds of computing that one run may use", "1 … 86400", _real(1, 86_400)),
    Option("prompt_characters", "the longest prompt", "100 … 1000000", _whole(100, 1_000_000)),
    Option("runs_at_once", "runs that take turns on the device; the others wait in line", "1 … 1000", _whole(1, 1000)),
    Option("runs_per_visitor", "runs that one browser tab may have going or waiting", "1 … 1000", _whole(1, 1000)),
    Option("waiting", "runs that may wait in line; more are turned away with a sentence", "0 … 10000", _whole(0, 10_000)),  # noqa: E501
    Option("memory_mb", "memory for the caches of all runs going on, beside the models", "16 … 10000000", _whole(16, 10_000_000)),  # noqa: E501
    Option("visitors", "browser tabs whose state is kept, 0.2 MB each", "1 … 100000", _whole(1, 100_000)),
    Option("embed", "sites that may show the page in a frame, separated by spaces", "addresses, `*`", _header),
    Option("log", "the form of the log on stderr: one line for a run", ", ".join(FORMATS), _one_of(FORMATS)),
    Option("stop_seconds", "how long runs may take to end when the server is told to stop", "0 … 3600", _real(0, 3600)),
    Option("workshop", "a presenter leads a class, see docs/workshop.md; listens on 0.0.0.0 unless told otherwise", "on, off", _switch),  # noqa: E501
    Option("workshop_address", "where attendees find this server, if it cannot know that (a proxy)", "an address", _text),  # noqa: E501
    Option("workshop_folder", "where the workshop is kept over a restart", "a folder", _text),
    Option("workshop_secret", "the presenter's secret, in place of one that is made and printed", "text", _text),
)
# fmt: on


def settings(argv: Sequence[str] | None, environment: Mapping[str, str]) -> Settings:
    """From the command line, else from the environment, else the default. SettingError names the culprit."""
    given = vars(parser().parse_args(argv))
    chosen: dict[str, object] = {}
    for option in OPTIONS:
        if given[option.field] is not None:
            text = ";".join(given[option.field]) if option.many else given[option.field]
            chosen[option.field] = option.read(option.flag, text)
        elif environment.get(option.variable, "").strip():
            chosen[option.field] = option.read(option.variable, environment[option.variable].strip())
    return Settings(**chosen)  # type: ignore[arg-type]


def parser() -> argparse.ArgumentParser:
    """The command line. Values are read by `settings`, for a sentence of its own where one cannot be used."""
    options = argparse.ArgumentParser(description="See speculative decoding happen, on a page of your own.")
    for option in OPTIONS:
        says = f"{option.says} ({option.values}; default: {_default(option)}; or {option.variable})".replace("%", "%%")
        how = {"nargs": "?", "const": "on"} if option.read is _switch else {}
        action = "append" if option.many else "store"
        options.add_argument(option.flag, dest=option.field, help=says, action=action, **how)  # type: ignore[arg-type]
    return options


def strangers(environment: Mapping[str, str]) -> list[str]:
    """A sentence for each variable that looks like a setting and is none."""
    known = {option.variable for option in OPTIONS} | {*ELSEWHERE}
    found = []
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known:
            close = difflib.get_close_matches(name, known, 1)
            found.append(f"{name} is no setting." + (f" Did you mean {close[0]}?" if close else ""))
    return found


def table() -> str:
    """The settings as a table of Markdown, as it stands in docs/hosting.md."""
    lines = ["| variable | option | default | values | meaning |", "|---|---|---|---|---|"]
    for option in OPTIONS:
        cells = (f"`{option.variable}`", f"`{option.flag}`", _default(option), option.values)
        lines.append(f"| {' | '.join(cells)} | {option.says} |")
    return "\n".join(lines) + "\n"


def _default(option: Option) -> str:
    """The default in words."""
    value = getattr(Settings(), option.field)
    if option.field in IN_WORDS:
        return IN_WORDS[option.field]
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


assert {option.field for option in OPTIONS} == {field.name for field in fields(Settings)} - {"start"}
