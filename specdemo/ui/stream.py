"""Events as text in few pieces, at most twelve a second, whatever the token rate; and what a page is sent of it.

Knows events, lines and a clock. Does not know gradio, devices or languages. A page redraws at every update, so
the updates are what costs and not the tokens. What it is sent grows, so that a lost update loses no token, but
never large: gradio's front end looks at all of a value several times an update, 130 ms for 6 MB.
"""

import json
import time
import uuid
from collections.abc import Callable, Iterable, Iterator

from specdemo.core.events import Event, Prefilled, RoundFinished, RunFinished

UPDATES_PER_S = 12.0
WINDOW = 64_000
"""Characters that a page is sent again and again before the older half is left out: a second of updates and more."""

Encode = Callable[[Event], list[str]]
Clock = Callable[[], float]

END_OF_TURN = (Prefilled, RoundFinished, RunFinished)
"""After one of these a lane gives up its turn on the device: the moment to show what there is."""


def pieces(
    head: Iterable[str],
    events: Iterator[Event],
    encode: Encode,
    clock: Clock = time.monotonic,
    per_second: float = UPDATES_PER_S,
) -> Iterator[str]:
    """Whole lines, each once: first the `head`, at last what is left, in between where a turn ends and it is time.

    Waits only for `events`, never for a timer: a round that took longer than an update is shown when it is over.
    What `events` raises is raised here, after a piece with all that came before it. Closing this closes `events`.
    """
    yield _joined(head)
    due, new = clock() + 1 / per_second, ""
    failure: Exception | None = None
    try:
        try:
            for event in events:
                new += _joined(encode(event))
                if isinstance(event, END_OF_TURN) and clock() >= due:
                    yield new
                    due, new = clock() + 1 / per_second, ""
        except Exception as error:  # raised again below, behind the last piece
            failure = error
        if new:
            yield new
        if failure is not None:
            raise failure
    finally:
        failure = None  # it knows this frame by its traceback, and with it the caches of the run
        getattr(events, "close", lambda: None)()


def _joined(lines: Iterable[str]) -> str:
    return "".join(line + "\n" for line in lines)


def grown(new: Iterable[str]) -> Iterator[str]:
    """All the text so far, at every piece."""
    text = ""
    for piece in new:
        text += piece
        yield text


def windows(new: Iterable[str], most: int = WINDOW) -> Iterator[str]:
    """The value of a stage at every piece: a line that names the run, then the latest part of the text.

    The line says from which line of the text on the rest is. The part loses its older half where it has become
    longer than `most`: a page gets every line many times. One that was held up so long that it has missed some
    waits for the end, when all of the text is sent once more.
    """
    run, first, part, whole = uuid.uuid4().hex, 0, "", ""
    for piece in new:
        if len(part) > most:
            cut = part.index("\n", len(part) // 2) + 1
            first += part.count("\n", 0, cut)
            part = part[cut:]
        part += piece
        whole += piece
        yield run_line("live", run, first=first) + part
    if first > 0:
        yield run_line("live", run, first=0) + whole


def run_line(source: str, run: str, **more: object) -> str:
    """The first line of a stage's value. run: a name that no other run has."""
    return json.dumps({"run": run, "source": source, **more}) + "\n"
