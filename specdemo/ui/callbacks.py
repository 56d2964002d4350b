"""What happens when the widgets of the Watch tab are used.

Knows widgets, models and runs. Decides nothing about decoding and keeps nothing about a visitor: what a visitor has
is in their page.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from typing import Any

import gradio as gr

from specdemo import drafters
from specdemo.config import REJECTION, RULES, RunConfig
from specdemo.core import rules
from specdemo.errors import SettingError, UserError
from specdemo.models.presets import resolve, suited
from specdemo.prompts import load_prompts
from specdemo.ui import figures, replays
from specdemo.ui.elements import say
from specdemo.ui.i18n import LANGUAGES, Texts, closest, spoken, text, texts
from specdemo.ui.models import Models, Status
from specdemo.ui.problems import sentence
from specdemo.ui.runs import Runs
from specdemo.ui.settings import FIELDS, Limits, config_of, values_of_query
from specdemo.ui.snippets import snippets
from specdemo.ui.stream import grown, windows
from specdemo.ui.tabs.watch import Watch
from specdemo.ui.waiting import Place

POLL_S = 0.25
"""How often a page looks how far a pair is."""

SHARED_NOISE = "shared-noise"
"""The rule under which both lanes say the same at any temperature."""

Updates = tuple[Any, ...]


class Callbacks:
    """The functions behind the widgets of one page."""

    def __init__(self, models: Models, runs: Runs, limits: Limits, default_prompt: str) -> None:
        self._models, self._runs, self._limits, self._default_prompt = models, runs, limits, default_prompt

    def run(self, request: gr.Request, *values: Any) -> Iterator[Updates]:
        """A live run: (stage, notice, run button, stop button) as it grows. The last update always comes."""
        going = (gr.skip(), "", gr.update(visible=False), gr.update(visible=True))
        problem: Texts | None = None
        try:
            config = config_of(_values(values), self._limits)
            yield going
            with self._runs.asked(config, str(request.session_hash)) as run:
                for place in run.waits():
                    yield gr.skip(), in_line(place) if place else gr.skip(), gr.skip(), gr.skip()
                yield going
                for value in windows(run.pieces()):
                    yield value, gr.skip(), gr.skip(), gr.skip()
        except Exception as error:  # the page stays alive whatever happens in a run
            problem = sentence(error)
        yield gr.skip(), say("bad", problem) if problem else "", gr.update(visible=True), gr.update(visible=False)

    def stop(self, request: gr.Request) -> None:
        """Ends the visitor's runs after their round."""
        self._runs.stop(str(request.session_hash))

    async def retry_pair(self, pair: str) -> AsyncIterator[Updates]:
        """Tries to load a pair again that could not be loaded, and reports."""
        if self._limits.offers(pair):
            self._models.want(pair, again=True)
        async for update in self.watch_pair(pair):
            yield update

    async def watch_pair(self, pair: str) -> AsyncIterator[Updates]:
        """Begins to load a pair and reports (model line, run button, retry button) until it is there or cannot be."""
        if not self._limits.offers(pair):
            return
        seen = None
        while True:
            status = self._models.want(pair)
            if status != seen:
                yield (
                    model_line(status),
                    gr.update(interactive=status.state == "ready"),
                    gr.update(visible=status.state == "failed"),
                )
            seen = status
            if status.state != "loading":
                return
            await asyncio.sleep(POLL_S)

    def restore(self, request: gr.Request) -> list[Any]:
        """What the address asks for: (notice, fields …); a sentence and the defaults if it asks for nonsense."""
        query = dict(request.query_params)
        try:
            values = values_of_query(query, self._limits)
        except UserError as error:
            values = values_of_query({}, self._limits)
            notice = say("bad", spoken(error))
        else:
            notice = ""
        values["prompt"] = values["prompt"] or self._default_prompt
        values["knobs"] = json.dumps(values["knobs"]) if values["knobs"] else ""
        return [notice, *(values[name] for name in (*FIELDS, "knobs"))]

    def notes(self, pair: str, drafter: str, temperature: float, rule: str = REJECTION) -> str:
        """What to know about this choice: what the draft needs, the model's language, the seed, the rule."""
        if not self._limits.offers(pair) or drafter not in drafters.ids():
            return ""
        preset = resolve(pair)
        notes = [texts(f"about.{drafter}")]
        if drafters.entry(drafter).control:
            notes.append(texts("about.control"))
        if drafter == "model" and preset.draft is None:
            notes.append(texts("about.no_draft", pair=preset.label))
        if preset.english_only:
            notes.append(texts("about.english"))
        if not temperature:
            notes.append(texts("about.seed_unused"))
        if rule in RULES:
            notes.append(rule_note(rules.entry(rule)))
        return say("info", {language: " ".join(note[language] for note in notes) for language in LANGUAGES})

    def suit(self, pair: str, drafter: str) -> Updates:
        """(drafter, γ) for a pair just chosen, where the drafter of before may need what this pair has not."""
        if not self._limits.offers(pair) or drafter not in drafters.ids() or drafters.entry(drafter).needs == "none":
            return gr.skip(), gr.skip()
        start = suited(pair)
        return start.drafter, start.gamma

    def choose_prompt(self, id: str | None) -> Any:
        """The text of a preset."""
        return next((prompt.text for prompt in load_prompts() if prompt.id == id), gr.skip())

    def code(self, *values: Any) -> tuple[str, str]:
        """(snippets, notice): the settings as code for other programs."""
        try:
            made = snippets(config_of(_values(values), self._limits))
        except Exception as error:  # as in a run
            return "", say("bad", sentence(error))
        return json.dumps([asdict(snippet) for snippet in made], ensure_ascii=False), ""

    def figures(self, event: gr.EventData) -> Updates:
        """(row, race, rounds): figures of the trace that the page sends along."""
        asked = event._data if isinstance(event._data, dict) else {}
        try:
            theme = "dark" if asked.get("theme") == "dark" else "light"
            race, rounds = figures.figures(replays.read(asked.get("text")), closest(asked.get("language")), theme)
        except UserError:
            return gr.update(visible=False), None, None
        return gr.update(visible=True), race, rounds

    def generate(
        self,
        prompt: str,
        drafter: str = "prompt-lookup",
        gamma: float = 4,
        temperature: float = 0.0,
        top_k: float = 0,
        top_p: float = 1.0,
        max_new_tokens: float = 96,
        seed: float = 0,
        policy: str = "constant",
        pair: str = "",
        rule: str = REJECTION,
        request: gr.Request | None = None,
    ) -> Iterator[str]:
        """A race against plain decoding as a growing trace, one JSON object per line; see specdemo/wire.py."""
        values = {
            "prompt": prompt, "drafter": drafter, "gamma": gamma, "temperature": temperature, "top_k": top_k,
            "top_p": top_p, "max_new_tokens": max_new_tokens, "seed": seed, "policy": policy,
            "pair": pair or self._limits.pairs[0], "rule": rule,
        }  # fmt: skip
        try:
            config = config_of(values, self._limits)
            yield from grown(self._runs.live(config, str(request.session_hash) if request else ""))
        except Exception as error:  # the caller gets a sentence, the log the rest
            raise gr.Error(sentence(error)["en"], print_exception=False) from None


