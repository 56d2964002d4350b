"""The page as a whole: parts made here and nowhere else, put together and served.

Knows every part of the page. Decides nothing about any of them.
"""

import os
import sys
from dataclasses import dataclass, field
from functools import partial

# Before gradio is imported: it would ask its maker's server for news.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

import gradio as gr

from specdemo.device import Device
from specdemo.models.loader import Pair, load_pair
from specdemo.models.presets import PRESETS
from specdemo.prompts import hero
from specdemo.ui import assets, bundle, callbacks, elements
from specdemo.ui.labels import Labels
from specdemo.ui.models import LoadPair, Models, Progress
from specdemo.ui.prove import Exact, Proofs
from specdemo.ui.replays import Library
from specdemo.ui.runs import Runs
from specdemo.ui.settings import Limits
from specdemo.ui.tabs import prove, theory, watch

THREADS = 128
"""Visitors whose updates may be made at once; gradio's own limit of 40 is a queue for the others."""
WAITING = 256
"""Events that may wait for a thread before newcomers are turned away."""
VISITORS = 500
"""Tabs whose state is kept, 0.2 MB each; the one unused for longest makes room."""
BODY_BYTES = 16_000_000
"""The largest request: two traces to race."""
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
class Settings:
    """What whoever starts the page chooses. pairs: on offer, the first one is loaded at once."""

    pairs: tuple[str, ...] = tuple(PRESETS)
    dtype: str = "auto"
    device: str = "auto"
    max_new_tokens: int = 512
    keep: int = 2


@dataclass(frozen=True, slots=True)
class Page:
    """The page with what works behind it."""

    demo: gr.Blocks
    device: Device
    models: Models
    runs: Runs
    settings: Settings = field(default_factory=Settings)


def build_app(settings: Settings, load: LoadPair | None = None, library: Library | None = None) -> Page:
    """Puts the page together and starts loading its first pair. load: in place of models. library: recorded runs."""
    device = Device()
    models = Models(device, load or partial(_load, settings), settings.keep)
    runs = Runs(device, models)
    limits = Limits(settings.pairs, settings.max_new_tokens)
    prompt = hero().text
    functions = callbacks.Callbacks(models, runs, limits, prompt)
    labels = Labels()
    with gr.Blocks(title="specdemo", fill_width=True, analytics_enabled=False) as demo:
        top = elements.head()
        tab = watch.build(labels, limits, library or Library())
        theory.build()
        proving = prove.build(Exact(device), limits, prompt)
        prove.wire(proving, tab.fields["pair"], Proofs(device, models, runs, limits), runs)
        callbacks.wire(tab, functions, demo, top, watch.defaults(limits, prompt))
        top.language(
            labels.relabel, top, labels.components, queue=False, show_progress="hidden", api_visibility="private"
        )
        gr.api(functions.generate, api_name="generate")
    demo.queue(api_open=False, default_concurrency_limit=None, max_size=WAITING)
    models.want(limits.pairs[0])
    return Page(demo, device, models, runs, settings)


def _load(settings: Settings, spec: str, progress: Progress) -> Pair:
    return load_pair(spec, settings.dtype, settings.device, progress)


def launch(page: Page, host: str | None = None, port: int | None = None, block: bool = True) -> str:
    """Serves the page and returns its address; by default until the process ends."""
    sys.setswitchinterval(SWITCH_S)
    _, address, _ = page.demo.launch(
        server_name=host,
        server_port=port,
        prevent_thread_lock=not block,
        quiet=not block,
        max_threads=THREADS,
        state_session_capacity=VISITORS,
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        footer_links=[],
        show_error=False,
        theme=theme(),
        head=head(),
        app_kwargs={"routes": [assets.route()], "max_body_size": BODY_BYTES},
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
