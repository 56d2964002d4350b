"""How the page is put together and served: the switches of gradio that a class depends on."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from toy_pair import ToyPair

from specdemo.config import RunConfig
from specdemo.ui import app
from specdemo.ui.app import Page, Settings, build_app, launch


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    settings = Settings(
        pairs=("smollm2-135m",), waiting=7, runs_at_once=3, runs_per_visitor=1, memory_mb=64, visitors=9,
        max_seconds=5.0, prompt_characters=200, max_new_tokens=16, start=RunConfig(),
    )  # fmt: skip
    page = build_app(settings, lambda spec, progress: ToyPair())
    yield page
    page.device.shutdown()


@pytest.fixture
def launched(page: Page, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What gradio is told."""
    told: dict[str, Any] = {}
    interval = sys.getswitchinterval()

    def remember(**options: Any) -> tuple[None, str, None]:
        told.update(options, interval=sys.getswitchinterval())
        return None, "http://here", None

    monkeypatch.setattr(page.demo, "launch", remember)
    launch(page, "127.0.0.1", 1, block=False)
    sys.setswitchinterval(interval)
    return told


def test_nobody_passes_by_the_queue_and_it_has_an_end(page: Page) -> None:
    assert page.demo.api_open is False
    assert page.demo._queue.max_size == app.WAITING + 7
    assert page.demo._queue.default_concurrency_limit is None  # the line before the device is ours


def test_what_gradio_keeps_and_shows(launched: dict[str, Any]) -> None:
    assert launched["run_history"] is False
    assert launched["enable_monitoring"] is False
    assert launched["show_error"] is False
    assert launched["ssr_mode"] is False
    assert launched["state_session_capacity"] == 9
    assert not launched.get("allowed_paths")


def test_all_who_wait_have_a_thread(launched: dict[str, Any]) -> None:
    assert launched["max_threads"] == app.THREADS + 7


def test_streams_are_not_held_up_by_the_device_thread(launched: dict[str, Any]) -> None:
    assert launched["interval"] == pytest.approx(app.SWITCH_S)


def test_requests_have_an_end_and_pass_the_gate(launched: dict[str, Any]) -> None:
    options = launched["app_kwargs"]
    assert options["max_body_size"] == app.BODY_BYTES
    assert [one.cls.__name__ for one in options["middleware"]] == ["Gate"]
    assert "/healthz" in [getattr(route, "path", "") for route in options["routes"]]


def test_settings_reach_what_they_are_for(page: Page) -> None:
    capacity = page.runs.capacity
    assert (capacity.at_once, capacity.per_visitor, capacity.waiting) == (3, 1, 7)
    assert capacity.memory_bytes == 64 << 20
    assert page.runs._most_s == 5.0


def test_the_slider_stays_within_the_limit(page: Page) -> None:
    (slider,) = (block for block in page.demo.blocks.values() if getattr(block, "elem_id", "") == "max_new_tokens")
    assert (slider.value, slider.maximum) == (16, 16)
