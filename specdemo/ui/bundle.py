"""The page's scripts as one classic script, and the player's alone for pages saved to disk.

Knows which files make up the page. Does not know what they do, nor how modules become one script (`web/bundle.py`).
"""

import json
from functools import cache
from pathlib import Path

from specdemo.paths import ASSETS
from specdemo.ui.i18n import Texts, browser_texts, player_texts
from specdemo.web.bundle import bundle, charts, inline
from specdemo.web.colours import variables

__all__ = ["bundle", "inline", "player", "script", "style"]

ENTRY = ASSETS / "page" / "page.js"
PLAYER = ASSETS / "player" / "player.js"
STYLES = (
    ASSETS / "style.css",
    ASSETS / "page" / "page.css",
    ASSETS / "page" / "labs.css",
    ASSETS / "page" / "lessons.css",
    ASSETS / "page" / "measure.css",
)


@cache
def script() -> str:
    """All scripts of the page. They leave one name behind, `specdemo`, whose functions draw and know both languages."""
    return _script(ENTRY, browser_texts())


@cache
def player() -> str:
    """The player's scripts alone, under the same name: `mount` and the texts that it says."""
    return _script(PLAYER, player_texts())


def _script(entry: Path, texts: dict[str, Texts]) -> str:
    return (
        f'"use strict";\n(() => {{\n{charts()}\nwindow.specdemo = {bundle(entry)};\n'
        f"window.specdemo.texts = {json.dumps(texts, ensure_ascii=False)};\n}})();\n"
    )


@cache
def style() -> str:
    """All styles of the page."""
    return "\n".join([variables(), *(path.read_text(encoding="utf-8") for path in STYLES)])
