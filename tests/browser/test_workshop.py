"""A presenter and two attendees in Chromium: who leads, who follows, who votes, and what a reload finds again."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from serving import TOY, Server
from visits import Visits

from specdemo.workshop.room import Room
from specdemo.workshop.store import Store

SECRET = "the-presenters-own"
PHONE = {"viewport": {"width": 390, "height": 844}, "locale": "zh-CN", "color_scheme": "dark"}
PROJECTOR = {"viewport": {"width": 1024, "height": 768}}


@dataclass(frozen=True)
class Class:
    """A server with a workshop."""

    server: Server
    code: str

    def present(self, visits: Visits, secret: str = SECRET) -> Page:
        return visits.open(f"{self.server.url}/w/{self.code}?view=present#{secret}", **PROJECTOR)

    def attend(self, visits: Visits, **options: object) -> Page:
        page = visits.open(f"{self.server.url}/w/{self.code}", **options)
        expect(page.locator(".ws-on")).to_be_visible()
        return page


@pytest.fixture(scope="module")
def room(serve: Callable[..., Server], library: Path, tmp_path_factory: pytest.TempPathFactory) -> Class:
    folder = tmp_path_factory.mktemp("workshop")
    made = Room(Store(folder / "workshop.sqlite3"))
    code = made.state.code
    made.close()
    server = serve(
        TOY,
        "0.001",
        TOY_TRACES=str(library),
        SPECDEMO_WORKSHOP="on",
        SPECDEMO_WORKSHOP_FOLDER=str(folder),
        SPECDEMO_WORKSHOP_SECRET=SECRET,
    )
    return Class(server, code)


def place(page: Page) -> int:
    """Where a presenter's player stands."""
    return int(re.match(r"\d+", page.locator(".ws-place").inner_text())[0])  # type: ignore[index]


def slider(page: Page) -> str:
    return page.locator(".sd-slider").input_value()


def stands_at(page: Page, step: int) -> None:
    expect(page.locator(".sd-slider")).to_have_value(str(step))


def show(lead: Page, id: str = "hero") -> None:
    with lead.expect_response(lambda answer: answer.url.endswith("/place")):
        lead.select_option("#ws-below [name=trace]", id)
    expect(lead.locator(".ws-place")).to_contain_text(re.compile(r"^0 / [1-9]"))


def test_a_class(room: Class, visits: Visits) -> None:
    lead = room.present(visits)
    expect(lead.locator(".ws-join img")).to_be_visible()
    expect(lead.locator(".ws-join-code")).to_contain_text(room.code)
    first, second = room.attend(visits), room.attend(visits, **PHONE)
    expect(lead.locator(".ws-here")).to_contain_text("2")

    show(lead)
    for _ in range(5):
        lead.click("[data-do=step]")
    for page in (first, second):
        stands_at(page, 5)

    # An attendee looks around alone, and comes back to where the class is by then.
    first.click(".sd-transport [data-do=step]")
    stands_at(first, 6)
    lead.click("[data-do=step]")
    lead.click("[data-do=step]")
    stands_at(second, 7)
    assert slider(first) == "6"
    first.click("[data-do=back]:not(.sd-button)")
    stands_at(first, 7)

    # Whoever comes late lands where the presenter is.
    stands_at(room.attend(visits), 7)

    # A run that plays is played by every page itself, and ends where the presenter ends.
    lead.click("[data-do=toggle]")
    expect(lead.locator(".ws-place")).to_contain_text(re.compile(r"^(\d+) / \1$"), timeout=60_000)
    for page in (first, second):
        stands_at(page, place(lead))

    # The presenter's reload finds everything again.
    covered = lead.locator(".sd-present .sd-covered")
    before = covered.count()
    lead.click("[data-do=reveal]")
    lead.click("[data-do=reveal]")
    left = covered.count()
    assert left < before
    lead.click("[data-do=first]")
    lead.click("[data-do=step]")
    stands_at(first, 1)
    lead.reload()
    expect(lead.locator(".ws-place")).to_contain_text(re.compile("^1 / "))
    lead.click("[data-do=last]")
    expect(covered).to_have_count(left)
    lead.click("[data-do=first]")
    lead.click("[data-do=step]")
    lead.click("[data-do=step]")
    stands_at(second, 2)


