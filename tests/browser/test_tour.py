"""The first thirty seconds in a browser, over the recorded runs that ship."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect
from serving import TOY, Server
from test_watch import moved, ready, watch_places
from visits import Visits

WHOLE_MS = 90_000


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server]) -> Server:
    return serve(TOY, "0")


def button(page: Page, name: str) -> Locator:
    return page.locator(f".sp-tour [data-tour={name}]")


def step(page: Page) -> Locator:
    """The number of the step that is on."""
    return page.locator(".sp-tour-steps [aria-current=step]")


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_the_tour_leads_from_a_race_to_a_question_and_moves_nothing(server: Server, visits: Visits, width: int) -> None:
    page = ready(visits.open(server.url, viewport={"width": width, "height": 844}))
    expect(step(page)).to_have_text("1")
    watch_places(page)
    expect(page.locator(".sd-same")).to_have_text(re.compile(r"identical (\d+)/\1 ✓"), timeout=WHOLE_MS)
    for move in ("guess", "pass", "keep"):
        expect(page.locator(f".sd-scene-{move}")).to_be_visible(timeout=WHOLE_MS)
    expect(page.locator(".sd-scene .sd-cell.sd-rejected")).to_be_visible()
    expect(step(page)).to_have_text("3")
    expect(page.locator(".sp-recorded select")).to_have_value("foil")
    expect(page.locator(".sd-notes")).to_contain_text("Slower because", timeout=WHOLE_MS)
    expect(page.locator(".sd-question")).to_be_visible(timeout=WHOLE_MS)
    page.focus("[data-answer=faster]")
    page.keyboard.press("Space")
    expect(page.locator(".sd-reason")).to_contain_text("α = ")
    expect(page.locator(".sd-answer-right")).to_have_count(1)
    button(page, "next").click()
    expect(page.locator(".sd-scene")).to_have_count(0)
    expect(page.locator(".sp-tour-caption")).to_contain_text("press Run")
    assert moved(page) == {}


def test_back_next_and_skip(server: Server, visits: Visits) -> None:
    page = visits.open(server.url)
    for number in "234":
        button(page, "next").click()
        expect(step(page)).to_have_text(number)
    button(page, "back").click()
    expect(step(page)).to_have_text("3")
    button(page, "skip").click()
    expect(page.locator(".sp-tour-strip")).to_have_count(0)
    page.reload()
    expect(page.locator(".sd-same")).to_be_visible()
    expect(page.locator(".sp-tour-strip")).to_have_count(0)
    page.click("[data-lessons]")
    page.click("[data-lesson-do=tour]")
    expect(step(page)).to_have_text("1")


def test_who_goes_on_by_keyboard_stays_on_the_button(server: Server, visits: Visits) -> None:
    page = visits.open(server.url, reduced_motion="reduce")
    button(page, "start").focus()
    for number in "1234":
        page.keyboard.press("Enter")
        expect(step(page)).to_have_text(number)
        expect(button(page, "next")).to_be_focused()
    page.keyboard.press("Enter")
    expect(button(page, "start")).to_be_focused()
    page.keyboard.press("Enter")
    button(page, "next").press("Enter")
    button(page, "back").press("Enter")
    expect(step(page)).to_have_text("1")
    expect(button(page, "next")).to_be_focused()


OWN = {
    "run": lambda page: page.click("#run"),
    "another run": lambda page: page.select_option(".sp-recorded select", "ngram"),
    "a key": lambda page: page.locator(".sd-stage").press("ArrowLeft"),
    "the slider": lambda page: page.locator(".sd-slider").press("ArrowRight"),
    "a token": lambda page: page.click(".sd-lane .sd-token >> nth=0"),
    "typing": lambda page: page.fill("#prompt textarea", "mine"),
}


@pytest.mark.parametrize("own", list(OWN))
def test_whatever_a_visitor_does_ends_it(server: Server, visits: Visits, own: str) -> None:
    page = ready(visits.open(server.url))
    expect(step(page)).to_have_text("1")
    expect(page.locator(".sd-same")).to_be_visible()
    top = page.locator(".sd-stage").bounding_box()
    OWN[own](page)
    expect(step(page)).to_have_count(0)
    expect(button(page, "start")).to_be_visible()
    assert page.locator(".sd-stage").bounding_box() == top


@pytest.mark.parametrize("query", ["?gamma=7", "?trace=foil", "?view=present"])
def test_it_keeps_away_from_those_who_asked_for_something(server: Server, visits: Visits, query: str) -> None:
    page = visits.open(f"{server.url}/{query}")
    expect(page.locator(".sd-lane").first).to_be_visible()
    expect(page.locator(".sp-tour-strip")).to_have_count(0)


def test_it_comes_to_a_projector_when_asked(server: Server, visits: Visits) -> None:
    page = visits.open(f"{server.url}/?view=present&tour=1&lang=zh", viewport={"width": 1024, "height": 768})
    expect(step(page)).to_have_text("1")
    page.keyboard.press("Space")
    button(page, "next").click()
    expect(page.locator(".sd-present .sd-scene-guess")).to_be_visible()


def test_without_motion_it_waits(server: Server, visits: Visits) -> None:
    page = visits.open(server.url, reduced_motion="reduce")
    expect(button(page, "start")).to_be_visible()
    expect(page.locator(".sd-slider")).to_have_value("0")
    button(page, "start").click()
    expect(page.locator(".sd-same")).to_contain_text("✓")
    page.wait_for_timeout(2500)
    expect(step(page)).to_have_text("1")
    button(page, "next").click()
    expect(page.locator(".sd-scene-keep")).to_be_visible()
