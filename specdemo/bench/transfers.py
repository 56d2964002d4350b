"""How often the host asks a device for numbers. Each time it waits until the device has done all that it was told.

Knows torch's operations and the end of a round. Does not know models. On a CPU it counts what would be a transfer on a
GPU, so that the one path can be checked where there is none.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from specdemo.core.events import Event, RoundFinished

ASKING = {"aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::is_nonzero", "aten::equal"}
"""Operations that read numbers to go on: one number, or how many there are."""

COPYING = {"aten::_to_copy", "aten::copy_"}


class Transfers:
    """Counts while it is entered. count: transfers from device to host so far."""

    def __init__(self) -> None:
        self.count = 0
        self._entered = ExitStack()

    def __enter__(self) -> "Transfers":
        self._entered.enter_context(_Operations(self))
        self._entered.enter_context(_Lists(self))
        return self

    def __exit__(self, *reason: object) -> None:
        self._entered.close()


def per_round(events: Iterable[Event]) -> float | None:
    """Transfers a round in the mean, without the first one, in which passes may be made ready; None if it is alone."""
    ends = []
    with Transfers() as counted:
        for event in events:
            if isinstance(event, RoundFinished):
                ends.append(counted.count)
    return (ends[-1] - ends[0]) / (len(ends) - 1) if len(ends) > 1 else None


class _Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """What every operation is at last."""

    def __init__(self, transfers: Transfers) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._transfers = transfers

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        found, name = func(*args, **(kwargs or {})), func._schema.name
        comes = name in COPYING and found.is_cpu and any(isinstance(x, torch.Tensor) and not x.is_cpu for x in args)
        self._transfers.count += comes or name in ASKING
        return found


class _Lists(TorchFunctionMode):
    """A tensor on a CPU becomes a list without an operation."""

    def __init__(self, transfers: Transfers) -> None:
        super().__init__()
        self._transfers = transfers

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func in (torch.Tensor.tolist, torch.Tensor.numpy) and args[0].is_cpu:
            self._transfers.count += 1
        return func(*args, **(kwargs or {}))
