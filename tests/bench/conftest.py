"""What the tests of the bench's commands share."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from toypair import ToyPair

from specdemo import cli
from specdemo.device import Device


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands get a pair of toys instead of loading one."""

    @contextmanager
    def session(args: argparse.Namespace) -> Iterator[tuple[Device, ToyPair]]:
        device = Device()
        try:
            yield device, ToyPair()
        finally:
            device.shutdown()

    monkeypatch.setattr(cli, "session", session)
