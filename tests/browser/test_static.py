"""The static site in a browser: from a disk, from a plain server below a path, and without a network."""

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect
from toy_traces import toy_trace, write_library
from visits import Visits

from specdemo.config import SamplingConfig
from specdemo.site import page as site_page
from specdemo.site.folder import write
from specdemo.site.page import Options

PATIENCE_S = 20


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the site of two toy runs two folders below it."""
    root = tmp_path_factory.mktemp("web")
    traces = tmp_path_factory.mktemp("traces")
    write_library(traces)
    write(root / "some where" / "static", traces)
    return root


class Served:
    """A plain server of that folder, in a process of its own."""

    def __init__(self, root: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(root)]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{port}/some%20where/static/"
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                httpx.get(self.url, trust_env=False)
                return
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError("the server did not answer")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE_S)


@pytest.fixture
def served(root: Path) -> Iterator[Served]:
    served = Served(root)
    yield served
    served.stop()


@pytest.fixture(params=["disk", "server"])
def address(request: pytest.FixtureRequest, root: Path) -> str:
    if request.param == "disk":
        return (root / "some where" / "static" / "index.html").as_uri()
    served: Served = request.getfixturevalue("served")
    return served.url


def visit(visits: Visits, address: str, query: str = "", **options: object) -> Page:
    """The page with its first run on the stage and no tour."""
    page = visits.open(address + query, within=address.removesuffix("index.html"), **options)
    page.wait_for_selector(".sd-hero")
    page.wait_for_function("() => document.querySelectorAll('.sd-lane .sd-token').length > 3")
    return page


def finish(page: Page, tokens: str) -> None:
    page.focus(".sd-stage")
    page.keyboard.press("End")
    expect(page.locator(".sd-same")).to_have_text(re.compile(rf"{tokens} ✓"))


def position(page: Page) -> int:
    return int(page.locator(".sd-slider").input_value())


def test_a_recorded_run_plays_scrubs_and_steps(address: str, visits: Visits) -> None:
    page = visit(visits, address)
    expect(page.locator(".sd-badge-recorded")).to_be_visible()
    finish(page, "40/40")
    last = position(page)
    page.keyboard.press("ArrowLeft")
    assert position(page) == last - 1
    page.locator(".sd-slider").fill("5")
    assert position(page) == 5
    page.click("[data-do=step]")
    assert position(page) == 6
    page.click("[data-do=toggle]")
    page.wait_for_function("() => Number(document.querySelector('.sd-slider').value) > 8")


def test_a_token_opens_with_p_q_and_u(address: str, visits: Visits) -> None:
    page = visit(visits, address)
    open_file(page, toy_trace(seed=3, sampling=SamplingConfig(temperature=1.0)))
    expect(page.locator(".sp-run button[aria-pressed=true]")).to_be_visible()
    page.focus(".sd-stage")
    page.keyboard.press("End")
    page.locator(".sd-rows-box [data-do=select], .sd-grid [data-do=select]").first.click()
    said = page.locator(".sd-right").inner_text()
    assert re.search(r"\bu\b", said)
    assert re.search(r"\bp\b", said)
    assert re.search(r"\bq\b", said)


def test_another_run_is_chosen_and_its_own_file_is_fetched(address: str, visits: Visits) -> None:
    page = visit(visits, address)
    page.select_option("select[name=trace]", "warm")
    expect(page.locator("select[name=trace]")).to_have_value("warm")
    page.focus(".sd-stage")
    page.keyboard.press("End")
    expect(page.locator(".sd-same")).to_have_text(re.compile(r"24/24 ✓"))
    page = visit(visits, address, "?trace=warm")
    expect(page.locator("select[name=trace]")).to_have_value("warm")


def test_language_and_theme_switch_in_place(address: str, visits: Visits) -> None:
    page = visit(visits, address)
    finish(page, "40/40")
    page.click(".sp-language [data-lang=zh]")
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    expect(page.locator(".sp-foot")).to_contain_text("本页不运行任何模型")
    assert position(page) == int(page.locator(".sd-slider").get_attribute("max") or 0)
    assert re.search("[\u4e00-\u9fff]", page.title())
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("[data-do=theme]")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    dark = visit(visits, address, "?lang=zh", color_scheme="dark")
    assert dark.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_own_files_are_read_strictly_and_raced(address: str, visits: Visits) -> None:
    page = visit(visits, address)
    open_file(page, toy_trace(gamma=2, max_new_tokens=16))
    expect(page.locator(".sp-run button[aria-pressed=true]")).to_contain_text("#1")
    open_file(page, toy_trace(drafter="prompt-lookup", max_new_tokens=20))
    expect(page.locator(".sp-run button[aria-pressed=true]")).to_contain_text("#2")
    page.click(".sp-race[data-run='1']")
    expect(page.locator(".sd-lane")).to_have_count(3)
    finish(page, r"\d+/\d+")

    open_file(page, "no trace")
    alert = page.locator(".sp-reel [role=alert]")
    expect(alert).to_contain_text("not a specdemo trace")
    page.click(".sp-language [data-lang=zh]")
    expect(alert).to_contain_text(re.compile("[\u4e00-\u9fff]"))
    page.click("[data-do=clear]")
    expect(alert).to_have_count(0)
    expect(page.locator(".sd-lane")).to_have_count(3)


def open_file(page: Page, text: str) -> None:
    with page.expect_file_chooser() as chooser:
        page.click("[data-do=open]")
    chooser.value.set_files({"name": "own.jsonl", "mimeType": "text/plain", "buffer": text.encode()})


def test_the_theory_computes(address: str, visits: Visits) -> None:
    page = visit(visits, address)
    page.click("[data-tab=theory]")
    expect(page.locator("#stage")).to_be_hidden()
    page.locator("#theory input[name=alpha]").fill("0.8")
    page.locator("#theory input[name=gamma]").fill("5")
    expect(page.locator("#theory .sp-formulas")).to_contain_text("3.69")
    page.go_back()
    expect(page.locator("#stage")).to_be_visible()
    page = visits.open(address + "?tab=theory", within=address.removesuffix("index.html"))
    expect(page.locator("#theory .sp-formulas")).to_be_visible()


def test_lessons_lead_and_leave_out_what_is_live(address: str, visits: Visits) -> None:
    page = visit(visits, address)
    page.click("[data-lessons]")
    panel = page.locator(".sp-lessons")
    expect(panel).to_be_visible()
    assert panel.locator(".sp-lesson-list button").count() > 0
    panel.locator(".sp-lesson-list button").first.click()
    expect(panel.locator(".sp-lesson-title")).to_be_visible()
    english = panel.inner_text()
    page.click(".sp-language [data-lang=zh]")
    expect(panel).not_to_have_text(english)
    assert re.search("[\u4e00-\u9fff]", panel.inner_text())
    panel.locator("[data-choice]").first.click()
    expect(panel.locator(".sp-lesson-reason")).not_to_be_empty()
    expect(panel.locator(".sp-lesson-try")).to_be_visible()
    live = panel.locator("[data-attempt][aria-disabled=true]")
    assert live.count() > 0
    expect(panel.locator(".sp-lesson-try .sd-hint").first).not_to_be_empty()
    page.click("[data-lesson-do=close]")
    expect(panel).to_be_hidden()


def test_what_needs_a_server_is_absent_and_said(address: str, visits: Visits) -> None:
    page = visit(visits, address)
    for absent in ("#run", "#dock", "[data-do=figure]", "[data-do=page]", "[data-tab=prove]", "[data-tab=measure]"):
        expect(page.locator(absent)).to_have_count(0)
    expect(page.locator(".sp-foot code")).to_have_text("make demo")
    page.keyboard.press("Escape")
    with page.expect_download() as download:
        page.click("[data-do=save]")
    assert Path(download.value.path()).read_text(encoding="utf-8").startswith('{"specdemo":1')


def test_after_the_first_visit_it_needs_no_network(served: Served, visits: Visits) -> None:
    page = visit(visits, served.url)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    served.stop()
    page.context.set_offline(True)
    page.goto(served.url + "?lang=en")
    finish(page, "40/40")
    page.select_option("select[name=trace]", "warm")
    expect(page.locator("select[name=trace]")).to_have_value("warm")
    page.click("[data-tab=theory]")
    expect(page.locator("#theory .sp-formulas")).to_be_visible()
    page.context.set_offline(False)


def test_where_no_worker_is_allowed_the_open_page_still_needs_no_network(served: Served, visits: Visits) -> None:
    """A room's own network without https: browsers keep nothing there, so the page fetches all its runs at once."""
    page = visits.open("about:blank", within=served.url)
    page.add_init_script("Object.defineProperty(navigator, 'serviceWorker', { value: undefined })")
    with page.expect_response(re.compile(r"/traces/warm-")):
        page.goto(served.url)
    served.stop()
    page.context.set_offline(True)
    page.select_option("select[name=trace]", "warm")
    expect(page.locator("select[name=trace]")).to_have_value("warm")
    page.click("[data-lessons]")
    expect(page.locator(".sp-lessons")).to_be_visible()


