"""A download in a child process: watched, stopped at once, its complaint read. Does not know what is downloaded."""

import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from specdemo.models.progress import Cancel, stop_if

POLL_S = 0.1


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    cancelled: Cancel,
    watch: Callable[[], None],
) -> str | None:
    """None if the command succeeded, else what it said. Calls `watch` ten times a second.

    A cancel, or any error in here, kills the child before it is passed on.
    """
    with log.open("wb") as said, subprocess.Popen(command, stdout=said, stderr=said, env=environment) as child:
        try:
            while child.poll() is None:
                stop_if(cancelled)
                watch()
                time.sleep(POLL_S)
        finally:
            child.kill()
    return _complaint(log.read_text(encoding="utf-8", errors="replace")) if child.returncode else None


def _complaint(said: str) -> str:
    """The errors in what a command printed, else its last line; short and without colours."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", said).splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return " ".join(errors or lines[-1:])[-300:].rstrip(".") or "nothing"
