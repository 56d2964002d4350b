"""The Theory and the Prove tab in a browser, over the toy pair, and the way between the tabs."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from serving import TOY, Server
from toy_pair import HOSTILE
from visits import Visits

from specdemo.core import rules
from specdemo.core.rules import Badge

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server], library: Path) -> Server:
    return serve(TOY, "0.002", TOY_TRACES=str(library))


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def test_tabs_switch_in_place_and_have_their_addresses(server: Server, visits: Visits) -> None:
    page = visits.open(server.url)
    expect(page.locator(".sp-stage")).to_be_visible()
    expect(page.locator(".sp-tabs [aria-current]")).to_have_text("Watch")
    page.evaluate("window.sameDocument = true")
    page.focus(".sp-tabs [data-tab=theory]")
    page.keyboard.press("Enter")
    expect(page.locator("#theory")).to_be_visible()
    expect(page.locator("#stage")).to_be_hidden()
    expect(page.locator("#dock")).to_be_hidden()
    assert page.url.endswith("?tab=theory")
    page.click("text=中文")
    expect(page.locator("#theory h2")).to_have_text(re.compile("[\u4e00-\u9fff]"))
    page.click(".sp-tabs [data-tab=prove]")
    expect(page.locator("#prove")).to_be_visible()
    page.go_back()
    expect(page.locator("#theory")).to_be_visible()
    page.click(".sp-tabs [data-tab=watch]")
    expect(page.locator(".sd-lane").first).to_be_visible()
    expect(page.locator("#dock")).to_be_in_viewport()
    expect(page.locator(".sd-chart-race canvas")).to_be_visible()
    assert page.evaluate("window.sameDocument")


def test_a_projector_shows_the_stage_whatever_the_tab(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?view=present&tab=prove")
    expect(page.locator(".sd-present")).to_be_visible()
    expect(page.locator("#prove")).to_be_hidden()


def test_theory_follows_sliders_and_bars(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?tab=theory")
    requests: list[str] = []
    expect(page.locator("#run")).to_be_enabled(timeout=30_000)
    page.on("request", lambda request: requests.append(request.url))
    result = page.locator("#theory tr[data-row=tau] .sp-result")
    expect(result).to_have_text("3.69")  # α .8, γ 5
    page.focus("#theory input[name=gamma]")
    page.keyboard.press("ArrowLeft")
    expect(result).to_have_text("3.36")

    bar = page.locator("#theory [data-law=q][data-index='0']")
    bar.focus()
    for _ in range(2):
        page.keyboard.press("PageUp")
    expect(bar).to_have_attribute("aria-valuenow", "0.44")
    box = bar.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.9)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.25, steps=4)
    page.mouse.up()
    expect(bar).to_have_attribute("aria-valuenow", re.compile(r"0\.7[3-7]"))
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.9)
    expect(bar).to_have_attribute("aria-valuenow", re.compile(r"0\.7[3-7]"))
    page.click("#theory [data-pair=same]")
    expect(page.locator("#theory .sp-verdict-said")).to_contain_text("= 1.00")
    page.click("#theory [data-take=beta]")
    expect(result).to_have_text("5.00")
    assert requests == []
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_prove_shows_what_every_rule_does(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?tab=prove")
    for rule in rules.entries():
        line = page.locator(f"#prove tr[data-rule={rule.id}]")
        expect(line.locator("[data-test=d]")).to_be_visible(timeout=60_000)
        refused = line.locator(".sp-refused:is([data-test=a], [data-test=b], [data-test=c])")
        sound = rule.badge in (Badge.LOSSLESS, Badge.WASTEFUL)
        assert (refused.count() == 0) is sound, rule.id
    page.click("#prove tr[data-rule=resample-from-p] label")
    expect(page.locator("#prove .sp-detail h4")).to_contain_text("Resample from p")
    expect(page.locator("#prove select[name=rule]")).to_have_value("resample-from-p")

    page.select_option("#prove select[name=drafter]", "model")
    page.click("#prove [data-do=sampled]")
    expect(page.locator("#prove .sp-sampled")).to_be_visible(timeout=60_000)
    expect(page.locator("#prove .sp-said-bad")).to_contain_text("100 000 decisions", timeout=60_000)
    page.select_option("#prove select[name=rule]", "rejection")
    page.select_option("#prove select[name=n]", "10000")
    page.click("#prove [data-do=sampled]")
    expect(page.locator("#prove .sp-said-good")).to_contain_text("10 000 decisions", timeout=60_000)

    page.locator("#prove input[name=max_new_tokens]").fill("40")
    page.click("#prove [data-do=greedy]")
    expect(page.locator("#prove .sp-said-good").first).to_contain_text("identical, 40 of 40", timeout=60_000)
    assert HOSTILE[2] in page.locator("#prove .sp-text").first.inner_text()
    assert page.locator("#prove img, #prove script").count() == 0
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_a_number_can_be_written_anew(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?tab=prove")
    field = page.locator("#prove input[name=temperature]")
    field.press("ControlOrMeta+a")
    for key, shown in [("Backspace", ""), (".", ""), ("5", ".5")]:
        page.keyboard.press(key)
        expect(field).to_have_value(shown)
    page.wait_for_function("location.search.includes('prove.temperature=0.5')")
    field.press("ControlOrMeta+a")
    page.keyboard.type("1.05")
    expect(field).to_have_value("1.05")
    field.fill("")
    expect(field).to_have_value("")
    field.press("Tab")
    expect(field).to_have_value("1.05")


def test_prove_stops_and_says_what_is_wrong(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?tab=prove&lang=zh")
    page.fill("#prove textarea", "the cat sat")
    page.select_option("#prove select[name=drafter]", "model")
    page.locator("#prove input[name=max_new_tokens]").fill("256")
    page.click("#prove [data-do=greedy]")
    page.wait_for_function("() => (document.querySelector('#prove .sp-text')?.textContent.length ?? 0) > 10")
    page.click("#prove [data-do=halt]")
    expect(page.locator("#prove [data-do=halt]")).to_have_count(0)
    page.fill("#prove textarea", " ")
    page.click("#prove [data-do=sampled]")
    expect(page.locator("#prove [role=alert]")).to_have_text(re.compile("[\u4e00-\u9fff]"))
    expect(page.locator("#prove [data-do=sampled]")).to_be_enabled()
