"""Prompts: the project's own set and the user's file of them. Knows texts and files. Does not know models."""

import csv
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdemo.errors import PromptError
from specdemo.paths import ASSETS

GROUPS = ("copy", "code", "rag", "maths", "question", "chat", "story")
OWN_SET = ASSETS / "prompts.json"
OWN_GROUP = "own"
"""Group of a user's prompt that names none."""
MOST = 10_000


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with a name. titles: (language, short title) pairs. role: "hero", "foil" or ""; note: for editors."""

    id: str
    group: str
    text: str
    titles: tuple[tuple[str, str], ...] = ()
    role: str = ""
    note: str = ""

    def title(self, language: str = "en") -> str:
        """The short title in a language, else the id."""
        return dict(self.titles).get(language, self.id)


def load_prompts(path: Path = OWN_SET) -> tuple[Prompt, ...]:
    """The project's own prompts, in the order of the file."""
    records: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return tuple(Prompt(**record | {"titles": tuple(record["titles"].items())}) for record in records)


def hero() -> Prompt:
    """The prompt on which drafting gains most and the answer is right: the first screen's."""
    return _with_role("hero")


def foil() -> Prompt:
    """The prompt on which looking back gains nothing."""
    return _with_role("foil")


def _with_role(role: str) -> Prompt:
    return next(prompt for prompt in load_prompts() if prompt.role == role)


def read_prompts(path: Path) -> tuple[Prompt, ...]:
    """The user's own prompts from a UTF-8 file, named by their number. Raises `PromptError` with the way to mend it.

    .txt: one prompt a line, blank lines skipped, `\\n` is a backslash and an n. .csv: the column "prompt" or "text",
    else the first; with a header also "group". .json: a list of strings or of objects with "prompt" (or "text") and
    "group".
    .jsonl: one such string or object a line.
    """
    _reader(path.name)
    return parse_prompts(_text(path), path.name)


def parse_prompts(content: str, file: str, most: int = MOST) -> tuple[Prompt, ...]:
    """The prompts in the content of a file of that name, as `read_prompts` says."""
    found = [(text, group or OWN_GROUP) for text, group in _reader(file)(content, file) if text.strip()]
    if not found:
        raise PromptError("prompts_empty", file=file)
    if len(found) > most:
        raise PromptError("prompts_too_many", file=file, count=len(found), most=most)
    return tuple(Prompt(str(number), group, text) for number, (text, group) in enumerate(found, start=1))


Found = Iterable[tuple[str, str]]
"""(text, group or "") of each prompt."""


def _text(path: Path) -> str:
    try:
        # Editors on Windows put a byte order mark in front, which is no part of the first prompt.
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise PromptError("prompts_missing", file=path) from None
    except OSError as error:
        raise PromptError("prompts_unreadable", file=path, reason=error.strerror) from error
    except UnicodeDecodeError as error:
        raise PromptError("prompts_encoding", file=path.name, byte=error.start) from error


def _from_txt(text: str, file: str) -> Found:
    return [(line.strip(), "") for line in text.replace("\r\n", "\n").split("\n")]


def _from_csv(text: str, file: str) -> Found:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = [row for row in reader if row]
    except csv.Error as error:
        raise PromptError("prompts_csv", file=file, line=reader.line_num, reason=error) from error
    header = [name.strip().lower() for name in rows[0]] if rows else []
    named = next((name for name in ("prompt", "text") if name in header), None)
    if named is None:
        return [(row[0], "") for row in rows]
    prompt, group = header.index(named), header.index("group") if "group" in header else len(header)
    return [(_cell(row, prompt), _cell(row, group).strip()) for row in rows[1:]]


def _cell(row: list[str], index: int) -> str:
    return row[index] if index < len(row) else ""


def _from_json(text: str, file: str) -> Found:
    try:
        records = json.loads(text)
    except json.JSONDecodeError as error:
        raise PromptError("prompts_json", file=file, line=error.lineno, reason=error.msg) from error
    except (ValueError, RecursionError):  # a number of thousands of digits, brackets nested without end
        raise PromptError("prompts_shape", file=file, where="the file") from None
    if not isinstance(records, list):
        raise PromptError("prompts_shape", file=file, where="the file")
    return [_from_record(record, file, number) for number, record in enumerate(records, start=1)]


def _from_record(record: object, file: str, number: int) -> tuple[str, str]:
    if isinstance(record, str):
        return record, ""
    if isinstance(record, dict):
        text, group = record.get("prompt", record.get("text")), record.get("group", "")
        if isinstance(text, str) and isinstance(group, str):
            return text, group.strip()
    raise PromptError("prompts_shape", file=file, where=f"entry {number}")


def _from_jsonl(text: str, file: str) -> Found:
    return [_from_line(line, file, number) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _from_line(line: str, file: str, number: int) -> tuple[str, str]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise PromptError("prompts_json", file=file, line=number, reason=error.msg) from error
    except (ValueError, RecursionError):
        record = None
    return _from_record(record, file, number)


READERS: dict[str, Callable[[str, str], Found]] = {
    ".txt": _from_txt, ".csv": _from_csv, ".json": _from_json, ".jsonl": _from_jsonl,
}  # fmt: skip


def _reader(file: str) -> Callable[[str, str], Found]:
    reader = READERS.get(Path(file).suffix.lower())
    if reader is None:
        raise PromptError("prompts_type", file=file, types=", ".join(READERS))
    return reader
