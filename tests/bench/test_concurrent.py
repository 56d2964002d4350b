"""Many runs at once over one device thread, and many one after the other."""

from collections.abc import Iterator

import pytest
from toypair import ToyPair

from specdemo.bench import memory
from specdemo.bench.concurrent import crowds, together
from specdemo.bench.plan import Choice, Plan
from specdemo.config import RunConfig
from specdemo.device import Device
from specdemo.prompts import Prompt

PROMPTS = (Prompt("a", "copy", "0"), Prompt("b", "copy", "3 4"))
PLAN = Plan(PROMPTS, (Choice("model"),), gammas=(3,), temperatures=(0.0,), max_new_tokens=10)


@pytest.fixture
def device() -> Iterator[Device]:
    pair_clock = Device()
    yield pair_clock
    pair_clock.shutdown()


def test_each_number_of_runs_has_a_row_and_every_run_its_tokens(device: Device) -> None:
    rows = list(crowds(device, ToyPair(), PLAN, sizes=(1, 3)))
    assert [(row.runs, row.tokens) for row in rows] == [(1, 10), (3, 30)]
    assert rows[0].fairness == pytest.approx(1.0)
    # A toy's clock moves 1.1 s a token, whoever asked for it.
    assert [row.seconds for row in rows] == [pytest.approx(11.0), pytest.approx(33.0)]
    assert [row.tokens_per_s for row in rows] == [pytest.approx(1 / 1.1), pytest.approx(1 / 1.1)]
    assert rows[1].each == pytest.approx(1 / 3.3)
    assert all(row.peak_memory_bytes > 0 for row in rows)


def test_fairness_is_read_when_the_first_run_ends(device: Device) -> None:
    """One run of two tokens beside one of many: had it been read at the end, the long one would have had more."""
    configs = [RunConfig("0", drafter="none", gamma=0, max_new_tokens=n) for n in (6, 60)]
    row = together(device, ToyPair(), configs)
    assert row.tokens == 66
    assert row.fairness is not None
    assert row.fairness > 6 / 60


def test_a_run_that_fails_ends_the_others(device: Device) -> None:
    class Broken(ToyPair):
        def target(self):  # type: ignore[no-untyped-def]
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        together(device, Broken(), [RunConfig("0", drafter="none", gamma=0)] * 2)
    device.call(lambda: None)
    assert device.busy <= 1


def test_short_runs_tell_what_is_held_after_each(device: Device) -> None:
    rows = list(memory.short_runs(device, ToyPair(), PLAN, runs=12))
    assert [row.runs for row in rows] == list(range(1, 13))
    assert memory.told(rows)["early_bytes"] == rows[9].bytes
    assert memory.told(rows)["bytes"] is None
    assert list(memory.lines(rows)) == []
    whole = [memory.Held(n, n * 10**6) for n in (10, 100)]
    assert list(memory.lines(whole)) == ["In use after 10 short runs: 10 MB; after 100: 100 MB (+90.0)."]
