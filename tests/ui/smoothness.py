"""How smooth a run of 2,000 tokens looks: `PYTHONPATH=.:tests/ui python tests/ui/smoothness.py`.

Not a test, for it takes a minute and says more on a quiet machine. A scripted run of both lanes takes the page's whole
way: from the decoder over the stream into the player, in Chromium; then the run is played again from its record. Of
each quarter it tells the longest task of the page's main thread and all of its tasks, so that a cost that grows with
the run shows: in CPU time, which other programs do not disturb, and in the frames as they came, which they do.
"""

import sys
from collections.abc import Callable
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from serving import TOY, serving
from visits import chromium

QUARTERS = 4
TRACED = {"transferMode": "ReportEvents", "traceConfig": {"includedCategories": ["toplevel", "devtools.timeline"]}}
WATCH_FRAMES = """() => {
  window.frames_taken = [];
  let before = performance.now();
  const look = () => {
    const now = performance.now();
    window.frames_taken.push(now - before);
    before = now;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def main(tokens: int, seconds_a_pass: float) -> None:
    with serving() as serve, sync_playwright() as playwright:
        url = serve(TOY, str(seconds_a_pass), TOY_TOKENS=str(tokens)).url
        browser = chromium(playwright)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(600_000)
        page.goto(f"{url}/?max_new_tokens={tokens}&gamma=5&drafter=model")
        page.wait_for_selector("#run:enabled")
        page.wait_for_timeout(2000)
        page.evaluate(WATCH_FRAMES)
        measure(browser, page, "live", live)
        page.click(".sp-run button[aria-pressed=true]")
        page.select_option(".sd-speed select", "4")
        page.click("[data-do=first]")
        measure(browser, page, "replay at 4×", replay)
        browser.close()


def live(page: Page) -> None:
    page.click("#run")
    page.wait_for_selector(".sd-badge-live")
    page.wait_for_selector(".sp-run button[aria-pressed=true]")


def replay(page: Page) -> None:
    page.click("[data-do=toggle]")
    page.wait_for_function("() => ((slider) => slider.value === slider.max)(document.querySelector('.sd-slider'))")


def measure(browser: Browser, page: Page, name: str, run: Callable[[Page], None]) -> None:
    """The run with the browser's own trace of it."""
    events: list[dict[str, Any]] = []
    ended: list[object] = []
    session = browser.new_browser_cdp_session()
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    session.on("Tracing.tracingComplete", lambda data: ended.append(data))
    session.send("Tracing.start", TRACED)
    page.evaluate("window.frames_taken.length = 0")
    run(page)
    frames: list[float] = page.evaluate("window.frames_taken")
    session.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(100)
    print(f"{name}: {'; '.join(page.locator('.sd-lane-count').all_inner_texts())}")
    report(tasks_of_page(events), frames)


def tasks_of_page(events: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """(start, CPU milliseconds) of every task of the busiest renderer's main thread, in order."""
    mains = {
        (e["pid"], e["tid"]) for e in events if e.get("name") == "thread_name" and "CrRendererMain" in str(e["args"])
    }
    tasks: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for e in events:
        thread = (e["pid"], e["tid"])
        if thread in mains and e["name"].endswith("RunTask") and "tdur" in e:
            tasks.setdefault(thread, []).append((e["ts"], e["tdur"] / 1000))
    return sorted(max(tasks.values(), key=len))


def report(tasks: list[tuple[float, float]], frames: list[float]) -> None:
    begin, end = tasks[0][0], tasks[-1][0]
    for quarter in range(QUARTERS):
        low, high = (begin + (end - begin) * part / QUARTERS for part in (quarter, quarter + 1))
        taken = sorted(cpu for start, cpu in tasks if low <= start <= high)
        part = sorted(frames[len(frames) * quarter // QUARTERS : len(frames) * (quarter + 1) // QUARTERS]) or [0.0]
        over = sum(cpu > 50 for cpu in taken)
        print(
            f"  quarter {quarter + 1}: tasks: longest {taken[-1]:.0f} ms of CPU, {over} over 50 ms, "
            f"{sum(taken) / (high - low) * 1e5:.0f} % of the time; "
            f"frames: median {median(part):.0f} ms, 95 % {part[int(0.95 * len(part))]:.0f} ms"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, float(sys.argv[2]) if len(sys.argv) > 2 else 0.002)
