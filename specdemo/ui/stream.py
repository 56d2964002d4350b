"""Events as one growing text, at most twelve updates a second, whatever the token rate.

Knows events, lines and a clock. Does not know gradio, devices or languages. A page redraws at every update, so
the updates are what costs and not the tokens; the text only ever grows, so a lost update loses no token.
"""

import time
from collections.abc import Callable, Iterable, Iterator

from specdemo.core.events import Event, Prefilled, RoundFinished, RunFinished

UPDATES_PER_S = 12.0
Encode = Callable[[Event], list[str]]
Clock = Callable[[], float]

END_OF_TURN = (Prefilled, RoundFinished, RunFinished)
"""After one of these a lane gives up its turn on the device: the moment to show what there is."""


def updates(
    head: Iterable[str],
    events: Iterator[Event],
    encode: Encode,
    clock: Clock = time.monotonic,
    per_second: float = UPDATES_PER_S,
) -> Iterator[str]:
    """The text so far: first the `head` alone, at last all of it, in between where a turn ends and it is time.

    Waits only for `events`, never for a timer: a round that took longer than an update is shown when it is over.
    What `events` raises is raised here, after an update with all that came before it. Closing this closes `events`.
    """
    text = _joined(head)
    yield text
    due, shown = clock() + 1 / per_second, len(text)
    failure: Exception | None = None
    try:
        try:
            for event in events:
                text += _joined(encode(event))
                if isinstance(event, END_OF_TURN) and clock() >= due:
                    yield text
                    due, shown = clock() + 1 / per_second, len(text)
        except Exception as error:  # raised again below, behind the last update
            failure = error
        if len(text) > shown:
            yield text
        if failure is not None:
            raise failure
    finally:
        failure = None  # it knows this frame by its traceback, and with it the caches of the run
        getattr(events, "close", lambda: None)()


def _joined(lines: Iterable[str]) -> str:
    return "".join(line + "\n" for line in lines)
