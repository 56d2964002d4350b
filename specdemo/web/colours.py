"""The colours of the page, read from the one style sheet that has them.

Knows the two blocks of variables at the top of `assets/style.css`. Does not know what they are used for.
"""

import re
from functools import cache

from specdemo.paths import ASSETS

SHEET = ASSETS / "style.css"
THEMES = ("light", "dark")
VARIABLE = re.compile(r"--sd-([\w-]+):\s*(#[0-9a-f]{6});")


@cache
def palette(theme: str) -> dict[str, str]:
    """Colours by name, e.g. "ink" or "accepted", of the theme "light" or "dark"."""
    blocks = re.findall(r"\{([^{}]*--sd-bg:[^{}]*)\}", SHEET.read_text(encoding="utf-8"))
    return dict(VARIABLE.findall(blocks[THEMES.index(theme)]))


def variables() -> str:
    """The same variables for the whole page and not for the player alone."""
    light, dark = (" ".join(f"--sd-{name}: {colour};" for name, colour in palette(theme).items()) for theme in THEMES)
    return f":root {{ {light} }}\nbody.dark {{ {dark} }}\n"
