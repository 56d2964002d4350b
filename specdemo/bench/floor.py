"""How fast a step could be at best: every weight read once, at the speed at which this machine reads memory.

Knows a clock, a device and bytes. Does not know runs. Runs on the device thread.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from specdemo.core.metrics import median
from specdemo.machine import free_memory
from specdemo.models.pages import in_large_pages
from specdemo.models.quantise import tensor_bytes

READS = 25
BUFFER = {"cpu": 1 << 29, "cuda": 1 << 32}
"""Bytes that are read: many times what any cache holds."""


@dataclass(frozen=True, slots=True)
class Floor:
    """weight_bytes: read by one pass. bandwidth: measured, bytes/s. seconds: weight_bytes / bandwidth."""

    weight_bytes: int
    bandwidth: float
    seconds: float

    def share(self, step_s: float) -> float:
        """Floor / a measured step: 1 is as fast as memory allows."""
        return self.seconds / step_s


def measure_floor(model: Any, clock: Callable[[], float]) -> Floor:
    """The floor of a transformers model where it lies."""
    weights, rate = pass_bytes(model), bandwidth(model.device.type, clock)
    return Floor(weights, rate, weights / rate)


def pass_bytes(model: Any) -> int:
    """Bytes of the weights that a pass reads: all but an input embedding that is no output head as well."""
    embedding, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    unread = 0 if embedding.data_ptr() == head.data_ptr() else embedding.numel() * embedding.element_size()
    return tensor_bytes(model) - unread


def bandwidth(device: str, clock: Callable[[], float], reads: int = READS, buffer: int | None = None) -> float:
    """Bytes per second read from memory by all torch threads: the median over several reads of one large buffer."""
    size = buffer or min(BUFFER.get(device, 1 << 29), free_memory(device) // 4)
    # Written first: pages that nobody wrote are all the same page of zeros, which stays in the cache.
    memory = torch.ones(size // 4, dtype=torch.float32, device=device)
    if memory.device.type == "cpu":
        in_large_pages(memory.data_ptr(), memory.nbytes)  # as weights lie
    seconds = []
    for _ in range(reads + 1):
        start = clock()
        memory.sum()
        seconds.append(clock() - start)
    return memory.numel() * 4 / median(seconds[1:])
