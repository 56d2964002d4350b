"""Passes over inputs in fixed places, one recording per shape: on a GPU a CUDA graph, which costs one launch.

Knows shapes and how a pass is recorded. Does not know tokens or rolling back. The same way runs on a CPU, where
recording a pass means to remember how to do it again: that is how it is tested.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from specdemo.core.ids import to_device
from specdemo.models.llama import Cache, Llama, blocks

Outputs = tuple[Tensor, Tensor]
Run = Callable[[], Outputs]
Record = Callable[[Run], Run]
"""From a pass to something that does it again on the same places and returns the same outputs, filled anew."""

AHEAD = 8
"""Blocks that a GPU's cache grows by: recordings end with the place of the cache, and masked keys cost it little."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A pass and where its inputs stand."""

    ids: Tensor
    positions: Tensor
    run: Run


class Captured:
    """A runner of passes (see `LlamaSession`) with a cache of its own that stays where it is as long as it fits.

    refusal: why passes are not recorded, None as long as they are.
    """

    def __init__(self, llama: Llama, record: Record) -> None:
        self._llama = llama
        self._record = record
        self._cache = Cache(llama)
        self._recordings: dict[tuple[int, int], Recording] = {}
        self.refusal: str | None = None

    def __call__(self, ids: Tensor, start: int, rows: int) -> Outputs:
        """Logits `[rows, V]` and hidden states `[n, H]`; the caller's own, the next pass does not touch them.

        Nothing here waits for the device.
        """
        if self._cache.reserve(blocks(start + len(ids), AHEAD)):
            self._recordings.clear()
        shape = len(ids), rows
        if shape not in self._recordings:
            self._recordings[shape] = self._recorded(*shape, start)
        recording = self._recordings[shape]
        recording.ids.copy_(to_device(ids, recording.ids.device))
        torch.arange(start, start + len(ids), out=recording.positions)
        logits, hidden = recording.run()
        return logits.clone(), hidden.clone()

    def _recorded(self, n: int, rows: int, start: int) -> Recording:
        """Records a pass at `start`: whatever it writes there is written over by the pass that asked for it."""
        device = self._llama.embedding.device
        ids, positions = torch.zeros(n, dtype=torch.long, device=device), torch.arange(start, start + n, device=device)

        def run() -> Outputs:
            return self._llama(ids, positions, self._cache, rows)

        if self.refusal is None:
            try:
                return Recording(ids, positions, self._record(run))
            except RuntimeError as reason:  # an operation that cannot be captured, or no memory for it
                self.refusal = str(reason).splitlines()[0]
        return Recording(ids, positions, run)


def graph(run: Run) -> Run:
    """A CUDA graph of the pass. Warmed up on a stream of its own, as torch asks for."""
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
