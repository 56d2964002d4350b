"""A page over the toy pair, as a process of its own: `python tests/ui/server.py SECONDS_A_PASS PORT`.

Has one more endpoint, /probe, that tells tests what is going on inside. TOY_TRACES: a folder of recorded runs instead
of those that ship. TOY_FAILS: see `explode`. TOY_TOKENS: the longest run that a visitor may ask for.
"""

import gc
import os
import sys
import threading
import time
from pathlib import Path

import gradio as gr
import psutil
from toy_pair import ToyPair

from specdemo.errors import PairError
from specdemo.ui.app import Settings, build_app, launch
from specdemo.ui.models import Progress
from specdemo.ui.replays import SHIPPED, Library

REFUSED = "qwen3-4b+0.6b"
"""A pair that is on offer but cannot be loaded."""
ERRORS = {"memory": MemoryError("no room"), "bug": ZeroDivisionError("a bug")}


def explode(call: int) -> None:
    """Fails as models fail, where a test says so in the environment: `memory:CALL bug:CALL`."""
    for failure in os.environ.get("TOY_FAILS", "").split():
        kind, at = failure.split(":")
        if call == int(at):
            raise ERRORS[kind]


def main(delay_s: float, port: int) -> None:
    pairs: dict[str, ToyPair] = {}
    most = int(os.environ.get("TOY_TOKENS", Settings().max_new_tokens))

    def load(spec: str, progress: Progress) -> ToyPair:
        if spec == REFUSED:
            progress("download", 30, 100)
            time.sleep(1.0)
            raise PairError("no_cache", name="The other pair")
        pairs[spec] = ToyPair(delay_s, explode, limit=4 * most)
        return pairs[spec]

    library = Library(Path(os.environ.get("TOY_TRACES", SHIPPED)))
    page = build_app(Settings(pairs=("smollm2-135m", REFUSED), max_new_tokens=most), load, library)

    def probe() -> dict[str, int]:
        gc.collect()
        return {
            "threads": threading.active_count(),
            "memory": psutil.Process().memory_info().rss,
            "busy": page.device.busy,
            "runs": page.runs.going,
            "calls": sum(pair.calls for pair in pairs.values()),
        }

    with page.demo:
        gr.api(probe, api_name="probe")
    launch(page, "127.0.0.1", port)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
