"""The hub, played by a small server on this machine: downloads, refusals, silence and cancels."""

import hashlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import psutil
import pytest
from huggingface_hub import constants
from tiny_models import save, tiny

from specdemo.errors import Cancelled, FetchError
from specdemo.models import hub
from specdemo.models.loader import load_pair
from specdemo.models.progress import never, silent

COMMIT = "a" * 40
Seen = list[tuple[str, int, int | None]]


class Hub(BaseHTTPRequestHandler):
    """Answers what the client asks of `owner/open`, `owner/slow`, `owner/gated` and says no to anything else."""

    files: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []
    half_sent: ClassVar[threading.Event]
    stopped: ClassVar[threading.Event]

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.asked.append(path)
        if path.startswith("/api/models/owner/gated"):
            self.answer(403, b"", {"X-Error-Code": "GatedRepo"}) if "auth-check" in path else self.answer_info()
        elif "/auth-check" in path or not path.startswith(
            ("/api/models/owner/open", "/api/models/owner/slow", "/owner/")
        ):
            self.answer(404, b"", {"X-Error-Code": "RepoNotFound"})
        elif "/tree/" in path:
            listed = [{"type": "file", "path": n, "size": len(b), "oid": "0" * 40} for n, b in self.files.items()]
            self.answer(200, json.dumps(listed).encode())
        elif path.startswith("/api/"):
            self.answer_info()
        else:
            self.answer_file(path)

    def answer_info(self) -> None:
        gated = "auto" if "gated" in self.path else False
        files = [{"rfilename": name, "size": len(content)} for name, content in self.files.items()]
        info = {"id": "owner/open", "sha": COMMIT, "siblings": files, "gated": gated}
        self.answer(200, json.dumps(info).encode())

    def answer_file(self, path: str) -> None:
        name = path.rpartition("/")[2]
        content = self.files[name]
        etag = hashlib.sha256(content).hexdigest()
        slow = "/slow/" in path and name.endswith(".safetensors")
        self.answer(200, content, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT}, slow)

    def answer(self, code: int, body: bytes, headers: dict[str, str] | None = None, slow: bool = False) -> None:
        self.send_response(code)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[:1000])
            self.wfile.flush()
            if slow:
                self.half_sent.set()
                self.stopped.wait(60)
            else:
                self.wfile.write(body[1000:])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setenv("HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    return folder


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    source = Path(save(tmp_path / "model", tiny("llama")))
    (source / "pytorch_model.bin").write_bytes(b"pickled")
    (source / "consolidated.safetensors").write_bytes(b"the same again")
    Hub.files = {file.name: file.read_bytes() for file in source.iterdir()}
    Hub.asked, Hub.half_sent, Hub.stopped = [], threading.Event(), threading.Event()
    served = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    served.daemon_threads = True
    threading.Thread(target=served.serve_forever, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{served.server_port}")
    yield Hub
    Hub.stopped.set()
    served.shutdown()
    served.server_close()


def refused(repository: str) -> FetchError:
    with pytest.raises(FetchError) as error:
        load_pair(repository)
    assert repository in error.value.say()
    assert len(error.value.say().splitlines()) == 1
    return error.value


def test_a_model_is_downloaded_once_and_found_afterwards_without_a_network(
    server: type[Hub], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: Seen = []
    assert hub.cached("owner/open") is None
    pair = load_pair("owner/open", progress=lambda *said: seen.append(said))
    assert (pair.target_name, pair.vocabulary) == ("owner/open", 259)
    wanted = sum(len(b) for n, b in server.files.items() if n not in ("pytorch_model.bin", "consolidated.safetensors"))
    assert {total for stage, _, total in seen if stage == "download"} == {wanted}
    assert not any("pytorch_model" in path or "consolidated" in path for path in server.asked)
    server.asked.clear()
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert load_pair("owner/open").vocabulary == 259
    assert server.asked == []


def test_an_incomplete_cache_is_completed(server: type[Hub], cache: Path) -> None:
    folder = hub.download("owner/open", silent, never)
    (folder / "model.safetensors").unlink()
    assert load_pair("owner/open").vocabulary == 259


def test_gated_and_unknown_models_are_told_apart(server: type[Hub]) -> None:
    assert refused("owner/gated").key == "hub_gated"
    for name in ("owner/none", "owner/a--b", "owner/a..b", "owner/a.git", "owner/a-"):
        assert refused(name).key == "hub_no_such_model", name


def test_a_cancel_during_a_download_ends_it_and_leaves_no_half_file(server: type[Hub], cache: Path) -> None:
    half: list[float] = []
    before = set(psutil.Process().children())

    def cancelled() -> bool:
        if server.half_sent.is_set() and list(cache.rglob("*.incomplete")):
            half.append(time.monotonic())
        return bool(half)

    with pytest.raises(Cancelled):
        load_pair("owner/slow", cancelled=cancelled)
    assert time.monotonic() - half[0] < 2.0
    left = set(psutil.Process().children()) - before
    assert not [child for child in left if child.status() != psutil.STATUS_ZOMBIE]
    assert list(cache.rglob("*.incomplete")) == []


def test_a_hub_that_refuses_or_never_answers_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hub.TIMEOUT_S < 5
    monkeypatch.setattr(hub, "TIMEOUT_S", 0.3)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert refused("owner/open").key == "hub_unreachable"
    with socket.create_server(("127.0.0.1", 0)) as silent_server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent_server.getsockname()[1]}")
        start = time.monotonic()
        assert "smollm2-135m" in refused("owner/open").say()
        assert time.monotonic() - start < 2


def test_offline_mode_is_said_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert refused("owner/open").key == "hub_offline"


def test_a_download_that_fails_is_quoted(server: type[Hub]) -> None:
    del server.files["config.json"]
    server.files["tokenizer.json"] = b""
    original = Hub.answer_file
    try:
        Hub.answer_file = lambda self, path: self.answer(404, b"")  # type: ignore[method-assign]
        error = refused("owner/open")
    finally:
        Hub.answer_file = original  # type: ignore[method-assign]
    assert error.key == "hub_failed"
    assert "LocalEntryNotFoundError" in error.say()
