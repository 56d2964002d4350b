"""Model folders from the Hugging Face hub: what is in its cache, else what can be downloaded into it.

Knows repositories. Does not know what a model folder must contain beyond which files to ask for.
"""

import contextlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, constants, try_to_load_from_cache
from huggingface_hub.errors import (  # type: ignore[attr-defined]  # HTTPError is httpx's or httpx2's
    GatedRepoError,
    HFValidationError,
    HTTPError,
    RepositoryNotFoundError,
)
from huggingface_hub.file_download import repo_folder_name

from specdemo.errors import FetchError
from specdemo.models import child
from specdemo.models.progress import Cancel, Progress, stop_if

TIMEOUT_S = 4.0
"""A hub that has not answered by then counts as not reachable."""

ENDINGS = (".json", ".safetensors", ".jinja", ".model", ".txt")
"""Safetensors only: pickled weights can run code when they are read."""

DOWNLOAD = """
import sys
from huggingface_hub import snapshot_download
snapshot_download(sys.argv[1], allow_patterns=sys.argv[2:])
"""


def cached(repository: str) -> Path | None:
    """The newest snapshot in the hub's cache, which may be incomplete; None if there is none. Asks no network."""
    try:
        config = try_to_load_from_cache(repository, "config.json", cache_dir=constants.HF_HUB_CACHE)
    except HFValidationError:  # a name that no model of the hub can have
        raise FetchError("hub_no_such_model", name=repository) from None
    return Path(config).parent if isinstance(config, str) else None


def download(repository: str, progress: Progress, cancelled: Cancel) -> Path:
    """Downloads what a model folder needs. FetchError with one sentence if that cannot be; known within 5 s.

    A child process does it, for a cancel must end it at once; what it had not finished is removed.
    """
    info = _ask(repository, cancelled)
    sizes = {file.rfilename: file.size or 0 for file in info.siblings if _is_wanted(file.rfilename)}
    cache = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=repository, repo_type="model")
    before, total = _sizes(cache), sum(sizes.values())
    start = sum(before.values())

    def watch() -> None:
        progress("download", min(total, sum(_sizes(cache).values()) - start), total)

    command = [sys.executable, "-c", DOWNLOAD, repository, *sizes]
    environment = {**os.environ, "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
            complaint = child.run(command, environment, Path(work) / "hub.log", cancelled, watch)
    finally:
        for file in _sizes(cache).keys() - before.keys():
            if file.suffix == ".incomplete":
                file.unlink(missing_ok=True)
    if complaint:
        raise FetchError("hub_failed", name=repository, complaint=complaint)
    folder = cached(repository)
    if folder is None:
        raise FetchError("folder_incomplete", name=repository, file="config.json")
    return folder


def _ask(repository: str, cancelled: Cancel) -> Any:
    """What the hub says of the repository: its files with their sizes."""
    if constants.HF_HUB_OFFLINE:
        raise FetchError("hub_offline", name=repository)
    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT"))

    def question() -> Any:
        info = api.model_info(repository, files_metadata=True, timeout=TIMEOUT_S)
        if info.gated:
            api.auth_check(repository)
        return info

    try:
        return _within(TIMEOUT_S, question, cancelled)
    except GatedRepoError:
        raise FetchError("hub_gated", name=repository) from None
    except RepositoryNotFoundError:
        raise FetchError("hub_no_such_model", name=repository) from None
    except (HTTPError, TimeoutError) as error:
        raise FetchError("hub_unreachable", name=repository, reason=type(error).__name__) from error


def _within(seconds: float, question: Callable[[], Any], cancelled: Cancel) -> Any:
    """The answer, or TimeoutError: looking up a host's name obeys no timeout, so another thread asks."""
    answer: Future[Any] = Future()

    def ask() -> None:
        try:
            answer.set_result(question())
        except Exception as error:  # raised again where the answer is waited for
            answer.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()
    end = time.monotonic() + seconds
    while not answer.done() and time.monotonic() < end:
        stop_if(cancelled)
        time.sleep(0.05)
    return answer.result(timeout=0)


def _is_wanted(file: str) -> bool:
    return "/" not in file and file.endswith(ENDINGS) and not file.startswith("consolidated")


def _sizes(folder: Path) -> dict[Path, int]:
    """Size of each real file under `folder`."""
    sizes: dict[Path, int] = {}
    for file in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # the child renames what it has finished
            if file.is_file() and not file.is_symlink():
                sizes[file] = file.stat().st_size
    return sizes
