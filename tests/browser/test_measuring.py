"""The Measure tab in a browser, over the toy pair: a sweep of the reader's own prompts from list to files, and Stop."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from serving import TOY, Server
from visits import Visits

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server], library: Path) -> Server:
    return serve(TOY, "0.002", TOY_TRACES=str(library))


def saved(page: Page, button: str) -> bytes:
    with page.expect_download() as download:
        page.click(button)
    return Path(download.value.path()).read_bytes()


def finished(page: Page) -> None:
    expect(page.locator("#measure .sp-progress")).to_be_visible()
    expect(page.locator("#measure [data-do=halt]")).to_have_count(0, timeout=120_000)


def test_a_sweep_over_ones_own_prompts(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?tab=measure")
    expect(page.locator("#measure .sp-choices").first).to_be_visible()
    page.select_option("#measure select[name=drafter]", "model")
    page.select_option("#measure select[name=prompts]", "own")
    expect(page.locator("#measure [data-do=measure]")).to_be_disabled()
    page.fill("#measure textarea", "the cat sat\n<img src=x onerror=alert(1)>")
    expect(page.locator("#measure .sp-own [role=status]")).to_contain_text("found: 2")
    page.fill("#measure input[name=gammas]", "1, 3")
    page.fill("#measure input[name=max_new_tokens]", "32")
    expect(page.locator("#measure .sp-start p")).to_contain_text("6 runs of at most 32 tokens")
    page.click("#measure [data-do=measure]")
    finished(page)

    rows = page.locator("#measure .sp-panel").nth(1).locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(page.locator("#measure .sp-said").first).to_contain_text(re.compile("Fastest|faster"))
    expect(page.locator("#measure .sp-chart-main circle")).to_have_count(2)
    expect(page.locator("#measure select[name=earlier]")).to_be_visible()
    expect(page.locator("#measure .sp-prompt").nth(1)).to_contain_text("<img src=x")
    assert page.locator("#measure img, #measure script").count() == 0

    table = list(csv.DictReader(io.StringIO(saved(page, "#measure [data-save=csv]").decode("utf-8"))))
    record = json.loads(saved(page, "#measure [data-save=json]"))
    assert len(table) == len(record["rows"]) == 6
    assert {row["commit"] for row in table} == {record["about"]["commit"]}
    assert {row["processor"] for row in table} == {record["about"]["hardware"]["processor"]}
    shown = rows.nth(1).locator("[data-head=tau]").inner_text()
    mine = [row for row in table if row["lane"] == "model γ1"]
    assert shown == f"{sum(int(r['tokens']) for r in mine) / sum(int(r['rounds']) for r in mine):.2f}"
    assert saved(page, "#measure [data-picture=main]").startswith(b"\x89PNG")

    page.click("text=中文")
    expect(page.locator("#measure .sp-said").first).to_have_text(re.compile("[\u4e00-\u9fff]"))
    page.click("#measure [data-kind=policies]")
    expect(page.locator("#measure .sp-cells")).to_have_count(0)
    page.click("#measure [data-do=measure]")
    finished(page)
    expect(page.locator("#measure .sp-gammas")).to_have_count(4)
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.querySelector('#measure').scrollWidth <= window.innerWidth")


def test_stop_keeps_what_there_is_and_problems_are_said(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?tab=measure")
    page.select_option("#measure select[name=drafter]", "model")
    page.fill("#measure input[name=max_new_tokens]", "128")
    page.click("#measure [data-do=measure]")
    expect(page.locator("#measure .sp-cells").first).to_be_visible(timeout=120_000)
    page.click("#measure [data-do=halt]")
    expect(page.locator("#measure [data-do=halt]")).to_have_count(0)
    expect(page.locator("#measure .sp-panel").nth(1)).to_contain_text("Stopped. What had been measured is kept")
    expect(page.locator("#measure [data-save=csv]")).to_be_visible()

    page.fill("#measure input[name=gammas]", "1, many")
    page.click("#measure [data-do=measure]")
    expect(page.locator("#measure [role=alert]")).to_contain_text("many")
    page.fill("#measure input[name=gammas]", "1 2 3 4 5 6 7 8")
    page.select_option("#measure select[name=prompts]", "kinds")
    page.fill("#measure input[name=max_new_tokens]", "128")
    expect(page.locator("#measure .sp-start p")).to_contain_text("63 runs")
    page.select_option("#measure select[name=prompts]", "own")
    page.fill("#measure textarea", "x\n" * 25)
    expect(page.locator("#measure .sp-own [role=alert]")).to_contain_text("25 prompts")
