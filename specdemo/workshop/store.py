"""A workshop on disk: one SQLite file, one writer, every change a transaction that outlives `kill -9`.

Knows SQL. Does not know rules: who may vote when is decided in `room.py`. Used by one thread only.
"""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple, fields
from pathlib import Path
from typing import Any

from specdemo.workshop.records import Asked, Place, Point, Question, Shown
from specdemo.workshop.refusal import Refusal

VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS fact (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trace (id TEXT PRIMARY KEY, titles TEXT NOT NULL, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS question (
    id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL, open INTEGER NOT NULL, answer INTEGER);
CREATE TABLE IF NOT EXISTS vote (
    question INTEGER NOT NULL REFERENCES question (id), attendee TEXT NOT NULL, choice INTEGER NOT NULL,
    PRIMARY KEY (question, attendee)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS point (
    id INTEGER PRIMARY KEY AUTOINCREMENT, drafter TEXT NOT NULL, gamma INTEGER NOT NULL, temperature REAL NOT NULL,
    tokens INTEGER NOT NULL, alpha REAL, speedup REAL NOT NULL, c REAL, v REAL);
"""
COLUMNS = ", ".join(field.name for field in fields(Point))


class Store:
    """The file of a workshop, held alone: a second program that opens it is refused."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # it holds the presenter's secret
        except OSError as error:
            raise Refusal("workshop_file_unwritable", file=str(path), reason=error.strerror) from error
        self._base = sqlite3.connect(path, timeout=2.0, isolation_level=None)
        try:
            self._prepare()
        except sqlite3.OperationalError as error:
            self._base.close()
            raise Refusal("workshop_file_used", file=path.name, reason=error) from error
        except sqlite3.DatabaseError as error:
            self._base.close()
            raise Refusal("workshop_file_broken", file=str(path), reason=error) from error

    def _prepare(self) -> None:
        run = self._base.execute
        run("PRAGMA locking_mode = EXCLUSIVE")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        run("PRAGMA foreign_keys = ON")
        run("BEGIN IMMEDIATE")
        for statement in SCHEMA.split(";\n"):
            run(statement)
        run("INSERT OR IGNORE INTO fact VALUES ('version', ?)", (str(VERSION),))
        run("COMMIT")
        if self.fact("version") != str(VERSION):
            raise sqlite3.DatabaseError(f"version {self.fact('version')}")

    def close(self) -> None:
        """Lets go of the file."""
        self._base.close()

    @contextmanager
    def change(self) -> Iterator[None]:
        """All that is written within, or nothing of it. `Refusal` where the disk takes no more."""
        try:
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise Refusal("workshop_disk", status=507, reason=error) from error

    # --- facts ----------------------------------------------------------------------------------------------------

    def fact(self, key: str) -> str | None:
        """A fact about the workshop."""
        row = self._base.execute("SELECT value FROM fact WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put_fact(self, key: str, value: str) -> None:
        """Writes it down."""
        self._base.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (key, value))

    @property
    def place(self) -> Place:
        """Where the presenter stands."""
        written = self.fact("place")
        return Place(**json.loads(written)) if written else Place()

    def put_place(self, place: Place) -> None:
        """Writes it down."""
        self.put_fact("place", json.dumps(asdict(place)))

    # --- runs -----------------------------------------------------------------------------------------------------

    def put_trace(self, shown: Shown, body: bytes, most: int) -> None:
        """Keeps a run, and the latest `most` in all. body: compressed."""
        self._base.execute("INSERT OR REPLACE INTO trace VALUES (?, ?, ?)", (shown.id, json.dumps(shown.titles), body))
        self._base.execute(
            "DELETE FROM trace WHERE rowid NOT IN (SELECT rowid FROM trace ORDER BY rowid DESC LIMIT ?)", (most,)
        )

    @property
    def traces(self) -> tuple[Shown, ...]:
        """The runs kept, the oldest first."""
        rows = self._base.execute("SELECT id, titles FROM trace ORDER BY rowid")
        return tuple(Shown(id, json.loads(titles), own=True) for id, titles in rows)

    def trace(self, id: str) -> bytes | None:
        """A run's text, compressed; None if there is none of that name."""
        row = self._base.execute("SELECT body FROM trace WHERE id = ?", (id,)).fetchone()
        return None if row is None else bytes(row[0])

    # --- questions ------------------------------------------------------------------------------------------------

    def ask(self, question: Question) -> Asked:
        """Puts a question; it takes votes."""
        body = json.dumps(asdict(question))
        cursor = self._base.execute("INSERT INTO question (body, open) VALUES (?, 1)", (body,))
        assert cursor.lastrowid is not None
        return Asked(cursor.lastrowid, question, open=True)

    def close_question(self, id: int, answer: int | None) -> None:
        """Ends the voting."""
        self._base.execute("UPDATE question SET open = 0, answer = ? WHERE id = ?", (answer, id))

    def asked(self, id: int) -> Asked | None:
        """A question that was put."""
        row = self._base.execute("SELECT body, open, answer FROM question WHERE id = ?", (id,)).fetchone()
        if row is None:
            return None
        body: dict[str, Any] = json.loads(row[0])
        return Asked(id, Question(body["kind"], body["text"], tuple(body["options"])), bool(row[1]), row[2])

    def vote(self, question: int, attendee: str, choice: int) -> None:
        """An attendee's vote in place of an earlier one."""
        self._base.execute("INSERT OR REPLACE INTO vote VALUES (?, ?, ?)", (question, attendee, choice))

    def tally(self, asked: Asked) -> tuple[int, ...]:
        """Votes for each option."""
        sql = "SELECT choice, COUNT(*) FROM vote WHERE question = ? GROUP BY choice"
        counts = dict(self._base.execute(sql, (asked.id,)).fetchall())
        return tuple(counts.get(option, 0) for option in range(len(asked.question.options)))

    def choice(self, question: int, attendee: str) -> int | None:
        """What an attendee chose."""
        sql = "SELECT choice FROM vote WHERE question = ? AND attendee = ?"
        row = self._base.execute(sql, (question, attendee)).fetchone()
        return None if row is None else int(row[0])

    # --- the class board ------------------------------------------------------------------------------------------

    def add_point(self, point: Point) -> int:
        """Puts a run on the board and returns its number."""
        marks = ", ".join("?" * len(fields(Point)))
        cursor = self._base.execute(f"INSERT INTO point ({COLUMNS}) VALUES ({marks})", astuple(point))
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def points(self, after: int = 0) -> tuple[tuple[int, Point], ...]:
        """(number, run) of all runs on the board with a number above `after`."""
        rows = self._base.execute(f"SELECT id, {COLUMNS} FROM point WHERE id > ? ORDER BY id", (after,))
        return tuple((row[0], Point(*row[1:])) for row in rows)

    @property
    def last_point(self) -> int:
        """The highest number on the board, 0 if it is empty."""
        return int(self._base.execute("SELECT COALESCE(MAX(id), 0) FROM point").fetchone()[0])

    @property
    def point_count(self) -> int:
        """Runs on the board."""
        return int(self._base.execute("SELECT COUNT(*) FROM point").fetchone()[0])

    def forget(self) -> None:
        """Takes everything away but the facts."""
        for table in ("vote", "question", "point", "trace"):
            self._base.execute(f"DELETE FROM {table}")
