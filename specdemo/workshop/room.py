"""The room of a workshop: what may happen in it, and what is the case after it has happened.

Knows the rules. Does not know HTTP, pages or who is connected. Not for two threads: `hub.py` has one for it.
"""

import gzip
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from specdemo.workshop import records
from specdemo.workshop.records import Asked, Place, Point, Question, Shown
from specdemo.workshop.refusal import Refusal
from specdemo.workshop.store import Store

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""Letters and digits that nobody mixes up on a projector."""
CODE_LENGTH = 4
MOST_VOTES = 1000
"""Attendees that may answer one question."""
MOST_TRACES = 50
MOST_POINTS = 5000

Token = Callable[[int], str]
"""A fresh random text of so many letters."""


@dataclass(frozen=True, slots=True)
class State:
    """What is the case. number: grows with every change. tally: of `asked`. last_point: highest number on the board."""

    number: int
    code: str
    place: Place
    asked: Asked | None = None
    tally: tuple[int, ...] = ()
    last_point: int = 0
    own: tuple[Shown, ...] = field(default=())


class Room:
    """A workshop that goes on where the file left off."""

    def __init__(self, store: Store, secret: str | None = None, token: Token | None = None) -> None:
        self._store, self._token = store, token or _token
        with store.change():
            if not store.fact("code"):
                store.put_fact("code", self._token(CODE_LENGTH))
            if secret or not store.fact("secret"):
                store.put_fact("secret", secret or secrets.token_urlsafe(16))
        self.secret = store.fact("secret") or ""
        self.state = self._read(0)

    def _read(self, number: int) -> State:
        store, code = self._store, self._store.fact("code") or ""
        written = store.fact("asked")
        asked = store.asked(int(written)) if written else None
        tally = store.tally(asked) if asked else ()
        return State(number, code, store.place, asked, tally, store.last_point, store.traces)

    def _now(self, **changes: object) -> State:
        self.state = replace(self.state, number=self.state.number + 1, **changes)  # type: ignore[arg-type]
        return self.state

    def is_presenter(self, secret: str) -> bool:
        """True for the secret that was printed at the start."""
        return hmac.compare_digest(secret.encode(errors="replace"), self.secret.encode())

    def move(self, changes: Mapping[str, object], playing_on: bool = False) -> State:
        """The presenter goes elsewhere. playing_on: a run plays, untouched; only the leading tab may."""
        place = self.state.place.moved(changes)
        if playing_on and place.by != self.state.place.by:
            raise Refusal("workshop_other_tab", status=409)
        with self._store.change():
            self._store.put_place(place)
        return self._now(place=place)

    def keep(self, titles: Mapping[str, str], text: str) -> tuple[State, str]:
        """Keeps a run for the class. Returns its id too."""
        shown = Shown(f"own-{self._token(8)}", dict(titles), own=True)
        with self._store.change():
            self._store.put_trace(shown, gzip.compress(text.encode(), 9, mtime=0), MOST_TRACES)
        return self._now(own=self._store.traces), shown.id

    def trace(self, id: str) -> bytes | None:
        """A run kept, compressed with gzip."""
        return self._store.trace(id)

    def ask(self, question: Question) -> State:
        """Puts a question to the class and shows it."""
        place = replace(self.state.place, view="question")
        with self._store.change():
            asked = self._store.ask(question)
            self._store.put_fact("asked", str(asked.id))
            self._store.put_place(place)
        return self._now(asked=asked, tally=(0,) * len(question.options), place=place)

    def reveal(self, id: int, answer: int | None) -> State:
        """Ends the voting and says what is right; None where nothing is."""
        asked = self._current(id)
        if answer is not None:
            records.whole("answer", answer, 0, len(asked.question.options) - 1)
        with self._store.change():
            self._store.close_question(asked.id, answer)
        return self._now(asked=replace(asked, open=False, answer=answer))

    def dismiss(self) -> State:
        """Takes the question away. Its votes stay in the file."""
        place = replace(self.state.place, view="run" if self.state.place.view == "question" else self.state.place.view)
        with self._store.change():
            self._store.put_fact("asked", "")
            self._store.put_place(place)
        return self._now(asked=None, tally=(), place=place)

    def vote(self, id: int, attendee: str, choice: int) -> State:
        """An attendee's vote; a later one takes its place until the answer is shown."""
        asked = self._current(id)
        if not asked.open:
            raise Refusal("workshop_vote_closed", status=409)
        records.whole("choice", choice, 0, len(asked.question.options) - 1)
        new = self._store.choice(asked.id, attendee) is None
        if new and sum(self.state.tally) >= MOST_VOTES:
            raise Refusal("workshop_full", status=503, most=MOST_VOTES)
        with self._store.change():
            self._store.vote(asked.id, attendee, choice)
        return self._now(tally=self._store.tally(asked))

    def choice(self, attendee: str) -> int | None:
        """What an attendee answered to the question of now."""
        return self._store.choice(self.state.asked.id, attendee) if self.state.asked else None

    def _current(self, id: int) -> Asked:
        asked = self.state.asked
        if asked is None or asked.id != id:
            raise Refusal("workshop_vote_closed", status=409)
        return asked

    def add_point(self, point: Point) -> tuple[State, int]:
        """Puts a run on the board. Returns its number too."""
        if self._store.point_count >= MOST_POINTS:
            raise Refusal("workshop_full", status=503, most=MOST_POINTS)
        with self._store.change():
            number = self._store.add_point(point)
        return self._now(last_point=number), number

    def points(self, after: int = 0) -> tuple[tuple[int, Point], ...]:
        """(number, run) of the runs on the board with a number above `after`."""
        return self._store.points(after)

    def begin_anew(self) -> State:
        """An empty room with another code; the presenter's secret stays."""
        with self._store.change():
            self._store.forget()
            self._store.put_fact("code", self._token(CODE_LENGTH))
            self._store.put_fact("asked", "")
            self._store.put_place(Place())
        self.state = self._read(self.state.number + 1)
        return self.state

    def close(self) -> None:
        """Lets go of the file."""
        self._store.close()


def _token(length: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(length))
