"""Drafts from an n-gram table: a "model" whose step is a few array look-ups.

Knows where tables lie and how one answers as a session. Does not know how a table is counted or written.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import torch

from specdemo.config import whole
from specdemo.core.protocols import ModelAccess, Pass
from specdemo.drafters import trained
from specdemo.drafters.model import SessionDrafter, over
from specdemo.drafters.ngram_table import NGramTable
from specdemo.drafters.registry import Setup
from specdemo.errors import PairError

LIMIT = 2**31 - 1
"""An n-gram model has no context limit."""
OWN = "own"
"""The knob `source` that asks for the table of whoever asks."""


@runtime_checkable
class Lender(Protocol):
    """Models that come with a table of whoever runs them, None if they have none."""

    own_table: NGramTable | None


def make(setup: Setup) -> SessionDrafter:
    """`PairError` if there is no table for the target or it does not fit, `SettingError` if its order is too small.

    The law is the table's own, shaped by temperature and filters as a model's would be: log q are its logits.
    """
    own = setup.knobs["source"] == OWN
    if own:
        table = own_table(setup.access)
    else:
        path = trained.find(setup.access, "ngram", str(setup.knobs["table"]))
        table = NGramTable.load(path, setup.access.vocabulary)
    order = whole("order", setup.knobs["order"], 0, table.order) or table.order
    return over(NGramSession(table, order), setup, f"{order}-gram", on_host=True)


def own_table(access: ModelAccess) -> NGramTable:
    """The table that was trained by whoever asks. `PairError` if there is none, or if it is for another target."""
    table = access.own_table if isinstance(access, Lender) else None
    if table is None:
        raise PairError("no_own_table")
    if table.vocabulary != access.vocabulary or table.header.get("target") != access.name:
        raise PairError("own_table_other", target=access.name)
    return table


class NGramSession:
    """A table behind the interface of a model. Nothing is cached: only the length is kept."""

    limit = LIMIT

    def __init__(self, table: NGramTable, order: int) -> None:
        self._table = table
        self._order = order
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def extend(self, tokens: Sequence[int], keep: int) -> Pass:
        """Logits `[keep, V]`: log q."""
        if len(tokens) - self._length < keep:
            raise ValueError("too few tokens are new")
        self._length = len(tokens)
        ends = range(len(tokens) - keep + 1, len(tokens) + 1)
        # numpy's log takes a third of the time of torch's on one thread.
        rows = [np.log(self._table.law(tokens[max(0, end - self._order + 1) : end]).numpy()) for end in ends]
        return Pass(torch.from_numpy(np.stack(rows)) if rows else torch.empty(0, self._table.vocabulary))

    def rollback(self, length: int) -> None:
        if not 0 <= length <= self._length:
            raise ValueError(f"cannot roll back to {length} of {self._length}")
        self._length = length