def test_a_new_version_takes_the_place_of_the_old(root: Path, served: Served, visits: Visits, tmp_path: Path) -> None:
    page = visit(visits, served.url)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    before = page.evaluate("caches.keys()")
    traces = tmp_path / "traces"
    traces.mkdir()
    write_library(traces)
    write(root / "some where" / "static", traces, repository="https://example.org/specdemo")
    page.reload()
    expect(page.locator(".sp-foot a")).to_have_text("https://example.org/specdemo")
    page.wait_for_function(
        "async (before) => { const now = await caches.keys(); return now.length === 1 && now[0] !== before[0]; }",
        arg=before,
    )


def test_a_missing_run_is_said(root: Path, visits: Visits) -> None:
    folder = root / "some where" / "static"
    address = (folder / "index.html").as_uri()
    (missing,) = folder.glob("traces/warm-*.js")
    moved = missing.rename(folder / "elsewhere.js")
    page = visit(visits, address)
    page.select_option("select[name=trace]", "warm")
    expect(page.locator(".sp-reel [role=alert]")).to_contain_text("cannot be loaded")
    moved.rename(missing)
    page.select_option("select[name=trace]", "")
    page.select_option("select[name=trace]", "warm")
    expect(page.locator(".sp-reel [role=alert]")).to_have_count(0)
    visits.complaints[:] = [one for one in visits.complaints if "ERR_FILE_NOT_FOUND" not in one]


