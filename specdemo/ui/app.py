"""The page as a whole: parts made here and nowhere else, put together and served.

Knows every part of the page. Decides nothing about any of them.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

# Before gradio is imported: it would ask its maker's server for news.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

import gradio as gr
from starlette.middleware import Middleware

from specdemo.config import RunConfig
from specdemo.device import Device
from specdemo.models.loader import Pair, fetch_pair, load_pair
from specdemo.models.presets import suited
from specdemo.prompts import hero
from specdemo.ui import assets, bundle, callbacks, elements, gate, health, logs
from specdemo.ui.gate import Gate, Readers
from specdemo.ui.hosting import Settings
from specdemo.ui.labels import Labels
from specdemo.ui.measure import Measures
from specdemo.ui.models import LoadPair, Models, Progress, nothing_to_fetch
from specdemo.ui.precision import split
from specdemo.ui.prove import Exact, Proofs
from specdemo.ui.replays import Library
from specdemo.ui.runs import Runs
from specdemo.ui.settings import Limits
from specdemo.ui.tables import Tables
from specdemo.ui.tabs import lessons, measure, prove, theory, train, watch
from specdemo.ui.training import Training
from specdemo.ui.waiting import Capacity
from specdemo.ui.workshop import Classroom, Workshop

THREADS = 128
"""Visitors whose updates may be made at once, beside those who wait in line; gradio's own limit of 40 is a queue."""
WAITING = 256
"""Events that may wait for a thread before newcomers are turned away, beside those who wait in line."""
BODY_BYTES = 16_000_000
"""The largest request: two traces to race."""
LAST_WORDS_S = 0.5
"""Time for the last updates of runs to be sent before the server ends."""
SWITCH_S = 0.0005
"""How long a busy thread keeps the interpreter: the device thread must not make streams wait for 5 ms each time."""


MOVE_STYLE = """(() => {
const move = () => document.body.append(document.getElementById("specdemo-style"));
if (document.body) move(); else addEventListener("DOMContentLoaded", move);
})()"""


ICON = """<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
%3Crect width='16' height='16' rx='4' fill='%233d3bbd'/%3E\
%3Cpath d='M3.5 8.2 6.4 11l6-6.4' fill='none' stroke='white' stroke-width='2'/%3E%3C/svg%3E">"""


@dataclass(frozen=True, slots=True)
class Page:
    """The page with what works behind it."""

    demo: gr.Blocks
    device: Device
    models: Models
    runs: Runs
    settings: Settings = field(default_factory=Settings)
    readers: Readers = field(default_factory=Readers)
    workshop: Workshop | None = None
    tables: Tables = field(default_factory=Tables)

    def close(self, patience_s: float) -> None:
        """Lets runs end with all that they have, in front of whoever watches; then ends the server and the device."""
        self.runs.close()
        deadline = time.monotonic() + patience_s
        while self.runs.going and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(LAST_WORDS_S)
        if self.workshop:
            self.workshop.hub.end()
        self.demo.close(verbose=False)
        self.device.shutdown(patience_s)
        if self.workshop:
            self.workshop.hub.close()


def build_app(
    settings: Settings,
    load: LoadPair | None = None,
    library: Library | None = None,
    make_runs: Callable[..., Runs] = Runs,
) -> Page:
    """Puts the page together and starts loading its first pair. load: in place of models. library: recorded runs."""
    device = Device()
    fetch = nothing_to_fetch if load else _fetch
    models = Models(device, load or partial(_load, settings), settings.keep, fetch)
    capacity = Capacity(settings.runs_at_once, settings.runs_per_visitor, settings.waiting, settings.memory_mb << 20)
    readers, tables = Readers(), Tables()
    runs = make_runs(device, models, capacity, settings.max_seconds, readers.reads, tables)
    limits = Limits(
        settings.pairs,
        settings.max_new_tokens,
        settings.prompt_characters,
        start=_start(settings),
        any_pair=settings.any_pair,
    )
    prompt = hero().text
    functions = callbacks.Callbacks(models, runs, limits, prompt)
    labels = Labels()
    with gr.Blocks(title="specdemo", fill_width=True, analytics_enabled=False) as demo:
        top = elements.head()
        shelf = library or Library()
        guide = lessons.build(shelf)
        tab = watch.build(labels, limits, shelf)
        lessons.wire(guide, tab, limits)
        measures = Measures(device, models, runs, limits, shelf)
        measure.wire(measure.build(measures, limits), tab.fields["pair"], measures, runs)
        theory.build()
        proving = prove.build(Exact(device), limits, prompt)
        prove.wire(proving, tab.fields["pair"], Proofs(device, models, runs, limits), runs)
        teaching = Training(device, models, runs, tables, limits)
        train.wire(train.build(), tab.fields, demo, teaching, tables, runs)
        callbacks.wire(tab, functions, demo, top, watch.defaults(limits, prompt))
        top.language(
            labels.relabel, top, labels.components, queue=False, show_progress="hidden", api_visibility="private"
        )
        gr.api(functions.generate, api_name="generate")
    demo.queue(api_open=False, default_concurrency_limit=None, max_size=WAITING + settings.waiting)
    models.want(limits.pairs[0])
    room = _workshop(settings, runs, limits, shelf, readers)
    return Page(demo, device, models, runs, settings, readers, room, tables)


