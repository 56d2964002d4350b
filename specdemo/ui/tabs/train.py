"""The Train tab: one component that sends a text, shows the table that was counted from it and races it.

Knows its component, the training and two widgets of the Watch tab. Does not know how a table counts.
"""

import json
from typing import Any

import gradio as gr

from specdemo.drafters.ngram import OWN
from specdemo.ui import elements
from specdemo.ui.runs import Runs
from specdemo.ui.tables import Tables
from specdemo.ui.tabs.asking import asking, halting
from specdemo.ui.training import MOST_CHARACTERS, ORDERS, Training

EVENTS = ("train", "look", "race", "halt")


def build() -> gr.HTML:
    """Makes the tab. Call it inside the blocks of the page.

    Value: "" or JSON of a state, with `run`, `kind` ("train" or "look") and `state` ("waiting", "running", "stopped",
    "done", "failed"). Events `train` and `look` ask, `halt` ends the counting, `race` chooses the table on Watch.
    """
    constants = {"most": MOST_CHARACTERS, "orders": ORDERS, "plain": {"order": 4}}
    hooks = "".join(f", {name}: (data) => trigger('{name}', data)" for name in EVENTS)
    return elements.lab("train", constants, hooks)


def wire(
    tab: gr.HTML,
    fields: dict[str, gr.components.Component],
    page: gr.Blocks,
    training: Training,
    tables: Tables,
    runs: Runs,
) -> None:
    """Connects the component. fields: the widgets of the Watch tab. Call it inside the blocks of the page."""
    quick: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    slow = quick | {"queue": True}

    def race() -> tuple[str, str]:
        return "ngram", json.dumps({"source": OWN})

    def leave(request: gr.Request) -> None:
        tables.drop(str(request.session_hash))

    tab.train(asking("train", training.train), fields["pair"], tab, **slow)
    # Not "once": whoever asks anew before the answer is there gets an answer to that too.
    tab.look(asking("look", training.look), fields["pair"], tab, **slow, trigger_mode="multiple")
    tab.race(race, None, [fields["drafter"], fields["knobs"]], **quick)
    tab.halt(halting(runs), None, None, **quick)
    page.unload(leave)