FOLLOWER = """
specdemoReady.then((page) => {
  window.moves = [];
  window.handle = page;
  page.subscribe((move) => window.moves.push(move));
});
"""


def test_a_page_that_follows_is_led_by_a_script(tmp_path: Path, visits: Visits) -> None:
    options = Options(follows=True, tabs=("watch",), above="<p id='class'>class</p>", script=FOLLOWER)
    (tmp_path / "index.html").write_text(site_page.page((), options), encoding="utf-8")
    page = visits.open((tmp_path / "index.html").as_uri())
    page.wait_for_function("() => window.handle")
    page.evaluate("(text) => handle.load(text, 'first')", toy_trace())
    expect(page.locator(".sp-reel")).to_be_hidden()
    expect(page.locator(".sp-foot")).to_be_hidden()
    page.wait_for_timeout(300)
    assert position(page) == 0, "it waits"
    page.evaluate("handle.seek(7)")
    assert position(page) == 7
    page.evaluate("handle.seek(1e6)")
    assert page.evaluate("handle.position() === handle.last()")
    last = page.evaluate("moves.at(-1)")
    assert (last["run"], last["by"]) == ("first", "page")
    page.focus(".sd-stage")
    page.keyboard.press("Home")
    assert page.evaluate("moves.at(-1)")["by"] == "reader"
    page.evaluate("handle.setLanguage('zh')")
    assert page.evaluate("handle.language()") == "zh"
    page.evaluate("handle.setTheme('dark')")
    assert page.evaluate("handle.theme()") == "dark"
