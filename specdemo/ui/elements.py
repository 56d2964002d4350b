"""The page's own components: a fixed piece of HTML each, filled by the page's scripts as text.

Knows gradio's HTML component. Does not know runs. No value ever reaches a template: gradio renders templates as
code, so a model that writes JavaScript would run it in every visitor's page.
"""

import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from specdemo import drafters
from specdemo.core.verify import verify
from specdemo.ui.i18n import LANGUAGES, Texts
from specdemo.ui.replays import MOST_BYTES
from specdemo.web import markup


def _scripted(
    script: str, inner: str, value: str = "", constants: dict[str, Any] | None = None, hooks: str = "", **options: Any
) -> gr.HTML:
    """HTML that never changes, handed to `window.specdemo.<script>` once it is in the page.

    What never changes is written into that call and is no property: gradio forgets properties of a component that
    is updated before it is in place. Functions and not subclasses, beside whose source gradio would write files.
    """
    given = json.dumps(constants or {}, ensure_ascii=False)
    shared = f"element, props, watch, server, texts: window.specdemo.texts{hooks}"
    return gr.HTML(
        value,
        html_template=inner,
        js_on_load=f"window.specdemo.{script}({{{shared}, ...{given}}})",
        apply_default_css=False,
        **options,
    )


def head() -> gr.HTML:
    """The page's name, the switch for the language and the one for the theme. Value: the language, once it is chosen.

    The browser chooses first, by the address or by its own languages. Event `language`: it was chosen.
    """
    chosen = ", chosen: () => trigger('language')"
    constants = {"languages": LANGUAGES}
    return _scripted("head", markup.HEAD, "en", constants, chosen, elem_id="head")


def stage(value: str, traces: Sequence[dict[str, Any]], answers: Sequence[Callable[..., Any]]) -> gr.HTML:
    """The player with its bar of runs. Value: a line that names the run, then a trace, or "".

    traces: the menu of recorded runs as [{id, titles}]. answers: functions that it may call.
    Event `figure`: the visitor wants a figure of the run on show; data {text, language, theme}.
    """
    return _scripted(
        "stage",
        markup.STAGE,
        value,
        {"traces": list(traces), "most_bytes": MOST_BYTES, "verify_source": inspect.getsource(verify)},
        ", figure: (data) => trigger('figure', data)",
        elem_id="stage",
        server_functions=list(answers),
    )


def lab(name: str, constants: dict[str, Any] | None = None, hooks: str = "", **options: Any) -> gr.HTML:
    """A tab beside the stage, filled by its script. constants, hooks: further arguments of the script."""
    return _scripted(name, markup.LAB, "", constants, hooks, elem_id=name, **options)


def lessons(constants: dict[str, Any]) -> gr.HTML:
    """The panel of lessons. Event `tried`: the visitor wants settings put into the widgets; data: the settings."""
    hooks = ", settings: (data) => trigger('tried', data)"
    return _scripted("lessons", markup.LESSONS, "", constants, hooks, elem_id="lessons")


def line(elem_id: str) -> gr.HTML:
    """One line of text in the reader's language. Value: of `say`, or ""."""
    return _scripted("line", '<p class="sp-line"></p>', elem_id=elem_id)


def say(kind: str, texts: Texts, fraction: float | None = None) -> str:
    """The value of a `line`. kind: "info", "good", "bad", or "busy", which shows how far something is."""
    return json.dumps({"kind": kind, "texts": texts, "fraction": fraction}, ensure_ascii=False)


def snippets() -> gr.HTML:
    """The settings as code for other programs. Value: JSON of [{name, code, note}], or ""."""
    return _scripted("snippets", '<div class="sp-snippets" hidden></div>', elem_id="snippets")


def knobs(drafter: str) -> gr.HTML:
    """The settings that a drafter has beside γ. Value: JSON of name → text, "" where none is set. Property: drafter."""
    constants = {"drafters": {entry.id: _knobs(entry) for entry in drafters.entries()}}
    return _scripted("knobs", '<div class="sp-knobs"></div>', "", constants, elem_id="knobs", drafter=drafter)


def _knobs(entry: drafters.Entry) -> list[dict[str, Any]]:
    """A drafter's knobs as data. Those that name a file of this machine are not for visitors."""
    return [
        {
            "name": knob.name,
            "kind": knob.kind,
            "default": knob.default,
            "low": knob.low,
            "high": knob.high,
            "choices": list(knob.choices),
        }
        for knob in entry.knobs
        if knob.kind != "path"
    ]
