"""Training text on disk: append-only shards of ids, who wrote them, and the target's last hidden states.

Knows files and arrays. Does not know models or training. A shard appears under its name when it is complete.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from specdemo.distill.sampler import Conversation

HEAD = "head.safetensors"


@dataclass(frozen=True, slots=True)
class Shard:
    """Conversations end to end, without the template's head.

    tokens, roles `[N]`; hidden `[N, H]`, zero at the last id of each; starts `[n + 1]`. kinds, temperatures: of each.
    """

    tokens: Tensor
    roles: Tensor
    hidden: Tensor
    starts: Tensor
    kinds: list[str]
    temperatures: list[float]

    def spans(self) -> Iterator[tuple[int, int]]:
        """Start and end of each conversation."""
        return pairwise(self.starts.tolist())


def write_shard(folder: Path, number: int, made: Sequence[Conversation]) -> None:
    """Writes one shard and its facts."""
    lengths = [len(one.tokens) for one in made]
    width = made[0].hidden.shape[-1]
    zero = torch.zeros(1, width, dtype=made[0].hidden.dtype)
    tensors = {
        "tokens": torch.tensor([token for one in made for token in one.tokens], dtype=torch.int32),
        "roles": torch.tensor([role for one in made for role in one.roles], dtype=torch.uint8),
        "hidden": torch.cat([part for one in made for part in (one.hidden, zero)]),
        "starts": torch.tensor([0, *lengths]).cumsum(0),
    }
    facts = {
        "kinds": json.dumps([one.script.kind for one in made]),
        "temperatures": json.dumps([one.script.answer_temperature for one in made]),
    }
    _save(folder / f"text-{number:05}.safetensors", tensors, facts)


def write_head(folder: Path, tokens: Sequence[int], hidden: Tensor) -> None:
    """The template's head with its hidden states: the same for all conversations."""
    _save(folder / HEAD, {"tokens": torch.tensor(tokens, dtype=torch.int32), "hidden": hidden}, {})


def read_head(folder: Path) -> tuple[Tensor, Tensor]:
    """Ids `[n]` and hidden states `[n, H]`."""
    tensors = load_file(folder / HEAD)
    return tensors["tokens"], tensors["hidden"]


def shard_paths(folder: Path) -> list[Path]:
    """The complete shards, in order."""
    return sorted(folder.glob("text-*.safetensors"))


def read_shard(path: Path, hidden: bool = True) -> Shard:
    """One shard; `hidden` False leaves the large part on disk."""
    with safe_open(path, "pt") as file:
        facts = file.metadata()
        states = file.get_tensor("hidden") if hidden else torch.empty(0)
        return Shard(
            file.get_tensor("tokens"),
            file.get_tensor("roles"),
            states,
            file.get_tensor("starts"),
            json.loads(facts["kinds"]),
            json.loads(facts["temperatures"]),
        )


def _save(path: Path, tensors: dict[str, Tensor], facts: dict[str, str]) -> None:
    unfinished = path.with_suffix(".part")
    save_file(tensors, unfinished, metadata=facts)
    unfinished.replace(path)
