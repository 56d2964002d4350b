"""The Measure tab: one component that asks for measurements and shows them.

Knows its component and the measurements. Does not know how they are made (`specdemo/ui/measure.py`).
"""

from typing import Any

import gradio as gr

from specdemo import drafters
from specdemo.measure import kinds
from specdemo.measure.evaluation import MOST_CHARACTERS, MOST_PROMPTS, SETS, own_prompts, prompts_of
from specdemo.ui import elements
from specdemo.ui.measure import MOST_TOKENS, Measures, State, described
from specdemo.ui.problems import sentence
from specdemo.ui.runs import Runs
from specdemo.ui.settings import Limits
from specdemo.ui.tabs.asking import asking, halting

FIRST = ("prompt-lookup", "ngram", "tiny-model", "feature-head", "hybrid")
"""The drafts of the leaderboard to begin with: those that take no second model."""


def build(measures: Measures, limits: Limits) -> gr.HTML:
    """Makes the tab. Call it inside the blocks of the page.

    Value: "" or JSON of a measurement, with `run`, `kind` and `state` ("waiting", "running", "stopped", "done",
    "failed"). Event `measure` asks for one, `halt` ends it.
    """
    constants = {
        "kinds": kinds.KINDS,
        "sets": [{"id": one, "count": len(prompts_of(one)) if one != "own" else None} for one in SETS],
        "drafters": [{"id": one.id, "control": one.control, "confident": one.confident} for one in drafters.entries()],
        "first": [name for name in FIRST if name in drafters.ids()],
        "plain": {"drafter": limits.start.drafter, "gamma": limits.start.gamma},
        "most": {
            "tokens": min(limits.max_new_tokens, MOST_TOKENS), "prompts": MOST_PROMPTS, "characters": MOST_CHARACTERS,
            "runs": kinds.MOST_RUNS, "all_tokens": kinds.MOST_TOKENS, "values": kinds.MOST_VALUES,
        },
    }  # fmt: skip
    hooks = "".join(f", {name}: (data) => trigger('{name}', data)" for name in ("measure", "halt"))

    def earlier_runs(_: object) -> State:
        return {"runs": measures.earlier}

    def listed_prompts(asked: State) -> State:
        """How many prompts a list holds and how they begin, or the problem with it."""
        try:
            found = own_prompts(str(asked.get("listed", "")), str(asked.get("file", "")))
        except Exception as error:  # whoever sends what it likes gets a sentence, and the page stays alive
            return {"problem": sentence(error)}
        return {"prompts": [described(prompt) for prompt in found]}

    return elements.lab("measure", constants, hooks, server_functions=[earlier_runs, listed_prompts])


def wire(tab: gr.HTML, pair: gr.components.Component, measures: Measures, runs: Runs) -> None:
    """Connects the component with the measurements. pair: the widget with the models in use."""
    slow: dict[str, Any] = {"queue": True, "show_progress": "hidden", "api_visibility": "private"}

    tab.measure(asking(lambda asked: str(asked.get("kind")), measures.measure), pair, tab, **slow)
    tab.halt(halting(runs), None, None, **slow | {"queue": False})
