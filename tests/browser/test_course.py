"""The lessons in a browser: by keyboard alone and over recorded runs alone, beside a page that stays in reach."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from serving import TOY, Server
from visits import Visits

from specdemo.web.lessons import data

ENTRIES = data()["entries"]
TAUGHT: list[dict[str, Any]] = [entry for entry in ENTRIES if entry["kind"] != "bug"]


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server]) -> Server:
    return serve(TOY, "0")


def panel(page: Page, more: str = "") -> Locator:
    return page.locator(f".sp-lessons {more}".strip())


def learn(visits: Visits, server: Server, lesson: str, more: str = "", **options: object) -> Page:
    page = visits.open(f"{server.url}/?lesson={lesson}{more}", **options)
    expect(panel(page, "[data-choice], [data-line], [data-entry]").first).to_be_visible()
    return page


def tab_to(page: Page, selector: str) -> None:
    """Presses Tab until that has the focus, as one without a mouse does."""
    for _ in range(60):
        if page.evaluate("selector => document.activeElement?.matches(selector) ?? false", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reaches {selector}")


def test_a_lesson_is_begun_and_finished_by_keyboard_alone(server: Server, visits: Visits) -> None:
    page = visits.open(server.url)
    expect(page.locator(".sd-lane").first).to_be_visible()
    tab_to(page, "[data-lessons]")
    page.keyboard.press("Space")
    expect(panel(page, ".sp-lesson-title")).to_be_focused()
    tab_to(page, ".sp-lesson-main")
    page.keyboard.press("Enter")
    expect(panel(page, ".sp-lesson-place")).to_have_text("Lesson 1 of 9")
    expect(panel(page, ".sp-lesson-title")).to_be_focused()
    expect(panel(page, "[data-choice]")).to_have_count(3)
    page.keyboard.press("3")
    expect(panel(page, ".sp-lesson-reason")).to_contain_text("Not so.")
    page.keyboard.press("1")
    expect(panel(page, ".sp-lesson-reason")).to_contain_text("Right.")
    expect(page.locator(".sd-same")).to_have_text(re.compile(r"identical (\d+)/\1 ✓"), timeout=60_000)
    tab_to(page, "[data-lesson-do=again]")
    page.keyboard.press("Enter")
    expect(panel(page, ".sp-lesson-title")).to_be_focused()
    page.keyboard.press("1")
    expect(panel(page, ".sp-lesson-reason")).to_contain_text("Right.")
    tab_to(page, ".sp-lesson-main")
    page.keyboard.press("Enter")
    expect(panel(page, ".sp-lesson-place")).to_have_text("Lesson 2 of 9")
    expect(page.locator(".sd-scene-guess")).to_be_visible()
    page.keyboard.press("2")
    expect(page.locator(".sd-scene-pass")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel(page)).to_be_hidden()
    expect(page.locator("[data-lessons]")).to_be_focused()
    expect(page.locator(".sd-badge-recorded")).to_be_visible()
    expect(page.locator(".sp-run")).to_have_count(0)
    kept = json.loads(page.evaluate("localStorage.getItem('specdemo-lessons')"))
    assert kept == {"1-race": "same", "2-one-pass": "once"}


def test_every_lesson_reveals_on_its_recorded_run(server: Server, visits: Visits) -> None:
    page = learn(visits, server, TAUGHT[0]["id"], reduced_motion="reduce")
    for entry in TAUGHT:
        page.click("[data-lesson-do=contents]")
        page.click(f".sp-lesson-list [data-entry='{entry['id']}']")
        expect(panel(page, "[data-choice]").first).to_be_visible()
        expect(page.locator(".sp-recorded select")).to_have_value(entry["trace"])
        page.keyboard.press("1")
        expect(panel(page, ".sp-lesson-explain")).to_be_visible()
        said = panel(page).inner_text()
        assert not re.search(r"[{}]|undefined|NaN|\*\*|lessons\.", said), said
        for beat in [*entry["before"], *entry["after"]]:
            expect(page.locator(beat.get("focus", "body")).first).to_be_visible()
        if entry.get("table"):
            expect(panel(page, ".sp-lesson-table td").first).to_be_visible()
            expect(panel(page, ".sp-lesson-table td").filter(has_text="…")).to_have_count(0)
        for action in entry.get("try", ()):
            page.click(f"[data-attempt={action['id']}]")
            if "focus" in action:
                expect(page.locator(action["focus"]).first).to_be_visible()


def test_what_to_try_is_put_into_the_widgets(server: Server, visits: Visits) -> None:
    page = learn(visits, server, "9")
    page.keyboard.press("2")
    page.click("[data-attempt=head]")
    expect(page.locator("#prompt textarea")).to_have_value(re.compile("photosynthesis"))
    expect(page.locator("#gamma input[type=number]")).to_have_value("3")
    expect(page.locator("#drafter input")).to_have_value(re.compile("feature head", re.IGNORECASE))
    expect(panel(page, ".sp-lesson-try")).to_contain_text("Press Run")


def test_a_lesson_opened_again_after_a_live_run_shows_its_recorded_run(server: Server, visits: Visits) -> None:
    page = learn(visits, server, "1", "&max_new_tokens=20")
    expect(page.locator(".sd-badge-recorded")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#run")).to_be_enabled(timeout=30_000)
    page.click("#run")
    expect(page.locator(".sp-run button[aria-pressed=true]")).to_be_visible(timeout=60_000)
    page.click("[data-lessons]")
    page.locator(f"[data-entry='{TAUGHT[0]['id']}']").last.click()
    expect(panel(page, "[data-choice]").first).to_be_visible()
    expect(page.locator(".sp-recorded select")).to_have_value(TAUGHT[0]["trace"])
    expect(page.locator(".sd-badge")).to_have_class(re.compile("sd-badge-recorded"))


def test_the_wrong_line_is_found(server: Server, visits: Visits) -> None:
    page = learn(visits, server, "bug-bonus")
    line = next(entry["line"] for entry in ENTRIES if entry["id"] == "bug-bonus")
    tab_to(page, "[data-line='0']")
    page.keyboard.press("Enter")
    expect(panel(page, ".sp-lesson-reason")).to_contain_text("Line 1 is right.")
    tab_to(page, f"[data-line='{line}']")
    page.keyboard.press("Enter")
    expect(panel(page, ".sp-lesson-reason")).to_contain_text(f"Right, line {line + 1}.")
    expect(panel(page, ".sp-bug-fix")).to_have_count(1)


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844)])
def test_the_panel_leaves_the_transport_free_and_nothing_is_cut_off(
    server: Server, visits: Visits, width: int, height: int
) -> None:
    page = learn(visits, server, "3", viewport={"width": width, "height": height})
    page.keyboard.press("2")
    expect(panel(page, ".sp-lesson-explain")).to_be_visible()
    page.locator(".sd-transport").scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    overlap = page.evaluate(
        """() => {
          const box = (selector) => document.querySelector(selector).getBoundingClientRect();
          const [one, other] = [box(".sp-lessons"), box(".sd-transport [data-do=toggle]")];
          return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
        }"""
    )
    assert not overlap
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate(
        "(() => { const b = document.querySelector('.sp-lesson-body'); return b.scrollWidth <= b.clientWidth; })()"
    )


def test_on_a_phone_the_sheet_folds_and_gives_the_settings_back(server: Server, visits: Visits) -> None:
    page = learn(visits, server, "1", viewport={"width": 390, "height": 844})
    expect(page.locator("#dock")).to_be_hidden()
    page.click("[data-lesson-do=fold]")
    expect(page.locator("#run")).to_be_visible()
    expect(panel(page, ".sp-lesson-body")).to_be_hidden()
    page.click(".sp-lesson-bar [data-lesson-do=next]")
    expect(panel(page, "[data-choice]").first).to_be_visible()


def test_progress_is_kept_in_the_browser_and_survives_nonsense(server: Server, visits: Visits) -> None:
    page = learn(visits, server, "1")
    page.keyboard.press("1")
    page.click("[data-lesson-do=contents]")
    expect(panel(page, ".sp-lesson-tick")).to_have_count(1)
    page.reload()
    expect(panel(page, ".sp-lesson-tick")).to_have_count(1)
    page.evaluate("localStorage.setItem('specdemo-lessons', '[1')")
    page.reload()
    expect(panel(page, ".sp-lesson-title")).to_be_visible()
    expect(panel(page, ".sp-lesson-tick")).to_have_count(0)


def test_a_projector_shows_lesson_and_race(server: Server, visits: Visits) -> None:
    page = learn(visits, server, "1", "&view=present&lang=zh", viewport={"width": 1024, "height": 768})
    expect(panel(page, "[data-choice]")).to_have_count(3)
    size = panel(page, "[data-choice]").first.evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
    assert size >= 20
    panel(page, "[data-choice=faster]").click()
    expect(panel(page, ".sp-lesson-reason")).to_contain_text("对。")


def test_the_tour_ends_where_the_lessons_begin(server: Server, visits: Visits) -> None:
    page = visits.open(server.url)
    expect(page.locator(".sp-tour-strip")).to_be_visible()
    page.locator(".sd-stage").press("End")
    page.click(".sp-tour [data-tour=lessons]")
    expect(panel(page, ".sp-lesson-title")).to_have_text("Start here")
    expect(page.locator(".sp-tour-strip")).to_have_count(0)
    page.click("[data-lesson-do=tour]")
    expect(panel(page)).to_be_hidden()
    expect(page.locator(".sp-tour-steps [aria-current=step]")).to_have_text("1")


def test_what_a_visitor_does_on_the_stage_is_theirs(server: Server, visits: Visits) -> None:
    page = learn(visits, server, "1")
    page.keyboard.press("1")
    page.locator(".sd-stage").press("Home")
    page.wait_for_timeout(1500)
    expect(page.locator(".sd-slider")).to_have_value("0")
    expect(panel(page, ".sp-lesson-explain")).to_be_visible()
