"""The rules on the Watch tab and the precision of the Prove tab in a browser, over the toy pair."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from gradio_client import Client
from playwright.sync_api import Page, expect
from serving import TOY, Server
from visits import Visits

PHONE = {"width": 390, "height": 844}
WARM = "temperature=1&drafter=model&gamma=3&max_new_tokens=40&seed=5"


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server], library: Path) -> Server:
    return serve(TOY, "0.002", TOY_TRACES=str(library))


def run(page: Page) -> None:
    expect(page.locator("#run")).to_be_enabled(timeout=30_000)
    page.click("#run")
    expect(page.locator(".sd-badge-live")).to_be_visible()
    expect(page.locator("#run")).to_be_visible(timeout=60_000)


def test_a_broken_rule_is_run_and_never_called_lossless(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?{WARM}&rule=resample-from-p")
    run(page)
    expect(page.locator(".sd-banner")).to_contain_text("NOT the target's law")
    expect(page.locator(".sd-headline")).not_to_contain_text("same")
    expect(page.locator(".sd-lane-draft").first).to_contain_text("Resample from p")
    page.wait_for_function("() => location.search.includes('rule=resample-from-p')")
    page.click("text=中文")
    expect(page.locator(".sd-banner")).to_have_text(re.compile("从 p 重采样.*分布"))
    page.click("#more")
    expect(page.locator("#notes")).to_contain_text("从 p 重采样，有偏")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_one_switch_gives_both_lanes_the_same_text_and_the_address_keeps_it(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?{WARM}")
    run(page)
    expect(page.locator(".sd-same")).to_have_count(0)
    page.check("#same_text input")
    page.click("#more")
    expect(page.locator("#rule input")).to_have_value(re.compile("Shared-noise match · lossless"))
    page.click("#more")
    run(page)
    expect(page.locator(".sd-same")).to_have_text("identical 40/40 ✓", timeout=60_000)
    expect(page.locator(".sd-banner")).to_have_count(0)
    page.wait_for_function("() => location.search.includes('rule=shared-noise')")
    page.reload()
    expect(page.locator("#same_text input")).to_be_checked()
    page.uncheck("#same_text input")
    page.click("#more")
    expect(page.locator("#rule input")).to_have_value(re.compile("Rejection sampling"))


def test_prove_in_another_precision_and_for_other_lengths_and_its_link(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?tab=prove&prove.rule=block&prove.drafter=model&prove.gamma=99")
    expect(page.locator("#prove select[name=rule]")).to_have_value("block")
    expect(page.locator("#prove input[name=gamma]")).to_have_value("4")
    page.select_option("#prove select[name=mode]", "bfloat16")
    page.locator("#prove input[name=max_new_tokens]").fill("40")
    page.click("#prove [data-do=greedy]")
    expect(page.locator("#prove .sp-said-good").first).to_contain_text("identical, 40 of 40", timeout=60_000)
    expect(page.locator("#prove .sp-result-box .sd-hint").first).to_contain_text("bfloat16")
    page.click("#prove [data-length='2']", timeout=60_000)
    expect(page.locator("#prove .sp-joint")).to_contain_text("first 2 tokens")
    page.wait_for_function("() => location.search.includes('prove.length=2')")
    page.reload()
    for name, value in {"rule": "block", "mode": "bfloat16", "max_new_tokens": "40"}.items():
        expect(page.locator(f"#prove [name={name}]")).to_have_value(value)


def test_theory_keeps_its_numbers_and_laws_in_the_address(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?tab=theory&theory.gamma=2")
    expect(page.locator("#theory tr[data-row=tau] .sp-result")).to_have_text("2.44")
    page.click("#theory [data-pair=apart]")
    page.wait_for_function("() => location.search.includes('theory.laws=')")
    page.reload()
    expect(page.locator("#theory [data-pair=apart]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#theory input[name=gamma]")).to_have_value("2")


def test_a_table_is_trained_looked_into_and_raced_and_is_gone_after_the_visit(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?tab=train&train.order=3")
    expect(page.locator("#train input[name=order]")).to_have_value("3")
    expect(page.locator("#train [data-do=train]")).to_be_disabled()
    for name, body, said in [
        ("a.pdf", b"x", "not a .txt"),
        ("a.txt", b"\xff\xfe", "not UTF-8"),
        ("b.txt", b" ", "no text"),
    ]:
        with page.expect_file_chooser() as asked:
            page.click("#train [data-do=file]")
        asked.value.set_files({"name": name, "mimeType": "text/plain", "buffer": body})
        expect(page.locator("#train [role=alert]")).to_contain_text(said)
    with page.expect_file_chooser() as asked:
        page.click("#train [data-do=file]")
    words = ("a bb ccc dddd " * 40).encode()
    asked.value.set_files({"name": "mine.txt", "mimeType": "text/plain", "buffer": words})
    expect(page.locator("#train textarea[name=text]")).to_have_value(re.compile("^a bb ccc"))
    page.click("#train [data-do=train]")
    expect(page.locator("#train .sp-said-good")).to_be_visible(timeout=60_000)
    expect(page.locator("#train .sp-numbers")).to_contain_text("160")
    page.fill("#train textarea[name=context]", "a bb")
    page.click("#train [data-do=look]")
    expect(page.locator("#train .sp-level").first).to_contain_text("seen 40 times")
    page.click("text=中文")
    expect(page.locator("#train .sp-level").first).to_contain_text("见过 40 次")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.click("text=English")

    page.click("#train [data-do=race]")
    expect(page.locator("#drafter input")).to_have_value("N-gram table")
    run(page)
    expect(page.locator(".sd-running")).to_contain_text("own n-gram table")
    page.wait_for_function("() => location.search.includes('knob.source=own')")
    probe = Client(server.url, verbose=False)
    assert probe.predict(api_name="/probe")["tables"] > 0
    page.reload()
    expect(page.locator("#run")).to_be_enabled(timeout=30_000)
    until = time.monotonic() + 60  # the server looks for readers every 15 s
    while probe.predict(api_name="/probe")["tables"]:
        assert time.monotonic() < until, "a table outlived its visit"
        time.sleep(0.2)
    page.click("#run")
    expect(page.locator("#notice")).to_contain_text("train one on the Train tab")
