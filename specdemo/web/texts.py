"""The texts that browsers compose themselves, in every language.

Knows the languages and the locale files. Does not know where a text is shown.
"""

from collections.abc import Sequence

from specdemo.errors import sentences

LANGUAGES = {"en": "English", "zh": "中文"}
"""Code → the language's own name."""


def texts(prefixes: Sequence[str], without: Sequence[str] = ()) -> dict[str, dict[str, str]]:
    """Language → key → text, for all keys that begin with one of `prefixes` and with none of `without`."""
    return {language: _chosen(sentences(language), tuple(prefixes), tuple(without)) for language in LANGUAGES}


def _chosen(table: dict[str, str], prefixes: tuple[str, ...], without: tuple[str, ...]) -> dict[str, str]:
    return {key: said for key, said in table.items() if key.startswith(prefixes) and not key.startswith(without)}
