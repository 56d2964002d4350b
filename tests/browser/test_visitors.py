"""What visitors see of each other and of the server: the line, its end, the page within another site's frame."""

import http.server
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from serving import TOY, Server
from test_watch import ready, set_field, settings
from visits import Visits

NOTICE = "#notice .sp-line-text"


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server], library: Path) -> Server:
    return serve(TOY, "0.05", TOY_TRACES=str(library), SPECDEMO_RUNS_AT_ONCE="1")


def prepared(page: Page, tokens: int) -> Page:
    """Everything is set for a run."""
    settings(ready(page))
    set_field(page, "max_new_tokens", tokens)
    return page


def test_whoever_waits_sees_where_and_may_leave(server: Server, visits: Visits) -> None:
    first, second, third = (prepared(visits.open(server.url), tokens) for tokens in (512, 8, 8))
    first.click("#run")
    expect(first.locator(".sd-badge-live")).to_be_visible()
    second.click("#run")
    expect(second.locator(NOTICE)).to_contain_text("In line: you are next")
    third.click("#run")
    expect(third.locator(NOTICE)).to_contain_text("In line: 1 before you")
    second.click("#stop")
    expect(second.locator(NOTICE)).to_have_text("Stopped.")
    expect(second.locator("#run")).to_be_visible()
    expect(third.locator(NOTICE)).to_contain_text("In line: you are next")
    first.click("#stop")
    expect(third.locator(".sp-run button[aria-pressed=true]")).to_be_visible(timeout=60_000)
    expect(third.locator(NOTICE)).to_have_text("")


@pytest.fixture
def school(tmp_path: Path) -> Iterator[str]:
    """Another site: a server that shows whatever page.html says."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(tmp_path))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        (tmp_path / "favicon.ico").write_bytes(b"")
        yield f"http://localhost:{served.server_port}"
        served.shutdown()


def framed(school: str, folder: Path, url: str) -> str:
    (folder / "page.html").write_text(f"<iframe src='{url}' width='1300' height='800'></iframe>", encoding="utf-8")
    return f"{school}/page.html"


def test_the_page_works_in_the_frame_of_a_site_that_may_show_it(
    serve: Callable[..., Server], library: Path, visits: Visits, school: str, tmp_path: Path
) -> None:
    server = serve(TOY, "0.001", TOY_TRACES=str(library), SPECDEMO_EMBED=school)
    page = visits.open(framed(school, tmp_path, server.url))
    frame = page.frame_locator("iframe")
    expect(frame.locator("#run")).to_be_enabled(timeout=60_000)
    frame.locator("#run").click()
    expect(frame.locator(".sp-run button[aria-pressed=true]")).to_be_visible(timeout=60_000)
    page.close()
    visits.outside = [asked for asked in visits.outside if not asked.startswith(server.url)]


def test_another_site_may_not_show_it(server: Server, visits: Visits, school: str, tmp_path: Path) -> None:
    page = visits.open(framed(school, tmp_path, server.url))
    page.wait_for_timeout(1000)
    assert page.frame_locator("iframe").locator("#run").count() == 0
    assert any("frame-ancestors" in complaint for complaint in visits.complaints)
    visits.complaints.clear()
    visits.outside.clear()


def test_a_server_told_to_stop_says_so_on_the_page(serve: Callable[..., Server], library: Path, visits: Visits) -> None:
    server = serve(TOY, "0.02", TOY_TRACES=str(library))
    page = prepared(visits.open(server.url), 512)
    page.click("#run")
    expect(page.locator(".sd-badge-live")).to_be_visible()
    server.process.send_signal(signal.SIGTERM)
    expect(page.locator(NOTICE)).to_contain_text("about to restart")
    expect(page.locator(".sp-run button[aria-pressed=true]")).to_be_visible()
    page.close()
    assert server.process.wait(20) == 0
    visits.complaints.clear()  # of the connection, which is gone
