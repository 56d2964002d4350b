"""What every request passes: shut doors, headers, who reads, and clients that take nothing any more."""

import asyncio
from typing import Any

import pytest
from coroutines import complete

from specdemo.ui.gate import SHUT, Gate, Readers, headers

Messages = list[dict[str, Any]]


def scope(path: str, query: str = "", method: str = "GET", root: str = "") -> dict[str, Any]:
    asked = {"path": path, "root_path": root, "query_string": query.encode(), "method": method}
    return asked | {"type": "http", "headers": []}


class Inner:
    """The page behind the gate: answers, and remembers who was reading meanwhile."""

    def __init__(self, readers: Readers, kind: str = "text/html", pieces: int = 1) -> None:
        self.readers, self.kind, self.pieces = readers, kind, pieces
        self.asked: list[str] = []
        self.read_by: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked.append(scope["path"])
        self.read_by += [name for name in ("v1", "event-9") if self.readers.reads(name)]
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", self.kind.encode())]})
        for _ in range(self.pieces):
            await send({"type": "http.response.body", "body": b"x", "more_body": True})


def ask(asked: dict[str, Any], kind: str = "text/html") -> tuple[Messages, Inner]:
    readers, sent = Readers(), []
    inner = Inner(readers, kind)
    gate = Gate(inner, readers, headers("https://school.example", {}))

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    complete(gate(asked, receive, send))
    assert not any(map(readers.reads, ("v1", "event-9")))
    return sent, inner


@pytest.mark.parametrize("path", [*SHUT, "/gradio_api//file=/etc/passwd", "//gradio_api/upload", "/gradio_api/file/x"])
def test_doors_that_nobody_needs_are_shut(path: str) -> None:
    sent, inner = ask(scope(path))
    assert sent[0]["status"] == 404
    assert inner.asked == []


def test_a_door_below_another_path_is_shut_too() -> None:
    sent, inner = ask(scope("/demo/gradio_api/upload", root="/demo"))
    assert (sent[0]["status"], inner.asked) == (404, [])


def test_answers_say_what_a_browser_may_do_with_them() -> None:
    sent, _ = ask(scope("/"))
    found = dict(sent[0]["headers"])
    assert found[b"x-content-type-options"] == b"nosniff"
    assert found[b"referrer-policy"] == b"no-referrer"
    policy = found[b"content-security-policy"].decode()
    assert "object-src 'none'" in policy
    assert policy.endswith("frame-ancestors 'self' https://school.example")
    assert "http:" not in policy


def test_only_a_space_may_ask_the_hub() -> None:
    assert "huggingface" not in headers("", {})["content-security-policy"]
    assert (
        "connect-src 'self' data: blob: https://huggingface.co"
        in headers("", {"SPACE_ID": "a/b"})["content-security-policy"]
    )


def test_a_stream_is_not_kept_by_a_proxy() -> None:
    sent, _ = ask(scope("/"), kind="text/event-stream; charset=utf-8")
    assert (b"x-accel-buffering", b"no") in sent[0]["headers"]


@pytest.mark.parametrize(
    ("asked", "read_by"),
    [
        (scope("/gradio_api/queue/data", "session_hash=v1"), ["v1"]),
        (scope("/gradio_api/call/generate/event-9"), ["event-9"]),
        (scope("/gradio_api/call/generate", method="POST"), []),
        (scope("/gradio_api/heartbeat/v1"), []),
    ],
)
def test_who_reads_is_known_while_they_do(asked: dict[str, Any], read_by: list[str]) -> None:
    assert ask(asked)[1].read_by == read_by


def test_without_a_gate_nobody_is_missed() -> None:
    assert Readers().reads("anyone")


def test_whoever_takes_nothing_is_let_go() -> None:
    readers = Readers()
    inner = Inner(readers, pieces=3)
    gate = Gate(inner, readers, {}, take_s=0.05)
    taken: Messages = []

    async def send(message: Any) -> None:
        if taken:
            await asyncio.sleep(60)
        taken.append(message)

    with pytest.raises(TimeoutError):
        complete(gate(scope("/gradio_api/queue/data", "session_hash=v1"), None, send))
    assert not readers.reads("v1")
