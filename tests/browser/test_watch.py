"""The Watch tab in a browser, over the toy pair."""

import json
import re
import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect
from serving import TOY, Server
from toy_pair import HOSTILE, ToyPair
from toy_traces import toy_trace
from visits import Visits

from specdemo.core.result import collect
from specdemo.ui import replays

LANES = ".sd-lane .sd-text-body"
POSITION = ".sd-slider"
RUN_MS = 180_000
"""Patience with a run to its end."""


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server], library: Path) -> Server:
    return serve(TOY, "0.004", TOY_TRACES=str(library), SPECDEMO_EMBED="http://127.0.0.1:*")


def probe(server: Server) -> dict[str, int]:
    """What goes on inside the server, asked as a client program would."""
    joined = httpx.post(f"{server.url}/gradio_api/call/probe", json={"data": []}).json()["event_id"]
    answer = httpx.get(f"{server.url}/gradio_api/call/probe/{joined}", timeout=30).text
    found: dict[str, int] = json.loads(re.findall(r"data: (\[.*\])", answer)[-1])[0]
    return found


def until_idle(server: Server, seconds: float = 1.5) -> None:
    deadline = time.monotonic() + seconds
    while (now := probe(server))["busy"] or now["runs"]:
        assert time.monotonic() < deadline, now
        time.sleep(0.05)


def ready(page: Page) -> Page:
    """Waits until a run can be started."""
    expect(page.locator("#run")).to_be_enabled(timeout=30_000)
    return page


def settings(page: Page) -> None:
    """Opens the sheet with all settings."""
    if not page.locator("#settings").is_visible():
        page.click("#more")


def set_field(page: Page, name: str, value: object) -> None:
    field = page.locator(f"#{name} input[type=number]").first
    field.fill(str(value))
    field.press("Tab")


def run(page: Page, tokens: int = 40, prompt: str = "the cat sat") -> None:
    """A run to its end."""
    settings(page)
    page.fill("#prompt textarea", prompt)
    set_field(page, "max_new_tokens", tokens)
    page.click("#run")
    expect(page.locator(".sp-run button[aria-pressed=true]")).to_be_visible(timeout=RUN_MS)


def played(page: Page, tokens: str) -> None:
    """Goes to the end of a race of greedy lanes."""
    page.focus(".sd-stage")
    page.keyboard.press("End")
    expect(page.locator(".sd-same")).to_have_text(re.compile(rf"{tokens} ✓"))


def shown_text(page: Page, lane: int = 0) -> str:
    """The text of a lane as the reader gets it, without the marks for line ends, which are no text."""
    return str(page.locator(LANES).nth(lane).evaluate("node => node.textContent"))


def test_the_first_paint_plays_a_recorded_run(server: Server, visits: Visits) -> None:
    page = visits.open(server.url)
    expect(page.locator(".sd-badge-recorded")).to_be_visible()
    expect(page.locator(".sp-recorded select")).to_have_value("hero")
    page.wait_for_function("() => document.querySelectorAll('.sd-lane .sd-token').length > 3")
    played(page, "40/40")


def test_a_live_run_streams_and_shows_exactly_what_was_decoded(server: Server, visits: Visits) -> None:
    page = ready(visits.open(server.url))
    settings(page)
    page.fill("#prompt textarea", "the cat sat on the mat")
    set_field(page, "max_new_tokens", 400)
    page.click("#run")
    expect(page.locator(".sd-badge-live")).to_be_visible()
    page.wait_for_function("() => document.querySelectorAll('.sd-lane .sd-token').length > 5")
    early = page.locator(LANES).first.locator(".sd-token").count()
    assert page.locator("#stop").is_visible(), "tokens come while it runs"
    expect(page.locator(".sp-run button[aria-pressed=true]")).to_be_visible(timeout=RUN_MS)
    expect(page.locator("#run")).to_be_visible()
    assert early < page.locator(LANES).first.locator(".sd-token").count()

    with page.expect_download() as download:
        page.click("[data-do=save]")
    recorded = replays.read(Path(download.value.path()).read_text(encoding="utf-8"))
    assert recorded.header.kind == "trace"
    for number, lane in enumerate(collect(recorded.events).lanes.values()):
        detokeniser = ToyPair().text.detokeniser()
        assert lane.finished is not None
        text = "".join(map(detokeniser.feed, lane.finished.tokens)) + detokeniser.flush()
        assert shown_text(page, number) == text


