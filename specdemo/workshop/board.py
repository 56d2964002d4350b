"""The class board as text for other programs.

Knows points. Does not know where they are kept.
"""

import csv
import io
from collections.abc import Iterable
from dataclasses import astuple, fields

from specdemo.workshop.records import Point

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for a formula at the beginning of a text."""


def table(points: Iterable[tuple[int, Point]]) -> str:
    """The points as CSV with a line of names; None is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["run", *(field.name for field in fields(Point))])
    for number, point in points:
        writer.writerow([number, *map(_cell, astuple(point))])
    return out.getvalue()


def _cell(value: object) -> object:
    return "'" + value if isinstance(value, str) and value.startswith(FORMULA) else value
