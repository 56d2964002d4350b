"""Models in memory: loaded once, in the background, on the device thread; room is made for the next."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from toy_pair import ToyPair

from specdemo.device import Device
from specdemo.errors import PairError, UserError
from specdemo.ui.models import Models, Progress, Status


@pytest.fixture
def device() -> Iterator[Device]:
    device = Device()
    yield device
    device.shutdown()


class Loads:
    """A load function that counts, remembers its thread, and fails when told to."""

    def __init__(self) -> None:
        self.specs: list[str] = []
        self.threads: set[str] = set()
        self.pairs: list[ToyPair] = []
        self.fails: Exception | None = None
        self.go_on = threading.Event()
        self.go_on.set()

    def __call__(self, spec: str, progress: Progress) -> ToyPair:
        self.specs.append(spec)
        self.threads.add(threading.current_thread().name)
        progress("download", 30, 100)
        assert self.go_on.wait(10)
        if self.fails is not None:
            raise self.fails
        self.pairs.append(ToyPair())
        return self.pairs[-1]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.005)


def ready(models: Models, spec: str) -> Callable[[], bool]:
    return lambda: models.status(spec).state == "ready"


def test_it_loads_once_in_the_background_and_says_how_far_it_is(device: Device) -> None:
    loads = Loads()
    loads.go_on.clear()
    models = Models(device, loads)
    assert models.status("a") == Status("a")
    assert models.want("a").state == models.want("a").state == "loading"
    until(lambda: models.status("a").done == 30)
    assert (models.status("a").stage, models.status("a").total) == ("download", 100)
    loads.go_on.set()
    until(ready(models, "a"))
    assert models.want("a").facts == ("float32", "cpu")
    assert loads.specs == ["a"]
    assert loads.threads == {"specdemo-device"}


def test_a_run_before_the_load_loads_and_the_load_finds_it_done(device: Device) -> None:
    loads = Loads()
    models = Models(device, loads)

    def use() -> str:
        with models.using("a") as pair:
            return pair.target_name

    assert device.call(use) == "toy"
    models.want("a")
    assert device.call(use) == "toy"
    assert loads.specs == ["a"]


def test_a_failure_is_said_in_both_languages_and_tried_again_on_demand(device: Device) -> None:
    loads = Loads()
    loads.fails = PairError("no_cache", name="x")
    models = Models(device, loads)
    models.want("a")
    until(lambda: models.status("a").state == "failed")
    assert set(models.status("a").problem or {}) == {"en", "zh"}
    loads.fails = None
    assert models.want("a").state == "failed"
    assert models.want("a", again=True).state == "loading"
    until(ready(models, "a"))


def test_a_run_with_a_pair_that_cannot_be_loaded_gets_the_reason(device: Device) -> None:
    loads = Loads()
    loads.fails = PairError("no_cache", name="x")
    models = Models(device, loads)

    def use() -> None:
        with models.using("a"):
            pass

    with pytest.raises(UserError):
        device.call(use)
    assert models.status("a").state == "failed"


def test_room_is_made_for_the_next_pair_but_never_of_one_in_use(device: Device) -> None:
    loads = Loads()
    models = Models(device, loads, keep=1)
    models.want("a")
    until(ready(models, "a"))
    models.want("b")
    until(ready(models, "b"))
    assert [pair.closed for pair in loads.pairs] == [True, False]
    assert models.status("a").state == "idle"

    def use_two() -> list[bool]:
        with models.using("b"), models.using("a"):
            return [pair.closed for pair in loads.pairs]

    assert device.call(use_two) == [True, False, False]
