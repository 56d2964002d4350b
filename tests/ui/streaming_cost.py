"""How much a reader slows decoding down, on the real model: `PYTHONPATH=.:tests/ui python tests/ui/streaming_cost.py`.

Not a test, for it needs a quiet machine. In turns: a run whose events are thrown away where they are made; the same
run drained over HTTP by a program that does nothing else; and drained by gradio's own client, which computes on the
same cores. What is compared is the lanes' own clocks.
"""

import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median

import httpx
from gradio_client import Client

from specdemo import lanes
from specdemo.config import REJECTION, RunConfig
from specdemo.core.events import Event
from specdemo.core.result import Results, collect
from specdemo.prompts import hero
from specdemo.ui import replays
from specdemo.ui.app import Page, Settings, build_app, launch

CONFIG = RunConfig(prompt=hero().text, gamma=5, max_new_tokens=96)


def seconds(results: Results) -> float:
    """Device time of both lanes."""
    return sum(lane.metrics.decode_s for lane in results.lanes.values() if lane.metrics)


def alone(page: Page) -> float:
    """The run with nobody behind it."""

    def job() -> Iterator[Event]:
        with page.models.using(CONFIG.pair) as pair:
            yield from lanes.open_race(pair, lanes.against_baseline(CONFIG), inspect=True)

    return seconds(collect(page.device.stream(job)))


def over_http(url: str) -> float:
    """The run as a program gets it that only reads."""
    settings = [CONFIG.drafter, CONFIG.gamma, 0, 0, 1, CONFIG.max_new_tokens, 0, "constant", "", REJECTION]
    asked = {"data": [CONFIG.prompt, *settings]}
    with httpx.Client(timeout=300) as client:
        call = client.post(f"{url}gradio_api/call/generate", json=asked).json()["event_id"]
        with client.stream("GET", f"{url}gradio_api/call/generate/{call}") as answer:
            last = [line for line in answer.iter_lines() if line.startswith("data: ")][-1]
    return seconds(collect(replays.read(json.loads(last.removeprefix("data: "))[0]).events))


def by_gradio_client(url: str) -> float:
    """The run as gradio's client gets it."""
    job = Client(url, verbose=False).submit(
        CONFIG.prompt, gamma=CONFIG.gamma, max_new_tokens=CONFIG.max_new_tokens, api_name="/generate"
    )
    return seconds(collect(replays.read(list(job)[-1]).events))


def main(tries: int) -> None:
    page = build_app(Settings(pairs=("smollm2-135m",)))
    url = launch(page, "127.0.0.1", block=False)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
        ways: dict[str, Callable[[], float]] = {
            "alone": lambda: alone(page),
            "over HTTP": lambda: other.submit(over_http, url).result(),
            "by gradio's client": lambda: other.submit(by_gradio_client, url).result(),
        }
        alone(page)
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(tries):
            for name, way in ways.items():
                taken[name].append(way())
            print("  ".join(f"{name} {times[-1]:.2f} s" for name, times in taken.items()), flush=True)
    base = median(taken["alone"])
    for name, times in taken.items():
        print(f"{name}: median {median(times):.2f} s, {100 * (median(times) / base - 1):+.1f} %")
    page.demo.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
