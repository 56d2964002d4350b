"""/healthz says whether the server is well, from any thread and at once."""

import threading
import time
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from toy_pair import ToyPair

from specdemo.device import Device
from specdemo.ui import health
from specdemo.ui.models import Models, Progress
from specdemo.ui.runs import Runs


class Clinic:
    """A device that a test can keep busy, and the answer about it."""

    def __init__(self) -> None:
        self.device = Device()
        self.load_on = threading.Event()
        self.load_on.set()
        self.models = Models(self.device, self._load)
        self.runs = Runs(self.device, self.models)
        self.client = TestClient(Starlette(routes=[health.route(self.device, self.models, self.runs)]))

    def _load(self, spec: str, progress: Progress) -> ToyPair:
        assert self.load_on.wait(10)
        return ToyPair()

    def ask(self) -> tuple[int, dict]:
        answer = self.client.get("/healthz")
        return answer.status_code, answer.json()


@pytest.fixture
def clinic() -> Iterator[Clinic]:
    clinic = Clinic()
    yield clinic
    clinic.load_on.set()
    clinic.device.shutdown()


def test_a_well_server_names_its_models(clinic: Clinic) -> None:
    assert clinic.models.ready("a", timeout_s=10)
    code, state = clinic.ask()
    assert code == 200
    assert state["status"] == "ok"
    assert state["models"] == {"a": {"state": "ready", "dtype": "float32", "device": "cpu"}}
    assert state["runs"] == {"running": 0, "waiting": 0}


def test_it_answers_at_once_while_a_turn_goes_on_and_503_when_it_takes_too_long(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, there = threading.Event(), threading.Event()

    def long_turn() -> Iterator[None]:
        there.set()
        go_on.wait(10)
        yield

    job = clinic.device.stream(long_turn)
    assert there.wait(10)
    start = time.monotonic()
    code, state = clinic.ask()
    assert time.monotonic() - start < 0.5
    assert (code, state["status"], state["device"]["jobs"]) == (200, "ok", 1)
    monkeypatch.setattr(health, "STUCK_S", 0.0)
    assert clinic.ask()[0] == 503
    assert clinic.ask()[1]["status"] == "stuck"
    go_on.set()
    assert job.wait(10)


def test_loading_is_one_long_turn_and_no_fault(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "STUCK_S", 0.0)
    clinic.load_on.clear()
    clinic.models.want("a")
    while clinic.device.turn_s == 0.0:
        time.sleep(0.002)
    code, state = clinic.ask()
    assert (code, state["models"]) == (200, {"a": {"state": "loading"}})


def test_a_dead_device_thread_is_a_fault(clinic: Clinic) -> None:
    clinic.device.shutdown()
    code, state = clinic.ask()
    assert (code, state["status"], state["device"]["turn_s"]) == (503, "dead", None)