def in_line(place: Place) -> str:
    """Where a run stands before its turn, as a line."""
    key = ("expected" if place.expected_s is not None else "place") if place.ahead else "next"
    if key == "next" and place.expected_s is not None:
        key = "expected_next"
    return say("busy", texts(f"wait.{key}", ahead=place.ahead, seconds=max(1, round(place.expected_s or 0))))


def rule_note(rule: rules.Entry) -> Texts:
    """What a rule does, what it promises and whose part of a round it changes."""
    says = {
        language: {
            "rule": text(f"rule.{rule.id}", language),
            "badge": text(f"badge.{rule.badge}", language),
            "about": text(f"rule_about.{rule.id}", language),
            "side": text(f"side.{rule.side}", language),
        }
        for language in LANGUAGES
    }
    return {language: text("rule_note", language, **params) for language, params in says.items()}


def _values(values: tuple[Any, ...]) -> dict[str, Any]:
    """The values of the widgets by field."""
    named = dict(zip((*FIELDS, "knobs"), values, strict=True))
    return named | {"knobs": _knobs(named["knobs"])}


def _knobs(given: object) -> dict[str, Any]:
    """A drafter's settings from the JSON that their widget sends, "" where there are none."""
    try:
        found = json.loads(given) if isinstance(given, str) and given else given or {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise SettingError("knobs_no_object", value=given)
    return found


def model_line(status: Status) -> str:
    """How far a pair is, as a line."""
    label = resolve(status.spec).label
    if status.state == "failed":
        assert status.problem is not None
        return say("bad", status.problem)
    if status.state == "ready":
        dtype, device = status.facts
        key = "model.ready_english" if resolve(status.spec).english_only else "model.ready"
        return say("good", texts(key, pair=label, dtype=dtype, device=device))
    fraction = min(status.done / status.total, 1.0) if status.total else None
    said = {}
    for language in LANGUAGES:
        stage = text(f"stage.{status.stage}", language)
        percent = "" if fraction is None else f" {100 * fraction:.0f} %"
        said[language] = text("model.loading", language, pair=label, stage=stage, percent=percent)
    return say("busy", said, fraction)


def able_policy(drafter: str, policy: str) -> str:
    """The policy, or the plain one where this draft cannot say how sure it is."""
    return RunConfig().policy if policy == "confidence" and drafter not in drafters.confident() else policy


def wire(watch: Watch, callbacks: Callbacks, page: gr.Blocks, head: gr.HTML, defaults: dict[str, Any]) -> None:
    """Connects the widgets with their functions."""
    fields, settings = watch.fields, watch.settings
    quick: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    slow: dict[str, Any] = quick | {"queue": True}
    about_pair = [watch.model_line, watch.run, watch.retry]
    about_choice = [fields["pair"], fields["drafter"], fields["temperature"], fields["rule"]]

    starts = [watch.run.click, fields["prompt"].submit]
    # Raw: what a slider or a menu would refuse, in English, is refused by `config_of`, in the reader's language.
    raw: dict[str, Any] = {"preprocess": False, "postprocess": False}
    gr.on(starts, callbacks.run, settings, [watch.stage, watch.notice, watch.run, watch.stop], **raw, **slow)
    gr.on(starts, None, [*settings, head], None, js=_script("remember", defaults))
    watch.stop.click(callbacks.stop, **quick)

    restored = page.load(callbacks.restore, None, [watch.notice, *settings], **quick)
    restored.then(callbacks.watch_pair, fields["pair"], about_pair, **slow)
    restored.then(callbacks.notes, about_choice, watch.notes, **quick)
    fields["pair"].input(callbacks.watch_pair, fields["pair"], about_pair, **slow)
    fields["pair"].input(
        callbacks.suit, [fields["pair"], fields["drafter"]], [fields["drafter"], fields["gamma"]], **quick
    )
    watch.retry.click(callbacks.retry_pair, fields["pair"], about_pair, **slow)

    gr.on([field.change for field in about_choice], callbacks.notes, about_choice, watch.notes, **quick)
    fields["drafter"].change(lambda drafter: gr.update(drafter=drafter), fields["drafter"], fields["knobs"], **quick)
    fields["drafter"].input(lambda: "", None, fields["knobs"], **quick)
    fields["drafter"].input(able_policy, [fields["drafter"], fields["policy"]], fields["policy"], **quick)
    fields["temperature"].change(
        lambda t: gr.update(interactive=bool(t)), fields["temperature"], fields["seed"], **quick
    )
    fields["policy"].change(
        lambda policy: gr.update(interactive=policy == "confidence"), fields["policy"], fields["confidence"], **quick
    )
    watch.same_text.input(lambda on: SHARED_NOISE if on else REJECTION, watch.same_text, fields["rule"], **quick)
    fields["rule"].change(lambda rule: rule == SHARED_NOISE, fields["rule"], watch.same_text, **quick)
    watch.preset.input(callbacks.choose_prompt, watch.preset, fields["prompt"], **quick)

    watch.link.click(None, [*settings, head], None, js=_script("link", defaults, "document.querySelector('#link')"))
    watch.code.click(callbacks.code, settings, [watch.snippets, watch.notice], **raw, **quick)
    watch.more.click(None, None, None, js="() => window.specdemo.sheet()")
    watch.stage.figure(callbacks.figures, None, [watch.figure_row, *watch.figures], **quick)


def _script(name: str, defaults: dict[str, Any], *more: str) -> str:
    """A call of `window.specdemo.<name>` with the names, the defaults and the values of the settings."""
    names = json.dumps([*FIELDS, "knobs", "lang"])
    arguments = ", ".join([names, json.dumps(defaults, ensure_ascii=False), "values", *more])
    return f"(...values) => {{ window.specdemo.{name}({arguments}); }}"
