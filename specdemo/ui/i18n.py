"""Two languages, and every text of the page in both.

Knows the locale files, whose keys are `ui.…` for the page, `player.…` for the player and `error.…`. Does not
know components: one component shows what it is given.
"""

from specdemo.errors import UserError, sentences
from specdemo.web import texts as web
from specdemo.web.texts import LANGUAGES

DEFAULT = "en"
PLAYER = ("player.", "ui.rule.")
BROWSER = (*PLAYER, "ui.page.", "ui.policy.", "ui.rule_about.", "ui.badge.", "ui.side.")
"""Prefixes of the texts that the player says, and of all that the browser composes itself."""

Texts = dict[str, str]
"""Language → text."""


def closest(tag: object) -> str:
    """The language for a tag such as `zh-Hans-CN`, `zh-HK` or `en_GB`; English for any other."""
    first = str(tag).strip().replace("_", "-").split("-")[0].lower()
    return first if first in LANGUAGES else DEFAULT


def text(key: str, language: str, **params: object) -> str:
    """The text `ui.<key>`, its placeholders filled."""
    return sentences(language)[f"ui.{key}"].format(**params)


def texts(key: str, **params: object) -> Texts:
    """The text `ui.<key>` in every language."""
    return {language: text(key, language, **params) for language in LANGUAGES}


def spoken(error: UserError) -> Texts:
    """An error's sentence in every language. A setting goes by the name that it has on the page."""
    return {language: _say(error, language) for language in LANGUAGES}


def _say(error: UserError, language: str) -> str:
    table, params = sentences(language), dict(error.params)
    params["name"] = table.get(f"ui.field.{params.get('name')}", params.get("name"))
    return table[f"error.{error.key}"].format(**params)


def browser_texts() -> dict[str, Texts]:
    """Language → key → text, for all that the browser composes itself."""
    return web.texts(BROWSER)


def player_texts() -> dict[str, Texts]:
    """Language → key → text, for what the player says."""
    return web.texts(PLAYER)
