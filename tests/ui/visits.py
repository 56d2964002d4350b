"""Visits to a page in Chromium: what it asked for and what it complained of."""

import shutil
from dataclasses import dataclass, field

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
"""The system's own browser; None where there is none."""
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

# The page's own stream is cut off when another page is opened in its place: no fault.
HARMLESS = ("net::ERR_ABORTED", "net::ERR_NETWORK_CHANGED", "AbortError", "Connection errored out")


def chromium(playwright: Playwright) -> Browser:
    """The system's browser, started."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)


@dataclass
class Visits:
    """Opens pages and remembers what they asked for and complained of."""

    browser: Browser
    outside: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, url: str, within: str | None = None, **options: object) -> Page:
        """A page in a context of its own. within: what it may ask for begins so; by default with its own address."""
        inside = (within or url.split("?")[0]).rstrip("/")
        context = self.browser.new_context(**{"viewport": {"width": 1440, "height": 900}, "locale": "en-US"} | options)
        context.set_default_timeout(30_000)
        page = context.new_page()
        page.on("request", lambda request: self._asked(request.url, inside))
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._interrupted)
        page.goto(url)
        return page

    def _asked(self, asked: str, inside: str) -> None:
        if not asked.startswith((inside, "data:", "blob:")):
            self.outside.append(asked)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(harmless in message.text for harmless in HARMLESS):
            self.complaints.append(message.text)

    def _interrupted(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()
