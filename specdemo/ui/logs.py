"""What the server writes down: one line for a run, for people or for programs, and what went wrong.

Knows the figures of a run. Never says what a prompt or a text was, who asked for it, or from where.
"""

import json
import logging
import logging.handlers
import queue
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TextIO
from uuid import uuid4

from specdemo.config import RunConfig

LOG = logging.getLogger("specdemo")
FORMATS = ("text", "json", "off")
Facts = dict[str, Any]


@dataclass
class RunRecord:
    """What is written down of one run. bytes: of caches that it was let in with. device_s: of computing."""

    config: RunConfig
    asked: float = field(default_factory=time.monotonic)
    waited_s: float | None = None
    first_s: float | None = None
    device_s: float = 0.0
    prompt_tokens: int = 0
    bytes: int = 0
    tokens: dict[str, int] = field(default_factory=dict)

    def began(self) -> None:
        """It is the run's turn."""
        self.waited_s = time.monotonic() - self.asked

    def first_token(self) -> None:
        """There is a token; only the first call counts."""
        if self.first_s is None:
            self.first_s = time.monotonic() - self.asked

    def facts(self, outcome: str) -> Facts:
        """The line as names and values; seconds since the run was asked for, None for what never came."""
        config = self.config
        return {
            "event": "run",
            "run": uuid4().hex[:12],
            "outcome": outcome,
            "pair": config.pair,
            "drafter": config.drafter,
            "gamma": config.gamma,
            "policy": config.policy,
            "rule": config.rule,
            "temperature": config.sampling.temperature,
            "exact": config.exact,
            "max_new_tokens": config.max_new_tokens,
            "prompt_tokens": self.prompt_tokens,
            "tokens": dict(self.tokens),
            "cache_mb": round(self.bytes / 2**20, 1),
            "waited_s": _rounded(self.waited_s),
            "first_token_s": _rounded(self.first_s),
            "device_s": _rounded(self.device_s),
            "total_s": _rounded(time.monotonic() - self.asked),
        }

    def write(self, outcome: str) -> None:
        """Writes the line. Returns at once: this may be called where everybody's streams pass."""
        facts = self.facts(outcome)
        LOG.info(_told(facts), extra={"facts": facts})


def configure(form: str, stream: TextIO = sys.stderr) -> Callable[[], None]:
    """Sets the log up as one of `FORMATS`; a thread of its own writes. Returns a function that ends it."""
    LOG.handlers.clear()
    LOG.propagate = False
    LOG.setLevel(logging.INFO)
    if form == "off":
        LOG.addHandler(logging.NullHandler())
        return lambda: None
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Json() if form == "json" else logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    waiting: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    LOG.addHandler(_Handing(waiting))
    listener = logging.handlers.QueueListener(waiting, handler)
    listener.start()
    return listener.stop


class _Handing(logging.handlers.QueueHandler):
    """Hands records on as they are: they stay in this process, so nothing need be pickled or made text yet."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return record


class _Json(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        facts: Facts = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
        }
        facts |= getattr(record, "facts", None) or {"event": "message", "message": record.getMessage()}
        if record.exc_info:
            facts |= {"event": "error", "traceback": self.formatException(record.exc_info)}
        return json.dumps(facts, ensure_ascii=False)


def _told(facts: Facts) -> str:
    tokens = "+".join(str(count) for count in facts["tokens"].values()) or "0"
    parts = [
        f"run {facts['outcome']}: {facts['pair']} {facts['drafter']} γ={facts['gamma']} T={facts['temperature']:g}",
        f"{facts['prompt_tokens']} → {tokens} tokens",
        f"{facts['cache_mb']} MB",
        f"waited {facts['waited_s'] or 0} s",
        f"computed {facts['device_s']} s of {facts['total_s']} s",
    ]
    return ", ".join(parts)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
