"""Every error this project raises on purpose, as a tree.

    SpecdemoError
    ├── UserError            "show this to the user": a key, its parameters, a sentence with the fix
    │   ├── SettingError     a setting has a value that cannot be used
    │   ├── PromptError      the prompt cannot be run
    │   ├── PairError        a model, a draft or the two together are refused
    │   ├── FetchError       model files could not be had
    │   ├── TraceError       a trace file is broken or from a newer version
    │   └── CapacityError    the machine takes on no more, or no more of this run
    └── Cancelled            the user asked to stop; nothing is wrong

A `UserError` carries no language: the sentences are in `assets/locales/*.json`, keyed `error.<key>`.
Anything else that is raised is a bug and is not caught.
"""

import json
from functools import cache

from specdemo.paths import ASSETS


@cache
def sentences(language: str = "en") -> dict[str, str]:
    """The locale file of a language as a flat table `key → sentence with {placeholders}`."""
    table: dict[str, str] = json.loads((ASSETS / "locales" / f"{language}.json").read_text(encoding="utf-8"))
    return table


class SpecdemoError(Exception):
    """Root of the tree."""


class UserError(SpecdemoError):
    """Something the user can mend. `key` names the sentence, `params` fill its placeholders."""

    def __init__(self, key: str, **params: object) -> None:
        super().__init__(key, params)
        self.key = key
        self.params = params

    def say(self, language: str = "en") -> str:
        """The sentence to show, in the given language."""
        return sentences(language)[f"error.{self.key}"].format(**self.params)

    def __str__(self) -> str:
        return self.say()


class SettingError(UserError):
    """A setting has a value that cannot be used."""


class PromptError(UserError):
    """The prompt cannot be run."""


class PairError(UserError):
    """A model, a draft or the two together are refused."""


class FetchError(UserError):
    """Model files could not be had."""


class TraceError(UserError):
    """A trace file is broken or was written by a newer version."""


class CapacityError(UserError):
    """The machine takes on no more now, or no more of this run."""


class Cancelled(SpecdemoError):
    """The user asked to stop."""
