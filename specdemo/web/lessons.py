"""The lessons as data: `assets/lessons/lessons.json` for what the page does, Markdown in each language for the words.

Knows the folder and what must be in it. Does not know pages: `assets/page/lessons-*.js` shows the lessons and reads the
Markdown. Whatever does not fit is a mistake of the author's and raises `ValueError`.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from specdemo.paths import ASSETS

FOLDER = ASSETS / "lessons"
LANGUAGES = ("en", "zh")
SECTIONS = {
    "lesson": ("question", "choices", "reasons", "explain", "try"),
    "claim": ("question", "choices", "reasons", "explain"),
    "bug": ("task", "hint", "reason"),
}
"""The sections of the words of each kind of entry, in their order."""
KEYS = {"id", "kind", "trace", "before", "after", "answer", "holds", "table", "runs", "try"}
BEAT = {"at", "play", "speed", "scene", "hold", "focus"}
ACTION = {"id", "settings", "theory", "prove", "focus"}
FIX = re.compile(r"^\s*# fix: ?(.*)$")
ITEM = re.compile(r"^- ([\w-]+): (.+)$")
PLACEHOLDER = re.compile(r"\{([\w.-]+)\}")
FIGURE = re.compile(r"(?<![\w.{])\d+(?:\.\d+)? ?(?:×|times\b|倍|%|ms\b|MB\b)")
"""A figure that looks measured; lessons take theirs from traces."""

Data = dict[str, Any]


@cache
def data(folder: Path = FOLDER) -> Data:
    """{entries, words: {language: {id: Markdown}}, code: {id: {lines, fix}}, cache: the cost of having no KV cache}."""
    entries = [_entry(entry) for entry in _json(folder / "lessons.json")]
    code = {}
    for entry in entries:
        if entry["kind"] == "bug":
            lines, entry["line"], fix = snippet(folder / "bugs" / f"{entry['id']}.py")
            code[entry["id"]] = {"lines": lines, "fix": fix}
    words = {
        language: {entry["id"]: _words(folder / language / f"{entry['id']}.md", entry) for entry in entries}
        for language in LANGUAGES
    }
    for entry in entries:
        _same_shape(entry["id"], *(words[language][entry["id"]] for language in LANGUAGES))
    return {"entries": entries, "words": words, "code": code, "cache": _json(folder / "no-cache.json")}


def snippet(path: Path) -> tuple[list[str], int, str]:
    """(lines as shown, number from 0 of the wrong one, what it should be), which stands below it as `# fix: …`."""
    shown: list[str] = []
    wrong, fix = None, ""
    for line in path.read_text(encoding="utf-8").rstrip().split("\n"):
        if found := FIX.match(line):
            wrong, fix = len(shown) - 1, found[1]
        else:
            shown.append(line)
    if wrong is None:
        raise ValueError(f"{path.name} marks no line as wrong")
    return shown, wrong, fix


def repaired(path: Path) -> str:
    """The snippet with its wrong line put right."""
    lines, wrong, fix = snippet(path)
    return "\n".join([*lines[:wrong], fix, *lines[wrong + 1 :]]) + "\n"


def sections(markdown: str) -> dict[str, str]:
    """The text of each section by its name; what stands before the first is under ""."""
    head, *rest = re.split(r"^## ", markdown, flags=re.M)
    return {"": head} | {name.strip(): body for name, _, body in (part.partition("\n") for part in rest)}


def items(section: str) -> dict[str, str]:
    """The items `- id: words` of a section."""
    return {found[1]: found[2] for line in section.split("\n") if (found := ITEM.match(line))}


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _entry(entry: Data) -> Data:
    name = entry.get("id", "?")
    if entry.get("kind") not in SECTIONS or not set(entry) <= KEYS:
        raise ValueError(f"{name}: unknown kind or key")
    beats = [*entry.get("before", ()), *entry.get("after", ())]
    if any(not set(beat) <= BEAT for beat in beats) or any(not set(one) <= ACTION for one in entry.get("try", ())):
        raise ValueError(f"{name}: unknown key in a beat or a try")
    return dict(entry)


def _words(path: Path, entry: Data) -> str:
    """The Markdown of an entry, if it has what its kind needs."""
    markdown = path.read_text(encoding="utf-8")
    found = sections(markdown)
    names = tuple(found)[1:]
    if names != SECTIONS[entry["kind"]] or not re.fullmatch(r"# [^\n]+\n+", found[""]):
        raise ValueError(f"{path}: a title and the sections {SECTIONS[entry['kind']]} are needed, not {names}")
    if loose := FIGURE.search(markdown):
        raise ValueError(f"{path}: {loose[0]!r} looks measured; take it from a trace")
    if entry["kind"] == "bug":
        return markdown
    choices, reasons = set(items(found["choices"])), set(items(found["reasons"]))
    if not choices <= reasons or entry["answer"] not in choices | {"prediction"}:
        raise ValueError(f"{path}: every choice needs its reason, and the answer must be one of them")
    if set(items(found.get("try", ""))) != {one["id"] for one in entry.get("try", ())}:
        raise ValueError(f"{path}: the words under try are not those of lessons.json")
    return markdown


def _same_shape(name: str, one: str, other: str) -> None:
    """Both languages have the same sections, paragraphs, items and placeholders."""
    for section in sections(one):
        first, second = sections(one)[section], sections(other)[section]
        for shape in (list_of_items, paragraphs, placeholders):
            if shape(first) != shape(second):
                raise ValueError(f"{name}, section {section!r}: the languages differ in {shape.__name__}")


def list_of_items(section: str) -> list[str]:
    return list(items(section))


def paragraphs(section: str) -> int:
    return len([block for block in section.strip().split("\n\n") if block and not ITEM.match(block)])


def placeholders(section: str) -> set[str]:
    return set(PLACEHOLDER.findall(section))
