"""Many runs, several tabs, tabs that are closed: nothing is left behind, nobody gets what is another's."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from serving import TOY, Server
from test_watch import probe, ready, run, set_field, settings, until_idle
from visits import Visits

RUNS = 10
MEMORY = 40_000_000


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server], library: Path) -> Server:
    return serve(TOY, "0.001", TOY_TRACES=str(library))


def test_ten_runs_in_a_row_leave_nothing_behind(server: Server, visits: Visits) -> None:
    page = ready(visits.open(server.url))
    for _ in range(3):
        run(page, 60)
    before = probe(server)
    for number in range(4, 4 + RUNS):
        page.click("#run")
        expect(page.locator(".sp-run button[aria-pressed=true]")).to_contain_text(f"#{number} ", timeout=30_000)
    until_idle(server)
    after = probe(server)
    assert after["threads"] <= before["threads"] + 2, (before, after)
    assert after["memory"] <= before["memory"] + MEMORY, (before, after)
    expect(page.locator(".sp-run")).to_have_count(10)


def test_two_tabs_at_once_get_their_own(server: Server, visits: Visits) -> None:
    pages = [ready(visits.open(server.url)) for _ in range(2)]
    for number, page in enumerate(pages):
        settings(page)
        page.fill("#prompt textarea", "one two three")
        set_field(page, "gamma", 2 + number)
        set_field(page, "max_new_tokens", 96 + 40 * number)
    for page in pages:
        page.click("#run")
    for number, page in enumerate(pages):
        expect(page.locator(".sp-run button[aria-pressed=true]")).to_contain_text(f"γ {2 + number}", timeout=60_000)
        expect(page.locator(".sd-same")).to_contain_text(f"{96 + 40 * number}/{96 + 40 * number}")
        expect(page.locator(".sp-run")).to_have_count(1)


@pytest.mark.parametrize("leave", ["close", "reload"])
def test_a_tab_left_in_mid_run_frees_the_device(server: Server, visits: Visits, leave: str) -> None:
    page = ready(visits.open(server.url))
    settings(page)
    set_field(page, "max_new_tokens", 512)
    page.click("#run")
    page.wait_for_function(
        "() => document.querySelector('.sd-badge-live') && document.querySelectorAll('.sd-lane .sd-token').length > 5"
    )
    assert probe(server)["runs"] == 1
    getattr(page, leave)()
    until_idle(server, 3.0)
    run(ready(visits.open(server.url)))
