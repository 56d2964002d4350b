"""Chromium, and pages that fail a test if they ask the world for anything or complain of anything."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from serving import Server, serving
from toy_traces import write_library
from visits import CHROMIUM, Visits, chromium

expect.set_options(timeout=20_000)  # two busy cores may be slow; a fault stays a fault


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    write_library(folder)
    return folder


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[..., Server]]:
    with serving() as serve:
        yield serve


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    visits = Visits(browser)
    yield visits
    for context in browser.contexts:
        context.close()
    assert visits.outside == []
    assert visits.complaints == []
