"""Training rows from shards: conversations side by side in rows of one length, behind the template's shared head.

Knows ids, roles and hidden states. Does not know nets. A row of training is about one id: the id itself, the
target's hidden state before it, the one at it (which tells the law of the next id), and the weight of that law.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import torch
from torch import Tensor

from specdemo.distill.sampler import Role
from specdemo.distill.shards import read_head, read_shard, shard_paths

HELD_OUT = 40
"""One conversation in so many is kept from training."""
WEIGHTS = torch.tensor([0.0, 0.0, 0.3, 1.0])
"""Of a law, by the role of the id that follows it: a draft works on answers."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Conversations end to end; row i of `hidden` `[N, H]` is the state at `tokens[i]`, the last of each is void.

    spans: start and end of each conversation. greedy: those whose answer was written at temperature 0.
    """

    head: Tensor
    head_hidden: Tensor
    tokens: Tensor
    roles: Tensor
    hidden: Tensor
    spans: list[tuple[int, int]]
    greedy: list[bool]


@dataclass(frozen=True, slots=True)
class Batch:
    """`[B, T]` rows. before, at: `[B, T, H]`. segment: 0 the head, 1, 2, … conversations, −1 nothing.

    place: position in its conversation, the head counted. follows: the id that follows. depth: rows since the
    conversation began.
    """

    tokens: Tensor
    before: Tensor
    at: Tensor
    weight: Tensor
    segment: Tensor
    place: Tensor
    follows: Tensor
    depth: Tensor

    def to(self, device: torch.device) -> "Batch":
        """The same rows on a device."""
        return Batch(*(getattr(self, f.name).to(device) for f in fields(self)))


def load_rows(
    folder: Path, held_out: bool, excluded: frozenset[tuple[int, ...]] = frozenset(), hidden: bool = True
) -> Rows:
    """The conversations kept from training, or all others. excluded: user's turns (ids, the template's tail
    included) that neither may hold."""
    head, head_hidden = read_head(folder)
    tokens, roles, states, spans, greedy = [], [], [], [], []
    offset, number = 0, 0
    for path in shard_paths(folder):
        shard = read_shard(path, hidden)
        kept = []
        for (start, end), heat in zip(shard.spans(), shard.temperatures, strict=True):
            number += 1
            if (number % HELD_OUT == 0) != held_out or end - start < 3:
                continue
            question = tuple(shard.tokens[start:end][shard.roles[start:end] != Role.ANSWER].tolist())
            if question in excluded:
                continue
            kept.append((start, end))
            spans.append((offset, offset + end - start))
            greedy.append(heat == 0)
            offset += end - start
        pick = torch.cat([torch.arange(0), *[torch.arange(start, end) for start, end in kept]])
        tokens.append(shard.tokens[pick].long())
        roles.append(shard.roles[pick].long())
        states.append(shard.hidden[pick] if hidden else shard.hidden)
    return Rows(head.long(), head_hidden, torch.cat(tokens), torch.cat(roles), torch.cat(states), spans, greedy)


def packed(rows: Rows, order: list[int], length: int) -> list[list[int]]:
    """Conversations put together so that each pack of at most `length` rows, the head counted, is nearly full."""
    room = length - len(rows.head)
    open_packs: list[tuple[int, list[int]]] = []
    full: list[list[int]] = []
    for i in order:
        start, end = rows.spans[i]
        size = min(end - start - 1, room)
        fits = [slot for slot, (left, _) in enumerate(open_packs) if left >= size]
        if fits:
            slot = min(fits, key=lambda slot: open_packs[slot][0])
            left, pack = open_packs.pop(slot)
        else:
            left, pack = room, []
        pack.append(i)
        open_packs.append((left - size, pack))
        if len(open_packs) > 24:
            open_packs.sort(key=lambda entry: -entry[0])
            full.append(open_packs.pop()[1])
    return full + [pack for _, pack in open_packs]


def batches(rows: Rows, size: int, length: int, coin: random.Random) -> Iterator[Batch]:
    """One pass over the conversations in random order, `size` packs at a time."""
    order = list(range(len(rows.spans)))
    coin.shuffle(order)
    packs = packed(rows, order, length)
    coin.shuffle(packs)
    for first in range(0, len(packs) - size + 1, size):
        yield batch(rows, packs[first : first + size], length)


def batch(rows: Rows, packs: list[list[int]], length: int) -> Batch:
    """The packs as tensors."""
    size, width = len(packs), rows.hidden.shape[1]
    tokens, segment, place, follows, depth = (torch.zeros(size, length, dtype=torch.long) for _ in range(5))
    segment -= 1
    before, at = (torch.zeros(size, length, width, dtype=rows.hidden.dtype) for _ in range(2))
    weight = torch.zeros(size, length)
    head = len(rows.head)
    tokens[:, :head], segment[:, :head], place[:, :head] = rows.head, 0, torch.arange(head)
    before[:, 1:head], at[:, :head] = rows.head_hidden[:-1], rows.head_hidden
    for b, pack in enumerate(packs):
        put = head
        for number, i in enumerate(pack, start=1):
            start, end = rows.spans[i]
            n = min(end - start - 1, length - put)
            here, there = slice(put, put + n), slice(start, start + n)
            after = slice(start + 1, start + 1 + n)
            tokens[b, here], follows[b, here], at[b, here] = rows.tokens[there], rows.tokens[after], rows.hidden[there]
            before[b, put], before[b, put + 1 : put + n] = rows.head_hidden[-1], rows.hidden[start : start + n - 1]
            weight[b, here] = WEIGHTS[rows.roles[after]]
            segment[b, here], place[b, here], depth[b, here] = number, torch.arange(head, head + n), torch.arange(n)
            put += n
    return Batch(tokens, before, at, weight, segment, place, follows, depth)


def frequent(folder: Path, size: int, always: tuple[int, ...]) -> Tensor:
    """The `size` most frequent ids of the text, sorted; those in `always` are among them."""
    counts = torch.zeros(0, dtype=torch.long)
    for path in shard_paths(folder):
        seen = torch.bincount(read_shard(path, hidden=False).tokens.long())
        longest = max(len(seen), len(counts))
        counts = torch.nn.functional.pad(counts, (0, longest - len(counts)))
        counts[: len(seen)] += seen
    counts[list(always)] = counts.max() + 1
    return counts.topk(min(size, len(counts))).indices.sort().values
