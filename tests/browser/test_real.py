"""The page as a visitor starts it, with the real model behind it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from serving import Server
from test_watch import LANES, run
from visits import Visits

APP = str(Path(__file__).parents[2] / "app.py")
PATIENCE_MS = 180_000


@pytest.mark.real
def test_a_live_run_on_the_real_model_streams(serve: Callable[..., Server], visits: Visits) -> None:
    page = visits.open(serve(APP, "--pair", "smollm2-135m", "--port").url)
    expect(page.locator(".sd-badge-recorded")).to_be_visible()
    page.wait_for_function("() => document.querySelectorAll('.sd-lane .sd-token').length > 3")
    expect(page.locator("#run")).to_be_enabled(timeout=PATIENCE_MS)
    page.context.set_default_timeout(PATIENCE_MS)
    run(page, 32, "Repeat after me: one two three, one two three, one two three, one two three")
    expect(page.locator(".sd-same")).to_contain_text("✓")
    assert len(str(page.locator(LANES).first.evaluate("node => node.textContent"))) > 20
