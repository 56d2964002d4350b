"""N-gram tables that visitors have trained: at most one each, in memory only, gone with the visit.

Knows visitors by a name. Does not know how a table is trained or what it is used for.
"""

import threading
from collections import OrderedDict
from typing import Any, cast

from specdemo.drafters.ngram_table import NGramTable
from specdemo.models.loader import Pair

MOST_BYTES = 96_000_000
"""Of all tables together; the one unused for longest makes room."""


class Tables:
    """The tables by their visitors. Any thread may ask."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._tables: OrderedDict[str, NGramTable] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, visitor: str, table: NGramTable) -> None:
        """The visitor's table from now on, in place of an earlier one."""
        with self._lock:
            self._tables[visitor] = table
            self._tables.move_to_end(visitor)
            while len(self._tables) > 1 and self._bytes() > self._most_bytes:
                self._tables.popitem(last=False)

    def of(self, visitor: str) -> NGramTable | None:
        """The visitor's table, None if there is none or it had to make room."""
        with self._lock:
            if visitor in self._tables:
                self._tables.move_to_end(visitor)
            return self._tables.get(visitor)

    def drop(self, visitor: str) -> None:
        """The visit is over."""
        with self._lock:
            self._tables.pop(visitor, None)

    def lent(self, pair: Pair, visitor: str) -> Pair:
        """The pair, from which the drafter `ngram` can have the visitor's table."""
        return cast(Pair, Lending(pair, self.of(visitor)))

    @property
    def bytes(self) -> int:
        """Memory of all tables."""
        with self._lock:
            return self._bytes()

    def _bytes(self) -> int:
        return sum(table.nbytes for table in self._tables.values())


class Lending:
    """A pair with one thing more: `drafters.ngram.Lender`."""

    def __init__(self, pair: Pair, own_table: NGramTable | None) -> None:
        self._pair, self.own_table = pair, own_table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pair, name)
