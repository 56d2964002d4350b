"""Folders in the cache that are either whole or not there.

A folder is filled under a temporary name, gets a seal (what it was made from, and the size of each file) and
is moved into place in one step. Two processes may build the same folder at once: the first one wins.
Does not know what the files are.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from specdemo.paths import cache_dir

SEAL = "specdemo.json"
PARTIAL = ".partial-"
STALE_S = 24 * 3600
"""Age at which a temporary folder belongs to a process that died."""


def models_dir() -> Path:
    """The cache's folder for models, made if missing."""
    folder = cache_dir() / "models"
    folder.mkdir(exist_ok=True)
    return folder


def is_whole(folder: Path, source: str) -> bool:
    """True if `folder` was finished from this `source` (a hash) and every file still has its size."""
    seal = folder / SEAL
    if not seal.is_file():
        return False
    try:
        written = json.loads(seal.read_text(encoding="utf-8"))
    except ValueError:
        return False
    if not isinstance(written, dict) or written.get("source") != source:
        return False
    sizes: dict[str, int] = written.get("sizes", {})
    files = {name: folder / name for name in sizes}
    return all(file.is_file() and file.stat().st_size == sizes[name] for name, file in files.items())


@contextmanager
def building(final: Path, source: str) -> Iterator[Path]:
    """An empty folder to fill. Left without an error it is sealed and becomes `final`; otherwise nothing stays."""
    _sweep(final.parent)
    with tempfile.TemporaryDirectory(dir=final.parent, prefix=PARTIAL, ignore_cleanup_errors=True) as work:
        folder = Path(work) / "folder"
        folder.mkdir()
        yield folder
        for file in folder.iterdir():
            file.chmod(0o644)  # some writers leave files that only their owner may read
        sizes = {file.name: file.stat().st_size for file in folder.iterdir()}
        (folder / SEAL).write_text(json.dumps({"source": source, "sizes": sizes}), encoding="utf-8")
        _place(folder, final, source)


def _place(folder: Path, final: Path, source: str) -> None:
    if is_whole(final, source):
        return
    if final.exists():
        os.replace(final, folder.parent / "broken")
    try:
        os.replace(folder, final)
    except OSError:  # another process was first
        if not is_whole(final, source):
            raise


def _sweep(folder: Path) -> None:
    for partial in folder.glob(f"{PARTIAL}*"):
        if partial.stat().st_mtime < time.time() - STALE_S:
            shutil.rmtree(partial, ignore_errors=True)
