"""The lessons: a panel beside every tab, and what happens when a lesson wants settings put into the widgets.

Knows its component and the widgets by name. Does not know what a lesson says (`assets/lessons`).
"""

from collections.abc import Mapping
from typing import Any

import gradio as gr

from specdemo.prompts import load_prompts
from specdemo.ui import elements
from specdemo.ui.replays import Library
from specdemo.ui.settings import FIELDS, Limits, config_of
from specdemo.ui.tabs.asking import question
from specdemo.ui.tabs.watch import Watch, defaults
from specdemo.web.lessons import data


def build(library: Library) -> gr.HTML:
    """Makes the panel. Call it inside the blocks of the page. Lessons whose runs the library lacks are left out."""
    return elements.lessons({"data": data(), "traces": [{"id": one.id, "titles": one.titles} for one in library.all]})


def wire(panel: gr.HTML, watch: Watch, limits: Limits) -> None:
    """Connects the panel with the widgets of the settings."""
    plain = defaults(limits, "")

    def tried(event: gr.EventData) -> list[Any]:
        values = values_of_try(question(event), plain)
        config_of(values | {"knobs": {}, "pair": limits.pairs[0]}, limits)
        return [*(values.get(name, gr.skip()) for name in FIELDS), ""]

    panel.tried(tried, None, watch.settings, queue=False, show_progress="hidden", api_visibility="private")


def values_of_try(asked: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the widgets for what a lesson asks: its own over the defaults. The models stay as they are."""
    text = {prompt.id: prompt.text for prompt in load_prompts()}
    rest = {name: plain[name] for name in FIELDS if name != "pair"}
    prompt = text.get(str(asked.get("prompt")), "")
    return rest | {name: value for name, value in asked.items() if name in rest} | {"prompt": prompt}
