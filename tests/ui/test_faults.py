"""What goes wrong in a class: closed tabs, clients that do not read, no memory, full disks, servers stopped or killed.

Each over a real server, with the sentence that the visitor reads.
"""

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from serving import TOY, Server, serving, start
from visitor import Visitor, values

from specdemo.config import RunConfig
from specdemo.core.result import collect
from specdemo.ui import replays

LONG = RunConfig(prompt="x", drafter="model", max_new_tokens=512)
SHORT = RunConfig(prompt="the cat", drafter="model", max_new_tokens=20)


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[..., Server]]:
    with serving() as serve:
        yield serve


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server]) -> Server:
    return serve(TOY, "0.01", SPECDEMO_RUNS_AT_ONCE="2", SPECDEMO_MAX_SECONDS="60")


def health(server: Server) -> dict:
    return httpx.get(f"{server.url}/healthz").json()


def until(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


def idle(server: Server) -> bool:
    state = health(server)
    return state["runs"] == {"running": 0, "waiting": 0} and state["device"]["jobs"] == 0


def begin(visitor: Visitor) -> Iterator[dict]:
    """A long run that has begun; its messages."""
    assert visitor.join("run", values(LONG)).status_code == 200
    messages = visitor.messages()
    for message in messages:
        if message["msg"] == "process_generating":
            break
    until(lambda: httpx.get(f"{visitor.url}/healthz").json()["runs"]["running"] >= 1, 5.0)
    return messages


def test_a_closed_tab_ends_its_run(server: Server) -> None:
    visitor = Visitor(server.url)
    messages = begin(visitor)
    next(messages)
    messages.close()
    visitor.http.close()
    until(lambda: idle(server), 3.0)


def test_a_closed_tab_leaves_the_line(server: Server) -> None:
    held = [Visitor(server.url) for _ in range(2)]
    going = [begin(visitor) for visitor in held]
    waiting = Visitor(server.url)
    waiting.join("run", values(SHORT))
    messages = waiting.messages()
    next(messages)
    until(lambda: health(server)["runs"]["waiting"] == 1, 5.0)
    messages.close()
    waiting.http.close()
    until(lambda: health(server)["runs"]["waiting"] == 0, 12.0)
    for stream in going:
        stream.close()
    for visitor in held:
        visitor.http.close()
    until(lambda: idle(server), 3.0)


def test_a_client_that_never_reads_is_noticed(serve: Callable[..., Server]) -> None:
    """It asks for a run and never opens its stream: the run ends long before its end."""
    server = serve(TOY, "0.05", SPECDEMO_LOG="json")
    assert Visitor(server.url).join("run", values(LONG)).status_code == 200
    until(lambda: health(server)["runs"]["running"] == 1, 5.0)
    until(lambda: idle(server), 20.0)  # all of it would take 51 s


def test_a_client_that_stops_taking_is_let_go_and_others_go_on(server: Server) -> None:
    """Its socket is open, but it reads nothing: what it has not taken waits in a buffer as large as one run."""
    visitor = Visitor(server.url)
    assert visitor.join("run", values(LONG)).status_code == 200
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sendall(f"GET /gradio_api/queue/data?session_hash={visitor.session} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        seen = Visitor(server.url).run(SHORT)
        assert seen.error is None
        assert len(collect(replays.read(seen.text).events).lanes["baseline"].tokens) == 20
    until(lambda: idle(server), 3.0)


def test_a_slow_client_loses_nothing(server: Server) -> None:
    visitor = Visitor(server.url)
    slow = visitor.messages

    def slowly() -> Iterator[dict]:
        for message in slow():
            time.sleep(0.2)
            yield message

    visitor.messages = slowly  # type: ignore[method-assign]
    seen = visitor.run(RunConfig(prompt="the cat", drafter="model", max_new_tokens=100))
    assert {len(lane.tokens) for lane in collect(replays.read(seen.text).events).lanes.values()} == {100}


def test_out_of_memory_and_bugs_are_sentences_and_the_next_run_works(serve: Callable[..., Server]) -> None:
    server = serve(TOY, "0", TOY_FAILS="cpu:25 cuda:50 bug:75 disk:100")
    memory, ours, disk = "not enough memory for this run", "on our side", "disk is full"
    for said in (memory, memory, ours, disk):
        seen = Visitor(server.url).run(RunConfig(prompt="x", drafter="model", max_new_tokens=100))
        assert said in seen.notice
        assert replays.read(seen.text).events  # what it had is shown
    assert Visitor(server.url).run(SHORT).notice == ""
    until(lambda: idle(server), 3.0)


def test_a_full_house_is_polite(serve: Callable[..., Server]) -> None:
    server = serve(TOY, "0.02", SPECDEMO_RUNS_AT_ONCE="1", SPECDEMO_WAITING="1", SPECDEMO_RUNS_PER_VISITOR="1")
    first, second = Visitor(server.url), Visitor(server.url)
    going = begin(first)
    second.join("run", values(LONG))
    waiting = second.messages()
    next(waiting)
    until(lambda: health(server)["runs"]["waiting"] == 1, 5.0)
    assert "runs are waiting already" in Visitor(server.url).run(SHORT).notice
    same = Visitor(server.url)
    same.session = first.session
    assert same.join("run", values(SHORT)).status_code == 200
    for message in going:
        if "You have 1 runs going" in json.dumps(message):
            break
    else:
        raise AssertionError("nothing was said")


def test_told_to_stop_it_ends_runs_with_all_they_have(serve: Callable[..., Server]) -> None:
    server = serve(TOY, "0.01")
    visitor = Visitor(server.url)
    assert visitor.join("run", values(LONG)).status_code == 200
    said, signalled = "", 0.0
    for message in visitor.messages():
        if message["msg"] == "process_generating" and not signalled:
            until(lambda: health(server)["runs"]["running"] == 1, 5.0)
            signalled = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
        said += json.dumps(message)
    assert "about to restart" in said
    assert "cancelled" in said
    assert server.process.wait(15) == 0
    assert time.monotonic() - signalled < 10.0


def test_killed_and_started_again_it_works(serve: Callable[..., Server], tmp_path: Path) -> None:
    """The visitor's stream breaks at once, and the same address works again."""
    server = serve(TOY, "0.01", SPECDEMO_CACHE=str(tmp_path))
    messages = begin(Visitor(server.url))
    server.process.kill()
    broken = time.monotonic()
    with pytest.raises(httpx.TransportError):
        list(messages)
    assert time.monotonic() - broken < 5.0
    assert server.process.wait(5) == -signal.SIGKILL
    again = start(TOY, "0.01", port=int(server.url.rsplit(":", 1)[1]), SPECDEMO_CACHE=str(tmp_path))
    try:
        seen = Visitor(again.url).run(SHORT)
        assert (seen.error, seen.notice) == (None, "")
        assert len(collect(replays.read(seen.text).events).lanes["baseline"].tokens) == 20
    finally:
        again.process.terminate()
        again.process.wait(20)


def test_a_wrong_setting_ends_the_start_with_a_sentence() -> None:
    import subprocess
    import sys

    root = Path(__file__).parents[2]
    environment = os.environ | {"SPECDEMO_PORT": "99999"}
    ended = subprocess.run([sys.executable, "app.py"], cwd=root, env=environment, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.strip().splitlines()[-1] == (
        "specdemo: SPECDEMO_PORT must be between 1 and 65535, but it is '99999'."
    )
