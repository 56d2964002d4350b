"""The Prove tab: one component that shows the tests and asks for them, and what happens when it does.

Knows its component and the tests. Does not know how they work (`specdemo/ui/prove.py`).
"""

from typing import Any

import gradio as gr

from specdemo import drafters
from specdemo.config import RunConfig
from specdemo.core import rules
from specdemo.ui import elements
from specdemo.ui.prove import DEEPEST, LENGTHS, MODES, Exact, Proofs, State, described
from specdemo.ui.runs import Runs
from specdemo.ui.settings import Limits
from specdemo.ui.tabs.asking import asking, halting

LAWFUL = "ngram"
"""The draft to begin with: cheap, and with a law q that is more than one guess."""


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

    tab.sampled(asking("sampled", proofs.sampled), pair, tab, **slow)
    tab.greedy(asking("greedy", proofs.greedy), pair, tab, **slow)
    tab.halt(halting(runs), None, None, **slow | {"queue": False})