def test_a_question(room: Class, visits: Visits) -> None:
    lead, first, second = room.present(visits), room.attend(visits), room.attend(visits, **PHONE)
    show(lead)
    lead.click("#ws-below [data-do=question]")
    lead.click("[data-ask=faster]")
    expect(second.locator(".ws-asked")).to_contain_text("普通解码")
    first.click("[data-vote='1']")
    first.click("[data-vote='0']")
    second.click("[data-vote='2']")
    expect(lead.locator(".ws-count")).to_have_text(["1", "0", "1"])
    expect(first.locator(".ws-count")).to_have_count(0)  # nobody follows the crowd
    second.reload()
    expect(second.locator("[data-vote='2']")).to_have_attribute("aria-pressed", "true")
    lead.click("[data-do=answer]")
    for page in (first, second):
        expect(page.locator(".ws-count")).to_have_text(["1", "0", "1"])
        expect(page.locator("button[data-vote]")).to_have_count(0)
        expect(page.locator(".ws-right")).to_have_count(1)
    lead.click("[data-do=dismiss]")
    expect(first.locator(".ws-question")).to_have_count(0)


def test_an_own_question_is_text_and_nothing_else(room: Class, visits: Visits) -> None:
    lead, first = room.present(visits), room.attend(visits)
    lead.click("#ws-below [data-do=question]")
    lead.fill(".ws-own [name=text]", "<img src=x onerror=alert(1)> ${7*6}?")
    lead.fill(".ws-own [name=options]", "</script>\n'; DROP TABLE vote; --")
    lead.click(".ws-own [type=submit]")
    expect(first.locator(".ws-asked")).to_have_text("<img src=x onerror=alert(1)> ${7*6}?")
    expect(first.locator(".ws-label")).to_have_text(["</script>", "'; DROP TABLE vote; --"])
    first.click("[data-vote='1']")
    lead.click("[data-pick='1']")
    lead.click("[data-do=answer]")
    expect(first.locator(".ws-right .ws-label")).to_have_text("'; DROP TABLE vote; --")
    lead.click("[data-do=dismiss]")


def test_runs_of_the_class_come_to_the_board(room: Class, visits: Visits) -> None:
    lead, first, second = room.present(visits), room.attend(visits), room.attend(visits)
    expect(first.locator("[data-view=try]")).to_have_count(0)
    lead.check("[name=live]")
    first.click("[data-view=try]")
    first.fill("[name=prompt]", "the cat sat on the mat")
    first.check("[name=board]")
    first.click(".ws-try [type=submit]")
    expect(first.locator(".ws-try .ws-hint")).to_contain_text("on the class board")
    lead.click("#ws-below [data-do=board]")
    for page in (lead, second):
        expect(page.locator("[data-point]")).to_have_count(1)
    first.click("[data-view=board]")
    expect(first.locator(".ws-own[data-point]")).to_have_count(1)
    with lead.expect_download() as saved:
        lead.click("[data-do=csv]")
    rows = Path(saved.value.path()).read_text().splitlines()
    assert rows[0].startswith("run,drafter,gamma")
    assert len(rows) == 2
    lead.click("#ws-below [data-do=board]")
    lead.uncheck("[name=live]")
    expect(second.locator("[data-view=try]")).to_have_count(0)


def test_a_live_run_of_the_presenter_reaches_the_class(room: Class, visits: Visits) -> None:
    lead, first = room.present(visits), room.attend(visits)
    lead.click("#ws-below [data-do=run]")
    lead.fill("[name=prompt]", "the cat sat on the mat")
    lead.click(".ws-try [type=submit]")
    expect(lead.locator("#ws-below [name=trace] option:checked")).to_contain_text("★")
    expect(first.locator(".sd-badge")).to_have_text("recorded")
    expect(lead.locator(".ws-place")).to_contain_text(re.compile(r"^(\d+) / \1$"), timeout=60_000)
    stands_at(first, place(lead))


