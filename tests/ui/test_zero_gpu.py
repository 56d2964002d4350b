"""Runs on ZeroGPU, with a stand-in for the package that keeps its rules: another process, pickles, a time limit."""

import inspect
import json
import pickle
import sys
from collections.abc import Iterator
from dataclasses import replace

import fake_spaces
import gradio as gr
import pytest
import torch
from toy_pair import ToyPair

import app
from specdemo import lanes
from specdemo.config import RunConfig, SamplingConfig
from specdemo.core.events import RunFinished
from specdemo.device import Device
from specdemo.errors import Cancelled, CapacityError, PairError, SettingError
from specdemo.ui import zero_gpu
from specdemo.ui.hosting import Settings
from specdemo.ui.models import Models, nothing_to_fetch
from specdemo.ui.runs import Runs
from specdemo.wire import Decoder

ZERO = {"SPACES_ZERO_GPU": "true"}
CONFIG = RunConfig(prompt="the cat", drafter="oracle", gamma=4, max_new_tokens=24)


@pytest.fixture
def spaces(monkeypatch: pytest.MonkeyPatch):
    """A Space with ZeroGPU and a torch that it takes."""
    fake = fake_spaces.module()
    monkeypatch.setitem(sys.modules, "spaces", fake)
    monkeypatch.setattr(torch, "__version__", "2.11.0+cu128")
    return fake


def toy(spec: str, dtype: str) -> zero_gpu.Make:
    return lambda: ToyPair(0.0)


@pytest.fixture
def device() -> Iterator[Device]:
    device = Device()
    yield device
    device.shutdown()


def runs(device: Device, settings: Settings, place=toy) -> Runs:
    settings, make = zero_gpu.prepare(settings, ZERO, place)
    models = Models(device, lambda spec, progress: pytest.fail("the page loads nothing here"), 1, nothing_to_fetch)
    return make(device, models)


def test_elsewhere_nothing_changes():
    settings = Settings()
    assert zero_gpu.prepare(settings, {}, pytest.fail) == (settings, Runs)


def test_pairs_are_placed_before_the_page_is_there_and_the_page_itself_computes_on_processors(spaces):
    seen = []

    def place(spec: str, dtype: str) -> zero_gpu.Make:
        seen.append(spec)
        return toy(spec, dtype)

    settings, _ = zero_gpu.prepare(Settings(), ZERO, place)
    assert seen == list(settings.pairs) == [Settings().pairs[0]]
    assert (settings.device, settings.any_pair) == ("cpu", False)
    seen.clear()
    zero_gpu.prepare(Settings(pairs=("qwen3-4b+0.6b", "smollm2-135m")), ZERO, place)
    assert seen == ["qwen3-4b+0.6b", "smollm2-135m"]


def test_a_run_in_the_lent_process_is_the_run_here(spaces, device):
    with runs(device, Settings()).asked(CONFIG, "visitor") as run:
        assert list(run.waits()) == []
        text = "".join(run.pieces())
    events = list(Decoder().events(text.encode().splitlines(keepends=True)))
    finished = {event.lane: event.tokens for event in events if isinstance(event, RunFinished)}
    here = lanes.open_race(ToyPair(0.0), lanes.against_baseline(CONFIG))
    assert finished == {event.lane: event.tokens for event in here if isinstance(event, RunFinished)}
    assert spaces.durations == [zero_gpu.duration(CONFIG, 120)]


def test_what_goes_in_and_comes_out_can_be_pickled():
    config = replace(CONFIG, sampling=SamplingConfig(0.7, 20, 0.9), knobs=(("a", "b"),))
    assert pickle.loads(pickle.dumps(config)) == config
    refusal = zero_gpu.Refused("run_seconds", {"most": 5})
    assert pickle.loads(pickle.dumps(refusal)) == refusal
    events = list(lanes.open_race(ToyPair(0.0), lanes.against_baseline(CONFIG), inspect=True))
    assert pickle.loads(pickle.dumps(events)) == events


