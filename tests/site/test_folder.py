"""The folder of the static site: what is in it, how large it is, and what it takes to write it."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from specdemo.paths import ASSETS
from specdemo.site import folder
from specdemo.site.folder import NotOurs, TooLarge, write

ROOT = ASSETS.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "static"
    write(out)
    return out


def files(out: Path) -> dict[str, bytes]:
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_the_page_and_its_traces_are_small(site: Path) -> None:
    """The page is all that is loaded at once, counted as it lies on the disk: nothing is compressed on the way."""
    found = files(site)
    page = {name: data for name, data in found.items() if not name.startswith((".", "README", "traces/", "lessons-"))}
    assert page.keys() == {"index.html", "icon.svg", "site.webmanifest", "worker.js"}
    assert sum(map(len, page.values())) <= 150_000
    traces = {name: data for name, data in found.items() if name.startswith("traces/")}
    assert len(traces) == len(json.loads((ASSETS / "traces" / "index.json").read_text(encoding="utf-8")))
    assert max(map(len, traces.values())) <= 30_000
    (lessons,) = (data for name, data in found.items() if name.startswith("lessons-"))
    assert len(lessons) <= 30_000


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "PACK_BYTES", 10_000)
    with pytest.raises(TooLarge, match="record a shorter run"):
        write(tmp_path / "site")
    monkeypatch.setattr(folder, "PAGE_BYTES", 100_000)
    with pytest.raises(TooLarge, match="the page has"):
        write(tmp_path / "site")
    assert not (tmp_path / "site").exists(), "nothing was written"


def test_the_same_sources_give_the_same_bytes(site: Path, tmp_path: Path) -> None:
    write(tmp_path / "again")
    assert files(tmp_path / "again") == files(site)


def test_a_folder_with_other_things_in_it_is_left_alone(site: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(NotOurs):
        write(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
    (site / "traces" / "old.js").write_text("")
    write(site)
    assert not (site / "traces" / "old.js").exists()


def test_hosts_find_what_they_look_for(site: Path) -> None:
    front = (site / "README.md").read_text(encoding="utf-8").split("---\n")[1]
    fields = dict(line.split(": ", 1) for line in front.splitlines())
    assert fields["sdk"] == "static"
    assert fields["license"] == "apache-2.0"
    assert len(fields["short_description"]) <= 60
    assert (site / ".nojekyll").is_file()


def addresses(text: str) -> Iterator[str]:
    """What a browser may load by itself, or a script may ask for."""
    yield from re.findall(r"""(?:src|srcset|action|poster)\s*=\s*["']([^"']+)""", text)
    yield from re.findall(r"""<link[^>]+href="([^"]+)""", text)
    yield from re.findall(r"""url\(\s*["']?([^"')]+)""", text)
    yield from re.findall(r"""@import\s+["']([^"']+)""", text)


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    from specdemo.site.page import parts

    packed = parts()
    shell = (site / "index.html").read_text(encoding="utf-8")
    for text in (shell, packed["style"], packed["script"]):
        assert [one for one in addresses(text) if not one.startswith(("data:", "#"))] == []
    places = set(
        re.findall(r"https?://[\w.-]+", packed["script"] + packed["style"] + shell + json.dumps(packed["texts"]))
    )
    known = {"http://www.w3.org", "https://arxiv.org", "https://github.com"}
    assert places <= known, "names of formats, links to click, the chart library's own name"


def test_the_worker_keeps_every_file_under_a_name_of_its_contents(site: Path, tmp_path: Path) -> None:
    worker = (site / "worker.js").read_text(encoding="utf-8")
    found = re.search(r"const FILES = (\[.*\]);", worker)
    assert found
    kept = set(json.loads(found[1]))
    packs = {name for name in files(site) if name.startswith(("traces/", "lessons-"))}
    assert kept == {"./", "icon.svg", "site.webmanifest"} | packs
    write(tmp_path / "other", repository="https://example.org/specdemo")
    other = (tmp_path / "other" / "worker.js").read_text(encoding="utf-8")
    assert version(worker) != version(other)


def version(worker: str) -> str:
    found = re.search(r'"specdemo-(\w{10})"', worker)
    assert found
    return found[1]


def test_it_is_written_by_python_alone(tmp_path: Path) -> None:
    """In an interpreter without any package: -S leaves out site-packages, -E the environment's paths."""
    command = [sys.executable, "-S", "-E", "-m", "specdemo.site", "--out", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "recorded runs" in done.stdout
    assert (tmp_path / "site" / "index.html").is_file()


def test_what_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("")
    command = [sys.executable, "-S", "-m", "specdemo.site", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "choose an empty" in done.stderr
