"""The folder of a bench: settings, costs and every finished race, so that an interrupted bench goes on.

Knows files. Does not know models or what the numbers mean. `bench.json` says what is measured; `rows.jsonl` has
one line per lane and grows by a whole race at a time.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from specdemo.bench.measure import DraftCost
from specdemo.bench.rows import Row
from specdemo.codec import Misfit, plain, typed
from specdemo.errors import SettingError, UserError

ABOUT, ROWS = "bench.json", "rows.jsonl"

Record = dict[str, Any]


class Store:
    """A folder with what has been measured so far. `rows` grow; `costs` are empty until `begin`."""

    def __init__(self, folder: Path, settings: Record) -> None:
        """Opens or makes the folder. `SettingError` if it holds a bench of other settings, or anything else."""
        self.folder = folder
        self.rows: tuple[Row, ...] = ()
        self.costs: tuple[DraftCost, ...] = ()
        self.environment: Record = {}
        self._settings = settings
        with _io(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / ABOUT).exists():
                self._resume()
            elif any(item.name != ABOUT + ".part" for item in folder.iterdir()):
                raise SettingError("bench_foreign_folder", folder=folder)

    def _resume(self) -> None:
        about = _json((self.folder / ABOUT).read_text(encoding="utf-8"), self.folder / ABOUT, 1)
        if not {"settings", "environment", "costs"} <= about.keys():
            raise UserError("bench_broken", file=self.folder / ABOUT, line=1)
        there = about["settings"]
        other = [name for name, value in self._settings.items() if there.get(name) != value]
        if other:
            name = other[0]
            raise SettingError(
                "bench_other_settings", folder=self.folder, name=name, there=there.get(name), here=self._settings[name]
            )
        self.environment = about["environment"]
        self.costs = _typed(about["costs"], tuple[DraftCost, ...], self.folder / ABOUT, 1)
        path = self.folder / ROWS
        if path.exists():
            # What stands behind the last line feed was being written when the process died.
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
            records = [(_json(line, path, number), number) for number, line in enumerate(lines, start=1)]
            self.rows = tuple(_typed(record, Row, path, number) for record, number in records)

    def begin(self, environment: Record, costs: Sequence[DraftCost]) -> None:
        """Writes what is being measured, where and at which costs. Once per folder."""
        self.environment, self.costs = environment, tuple(costs)
        about = {"settings": self._settings, "environment": environment, "costs": plain(self.costs)}
        with _io(self.folder):
            part = self.folder / (ABOUT + ".part")
            part.write_text(dumps(about, indent=1) + "\n", encoding="utf-8")
            part.replace(self.folder / ABOUT)

    def keep_whole_races(self, lanes: int) -> None:
        """Drops races of which not all `lanes` rows are there."""
        if not (self.folder / ROWS).exists():
            return
        counts: dict[tuple[str, float, int], int] = {}
        for row in self.rows:
            counts[row.race] = counts.get(row.race, 0) + 1
        self.rows = tuple(row for row in self.rows if counts[row.race] == lanes)
        with _io(self.folder):
            (self.folder / ROWS).write_text("".join(_line(row) for row in self.rows), encoding="utf-8")

    def add(self, rows: Sequence[Row]) -> None:
        """Appends the rows of a finished race."""
        self.rows += tuple(rows)
        with _io(self.folder), (self.folder / ROWS).open("a", encoding="utf-8") as file:
            file.write("".join(_line(row) for row in rows))


def write_csv(path: Path, records: Iterable[Any], kind: type) -> None:
    """Frozen records of dataclass `kind` as a table with a header; what was not measured is an empty cell."""
    with _io(path), path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(kind)])
        writer.writeheader()
        writer.writerows(asdict(record) for record in records)


def dumps(value: Any, indent: int | None = None) -> str:
    """Strict JSON: ValueError on inf and NaN."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)


def _line(row: Row) -> str:
    return dumps(plain(row)) + "\n"


def _json(text: str, path: Path, line: int) -> Record:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise UserError("bench_broken", file=path, line=line)
    return record


def _typed(record: Any, hint: Any, path: Path, line: int) -> Any:
    try:
        return typed(record, hint, "row")
    except Misfit:
        raise UserError("bench_broken", file=path, line=line) from None


@contextmanager
def _io(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError("bench_unwritable", path=path, reason=error.strerror) from error
