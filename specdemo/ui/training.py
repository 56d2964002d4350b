"""What the Train tab shows, as plain data: a table counted from a visitor's text, and what it knows of a context.

Knows the device, the models and the visitors' tables. Does not know components or languages. Everything here that
touches a model is a job on the device thread, in turns of well under a second.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from specdemo.config import whole
from specdemo.device import Device
from specdemo.drafters.ngram_table import NGramTable
from specdemo.errors import PairError, PromptError
from specdemo.models.loader import Pair
from specdemo.ui.models import Models
from specdemo.ui.runs import Runs
from specdemo.ui.settings import Limits, config_of
from specdemo.ui.tables import Tables

State = dict[str, Any]

MOST_CHARACTERS = 1_000_000
LEAST_TOKENS = 20
PIECE = 20_000
"""Characters that are turned into ids in one turn."""
SMALL = 50_000
"""Tokens of a text below which an n-gram that was seen once counts too; above, it must have been seen twice."""
ORDERS = (2, 6)
SHOWN = 6
"""Entries of a list at most."""
AHEAD = 4
"""Tokens of what the table would propose."""
CONTEXT = 2_000
"""Characters before a position that are looked at."""


class Training:
    """The table of each visitor, made from their own text."""

    def __init__(self, device: Device, models: Models, runs: Runs, tables: Tables, limits: Limits) -> None:
        self._device, self._models, self._runs, self._tables, self._limits = device, models, runs, tables, limits

    def train(self, asked: Mapping[str, Any], visitor: str) -> Iterator[State]:
        """The counting as it goes on. `UserError` where the text or the order cannot be used."""
        text, order = checked(asked.get("text")), whole("order", asked.get("order"), *ORDERS)
        pair = self._pair(asked)
        with self._runs.stoppable(visitor) as stopped:
            for _ in self._models.awaited(pair, stopped):
                yield {"state": "waiting"}
            if stopped():
                yield {"state": "stopped"}
                return
            with self._device.stream(lambda: self._counting(pair, text, order, visitor, stopped)) as states:
                yield from states

    def look(self, asked: Mapping[str, Any], visitor: str) -> Iterator[State]:
        """What the visitor's table knows of the end of a text. Says again which `number` the question had."""
        table, pair = self._tables.of(visitor), self._pair(asked)
        if table is None:
            raise PairError("no_own_table")
        for _ in self._models.awaited(pair, lambda: False):
            yield {"state": "waiting", "number": asked.get("number")}
        context = str(asked.get("context") or "")[-CONTEXT:]
        yield self._device.call(lambda: self._seen(pair, table, context)) | {"number": asked.get("number")}

    def _pair(self, asked: Mapping[str, Any]) -> str:
        return config_of({"prompt": "any", "pair": asked.get("pair"), "drafter": "ngram"}, self._limits).pair

    def _counting(self, spec: str, text: str, order: int, visitor: str, stopped: Callable[[], bool]) -> Iterator[State]:
        """On the device thread."""
        with self._models.using(spec) as pair:
            start, done, ids = time.monotonic(), 0, []
            for piece in pieces(text):
                if stopped():
                    yield {"state": "stopped"}
                    return
                ids.append(pair.text.encode(piece, raw=True))
                done += len(piece)
                yield {"state": "running", "done": done, "of": len(text)}
            tokens = sum(map(len, ids))
            if tokens < LEAST_TOKENS:
                raise PromptError("train_short", tokens=tokens, least=LEAST_TOKENS)
            header = {"target": pair.name, "trained_on": f"{tokens} tokens of a visitor's text"}
            table = NGramTable.train(ids, order, pair.vocabulary, 1 if tokens < SMALL else 2, header)
            self._tables.put(visitor, table)
            seconds = time.monotonic() - start
            yield {"state": "done", "tokens": tokens, "seconds": seconds, **described(table), "middle": middle(text)}

    def _seen(self, spec: str, table: NGramTable, context: str) -> State:
        """On the device thread."""
        with self._models.using(spec) as pair:
            if table.header["target"] != pair.name or table.vocabulary != pair.vocabulary:
                raise PairError("own_table_other", target=pair.target_name)
            ids = pair.text.encode(context, raw=True)[1 - table.order :] if context else ()
            return {"state": "done", "context": _labels(pair, ids), **entries(table, ids, pair)}


def checked(text: object) -> str:
    """A text to train on, or the sentence why it is none."""
    if not isinstance(text, str) or not text.strip():
        raise PromptError("train_blank")
    if len(text) > MOST_CHARACTERS:
        raise PromptError("train_long", count=len(text), most=MOST_CHARACTERS)
    if re.search("[\ud800-\udfff]", text):
        raise PromptError("train_not_text")
    return text


def pieces(text: str) -> Iterator[str]:
    """The text in pieces of at most `PIECE` characters that end at a line break or a space where there is one."""
    while text:
        end = PIECE
        if len(text) > PIECE:
            end = max(text.rfind("\n", 0, PIECE), text.rfind(" ", PIECE // 2, PIECE), 0) or PIECE
        if text[:end].strip():
            yield text[:end]
        text = text[end:]


def middle(text: str) -> str:
    """Words from the middle of a text: a context whose continuation the table has seen."""
    return text[: len(text) // 2][-200:].rsplit(" ", 1)[0]


def described(table: NGramTable) -> State:
    """How large a table is. kinds: different n-grams of 1, 2, … ids."""
    kinds = [int((table.unigrams > 0).sum()), *(len(level.tokens) for level in table.levels)]
    return {"order": table.order, "kinds": kinds, "bytes": table.nbytes}


def entries(table: NGramTable, ids: tuple[int, ...], pair: Pair) -> State:
    """What was seen after the longest endings of a context, the law that follows from it, and what it would propose.

    levels: for each ending, longest first, how often it was seen, how many different tokens followed it, and the
    commonest of them with their counts.
    """
    levels = []
    for ending, tokens, counts in table.seen(ids):
        first = sorted(zip(counts.tolist(), tokens.tolist(), strict=True), key=lambda one: (-one[0], one[1]))[:SHOWN]
        rows = [[pair.text.label(token), count] for count, token in first]
        total = int(counts.sum(dtype="int64"))
        levels.append({"ending": _labels(pair, ending), "total": total, "kinds": len(tokens), "rows": rows})
    top = table.law(ids).topk(min(SHOWN, table.vocabulary))
    law = [[pair.text.label(token), q] for token, q in zip(top.indices.tolist(), top.values.tolist(), strict=True)]
    ahead: list[list[Any]] = []
    follow = list(ids)
    for _ in range(AHEAD):
        q, token = table.law(follow).max(-1)
        follow.append(int(token))
        ahead.append([pair.text.label(int(token)), float(q)])
    return {"levels": levels, "law": law, "ahead": ahead}


def _labels(pair: Pair, ids: tuple[int, ...]) -> list[tuple[str, str]]:
    return [pair.text.label(token) for token in ids]
