"""Results on stdout, progress on stderr, and what an interrupt leaves. Knows terminals, not what is measured."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

T = TypeVar("T")


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A progress bar on stderr; nothing where stderr is no terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), refresh_per_second=2) as bar:
        yield bar


def gather(
    source: Iterable[T], name: Callable[[T], str], total: int, amount: Callable[[T], int] = lambda item: 1
) -> tuple[tuple[T, ...], bool]:
    """All that `source` gives, with a bar; False if the user interrupted before its end.

    amount: how far an item brings the bar on its way to `total`.
    """
    found: list[T] = []
    try:
        with progress_bar() as bar:
            task = bar.add_task("warming up", total=total)
            for item in source:
                found.append(item)
                bar.update(task, advance=amount(item), description=name(item))
    except KeyboardInterrupt:
        return tuple(found), False
    return tuple(found), True


def print_parts(parts: Iterable[Table | str]) -> None:
    """Tables and sentences on stdout; wide enough where the output is no terminal."""
    console = Console(width=None if sys.stdout.isatty() else 200)
    for part in parts:
        console.print(part, highlight=False, markup=False)
