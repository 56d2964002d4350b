"""Recorded runs and the lessons as scripts that lie beside the page: `<name>-<hash>.js`, a call with packed text each.

A page that was opened from a disk may load scripts and nothing else. Knows the folder of recorded runs. Does not know
what a trace or a lesson says.
"""

import base64
import bz2
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdemo.paths import ASSETS
from specdemo.web import lessons

SHIPPED = ASSETS / "traces"
LESSONS = "lessons/"
"""Their name among the packs, which no recorded run can have."""


@dataclass(frozen=True, slots=True)
class Pack:
    """A recorded run. titles: language → title. hero: it plays first. file: its address from the page on."""

    id: str
    titles: dict[str, str]
    hero: bool
    file: str
    script: bytes

    @property
    def entry(self) -> dict[str, Any]:
        """What the page is told of it."""
        return {"id": self.id, "titles": self.titles, "hero": self.hero, "file": self.file}


def packs(folder: Path = SHIPPED) -> tuple[Pack, ...]:
    """The runs of the folder's index, in its order."""
    records: list[dict[str, Any]] = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    return tuple(_pack(folder, record) for record in records)


def _pack(folder: Path, record: dict[str, Any]) -> Pack:
    id = record["id"]
    script = called(id, (folder / f"{id}.jsonl").read_bytes())
    return Pack(id, record["titles"], record.get("hero", False), f"traces/{id}-{digest(script)}.js", script)


def lessons_pack() -> tuple[str, bytes]:
    """(file, script) of the lessons: their data as JSON, packed like a trace."""
    script = called(LESSONS, json.dumps(lessons.data(), ensure_ascii=False, separators=(",", ":")).encode())
    return f"lessons-{digest(script)}.js", script


def called(id: str, data: bytes) -> bytes:
    """A script that hands `data` over under the name `id`."""
    return f"specdemoPack({json.dumps(id)},{json.dumps(pack(data))})\n".encode()


def pack(data: bytes) -> str:
    """bzip2 in base 85, which has no sign that could end an element; the same data give the same text."""
    return base64.b85encode(bz2.compress(data)).decode("ascii").replace("<", ",")


def digest(data: bytes) -> str:
    """A short name for a file's contents."""
    return hashlib.sha256(data).hexdigest()[:10]
