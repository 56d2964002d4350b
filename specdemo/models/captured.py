"""Passes and draws over inputs in fixed places, one recording per shape: on a GPU a CUDA graph, which costs one launch.

Knows shapes and how a function is recorded. Does not know tokens or rolling back. The same way runs on a CPU, where
recording means to remember how to do it again: that is how it is tested.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from specdemo.config import MAX_GAMMA
from specdemo.core.ids import to_device
from specdemo.models.llama import Cache, Llama, blocks

Outputs = tuple[Tensor, Tensor]
"""Of a pass logits and hidden states, of a draw law and id."""

Run = Callable[[], Outputs]
Record = Callable[[Run], Run]
"""From a run to something that does it again on the same places and returns the same outputs, filled anew."""

AHEAD = 8
"""Blocks that a GPU's cache grows by: recordings end with the place of the cache, and masked keys cost it little."""


class Recorded:
    """A function of tensors, recorded once for all inputs of the same shapes.

    refusal: why it is not recorded, None as long as it is.
    """

    def __init__(self, function: Callable[..., Outputs], record: Record, device: torch.device) -> None:
        self._function = function
        self._record = record
        self._device = device
        self._recordings: dict[Any, tuple[tuple[Tensor, ...], Run]] = {}
        self.refusal: str | None = None

    @torch.inference_mode()
    def __call__(self, *inputs: Tensor) -> Outputs:
        """inputs: on host or device. The outputs are the caller's own, the next call does not touch them.

        Nothing here waits for the device.
        """
        shapes = tuple((given.shape, given.dtype) for given in inputs)
        if shapes not in self._recordings:
            self._recordings[shapes] = self._recording(inputs)
        places, run = self._recordings[shapes]
        for place, given in zip(places, inputs, strict=True):
            place.copy_(to_device(given, self._device))
        first, second = run()
        return first.clone(), second.clone()

    def forget(self) -> None:
        """What the function holds has moved."""
        self._recordings.clear()

    def _recording(self, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], Run]:
        """Recorded over these very inputs: whatever they make the function write is written again by the call."""
        places = tuple(to_device(given, self._device).clone() for given in inputs)

        def run() -> Outputs:
            return self._function(*places)

        if self.refusal is None:
            try:
                return places, self._record(run)
            except RuntimeError as reason:  # an operation that cannot be captured, or no memory for it
                self.refusal = str(reason).splitlines()[0]
        return places, run


class Captured:
    """A runner of passes (see `LlamaSession`) with a cache of its own that stays where it is as long as it fits."""

    def __init__(self, llama: Llama, record: Record) -> None:
        self._llama = llama
        self._record = record
        self._device = llama.embedding.device
        self._cache = Cache(llama)
        self._passes: dict[int, Recorded] = {}

    @property
    def refusal(self) -> str | None:
        """Why passes are not recorded, None as long as they are."""
        return next((passes.refusal for passes in self._passes.values() if passes.refusal), None)

    def __call__(self, ids: Tensor, start: int, rows: int) -> Outputs:
        """Logits `[rows, V]` and hidden states `[n, H]`."""
        if self._cache.reserve(blocks(start + len(ids), AHEAD)):
            for passes in self._passes.values():
                passes.forget()
        positions = torch.arange(start, start + len(ids), device=self._device)
        if len(ids) > MAX_GAMMA + 1:  # of a prompt, each of which has another length
            return self._pass(rows, to_device(ids, self._device), positions)
        if rows not in self._passes:
            self._passes[rows] = Recorded(partial(self._pass, rows), self._record, self._device)
        return self._passes[rows](ids, positions)

    def _pass(self, rows: int, ids: Tensor, positions: Tensor) -> Outputs:
        return self._llama(ids, positions, self._cache, rows)


def graph(run: Run) -> Run:
    """A CUDA graph of the run. Warmed up on a stream of its own, as torch asks for."""
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        outputs = run()

    def replay() -> Outputs:
        captured.replay()
        return outputs

    return replay
