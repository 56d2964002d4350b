"""The Prove tab: one component that shows the tests and asks for them, and what happens when it does.

Knows its component and the tests. Does not know how they work (`specdemo/ui/prove.py`).
"""

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gradio as gr

from specdemo import drafters
from specdemo.config import RunConfig
from specdemo.core import rules
from specdemo.ui import elements
from specdemo.ui.problems import sentence
from specdemo.ui.prove import DEEPEST, LENGTHS, MODES, Exact, Proofs, State, described
from specdemo.ui.runs import Runs
from specdemo.ui.settings import Limits
from specdemo.ui.stream import UPDATES_PER_S

LAWFUL = "ngram"
"""The draft to begin with: cheap, and with a law q that is more than one guess."""

Test = Callable[[Mapping[str, Any], str], Iterator[State]]


def build(exact: Exact, limits: Limits, prompt: str) -> gr.HTML:
    """Makes the tab. Call it inside the blocks of the page.

    Value: "" or JSON of a test's state, with `run`, `kind` ("sampled" or "greedy") and `state` ("waiting", "reading",
    "running", "stopped", "done", "failed"). Events `sampled` and `greedy` ask for a test, `halt` ends it.
    """
    constants = {
        "rules": [described(rule) for rule in rules.entries()],
        "drafters": drafters.ids(),
        "modes": list(MODES),
        "lengths": list(LENGTHS),
        "deepest": DEEPEST,
        "prompt": prompt,
        "most_tokens": min(limits.max_new_tokens, 256),
        "plain": {"drafter": LAWFUL, "rule": RunConfig().rule},
    }
    hooks = "".join(f", {name}: (data) => trigger('{name}', data)" for name in ("sampled", "greedy", "halt"))

    def exact_rows(_: object) -> State:
        return exact.rows()

    return elements.lab("prove", constants, hooks, server_functions=[exact_rows])


def wire(tab: gr.HTML, pair: gr.components.Component, proofs: Proofs, runs: Runs) -> None:
    """Connects the component with the tests. pair: the widget with the models in use."""
    slow: dict[str, Any] = {"queue": True, "show_progress": "hidden", "api_visibility": "private"}

    def sampled(pair: str, event: gr.EventData, request: gr.Request) -> Iterator[str]:
        yield from shown("sampled", proofs.sampled, event._data | {"pair": pair}, str(request.session_hash))

    def greedy(pair: str, event: gr.EventData, request: gr.Request) -> Iterator[str]:
        yield from shown("greedy", proofs.greedy, event._data | {"pair": pair}, str(request.session_hash))

    def halt(request: gr.Request) -> None:
        runs.stop(str(request.session_hash))

    tab.sampled(sampled, pair, tab, **slow)
    tab.greedy(greedy, pair, tab, **slow)
    tab.halt(halt, None, None, **slow | {"queue": False})


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