def test_the_task_is_a_plain_generator_as_the_package_wants():
    assert inspect.isgeneratorfunction(zero_gpu.on_gpu({}, 120.0))


def test_a_lent_process_that_is_used_again_has_its_pair_still():
    made = []
    task = zero_gpu.on_gpu({CONFIG.pair: lambda: made.append(1) or ToyPair(0.0)}, 120.0)
    first, second = list(task(CONFIG)), list(task(CONFIG))
    assert len(first) > 0
    assert len(second) > 0
    assert len(made) == 1


def test_the_time_asked_for_grows_with_the_run_and_has_a_limit():
    asked = [zero_gpu.duration(replace(CONFIG, max_new_tokens=n), 60.0) for n in (8, 96, 100_000)]
    assert asked == sorted(asked)
    assert 10 <= asked[0] < asked[1] < asked[2] == 60
    assert zero_gpu.duration(replace(CONFIG, drafter="none", max_new_tokens=96), 60.0) < asked[1]


def test_a_run_ends_by_itself_before_the_gpu_is_taken_away(spaces, device):
    with runs(device, Settings(max_seconds=1.0)).asked(CONFIG, "visitor") as run:
        pieces = run.pieces()
        first = json.loads(next(pieces).splitlines()[0])
        with pytest.raises(CapacityError) as caught:
            list(pieces)
    assert first
    assert caught.value.key == "run_seconds"


def test_an_error_of_the_user_comes_out_as_the_sentence_that_it_is(spaces, device):
    def place(spec: str, dtype: str) -> zero_gpu.Make:
        def make():
            raise PairError("no_cache", name="The model")

        return make

    with runs(device, Settings(), place).asked(CONFIG, "visitor") as run, pytest.raises(CapacityError) as caught:
        list(run.pieces())
    assert "The model" in str(caught.value)


def test_stop_ends_the_run_and_gives_the_gpu_back(spaces, device):
    slow = runs(device, Settings(), lambda spec, dtype: lambda: ToyPair(0.05))
    with slow.asked(replace(CONFIG, drafter="none", max_new_tokens=500), "visitor") as run:
        pieces = run.pieces()
        next(pieces)
        slow.stop("visitor")
        with pytest.raises(Cancelled):
            list(pieces)
    assert slow.going == 0


def test_a_day_that_is_used_up_is_said_without_markup(spaces, device):
    quota = gr.Error("You have exceeded your GPU quota. <a href='x'>Sign in</a> &amp; retry.")
    sys.modules["spaces"] = fake_spaces.module(quota)
    with runs(device, Settings()).asked(CONFIG, "visitor") as run, pytest.raises(CapacityError) as caught:
        list(run.pieces())
    assert "GPU quota. Sign in & retry." in str(caught.value)


def test_the_page_is_built_with_what_was_prepared(monkeypatch):
    built = {}
    settings, make = replace(Settings(), device="cpu"), object()
    monkeypatch.setattr(app.zero_gpu, "prepare", lambda asked, environment: (settings, make))
    monkeypatch.setattr(app, "build_app", lambda *args, **more: built.update(args=args, **more))
    monkeypatch.setattr(app, "serve", lambda page: None)
    app.main([])
    assert built == {"args": (settings,), "make_runs": make}


def test_another_torch_is_refused_at_the_start_with_what_to_do(spaces, monkeypatch):
    monkeypatch.setattr(torch, "__version__", "2.13.0+cu130")
    with pytest.raises(SettingError, match=r"pre-requirements\.txt"):
        zero_gpu.prepare(Settings(), ZERO, toy)


def test_a_missing_package_is_said(spaces, monkeypatch):
    monkeypatch.setitem(sys.modules, "spaces", None)
    with pytest.raises(SettingError, match="spaces"):
        zero_gpu.prepare(Settings(), ZERO, toy)