def _workshop(settings: Settings, runs: Runs, limits: Limits, shelf: Library, readers: Readers) -> Workshop | None:
    if not settings.workshop:
        return None
    classroom = Classroom(runs, limits, shelf, readers)
    return Workshop(classroom, settings.workshop_folder, settings.workshop_secret, settings.workshop_address)


def _start(settings: Settings) -> RunConfig:
    """What the page begins with, within what it allows."""
    start = settings.start or suited(settings.pairs[0])
    return replace(start, max_new_tokens=min(start.max_new_tokens, settings.max_new_tokens))


def _load(settings: Settings, spec: str, progress: Progress) -> Pair:
    name, dtype = split(spec)
    return load_pair(name, dtype or settings.dtype, settings.device, progress)


def _fetch(spec: str, progress: Progress) -> None:
    fetch_pair(split(spec)[0], progress)


def serve(page: Page) -> None:
    """Serves the page until the process is told to stop (SIGTERM, SIGINT), then ends it gracefully."""
    stop_log = logs.configure(page.settings.log)
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    host = page.settings.host or ("0.0.0.0" if page.workshop else None)
    address = launch(page, host, page.settings.port, block=False)
    print(f"specdemo: {page.workshop.invitation(address) if page.workshop else address}", flush=True)
    while not told.wait(1.0):  # without a timeout some systems deliver no signal meanwhile
        pass
    page.close(page.settings.stop_seconds)
    stop_log()


def launch(page: Page, host: str | None = None, port: int | None = None, block: bool = True) -> str:
    """Serves the page and returns its address; by default until the process ends."""
    sys.setswitchinterval(SWITCH_S)
    _, address, _ = page.demo.launch(
        server_name=host,
        server_port=port,
        prevent_thread_lock=not block,
        quiet=not block,
        max_threads=THREADS + page.settings.waiting,
        state_session_capacity=page.settings.visitors,
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        footer_links=[],
        show_error=False,
        theme=theme(),
        head=head(),
        app_kwargs={
            "routes": [
                assets.route(),
                health.route(page.device, page.models, page.runs),
                *(page.workshop.routes if page.workshop else ()),
            ],
            "middleware": [Middleware(Gate, page.readers, gate.headers(page.settings.embed, os.environ))],
            "max_body_size": BODY_BYTES,
        },
    )
    return address


def head() -> str:
    """Styles and scripts, within the page itself: no request that a sub-path could break.

    The styles do not go by `css=`, where gradio rewrites them and loses container queries and `:has()`. They move
    behind gradio's own, so that of two rules of the same weight ours holds.
    """
    style, script = bundle.style(), bundle.inline(bundle.script())
    return f'{ICON}<style id="specdemo-style">{style}</style><script>{script}</script><script>{MOVE_STYLE}</script>'


def theme() -> gr.themes.Base:
    """Gradio's plainest theme with the reader's own fonts; the rest is in the style sheets."""
    fonts = [
        gr.themes.Font(name)
        for name in ("system-ui", "Segoe UI", "Noto Sans", "PingFang SC", "Microsoft YaHei", "sans-serif")
    ]
    mono = [gr.themes.Font(name) for name in ("ui-monospace", "SF Mono", "Menlo", "Consolas", "monospace")]
    return gr.themes.Base(font=fonts, font_mono=mono)
