"""Takes the pictures of docs/img from the page itself, over the recorded runs: `make screenshots`.

Not a test: run it after the page's looks or the recorded runs have changed.
"""

from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from serving import TOY, serving
from visits import chromium

OUT = Path(__file__).parents[2] / "docs" / "img"
PICTURES = {
    "wide-light-en": ((1440, 900), "light", "?lang=en"),
    "wide-dark-zh": ((1440, 900), "dark", "?lang=zh"),
    "laptop-light-zh": ((1024, 768), "light", "?lang=zh"),
    "projector-light-en": ((1024, 768), "light", "?lang=en&view=present"),
    "projector-dark-zh": ((1024, 768), "dark", "?lang=zh&view=present"),
    "phone-light-en": ((390, 844), "light", "?lang=en"),
    "phone-dark-zh": ((390, 844), "dark", "?lang=zh"),
    "settings-light-en": ((1440, 900), "light", "?lang=en"),
    "tour-light-en": ((1440, 900), "light", "?lang=en"),
    "tour-phone-dark-zh": ((390, 844), "dark", "?lang=zh"),
}


def main() -> None:
    """Every picture anew."""
    OUT.mkdir(parents=True, exist_ok=True)
    with serving() as serve, sync_playwright() as playwright:
        url = serve(TOY, "0").url
        browser = chromium(playwright)
        for name, (size, theme, query) in PICTURES.items():
            picture(browser, url + "/" + query, name, size, theme)
        browser.close()


def picture(browser: Browser, url: str, name: str, size: tuple[int, int], theme: str) -> None:
    """One page at the end of its first run, with the settings open, or in the midst of the tour: as its name says."""
    width, height = size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme, device_scale_factor=1)
    page.goto(url)
    page.wait_for_selector(".sd-same")
    if name.startswith("tour"):
        page.click(".sp-tour [data-tour=next]")
        page.wait_for_selector(".sd-scene-keep")
    else:
        finish(page)
    if name.startswith("settings"):
        page.click("#more")
        page.click("#code")
        page.wait_for_selector(".sp-snippet")
    page.screenshot(path=OUT / f"{name}.png")
    page.close()


def finish(page: Page) -> None:
    """Leaves the tour, lets the run play to its end, and opens what a projector hides."""
    if "view=present" not in page.url:
        page.keyboard.press("Escape")
    page.focus(".sd-stage")
    page.keyboard.press("End")
    for _ in range(6 if "view=present" in page.url else 0):
        page.keyboard.press("Space")
    page.wait_for_timeout(600)


if __name__ == "__main__":
    main()
