"""Where trained drafts lie: the knob's file, the user's own for this target, the shipped one. Knows paths only."""

import re
from pathlib import Path

from specdemo.core.protocols import ModelAccess
from specdemo.errors import PairError
from specdemo.paths import ASSETS, cache_dir


def default_paths(access: ModelAccess, kind: str) -> list[Path]:
    """Where the file of a kind made for a target is looked for: the user's cache, then the shipped files."""
    slug = re.sub(r"[^a-z0-9.]+", "-", access.name.lower()).strip("-")
    name = f"{kind}-{slug}.safetensors"
    return [cache_dir() / "drafts" / name, ASSETS / "drafts" / name]


def find(access: ModelAccess, kind: str, given: str) -> Path:
    """The given file, else the first default one that is there; PairError if there is none."""
    places = [Path(given).expanduser()] if given else default_paths(access, kind)
    for path in places:
        if path.is_file():
            return path
    missing = "ngram_missing" if kind == "ngram" else "draft_missing"
    raise PairError(missing, kind=kind, target=access.name, path=places[0])
