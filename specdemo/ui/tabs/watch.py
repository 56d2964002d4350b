"""The Watch tab: the stage, and below it what a visitor sets for a run of their own.

Knows which widgets there are and what they say. Does not know what happens when they are used (`callbacks.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from specdemo import drafters
from specdemo.config import MAX_GAMMA, POLICIES, RULES, RunConfig
from specdemo.core import rules
from specdemo.errors import sentences
from specdemo.models.presets import resolve
from specdemo.prompts import Prompt, load_prompts
from specdemo.ui import elements
from specdemo.ui.answers import answers
from specdemo.ui.i18n import text
from specdemo.ui.labels import Labels
from specdemo.ui.replays import Library
from specdemo.ui.settings import FIELDS, Limits, values_of
from specdemo.ui.stream import run_line

PLAIN = RunConfig()
Fields = dict[str, gr.components.Component]


@dataclass(frozen=True, slots=True)
class Watch:
    """The widgets of the tab. fields: those of the settings, in the order of `settings.FIELDS`, then the knobs."""

    stage: gr.HTML
    fields: Fields
    preset: gr.Dropdown
    run: gr.Button
    stop: gr.Button
    retry: gr.Button
    more: gr.Button
    same_text: gr.Checkbox
    link: gr.Button
    code: gr.Button
    model_line: gr.HTML
    notice: gr.HTML
    notes: gr.HTML
    snippets: gr.HTML
    figure_row: gr.Row
    figures: tuple[gr.Plot, gr.Plot]

    @property
    def settings(self) -> list[gr.components.Component]:
        """The widgets that make up a configuration."""
        return list(self.fields.values())


def build(labels: Labels, limits: Limits, library: Library) -> Watch:
    """Makes the widgets. Call it inside the blocks of the page."""
    stage = _stage(library)
    with gr.Row(visible=False, elem_id="figures") as figure_row:
        figures = (_plot(labels, "race"), _plot(labels, "rounds"))
    with gr.Column(elem_id="dock"):
        notice = elements.line("notice")
        with gr.Row(elem_id="bar"):
            preset, prompt = _preset(labels), _prompt(labels)
            main = _main_fields(labels, limits.start)
            with gr.Column(elem_id="go", min_width=110, scale=0):
                run = _button(labels, "run", variant="primary", interactive=False)
                stop = _button(labels, "stop", variant="stop", visible=False)
        with gr.Row(elem_id="under"):
            model_line = elements.line("model-line")
            retry = _button(labels, "retry", size="sm", visible=False)
            same_text = _checkbox(labels, "same_text", False)
            link, code, more = (_button(labels, name, size="sm") for name in ("link", "code", "more"))
        with gr.Row(elem_id="settings"):
            rest = _more_fields(labels, limits)
            knobs = elements.knobs(limits.start.drafter)
        notes = elements.line("notes")
        snippets = elements.snippets()
    fields = {"prompt": prompt} | main | rest
    return Watch(
        stage=stage,
        fields={name: fields[name] for name in FIELDS} | {"knobs": knobs},
        preset=preset,
        run=run,
        stop=stop,
        retry=retry,
        more=more,
        same_text=same_text,
        link=link,
        code=code,
        model_line=model_line,
        notice=notice,
        notes=notes,
        snippets=snippets,
        figure_row=figure_row,
        figures=figures,
    )


def _stage(library: Library) -> gr.HTML:
    hero = library.hero
    value = run_line("recorded", hero.id) + library.text(hero.id) if hero else ""
    menu = [{"id": one.id, "titles": one.titles} for one in library.all]
    return elements.stage(value, menu, answers(library))


def _button(labels: Labels, name: str, **options: Any) -> gr.Button:
    return labels.make(gr.Button, {"value": f"button.{name}"}, elem_id=name, **options)


def _plot(labels: Labels, name: str) -> gr.Plot:
    says = {"label": f"figure.{name}"}
    return labels.make(gr.Plot, says, show_label=False, container=False, elem_id=f"figure-{name}", min_width=320)


def _preset(labels: Labels) -> gr.Dropdown:
    """Prompts to start from, by kind of task."""

    def choices(language: str) -> list[tuple[str, str]]:
        return [(_title(prompt, language), prompt.id) for prompt in load_prompts()]

    return _dropdown(labels, "preset", choices, None)


def _title(prompt: Prompt, language: str) -> str:
    return f"{text(f'group.{prompt.group}', language)} · {prompt.title(language)}"


def _prompt(labels: Labels) -> gr.Textbox:
    return labels.make(
        gr.Textbox,
        {"label": "field.prompt", "placeholder": "field.prompt_hint"},
        lines=1,
        max_lines=5,
        elem_id="prompt",
        scale=4,
        min_width=260,
    )


def _main_fields(labels: Labels, start: RunConfig) -> Fields:
    """What is changed most, always in sight."""
    return {
        "drafter": _dropdown(labels, "drafter", _drafters, start.drafter),
        "gamma": _slider(labels, "gamma", start.gamma, 0, min(16, MAX_GAMMA), 1),
        "temperature": _slider(labels, "temperature", PLAIN.sampling.temperature, 0, 2, 0.1),
    }


def _drafters(language: str) -> list[tuple[str, str]]:
    names = [(sentences(language)[f"player.drafter.{id}"], id) for id in drafters.ids()]
    return [(name[:1].upper() + name[1:], id) for name, id in names]


def _rules(language: str) -> list[tuple[str, str]]:
    """The rules, each with what it promises."""
    return [
        (f"{text(f'rule.{id}', language)} · {text(f'badge.{rules.entry(id).badge}', language)}", id) for id in RULES
    ]


def _more_fields(labels: Labels, limits: Limits) -> Fields:
    """What is changed seldom, behind a button."""

    def pairs(language: str) -> list[tuple[str, str]]:
        return [(resolve(pair).label, pair) for pair in limits.pairs]

    def policies(language: str) -> list[tuple[str, str]]:
        return [(text(f"policy.{name}", language), name) for name in POLICIES]

    return {
        "pair": _dropdown(labels, "pair", pairs, limits.pairs[0], limits.any_pair),
        "max_new_tokens": _slider(labels, "max_new_tokens", limits.start.max_new_tokens, 8, limits.max_new_tokens, 8),
        "top_k": _number(labels, "top_k", PLAIN.sampling.top_k),
        "top_p": _slider(labels, "top_p", PLAIN.sampling.top_p, 0.05, 1, 0.05),
        "seed": _number(labels, "seed", PLAIN.seed),
        "policy": _dropdown(labels, "policy", policies, PLAIN.policy),
        "confidence": _slider(labels, "confidence", PLAIN.confidence, 0, 1, 0.05),
        "exact": _checkbox(labels, "exact", PLAIN.exact),
        "rule": _dropdown(labels, "rule", _rules, PLAIN.rule),
    }


def _checkbox(labels: Labels, name: str, value: bool) -> gr.Checkbox:
    says = {"label": f"field.{name}", "info": f"field.{name}_hint"}
    return labels.make(gr.Checkbox, says, value=value, elem_id=name, min_width=170)


def _dropdown(
    labels: Labels, name: str, choices: Callable[[str], Any], value: str | None, free: bool = False
) -> gr.Dropdown:
    """free: other values than the choices may be typed."""
    says = {"label": f"field.{name}", "choices": choices}
    free_too = {"filterable": free, "allow_custom_value": free}
    return labels.make(gr.Dropdown, says, value=value, elem_id=name, min_width=150, **free_too)


def _slider(labels: Labels, name: str, value: float, low: float, high: float, step: float) -> gr.Slider:
    return labels.make(
        gr.Slider,
        {"label": f"field.{name}"},
        minimum=low,
        maximum=high,
        value=value,
        step=step,
        elem_id=name,
        min_width=130,
        buttons=[],
    )


def _number(labels: Labels, name: str, value: int) -> gr.Number:
    says = {"label": f"field.{name}"}
    return labels.make(gr.Number, says, value=value, precision=0, minimum=0, elem_id=name, min_width=90)


def defaults(limits: Limits, prompt: str) -> dict[str, Any]:
    """The values that an address leaves out. The language is never left out: it depends on the reader."""
    return values_of(replace(limits.start, prompt=prompt, pair=limits.pairs[0])) | {"knobs": "", "lang": ""}
