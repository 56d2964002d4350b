"""Where things lie: the assets that ship with the project and the user's cache.

Knows two folders. Does not know what is kept in them.
"""

import os
from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"


def cache_dir() -> Path:
    """The user's cache folder, made if missing: `SPECDEMO_CACHE`, else `XDG_CACHE_HOME`/`~/.cache` + `specdemo`."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "specdemo"
    folder = Path(os.environ.get("SPECDEMO_CACHE") or default)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
