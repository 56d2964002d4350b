"""An n-gram model over token ids: counts in a trie of plain arrays, its law, training, and its file.

Knows ids. Does not know text, drafting or temperature.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from torch import Tensor

from specdemo.errors import PairError

FORMAT = "specdemo-ngram-1"
MAX_COUNT = 65_535
"""Larger counts are stored as this: two bytes each, and no law changes enough to matter."""

Ints = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Level:
    """The n-grams of one length, sorted. start `[nodes of the level above + 1]`, tokens and counts `[nodes]`.

    The children of node i above are `tokens[start[i] : start[i + 1]]`, their last ids in ascending order.
    """

    start: Ints
    tokens: Ints
    counts: Ints

    def children(self, node: int) -> tuple[Ints, Ints]:
        """Last ids and counts of the n-grams that prolong a node of the level above."""
        here = slice(int(self.start[node]), int(self.start[node + 1]))
        return self.tokens[here], self.counts[here]

    def child(self, node: int, token: int) -> int | None:
        """The node of one of them, None if it is not in the table."""
        tokens, _ = self.children(node)
        # The id in the array's own type: anything else would copy the array to convert it.
        i = int(tokens.searchsorted(tokens.dtype.type(token)))
        return int(self.start[node]) + i if i < len(tokens) and tokens[i] == token else None


@dataclass(frozen=True)
class NGramTable:
    """A trained table.

    unigrams: count of every id, `[V]`. levels: 2-grams, 3-grams, …
    header: what the file says of itself (tokenizer, source, licence, …).
    """

    unigrams: Ints
    levels: tuple[Level, ...]
    header: dict[str, str] = field(default_factory=dict)

    @property
    def vocabulary(self) -> int:
        """V."""
        return len(self.unigrams)

    @property
    def order(self) -> int:
        """Ids in the longest n-gram."""
        return len(self.levels) + 1

    @property
    def nbytes(self) -> int:
        """Size of the file but for its header."""
        return sum(array.nbytes for array in self._arrays().values())

    @classmethod
    def train(
        cls,
        ids: Iterable[Sequence[int]],
        order: int,
        vocabulary: int,
        min_count: int = 2,
        header: dict[str, str] | None = None,
    ) -> "NGramTable":
        """Counts the n-grams of up to `order` ids in each sequence; none crosses from one sequence to the next.

        n-grams (n ≥ 2) seen fewer than `min_count` times are left out, which is what keeps the file small.
        """
        texts = [np.asarray(text, dtype=np.int64) for text in ids]
        flat = np.concatenate([np.empty(0, dtype=np.int64), *texts])
        text_of = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
        levels: list[Level] = []
        nodes, node = vocabulary, flat  # node[i]: of the n-gram that begins at i, −1 where it was left out
        for n in range(2, order + 1):
            begins = np.flatnonzero(node[: max(len(flat) - n + 1, 0)] >= 0)
            begins = begins[text_of[begins] == text_of[begins + n - 1]]
            grams = node[begins] * vocabulary + flat[begins + n - 1]
            kinds, kind_of, counts = np.unique(grams, return_inverse=True, return_counts=True)
            kept = counts >= min_count
            levels.append(_level(kinds[kept], counts[kept], nodes, vocabulary))
            nodes, node = int(kept.sum()), np.full(len(flat), -1)
            node[begins] = np.where(kept, np.cumsum(kept) - 1, -1)[kind_of]
        unigrams = np.bincount(flat, minlength=vocabulary).astype(np.uint32)
        return cls(unigrams, tuple(levels), header or {})

    def law(self, context: Sequence[int]) -> Tensor:
        """q `[V]` float32 after a context, of which the last order − 1 ids count.

        Witten–Bell interpolation: q(w|h) = (c(hw) + k(h) · q(w|h′)) / (c(h) + k(h)), where h′ is h without its first
        id, c counts, and k(h) is the number of different ids seen after h. An unknown h has the law of h′; the last
        h′ is the uniform law, so every id has some mass. (Witten and Bell 1991, "The zero-frequency problem".)
        """
        rest, seen = 1.0, []
        for _, tokens, counts in self.seen(context):
            total = int(counts.sum(dtype=np.int64)) + len(tokens)
            seen.append((tokens, counts * np.float32(rest / total)))
            rest *= len(tokens) / total
        q = self._unigram_law * np.float32(rest)
        for tokens, mass in seen:
            q[tokens] += mass
        return torch.from_numpy(q)

    def seen(self, context: Sequence[int]) -> Iterator[tuple[Sequence[int], Ints, Ints]]:
        """The endings of a context that the table knows, longest first, each with the ids seen after it and counts."""
        for n in range(min(len(context), self.order - 1), 0, -1):
            ending = context[len(context) - n :]
            tokens, counts = self._successors(ending)
            if len(tokens):
                yield ending, tokens, counts

    @cached_property
    def _unigram_law(self) -> Ints:
        kinds = max(int(np.count_nonzero(self.unigrams)), 1)
        total = int(self.unigrams.sum(dtype=np.int64)) + kinds
        law: Ints = ((self.unigrams + kinds / self.vocabulary) / total).astype(np.float32)
        return law

    def _successors(self, context: Sequence[int]) -> tuple[Ints, Ints]:
        """Ids and counts of what was seen after a context of 1 … order − 1 ids."""
        node = context[0]
        for level, token in zip(self.levels, context[1:], strict=False):
            child = level.child(node, token)
            if child is None:
                return self.unigrams[:0], self.unigrams[:0]
            node = child
        return self.levels[len(context) - 1].children(node)

    def save(self, path: Path) -> None:
        """Writes one safetensors file: arrays and header, no code."""
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file(self._arrays(), path, metadata={**self.header, "format": FORMAT})

    @classmethod
    def load(cls, path: Path, vocabulary: int) -> "NGramTable":
        """Reads a table. `PairError` if the file is broken or was made for another vocabulary."""
        try:
            with safe_open(path, framework="numpy") as file:
                header: dict[str, str] = dict(file.metadata() or {})
                arrays: dict[str, Ints] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            raise PairError("ngram_broken", path=path, reason=error) from None
        fault = _fault(arrays) if header.pop("format", None) == FORMAT else f"it is not of the format {FORMAT}"
        if fault:
            raise PairError("ngram_broken", path=path, reason=fault)
        table = cls(arrays["unigrams"], tuple(_levels(arrays)), header)
        if table.vocabulary != vocabulary:
            raise PairError("ngram_vocabulary", path=path, table=table.vocabulary, vocabulary=vocabulary)
        return table

    def _arrays(self) -> dict[str, Ints]:
        arrays = {"unigrams": self.unigrams}
        for n, level in enumerate(self.levels, start=2):
            arrays |= {f"{n}.start": level.start, f"{n}.tokens": level.tokens, f"{n}.counts": level.counts}
        return arrays


def _level(grams: Ints, counts: Ints, nodes_above: int, vocabulary: int) -> Level:
    """A level from sorted grams = node above · V + last id."""
    return Level(
        start=np.searchsorted(grams // vocabulary, np.arange(nodes_above + 1)).astype(np.uint32),
        tokens=(grams % vocabulary).astype(np.uint16 if vocabulary <= 2**16 else np.uint32),
        counts=np.minimum(counts, MAX_COUNT).astype(np.uint16),
    )


def _levels(arrays: dict[str, Ints]) -> Iterable[Level]:
    for n in range(2, len(arrays) // 3 + 2):
        yield Level(*(arrays[f"{n}.{part}"] for part in ("start", "tokens", "counts")))


def _fault(arrays: dict[str, Ints]) -> str:
    """What is wrong with the arrays of a file, "" if nothing."""
    names = ["unigrams"] + [
        f"{n}.{part}" for n in range(2, len(arrays) // 3 + 2) for part in ("start", "tokens", "counts")
    ]
    if sorted(names) != sorted(arrays) or any(a.ndim != 1 or a.dtype.kind != "u" for a in arrays.values()):
        return "arrays are missing or of the wrong kind"
    vocabulary = nodes = len(arrays["unigrams"])
    for level in _levels(arrays):
        steps = np.diff(level.start.astype(np.int64))
        whole = len(level.start) == nodes + 1 and level.start[0] == 0 and level.start[-1] == len(level.tokens)
        if (
            not whole
            or (steps < 0).any()
            or len(level.tokens) != len(level.counts)
            or (level.tokens >= vocabulary).any()
        ):
            return "its arrays do not fit together"
        nodes = len(level.tokens)
    return ""
