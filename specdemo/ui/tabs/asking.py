"""What a tab beside the stage asks for, and how the answer reaches its component.

Knows events of components, states and visitors. Does not know what is asked: a test is a function from a question to
states, and whatever happens in it the page stays alive.
"""

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gradio as gr

from specdemo.ui.problems import sentence
from specdemo.ui.runs import Runs
from specdemo.ui.stream import UPDATES_PER_S

State = dict[str, Any]
Test = Callable[[Mapping[str, Any], str], Iterator[State]]


def asking(kind: str | Callable[[State], str], test: Test) -> Callable[..., Iterator[str]]:
    """The function of an event that asks for a test on the pair in use. kind: of the answer, or as it is asked."""

    def ask(pair: str, event: gr.EventData, request: gr.Request) -> Iterator[str]:
        asked = question(event) | {"pair": pair}
        yield from shown(kind if isinstance(kind, str) else kind(asked), test, asked, str(request.session_hash))

    return ask


def halting(runs: Runs) -> Callable[[gr.Request], None]:
    """The function of an event that ends what the visitor has asked for."""

    def halt(request: gr.Request) -> None:
        runs.stop(str(request.session_hash))

    return halt


def question(event: gr.EventData) -> State:
    """What an event carries: an object, or nothing. Anybody can send anything."""
    return dict(event._data) if isinstance(event._data, dict) else {}


def shown(kind: str, test: Test, asked: Mapping[str, Any], visitor: str) -> Iterator[str]:
    """The states of a test as values of the component: a few a second, the last one always."""
    run, due, last = uuid.uuid4().hex, 0.0, ""

    def value(state: State) -> str:
        return json.dumps({"run": run, "kind": kind, **state}, ensure_ascii=False, allow_nan=False)

    yield value({"state": "waiting"})
    try:
        for state in test(asked, visitor):
            last = value(state)
            if time.monotonic() >= due:
                yield last
                due, last = time.monotonic() + 3 / UPDATES_PER_S, ""
        if last:
            yield last
    except Exception as error:  # the page stays alive whatever happens in a test
        yield value({"state": "failed", "problem": sentence(error)})