def test_stop_frees_the_device_within_a_second(server: Server, visits: Visits) -> None:
    page = ready(visits.open(server.url))
    settings(page)
    set_field(page, "max_new_tokens", 512)
    page.click("#run")
    page.wait_for_function(
        "() => document.querySelector('.sd-badge-live') && document.querySelectorAll('.sd-lane .sd-token').length > 5"
    )
    page.click("#stop")
    until_idle(server, 1.0)
    expect(page.locator("#run")).to_be_visible()
    expect(page.locator(".sd-lane-note").first).to_contain_text("stopped")
    run(page)


def test_the_same_position_is_the_same_page(server: Server, visits: Visits) -> None:
    """Stepping forward, stepping back, and jumping there by the slider or by a round."""
    page = visits.open(server.url)
    played(page, "40/40")
    stage = page.locator(".sp-player")
    snapshot = 'node => node.innerHTML.replace(/<canvas[^>]*>|style="[^"]*"/g, \'\')'
    last = int(page.locator(POSITION).get_attribute("max") or 0)
    seek = "(node, at) => { node.value = at; node.dispatchEvent(new Event('input', { bubbles: true })); }"
    positions = range(0, last + 1, 3)
    jumped = {}
    for at in positions:
        page.locator(POSITION).evaluate(seek, at)
        jumped[at] = stage.evaluate(snapshot)
    page.click("[data-do=first]")
    for at in range(last + 1):
        if at in jumped:
            assert page.locator(POSITION).input_value() == str(at)
            assert _without_speech(stage.evaluate(snapshot)) == _without_speech(jumped[at]), f"forward to {at}"
        if at < last:
            page.click("[data-do=step]")
    for at in range(last, -1, -1):
        if at in jumped:
            assert _without_speech(stage.evaluate(snapshot)) == _without_speech(jumped[at]), f"back to {at}"
        if at:
            page.click("[data-do=back]")


def _without_speech(markup: str) -> str:
    """What is said to a screen reader depends on how one got there."""
    return re.sub(r'<p class="sd-hidden".*?</p>', "", markup)