def test_a_run_of_the_main_page_is_sent_to_the_class(room: Class, visits: Visits) -> None:
    """Only from a browser that leads a workshop."""
    first = room.attend(visits)
    other = visits.open(room.server.url)
    expect(other.locator(".sp-tools [data-do=save]")).to_be_visible()
    expect(other.locator(".sp-tools [data-do=class]")).to_have_count(0)
    lead = room.present(visits)
    expect(lead.locator("#ws-below [name=trace]")).to_be_visible()
    main = lead.context.new_page()
    main.goto(room.server.url)
    main.keyboard.press("Escape")
    main.click(".sp-tools [data-do=class]:enabled")
    expect(lead.locator("#ws-below [name=trace] option:checked")).to_contain_text("★")
    expect(first.locator(".sd-badge")).to_have_text("recorded")
    stands_at(first, 0)


def test_two_tabs_of_the_presenter(room: Class, visits: Visits) -> None:
    one, two, first = room.present(visits), room.present(visits), room.attend(visits)
    show(one)
    one.click("[data-do=step]")
    expect(two.locator(".ws-place")).to_contain_text(re.compile("^1 / "))
    two.click("[data-do=step]")
    two.click("[data-do=step]")
    expect(one.locator(".ws-place")).to_contain_text(re.compile("^3 / "))
    one.click("[data-do=step]")
    for page in (one, two):
        expect(page.locator(".ws-place")).to_contain_text(re.compile("^4 / "))
    stands_at(first, 4)


def test_a_wrong_secret_is_a_sentence(room: Class, visits: Visits) -> None:
    page = room.present(visits, "wrong")
    expect(page.locator(".ws-problem")).to_contain_text("presenter's secret")
    page.evaluate("document.documentElement.lang = 'zh'")
    expect(page.locator(".ws-problem")).to_have_text(re.compile("[\u4e00-\u9fff]"))
    assert [text for text in visits.complaints if "403" not in text] == []
    visits.complaints.clear()


def test_a_wrong_code_is_asked_for_again_in_the_readers_language(room: Class, visits: Visits) -> None:
    page = visits.open(f"{room.server.url}/w/no-such-code")
    page.fill(".ws-code input", "abc")
    page.evaluate("document.documentElement.lang = 'zh'")
    expect(page.locator(".ws-code button")).to_have_text(re.compile("[\u4e00-\u9fff]"))
    expect(page.locator(".ws-problem")).to_have_text(re.compile("[\u4e00-\u9fff]"))
    expect(page.locator(".ws-code input")).to_have_value("abc")
    assert [text for text in visits.complaints if "404" not in text] == []
    visits.complaints.clear()


def test_a_lesson_before_the_class(serve: Callable[..., Server], visits: Visits, tmp_path: Path) -> None:
    """With the runs that ship, which lessons are about: show, ask, answer, explain."""
    made = Room(Store(tmp_path / "workshop.sqlite3"))
    code = made.state.code
    made.close()
    own = {"SPECDEMO_WORKSHOP": "on", "SPECDEMO_WORKSHOP_FOLDER": str(tmp_path), "SPECDEMO_WORKSHOP_SECRET": SECRET}
    room = Class(serve(TOY, "0.001", **own), code)
    lead, first = room.present(visits), room.attend(visits, **PHONE)
    lead.select_option("[name=lesson]", "2-one-pass")
    lead.click("[data-do=next]")
    expect(first.locator(".sd-scene-guess")).to_be_visible()
    lead.click("[data-do=next]")
    expect(first.locator(".ws-option")).to_have_count(3)
    first.click("[data-vote='1']")
    lead.click("[data-do=next]")
    expect(first.locator(".ws-right.ws-mine")).to_have_count(1)
    lead.click("[data-do=next]")
    expect(first.locator(".sd-scene-pass")).to_be_visible()
    expect(first.locator(".ws-question")).to_have_count(0)
    lead.click("[data-do=step]")
    expect(first.locator(".sd-scene")).to_have_count(0)
