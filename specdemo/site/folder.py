"""The site as a folder: the page, the recorded runs, and what hosts and browsers want beside them.

Knows file names and sizes. Does not know what is in the page (`page.py`).
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from specdemo.paths import ASSETS
from specdemo.site.packs import SHIPPED, digest, lessons_pack, packs
from specdemo.site.page import Options, page

PAGE_BYTES = 150_000
PACK_BYTES = 30_000

MARK = ".specdemo-site"
"""A folder with this file was written here and may be written anew; no other is ever emptied."""

SPACE = """---
title: specdemo
emoji: 🎯
colorFrom: indigo
colorTo: purple
sdk: static
pinned: false
license: apache-2.0
short_description: See speculative decoding happen, recorded runs
---

Recorded runs of speculative decoding to play, step through and check. Open `index.html`: from a disk, from any static
server, below any path. Nothing is fetched from elsewhere.
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes as they lie on the disk and as a server sends them that compresses nothing.

    page: all that is loaded at once. packs: by name, what is loaded when it is wanted: recorded runs and the lessons.
    """

    page: int
    packs: Mapping[str, int]
    total: int


class TooLarge(ValueError):
    """A file of the site is larger than it may be."""


class NotOurs(ValueError):
    """The folder holds other things."""


def write(out: Path, traces: Path = SHIPPED, repository: str = "") -> Sizes:
    """Writes the site. A folder that was written before is written anew; one with other things in it is refused."""
    found = dict(files(traces, repository))
    sizes = _sizes(found)
    _empty(out)
    for name, data in found.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(data)
    return sizes


def files(traces: Path = SHIPPED, repository: str = "") -> Iterator[tuple[str, bytes]]:
    """(name, contents) of every file."""
    runs = packs(traces)
    lessons, words = lessons_pack()
    index = page(runs, Options(worker="worker.js", repository=repository, lessons=lessons)).encode()
    icon = (ASSETS / "site" / "icon.svg").read_bytes()
    about = json.dumps(MANIFEST, indent=1).encode()
    kept = {"index.html": index, "icon.svg": icon, "site.webmanifest": about, lessons: words}
    kept |= {one.file: one.script for one in runs}
    yield from kept.items()
    yield "worker.js", _worker(kept)
    yield "README.md", SPACE.encode()
    yield ".nojekyll", b""
    yield MARK, b""


MANIFEST = {
    "name": "specdemo",
    "short_name": "specdemo",
    "start_url": "./",
    "scope": "./",
    "display": "standalone",
    "background_color": "#f6f6f4",
    "theme_color": "#3d3bbd",
    "icons": [{"src": "icon.svg", "sizes": "any", "type": "image/svg+xml"}],
}


def _worker(kept: Mapping[str, bytes]) -> bytes:
    """The script that keeps the site in the browser, under a name that changes with its contents."""
    version = digest("".join(f"{name} {digest(data)}\n" for name, data in sorted(kept.items())).encode())
    names = ["./", *(name for name in kept if name != "index.html")]
    source = (ASSETS / "site" / "worker.js").read_text(encoding="utf-8")
    return source.replace("{{version}}", version).replace('["{{files}}"]', json.dumps(names)).encode()


def _sizes(found: Mapping[str, bytes]) -> Sizes:
    packs = {name: len(data) for name, data in found.items() if name.startswith(("traces/", "lessons-"))}
    own = sum(len(found[name]) for name in ("index.html", "icon.svg", "site.webmanifest", "worker.js"))
    if own > PAGE_BYTES:
        raise TooLarge(f"the page has {own} bytes, more than {PAGE_BYTES}")
    for name, size in packs.items():
        if size > PACK_BYTES:
            raise TooLarge(f"{name} has {size} bytes, more than {PACK_BYTES}: record a shorter run")
    return Sizes(own, packs, sum(map(len, found.values())))


def _empty(out: Path) -> None:
    if out.exists():
        if any(out.iterdir()) and not (out / MARK).is_file():
            raise NotOurs(f"{out} holds other things; choose an empty or a new folder")
        shutil.rmtree(out)
    out.mkdir(parents=True)
