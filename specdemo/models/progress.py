"""How a long wait tells where it is and learns that nobody waits any more. Knows neither files nor models."""

from collections.abc import Callable
from typing import Protocol

from specdemo.errors import Cancelled


class Progress(Protocol):
    """Told what is being done: a stage ("download", "unpack", "dequantise", "load", …) and how much of it."""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """`done` of `total` bytes; `total` is None where nobody knows it."""
        ...


Cancel = Callable[[], bool]
"""True once the user no longer wants the result."""


def silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


def never() -> bool:
    """A wait that nobody cancels."""
    return False


def stop_if(cancelled: Cancel) -> None:
    """Raises `Cancelled` if the user no longer waits."""
    if cancelled():
        raise Cancelled
