"""The memory floor: which bytes a pass reads, and a rate that real memory gave."""

import time

import pytest
import torch
from tiny_models import tiny

from specdemo.bench.floor import Floor, bandwidth, pass_bytes
from specdemo.models.quantise import tensor_bytes


def test_an_input_table_is_read_only_where_it_is_the_head_too() -> None:
    loose, tied = tiny("llama"), tiny("llama", tie_word_embeddings=True)
    table = loose.get_input_embeddings().weight
    assert pass_bytes(loose) == tensor_bytes(loose) - table.numel() * 4
    assert pass_bytes(tied) == tensor_bytes(tied)


def test_share_is_the_floor_of_a_step() -> None:
    assert Floor(100, 50.0, 2.0).share(4.0) == pytest.approx(0.5)


def test_bandwidth_is_the_buffer_over_the_median_read_without_the_first() -> None:
    ticks = iter([0.0, 9.0, 9.0, 10.0, 10.0, 12.0, 12.0, 20.0])
    assert bandwidth("cpu", lambda: next(ticks), reads=3, buffer=4096) == pytest.approx(4096 / 2.0)


def test_what_is_read_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Untouched pages are one page of zeros: reading them would measure the cache."""
    made: list[torch.Tensor] = []
    ones = torch.ones

    def spy(*sizes: int, **options: object) -> torch.Tensor:
        made.append(ones(*sizes, **options))  # type: ignore[call-overload]
        return made[-1]

    monkeypatch.setattr(torch, "ones", spy)
    assert bandwidth("cpu", time.perf_counter, buffer=1 << 16) > 0
    assert made[0].numel() * 4 == 1 << 16
    assert bool((made[0] == 1).all())
