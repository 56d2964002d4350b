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


def test_files_are_fetched_beside_the_device_which_goes_on(device: Device) -> None:
    go_on, threads = threading.Event(), []

    def fetch(spec: str, progress: Progress) -> None:
        threads.append(threading.current_thread().name)
        progress("download", 1, 2)
        assert go_on.wait(10)

    loads = Loads()
    models = Models(device, loads, fetch=fetch)
    models.want("a")
    until(lambda: models.status("a").done == 1)
    assert device.call(lambda: "free") == "free"
    assert not models.ready("a", timeout_s=0.01)
    go_on.set()
    assert models.ready("a", timeout_s=10)
    assert "specdemo-device" not in threads
    assert loads.threads == {"specdemo-device"}


@pytest.mark.parametrize("fails", ["fetch", "load"])
def test_whoever_wants_to_run_a_pair_that_failed_hears_why_until_it_is_tried_again(
    device: Device, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads, refused = Loads(), PairError("no_cache", name="x")
    fetched: list[str] = []

    def fetch(spec: str, progress: Progress) -> None:
        fetched.append(spec)
        if fails == "fetch" and len(fetched) == 1:
            raise refused

    loads.fails = refused if fails == "load" else None
    models = Models(device, loads, fetch=fetch)
    models.want("a")
    until(lambda: models.status("a").state == "failed")
    for _ in range(2):
        with pytest.raises(PairError):
            models.ready("a", timeout_s=1)
    assert fetched == ["a"]
    loads.fails = None
    monkeypatch.setattr("specdemo.ui.models.AGAIN_S", 0.0)
    assert models.ready("a", timeout_s=10)
    assert models.ready("a")


def test_room_is_made_after_a_run_found_no_memory(device: Device) -> None:
    loads = Loads()
    models = Models(device, loads, keep=3)
    for spec in "abc":
        assert models.ready(spec, timeout_s=10)
    device.call(models.make_room)
    assert [pair.closed for pair in loads.pairs] == [True, True, False]
    assert [status.spec for status in models.statuses] == ["c"]
