"""What a workshop needs of the rest of the program, handed in where the page is put together.

Knows signatures. Does not know who keeps them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from specdemo.workshop.records import Point, Shown, Texts


class Backend(Protocol):
    """Pages, recorded runs and live runs. All but `page` and `said` may raise `UserError`."""

    def page(self, code: str | None, presenter: bool) -> str:
        """The page of the presenter or of attendees, as HTML; without a code it asks for one."""

    def shipped(self) -> Sequence[Shown]:
        """The recorded runs that ship with the project."""

    def shipped_text(self, id: str) -> str | None:
        """One of them as text, None if there is none of that name."""

    def checked(self, text: str) -> str:
        """A trace that somebody sent, read strictly and written anew."""

    def live(self, values: Mapping[str, object], most_tokens: int, visitor: str) -> Iterator[str]:
        """A live run as the lines of its trace, piece by piece; before them lines {"ahead"} while it waits."""

    def stop(self, visitor: str) -> None:
        """Ends the runs of a visitor."""

    def point(self, text: str) -> Point | None:
        """What the class board shows of a finished run; None where it is too short to judge."""

    def said(self, error: Exception) -> Texts:
        """An error's sentence in every language, also for one that is a bug."""
