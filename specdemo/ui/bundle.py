"""The page's scripts as one classic script: for the page itself and for pages saved to disk.

Knows which files make up the page. Does not know what they do, nor how modules become one script (`web/bundle.py`).
"""

import json
from functools import cache

from specdemo.paths import ASSETS
from specdemo.ui.i18n import browser_texts
from specdemo.web.bundle import bundle, charts, inline
from specdemo.web.colours import variables

__all__ = ["bundle", "inline", "script", "style"]

ENTRY = ASSETS / "page" / "page.js"
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
    texts = json.dumps(browser_texts(), ensure_ascii=False)
    return (
        f'"use strict";\n(() => {{\n{charts()}\nwindow.specdemo = {bundle(ENTRY)};\n'
        f"window.specdemo.texts = {texts};\n}})();\n"
    )


@cache
def style() -> str:
    """All styles of the page."""
    return "\n".join([variables(), *(path.read_text(encoding="utf-8") for path in STYLES)])
