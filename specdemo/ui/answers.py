"""What the stage asks the server for: recorded runs, files opened, two runs raced, a run as a page of its own.

Knows the stage's questions. Does not know components. Every answer is {…} or {"problem": sentence in every language}.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from specdemo.errors import TraceError
from specdemo.ui import export, replays
from specdemo.ui.i18n import closest, text
from specdemo.ui.problems import sentence

Answer = dict[str, Any]


def answers(library: replays.Library) -> list[Callable[[Any], Answer]]:
    """The functions that the stage may call, by their names."""

    def recorded_run(id: object) -> Answer:
        return {"text": library.text(id)}

    def opened_file(given: object) -> Answer:
        return {"text": replays.written(replays.read(given))}

    def raced_runs(question: object) -> Answer:
        first, second = (replays.read(given) for given in _two(question, "texts"))
        names = [str(name) for name in _two(question, "names")]
        return {"text": replays.written(replays.raced(first, second, (names[0], names[1])))}

    def saved_page(question: object) -> Answer:
        language = closest(_part(question, "language"))
        given = replays.read(_part(question, "text"))
        title = text("export.title", language, prompt=given.header.settings.prompt[:60])
        return {"html": export.page(replays.written(given), language, title)}

    return [_safe(function) for function in (recorded_run, opened_file, raced_runs, saved_page)]


def _part(question: object, name: str) -> object:
    """A part of a question; `TraceError` where there is none."""
    if not isinstance(question, dict) or name not in question:
        raise TraceError("question_unknown", name=name)
    return question[name]


def _two(question: object, name: str) -> list[Any]:
    part = _part(question, name)
    if not isinstance(part, list) or len(part) != 2:
        raise TraceError("question_unknown", name=name)
    return part


def _safe(function: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
    """The function, with what goes wrong as its answer."""

    @wraps(function)
    def answer(question: Any) -> Answer:
        try:
            return function(question)
        except Exception as error:  # whoever sends what it likes gets a sentence, and the page stays alive
            return {"problem": sentence(error)}

    return answer