def test_hostile_words_are_shown_and_do_nothing(server: Server, visits: Visits) -> None:
    page = ready(visits.open(server.url))
    prompt = " ".join(HOSTILE) + ' "><svg onload=alert(1)> {{7*6}} 投机 😀'
    run(page, 60, prompt)
    for word in HOSTILE:
        assert word in shown_text(page)
    assert page.locator(".sp-player img, .sp-player script, #dock img, #dock svg[onload]").count() == 0
    assert "42" not in shown_text(page)
    page.click("#code")
    expect(page.locator(".sp-snippet code").first).to_contain_text("${7*6}")
    # A sentence that repeats what was typed.
    page.goto(f"{server.url}/?drafter=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    expect(page.locator("#notice .sp-line-bad")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("#notice img").count() == 0


def test_the_url_and_the_link_restore_the_settings(server: Server, visits: Visits) -> None:
    page = ready(visits.open(server.url))
    settings(page)
    page.fill("#prompt textarea", "a & b = 投机 #1")
    set_field(page, "gamma", 7)
    set_field(page, "temperature", 0.7)
    set_field(page, "max_new_tokens", 64)
    set_field(page, "seed", 5)
    page.locator("#knobs input[name=max_n]").fill("3")
    page.locator("#knobs input[name=max_n]").press("Tab")
    page.click("text=中文")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#link")
    expect(page.locator("#link.sp-done")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url
    assert {"gamma=7", "lang=zh", "knob.max_n=3"} <= set(link.split("?")[1].split("&"))

    other = ready(visits.open(link))
    settings(other)
    expect(other.locator("#run")).to_have_text("运行")
    expect(other.locator("#prompt textarea")).to_have_value("a & b = 投机 #1")
    for name, value in {"gamma": "7", "temperature": "0.7", "max_new_tokens": "64", "seed": "5"}.items():
        expect(other.locator(f"#{name} input[type=number]").first).to_have_value(value)
    expect(other.locator("#knobs input[name=max_n]")).to_have_value("3")


def test_a_link_names_a_recorded_run_and_a_view(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?trace=warm&view=present")
    expect(page.locator(".sd-present")).to_be_visible()
    expect(page.locator("#dock")).to_be_hidden()
    page = visits.open(f"{server.url}/?trace=warm")
    expect(page.locator(".sp-recorded select")).to_have_value("warm")
    page = visits.open(f"{server.url}/?trace=no-such-run")
    expect(page.locator(".sp-reel .sp-line-bad")).to_contain_text("no-such-run")


def test_any_run_can_be_presented(server: Server, visits: Visits) -> None:
    page = ready(visits.open(server.url))
    run(page, 30)
    page.click("[data-do=present]")
    expect(page.locator(".sd-present")).to_be_visible()
    expect(page.locator("#dock")).to_be_hidden()
    page.keyboard.press("End")
    page.keyboard.press("Space")
    expect(page.locator(".sd-present .sd-big")).not_to_have_text("?")
    page.keyboard.press("Escape")
    expect(page.locator("#dock")).to_be_visible()
    played(page, "30/30")


def test_long_drafts_fit_the_page_and_the_projector(server: Server, visits: Visits) -> None:
    page = ready(visits.open(f"{server.url}/?gamma=12"))
    run(page, 30)
    page.click("#more")
    box = page.locator(".sd-round-panel > .sd-grid-box")
    expect(box.locator(".sd-grid-number")).to_have_count(13)
    assert box.evaluate("node => node.scrollWidth - node.clientWidth") <= 0
    settings(page)
    set_field(page, "gamma", 16)
    run(page, 30)
    page.click("[data-do=present]")
    cells = page.locator(".sd-present .sd-grid .sd-cell")
    expect(cells).to_have_count(34)
    for width in (1280, 800):
        page.set_viewport_size({"width": width, "height": 768})
        edges = cells.evaluate_all("nodes => nodes.map((node) => node.getBoundingClientRect().right)")
        assert max(edges) <= width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_page_in_a_frame_copies_its_own_address(server: Server, visits: Visits, tmp_path: Path) -> None:
    outer = f'<iframe src="{server.url}/?gamma=6" width="1200" height="800" allow="clipboard-write"></iframe>'
    (tmp_path / "outer.html").write_text(outer, encoding="utf-8")
    page = visits.browser.new_context(permissions=["clipboard-read", "clipboard-write"]).new_page()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(tmp_path))) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        page.goto(f"http://127.0.0.1:{site.server_port}/outer.html")
        frame = page.frame_locator("iframe")
        frame.locator("#link").click()
        expect(frame.locator("#link.sp-done")).to_be_visible()
        assert page.frames[1].evaluate("location.href") == f"{server.url}/?gamma=6&lang=en"
        site.shutdown()


def test_an_export_works_from_disk(server: Server, visits: Visits, tmp_path: Path) -> None:
    page = visits.open(server.url)
    played(page, "40/40")
    with page.expect_download() as download:
        page.click("[data-do=page]")
    file = tmp_path / "run.html"
    download.value.save_as(file)
    alone = visits.open(file.as_uri())
    played(alone, "40/40")
    assert shown_text(alone) == shown_text(page)
    alone.click("button[data-lang=zh]")
    expect(alone.locator(".sd-badge-recorded")).to_have_text("录制回放")
    alone.click("[data-do=back]")


def test_a_trace_file_is_opened_or_refused(server: Server, visits: Visits, tmp_path: Path) -> None:
    page = visits.open(server.url)
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(toy_trace(gamma=2, max_new_tokens=30), encoding="utf-8")
    bad.write_text(toy_trace().replace('"accepted"', '"<b>lost</b>"'), encoding="utf-8")
    for file in (good, bad, good):
        with page.expect_file_chooser() as chooser:
            page.click("[data-do=open]")
        chooser.value.set_files(file)
        if file is bad:
            expect(page.locator(".sp-reel .sp-line-bad")).to_be_visible()
        else:
            expect(page.locator(".sp-reel .sp-line-bad")).to_have_count(0)
            expect(page.locator(".sd-lane-draft").first).to_contain_text("γ = 2")
            played(page, "30/30")


def test_any_two_runs_race_as_replays(server: Server, visits: Visits) -> None:
    page = ready(visits.open(server.url))
    run(page, 40)
    set_field(page, "gamma", 2)
    page.click("#run")
    expect(page.locator(".sp-run button[aria-pressed=true]")).to_contain_text("#2", timeout=30_000)
    page.click(".sp-race[data-run='1']")
    expect(page.locator(".sd-lane-name")).to_have_text(["#2", "#1", "Plain decoding"])
    page.click(".sp-run button[data-do=own][data-run='1']")
    expect(page.locator(".sd-lane-name")).to_have_text(["Speculative", "Plain decoding"])


def test_figures_follow_language_and_theme(server: Server, visits: Visits) -> None:
    page = ready(visits.open(server.url))
    run(page, 40)
    title = page.locator("#figure-race .gtitle")
    expect(title).to_contain_text("Tokens against device time", timeout=30_000)
    page.click("text=中文")
    expect(title).to_contain_text("加速")
    page.click(".sp-theme")
    expect(page.locator("body.dark")).to_be_visible()
    page.wait_for_function(
        "() => getComputedStyle(document.querySelector('#figure-race .main-svg')).backgroundColor === 'rgb(26, 29, 33)'"
    )


def test_bad_input_is_one_sentence_and_the_next_run_is_fine(server: Server, visits: Visits) -> None:
    page = ready(visits.open(server.url))
    for prompt, said in ((" ", "empty"), ("x" * 30_000, "Shorten"), ("x " * 5_000, "Shorten the prompt")):
        page.fill("#prompt textarea", prompt)
        page.click("#run")
        expect(page.locator("#notice .sp-line-bad")).to_contain_text(said)
        expect(page.locator("#run")).to_be_enabled()
    run(page)
    expect(page.locator("#notice .sp-line-text")).to_have_text("")


def test_a_pair_is_loaded_with_a_bar_or_refused_with_a_reason(server: Server, visits: Visits) -> None:
    page = ready(visits.open(server.url))
    settings(page)
    page.click("#pair input")
    page.click("[role=option]:has-text('Qwen3')")
    expect(page.locator("#model-line .sp-line-busy .sp-bar i")).to_have_attribute("style", "width:30.0%")
    expect(page.locator("#run")).to_be_disabled()
    expect(page.locator("#model-line .sp-line-bad")).to_contain_text("The other pair")
    expect(page.locator("#retry")).to_be_visible()
    page.click("#pair input")
    page.click("[role=option]:has-text('SmolLM2')")
    expect(page.locator("#retry")).to_be_hidden()
    run(ready(page))


def test_absurd_values_are_refused_in_the_readers_language(server: Server, visits: Visits) -> None:
    page = ready(visits.open(f"{server.url}/?gamma=30&lang=zh&max_new_tokens=9"))
    expect(page.locator("#gamma input[type=number]")).to_have_value("30")
    page.click("#run")
    expect(page.locator(".sp-run button[aria-pressed=true]")).to_contain_text("γ 30", timeout=RUN_MS)
    page = visits.open(f"{server.url}/?gamma=99&lang=zh")
    expect(page.locator("#notice .sp-line-bad")).to_contain_text("草稿长度 γ 必须在 0 与 32 之间")
    run(ready(page))


def test_keys_work_on_the_stage_and_only_there(server: Server, visits: Visits) -> None:
    page = ready(visits.open(server.url))
    played(page, "40/40")
    position = page.locator(POSITION)
    last = position.input_value()
    page.fill("#prompt textarea", "ab")
    page.focus("#prompt textarea")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    assert page.input_value("#prompt textarea") == "a b"
    assert position.input_value() == last
    page.focus(".sd-stage")
    page.keyboard.press("ArrowLeft")
    expect(position).to_have_value(str(int(last) - 1))
    page.keyboard.press("Home")
    expect(position).to_have_value("0")
    page.keyboard.press("End")
    expect(position).to_have_value(last)


PARTS = ["hero", "lanes", "text", "round-panel", "inspector", "cards-panel", "charts"]
WATCH_PLACES = """(parts) => {
  window.places = Object.fromEntries(parts.map((part) => [part, []]));
  const look = () => {
    for (const part of parts) {
      const { top, height } = document.querySelector(`.sd-${part}`).getBoundingClientRect();
      const now = `${Math.round(top + window.scrollY)} + ${Math.round(height)}`;
      if (now !== window.places[part].at(-1)) window.places[part].push(now);
    }
    requestAnimationFrame(look);
  };
  look();
}"""


def watch_places(page: Page) -> None:
    """From now on remembers where the parts of the page stand, frame by frame."""
    page.evaluate(WATCH_PLACES, PARTS)


def moved(page: Page) -> dict[str, list[str]]:
    """The parts that have moved or grown since, with the places where they stood."""
    found: dict[str, list[str]] = page.evaluate("window.places")
    return {part: places for part, places in found.items() if len(places) > 1}


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_nothing_jumps_from_the_click_to_the_last_token(server: Server, visits: Visits, width: int) -> None:
    page = ready(visits.open(f"{server.url}/?gamma=5", viewport={"width": width, "height": 900}))
    played(page, "40/40")
    watch_places(page)
    page.click("#run")
    expect(page.locator(".sd-badge-live")).to_be_visible()
    expect(page.locator(".sd-same")).to_contain_text("✓", timeout=RUN_MS)
    page.wait_for_timeout(300)
    assert moved(page) == {}


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_nothing_is_wider_than_the_screen(server: Server, visits: Visits, width: int) -> None:
    page = visits.open(server.url, viewport={"width": width, "height": 800})
    expect(page.locator(".sd-same")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("#more")
    expect(page.locator("#settings")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("#more")
    expect(page.locator("#settings")).to_be_hidden()
