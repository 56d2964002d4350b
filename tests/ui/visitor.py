"""A visitor without a browser: asks a page for runs as its own script does, over plain HTTP."""

import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx
from gradio_client.utils import apply_diff

from specdemo.config import RunConfig
from specdemo.ui.settings import FIELDS, values_of

STAGE, NOTICE = 0, 1
"""Of the outputs of a run."""


@cache
def functions(url: str) -> dict[str, int]:
    """The page's functions by name, the first of each."""
    found: dict[str, int] = {}
    for one in httpx.get(f"{url}/config", timeout=60).json()["dependencies"]:
        found.setdefault(one["api_name"], one["id"])
    return found


def values(config: RunConfig) -> list[Any]:
    """A run's settings as the page sends them."""
    given = values_of(config)
    return [*(given[name] for name in FIELDS), json.dumps(given["knobs"]) if given["knobs"] else ""]


@dataclass
class Seen:
    """What one run showed. text: its trace. places: (seconds since it was asked for, what was said of the line)."""

    text: str = ""
    notice: str = ""
    places: list[tuple[float, str]] = field(default_factory=list)
    first_s: float | None = None
    stopped_at: float | None = None
    ended_s: float = 0.0
    error: str | None = None


class Visitor:
    """One tab."""

    def __init__(self, url: str) -> None:
        self.url, self.session = url, uuid.uuid4().hex[:12]
        self.http = httpx.Client(base_url=url, timeout=httpx.Timeout(60, read=120))

    def join(self, name: str, data: list[Any]) -> httpx.Response:
        """Asks for a function of the page."""
        body = {"fn_index": functions(self.url)[name], "data": data, "session_hash": self.session}
        return self.http.post("/gradio_api/queue/join", json=body)

    def call(self, name: str, data: list[Any]) -> httpx.Response:
        """Calls a function that does not wait in gradio's queue."""
        body = {"fn_index": functions(self.url)[name], "data": data, "session_hash": self.session}
        return self.http.post("/gradio_api/run/predict", json=body)

    def messages(self) -> Iterator[dict[str, Any]]:
        """What the server sends until nothing is going on any more."""
        with self.http.stream("GET", "/gradio_api/queue/data", params={"session_hash": self.session}) as stream:
            for line in stream.iter_lines():
                if line.startswith("data:"):
                    message = json.loads(line[5:])
                    if message["msg"] == "close_stream":
                        return
                    yield message

    def run(self, config: RunConfig, stop_after_s: float | None = None) -> Seen:
        """A live run, watched to its end; stopped, if asked for, so long after its first tokens."""
        seen, start = Seen(), time.monotonic()
        answer = self.join("run", values(config))
        if answer.status_code != 200:
            seen.error = f"{answer.status_code} {answer.json().get('detail')}"
            return seen
        outputs: list[Any] = []
        for message in self.messages():
            now = time.monotonic() - start
            outputs = _outputs(message, outputs)
            if outputs:
                self._see(seen, outputs, now)
            if message["msg"] == "process_completed" and not message["success"]:
                seen.error = str(message["output"].get("error"))
            due = stop_after_s is not None and seen.first_s is not None and now > seen.first_s + stop_after_s
            if due and seen.stopped_at is None:
                self.call("stop", [])
                seen.stopped_at = now
        seen.ended_s = time.monotonic() - start
        return seen

    def _see(self, seen: Seen, outputs: list[Any], now: float) -> None:
        stage, notice = outputs[STAGE], outputs[NOTICE]
        if isinstance(stage, str) and '"source": "live"' in stage:
            # The last update sends all of the text once more.
            seen.text = stage.partition("\n")[2]
            if seen.first_s is None and '"round"' in seen.text:
                seen.first_s = now
        if isinstance(notice, str):
            said = json.loads(notice) if notice else {}
            if said.get("kind") == "busy" and (not seen.places or seen.places[-1][1] != said["texts"]["en"]):
                seen.places.append((now, said["texts"]["en"]))
            seen.notice = said["texts"]["en"] if said.get("kind") == "bad" else ""


def _outputs(message: dict[str, Any], before: list[Any]) -> list[Any]:
    if message["msg"] == "process_generating" and message.get("success"):
        data = message["output"].get("data", [])
        first = not before or not all(isinstance(one, list) for one in data)
        return data if first else [apply_diff(old, new) for old, new in zip(before, data, strict=True)]
    if message["msg"] == "process_completed" and message["success"] and message["output"].get("data"):
        return list(message["output"]["data"])
    return before
