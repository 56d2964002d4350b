"""Ids that may still be on a device, and the ways between it and the host.

Knows sequences of ids and tensors. Does not know models or laws. Whoever asks a GPU for a number waits until all that
it was told before is done. So a round asks once, for everything that it needs to know: `bring`.
"""

from collections.abc import Sequence
from typing import overload

import torch
from torch import Tensor


class Ids(Sequence[int]):
    """Ids of which the last may not have been looked at: `known` ones, then `guesses` `[k]` on the device.

    A sequence like any other to whoever does not mind waiting: the first look brings the guesses over, all at once.
    """

    def __init__(self, known: Sequence[int], guesses: Tensor) -> None:
        self.known, self.guesses = known, guesses
        self.seen: tuple[int, ...] | None = None

    @property
    def numbers(self) -> tuple[int, ...]:
        """All of them."""
        if self.seen is None:
            self.seen = tuple(self.guesses.tolist())
        return (*self.known, *self.seen)

    def __len__(self) -> int:
        return len(self.known) + len(self.guesses)

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[int, ...]: ...
    def __getitem__(self, at: int | slice) -> int | tuple[int, ...]:
        return self.numbers[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.numbers == tuple(other)

    def __hash__(self) -> int:
        return hash(self.numbers)

    def __repr__(self) -> str:
        return repr(self.numbers)


def behind(tokens: Sequence[int], guesses: Sequence[int]) -> Sequence[int]:
    """`tokens`, then `guesses`, none of which is looked at."""
    return Ids(tokens, guesses.guesses) if isinstance(guesses, Ids) else [*tokens, *guesses]


def known(tokens: Sequence[int]) -> Sequence[int]:
    """Those in front that can be looked at without waiting."""
    return tokens.known if isinstance(tokens, Ids) else tokens


def tensor(tokens: Sequence[int], start: int = 0) -> Tensor:
    """`tokens[start:]` as `[n]`: on the device if any of them is only there, else on the host."""
    first = torch.tensor(known(tokens)[start:], dtype=torch.long)
    if not isinstance(tokens, Ids):
        return first
    guesses = tokens.guesses[max(0, start - len(tokens.known)) :]
    return torch.cat([to_device(first, guesses.device), guesses]) if len(first) else guesses


def to_device(values: Tensor, device: torch.device) -> Tensor:
    """A tensor on a device. From the host it goes by pinned memory: any other upload to a GPU waits for the GPU."""
    if device.type == "cuda" and not values.is_cuda:
        values = values.pin_memory()
    return values.to(device, non_blocking=True)


def bring(tokens: Sequence[int], *parts: Tensor) -> list[list[float]]:
    """The numbers of `parts`, each `[n]`, by one transfer that also brings what was not known of `tokens`.

    As doubles, which hold ids and float32 exactly. parts: at least one; all on one device.
    """
    unseen = tokens.guesses if isinstance(tokens, Ids) and tokens.seen is None else None
    wanted = parts if unseen is None else (*parts, to_device(unseen, parts[0].device))
    numbers: list[float] = torch.cat([part.double() for part in wanted]).tolist()
    found = []
    for part in wanted:
        found.append(numbers[: len(part)])
        del numbers[: len(part)]
    if isinstance(tokens, Ids) and unseen is not None:
        tokens.seen = tuple(map(int, found.pop()))
    return found
