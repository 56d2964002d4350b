"""How much a reader slows decoding down, on the real model: `python tests/ui/streaming_cost.py [tries]`.

Not a test, for it needs a quiet machine. In turns: a run whose events are thrown away where they are made, and the
same run drained by a client program over the page's own endpoint. What is compared is the lanes' own clocks; of
each kind the quickest counts, since what else the machine does only ever adds time.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from gradio_client import Client

from specdemo import lanes
from specdemo.config import RunConfig
from specdemo.core.events import Event
from specdemo.core.result import Results, collect
from specdemo.prompts import hero
from specdemo.ui import replays
from specdemo.ui.app import Page, Settings, build_app, launch

CONFIG = RunConfig(prompt=hero().text, gamma=5, max_new_tokens=96)


def seconds(results: Results) -> tuple[float, int]:
    """Device time of both lanes, and tokens."""
    metrics = [lane.metrics for lane in results.lanes.values() if lane.metrics]
    return sum(one.decode_s for one in metrics), sum(one.tokens for one in metrics)


def headless(page: Page) -> tuple[float, int]:
    """The run with nobody behind it."""

    def job() -> Iterator[Event]:
        with page.models.using(CONFIG.pair) as pair:
            yield from lanes.open_race(pair, lanes.against_baseline(CONFIG), inspect=True)

    return seconds(collect(page.device.stream(job)))


def drained(url: str) -> tuple[float, int, int]:
    """The run as a client gets it; and how many updates came. In a process of its own."""
    client = Client(url, verbose=False)
    shown = list(client.submit(CONFIG.prompt, gamma=CONFIG.gamma, max_new_tokens=96, api_name="/generate"))
    return (*seconds(collect(replays.read(shown[-1]).events)), len(shown))


def main(tries: int) -> None:
    page = build_app(Settings(pairs=("smollm2-135m",)))
    url = launch(page, "127.0.0.1", block=False)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
        headless(page)
        alone, read = [], []
        for _ in range(tries):
            alone.append(headless(page))
            read.append(other.submit(drained, url).result())
            print(
                f"alone {alone[-1][0]:.2f} s, drained {read[-1][0]:.2f} s, {read[-1][2]} updates, {read[-1][1]} tokens"
            )
    best = min(alone)[0], min(read)[0]
    print(f"quickest: alone {best[0]:.2f} s, drained {best[1]:.2f} s: {100 * (best[1] / best[0] - 1):+.1f} %")
    page.demo.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
