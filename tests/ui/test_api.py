"""The endpoint for programs, over a real server: streaming, refusals, walking away, two at once."""

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from gradio.routes import BUILD_PATH_LIB
from gradio_client import Client
from serving import TOY, Server, serving

from specdemo.core.result import collect
from specdemo.ui import replays


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[..., Server]]:
    with serving() as serve:
        yield serve


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server]) -> Server:
    return serve(TOY, "0.004")


@pytest.fixture(scope="module")
def client(server: Server) -> Client:
    return Client(server.url, verbose=False)


def until_idle(client: Client, seconds: float = 1.0) -> None:
    deadline = time.monotonic() + seconds
    while (probe := client.predict(api_name="/probe"))["busy"] or probe["runs"]:
        assert time.monotonic() < deadline, probe
        time.sleep(0.05)


def test_a_run_streams_as_a_growing_trace(client: Client) -> None:
    start = time.monotonic()
    shown = list(client.submit("the cat", drafter="model", gamma=3, max_new_tokens=100, api_name="/generate"))
    assert len(shown) <= 12 * (time.monotonic() - start) + 3
    assert all(later.startswith(earlier) for earlier, later in pairwise(shown))
    lanes = collect(replays.read(shown[-1]).events).lanes
    assert {name: len(lane.tokens) for name, lane in lanes.items()} == {"speculative": 100, "baseline": 100}


def test_a_run_is_judged_by_the_rule_that_is_asked_for(client: Client) -> None:
    asked = {"drafter": "model", "gamma": 3, "max_new_tokens": 20, "temperature": 1.0, "rule": "shared-noise"}
    lanes = collect(
        replays.read(client.submit("the cat", **asked, api_name="/generate").result(timeout=60)).events
    ).lanes
    assert {lane.started.rule for lane in lanes.values()} == {"shared-noise"}
    assert lanes["speculative"].tokens == lanes["baseline"].tokens


def test_only_this_endpoint_is_public(client: Client) -> None:
    assert set(client.view_api(return_format="dict")["named_endpoints"]) == {"/generate", "/probe"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"gamma": 3.5}, "γ"),
        ({"gamma": 99}, "γ"),
        ({"gamma": None}, "γ"),
        ({"max_new_tokens": 100_000}, "tokens"),
        ({"temperature": "hot"}, "Temperature"),
        ({"prompt": ""}, "empty"),
        ({"prompt": "x" * 50_000}, "Shorten"),
        ({"prompt": "x " * 5_000}, "Shorten the prompt"),
        ({"pair": "/etc"}, "not on offer"),
        ({"drafter": "none such"}, "none such"),
        ({"rule": "none such"}, "none such"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(client: Client, changes: dict[str, object], said: str) -> None:
    settings = {"prompt": "x", "max_new_tokens": 5} | changes
    with pytest.raises(Exception, match=said):
        client.submit(**settings, api_name="/generate").result(timeout=20)
    # The page is alive and the next run fine.
    assert client.submit("x", gamma=4.0, max_new_tokens=5, api_name="/generate").result(timeout=20)


def test_a_failing_model_is_a_sentence_and_the_next_run_works(serve: Callable[..., Server]) -> None:
    client = Client(serve(TOY, "0", TOY_FAILS="memory:25 bug:60").url, verbose=False)
    for said in ("not enough memory", "our side"):
        with pytest.raises(Exception, match=said):
            client.submit("x", drafter="model", max_new_tokens=100, api_name="/generate").result(timeout=20)
    assert client.submit("x", max_new_tokens=5, api_name="/generate").result(timeout=20)
    until_idle(client)


def test_a_caller_who_cancels_frees_the_device_within_a_second(client: Client) -> None:
    job = client.submit("x", max_new_tokens=512, api_name="/generate")
    while not job.outputs():
        time.sleep(0.02)
    job.cancel()
    until_idle(client)
    calls = client.predict(api_name="/probe")["calls"]
    time.sleep(0.5)
    assert client.predict(api_name="/probe")["calls"] == calls


def test_two_callers_at_once_get_their_own(server: Server) -> None:
    clients = [Client(server.url, verbose=False) for _ in range(2)]
    jobs = [
        client.submit("x y z", drafter="model", seed=seed, temperature=1.0, max_new_tokens=60, api_name="/generate")
        for seed, client in enumerate(clients)
    ]
    for seed, job in enumerate(jobs):
        recorded = replays.read(job.result(timeout=60))
        assert recorded.header.settings.seed == seed
        assert all(len(lane.tokens) == 60 for lane in collect(recorded.events).lanes.values())


def test_the_direct_door_is_closed(server: Server) -> None:
    """POST /run would pass by the queue."""
    answer = httpx.post(f"{server.url}/gradio_api/run/generate", json={"data": ["x"]})
    assert answer.status_code == 404


def test_large_scripts_come_compressed_and_may_be_kept(server: Server) -> None:
    plotly = next(path for path in Path(BUILD_PATH_LIB).glob("PlotlyPlot-*.js"))
    times = []
    for _ in range(2):
        start = time.monotonic()
        with httpx.stream("GET", f"{server.url}/assets/{plotly.name}", headers={"Accept-Encoding": "br"}) as answer:
            size = sum(map(len, answer.iter_raw()))
        times.append(time.monotonic() - start)
        assert answer.headers["content-encoding"] == "br"
        assert "immutable" in answer.headers["cache-control"]
        assert size < plotly.stat().st_size / 2
    assert times[1] < times[0]
    assert httpx.get(f"{server.url}/assets/..%2f..%2f..%2froutes.py").status_code == 404
    assert httpx.get(f"{server.url}/assets/no-such-file.js").status_code == 404
