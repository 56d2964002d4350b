"""A page over the toy pair, as a process of its own: `python tests/ui/server.py SECONDS_A_PASS PORT`.

Has one more endpoint, /probe, that tells tests what is going on inside. TOY_TRACES: a folder of recorded runs instead
of those that ship. TOY_FAILS: see `explode`. TOY_TOKENS: the longest run that a visitor may ask for. All else is set as
whoever runs a page sets it.
"""

import errno
import gc
import os
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import gradio as gr
import psutil
import torch
from toy_pair import ToyPair

from specdemo.config import RunConfig
from specdemo.errors import PairError
from specdemo.ui import hosting
from specdemo.ui.app import build_app, serve
from specdemo.ui.models import Progress
from specdemo.ui.precision import split
from specdemo.ui.replays import SHIPPED, Library

REFUSED = "qwen3-4b+0.6b"
"""A pair that is on offer but cannot be loaded."""
ERRORS = {
    "memory": MemoryError("no room"),
    "cpu": RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 40000000000 bytes."),
    "cuda": torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    "disk": OSError(errno.ENOSPC, "No space left on device"),
    "bug": ZeroDivisionError("a bug"),
}


def explode(call: int) -> None:
    """Fails as models fail, where a test says so in the environment: `memory:CALL bug:CALL`."""
    for failure in os.environ.get("TOY_FAILS", "").split():
        kind, at = failure.split(":")
        if call == int(at):
            raise ERRORS[kind]


def main(delay_s: float, port: int) -> None:
    pairs: dict[str, ToyPair] = {}
    most = int(os.environ.get("TOY_TOKENS", hosting.Settings().max_new_tokens))

    def load(spec: str, progress: Progress) -> ToyPair:
        if spec == REFUSED:
            progress("download", 30, 100)
            time.sleep(1.0)
            raise PairError("no_cache", name="The other pair")
        pairs[spec] = ToyPair(delay_s, explode, limit=4 * most)
        pairs[spec].dtype = split(spec)[1] or ToyPair.dtype
        return pairs[spec]

    library = Library(Path(os.environ.get("TOY_TRACES", SHIPPED)))
    own = {"pairs": ("smollm2-135m", REFUSED), "max_new_tokens": most, "host": "127.0.0.1", "port": port}
    page = build_app(replace(hosting.settings([], os.environ), start=RunConfig(), **own), load, library)

    def probe() -> dict[str, int]:
        gc.collect()
        return {
            "threads": threading.active_count(),
            "memory": psutil.Process().memory_info().rss,
            "busy": page.device.busy,
            "tables": page.tables.bytes,
            "runs": page.runs.going,
            "calls": sum(pair.calls for pair in pairs.values()),
        }

    with page.demo:
        gr.api(probe, api_name="probe")
    serve(page)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
