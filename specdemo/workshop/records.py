"""What a workshop consists of, as frozen values that can be written as JSON and read back.

Knows what may stand in them. Does not know files, HTTP or who may change them. Nothing here names a person.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from specdemo.workshop.refusal import Refusal

VIEWS = ("run", "join", "question", "board")
"""What the presenter shows: the run, the way into the workshop, the question, the class board."""
SPEEDS = (0.0, 4.0)
MOST_STEP = 1_000_000
MOST_OPTIONS = 6
MOST_TEXT = 1500
NAME = re.compile(r"[\w.-]{1,64}\Z", re.ASCII)
LANGUAGE = re.compile(r"[a-z]{2}\Z")

Texts = dict[str, str]
"""Language → text."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the presenter stands.

    trace: id of the run on show, or None. step: position in it. speed: 0 while it stands, else how fast it plays.
    revealed: numbers opened so far. view: of `VIEWS`. scene: a name for the pages' scripts, or "". live: attendees
    may run. by: the tab that moved last.
    """

    trace: str | None = None
    step: int = 0
    speed: float = 0.0
    revealed: int = 0
    view: str = "join"
    scene: str = ""
    live: bool = False
    by: str = ""

    def moved(self, changes: Mapping[str, object]) -> Self:
        """A copy with checked changes. `Refusal` names the first that cannot be used."""
        for key in changes:
            if key not in PLACE:
                raise Refusal("workshop_body", reason=f"{key[:40]}?")
        return type(self)(**asdict(self) | {key: PLACE[key](value) for key, value in changes.items()})


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the class. kind: a name for the pages' scripts. text, options: in every language that there is."""

    kind: str
    text: Texts
    options: tuple[Texts, ...]

    @classmethod
    def of(cls, value: Mapping[str, object]) -> Self:
        """The question in a request. `Refusal` where it is none."""
        options = value.get("options")
        if not isinstance(options, list) or not 2 <= len(options) <= MOST_OPTIONS:
            raise Refusal("workshop_options", most=MOST_OPTIONS)
        kind = name("kind", value.get("kind", "own"))
        return cls(kind, texts("text", value.get("text")), tuple(texts("options", option) for option in options))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was put. open: it takes votes. answer: number of the right option, or None."""

    id: int
    question: Question
    open: bool
    answer: int | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A run on the class board. alpha: None under a rule without one. c, v: costs of a draft step and a target pass."""

    drafter: str
    gamma: int
    temperature: float
    tokens: int
    alpha: float | None
    speedup: float
    c: float | None
    v: float | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A run that the presenter can show. titles: language → title. own: made or sent in this workshop."""

    id: str
    titles: Texts
    own: bool = False


def whole(key: str, value: object, low: int, high: int) -> int:
    """`value` if it is an int in [low, high], else `Refusal`."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise Refusal("workshop_body", reason=f"{key}?")
    return value


def number(key: str, value: object, low: float, high: float) -> float:
    """`value` as a finite float in [low, high], else `Refusal`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise Refusal("workshop_body", reason=f"{key}?")
    assert math.isfinite(value)
    return float(value)


def truth(key: str, value: object) -> bool:
    """`value` if it is a bool, else `Refusal`."""
    if not isinstance(value, bool):
        raise Refusal("workshop_body", reason=f"{key}?")
    return value


def one_of(key: str, value: object, choices: tuple[str, ...]) -> str:
    """`value` if it is among `choices`, else `Refusal`."""
    if not isinstance(value, str) or value not in choices:
        raise Refusal("workshop_body", reason=f"{key}?")
    return value


def name(key: str, value: object) -> str:
    """`value` if it is a name of letters, digits, points, dashes and underscores, else `Refusal`."""
    if not isinstance(value, str) or not NAME.match(value):
        raise Refusal("workshop_body", reason=f"{key}?")
    return value


def texts(key: str, value: object) -> Texts:
    """A text in one or more languages, none of them blank, else `Refusal`."""
    if not isinstance(value, dict) or not 1 <= len(value) <= 4:
        raise Refusal("workshop_body", reason=f"{key}?")
    for language, text in value.items():
        if not LANGUAGE.match(language) or not isinstance(text, str) or not text.strip() or len(text) > MOST_TEXT:
            raise Refusal("workshop_text", most=MOST_TEXT)
    return {language: printable(text) for language, text in value.items()}


def printable(text: str) -> str:
    """The text as it can be written to a file: without halves of surrogate pairs and without NUL."""
    return text.encode("utf-8", errors="replace").decode().replace("\0", "")


PLACE: dict[str, Callable[[object], Any]] = {
    "trace": lambda value: None if value is None else name("trace", value),
    "step": lambda value: whole("step", value, 0, MOST_STEP),
    "speed": lambda value: number("speed", value, *SPEEDS),
    "revealed": lambda value: whole("revealed", value, 0, 100),
    "view": lambda value: one_of("view", value, VIEWS),
    "scene": lambda value: "" if value == "" else name("scene", value),
    "live": lambda value: truth("live", value),
    "by": lambda value: name("by", value),
}
"""How each field of a place is checked."""
