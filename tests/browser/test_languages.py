"""English and Chinese, switched in place: nothing English is left in the Chinese page but what has no other name."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from serving import TOY, Server
from test_watch import played, ready, run, settings
from visits import Visits

NAMES = {
    # this project, its models, and programs by name
    "specdemo", "english", "smollm", "qwen", "pypi", "weights", "from", "bit",
    "toy", "amd", "epyc", "intel", "xeon", "processor",
    "transformers", "vllm", "sglang", "llama", "cpp",
    # words of the field that Chinese texts keep
    "token", "tokens", "top", "logit", "logits", "kv", "nf", "int", "float", "bfloat", "cpu", "cuda", "ms",
    "txt", "witten", "bell",
    # functions in formulas, total variation
    "min", "max", "argmax", "tv",
    # keys of the keyboard
    "home", "end", "shift", "esc",
    # the toy's own words
    "the", "cat", "sat", "on", "two", "mat", "script", "img", "src", "onerror", "alert", "im", "start", "bold",
}  # fmt: skip
"""What may stand in the Chinese page as it is."""


@pytest.fixture(scope="module")
def server(serve: Callable[..., Server], library: Path) -> Server:
    return serve(TOY, "0", TOY_TRACES=str(library))


TEXTS = """() => {
  const aside = 'script, style, pre, code, textarea, .sp-language, .js-plotly-plot, [hidden], [lang="en"]:not(html)';
  const named = '.sp-stage [aria-label], .sp-stage [title], .sp-head [aria-label]';
  const texts = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (!node.parentElement.closest(aside)) texts.push(node.data);
  }
  for (const node of document.querySelectorAll(named)) {
    if (!node.closest(aside)) texts.push(node.getAttribute('aria-label') || node.title);
  }
  return texts;
}"""


def english(page: Page) -> set[str]:
    """English words that a reader of the page sees, or hears as the name of something."""
    seen = page.evaluate(TEXTS)
    return {word.lower() for text in seen for word in re.findall(r"[A-Za-z]{2,}", text)}


def test_no_english_is_left_in_the_chinese_page(server: Server, visits: Visits) -> None:
    page = ready(visits.open(server.url))
    run(page, 40)
    assert len(english(page) - NAMES) > 50, "the English page is English"
    page.click("text=中文")
    expect(page.locator("#run")).to_have_text("运行")
    expect(page.locator("#prompt")).to_contain_text("提示词")
    settings(page)
    assert english(page) - NAMES == set()
    page.click("text=English")
    expect(page.locator("#run")).to_have_text("Run")


def test_switching_changes_nothing_else(server: Server, visits: Visits) -> None:
    page = ready(visits.open(server.url))
    played(page, "40/40")
    page.fill("#prompt textarea", "typed by hand")
    page.click("[data-do=back]")
    position = page.locator(".sd-slider").input_value()
    page.click("text=中文")
    expect(page.locator("#run")).to_have_text("运行")
    assert page.input_value("#prompt textarea") == "typed by hand"
    assert page.locator(".sd-slider").input_value() == position
    expect(page.locator("#drafter input")).to_have_value("提示查找")


CHOICES = [
    ("zh-CN", "", "运行"),
    ("zh-HK", "", "运行"),
    ("zh-Hans-CN", "", "运行"),
    ("zh", "", "运行"),
    ("de-DE", "", "Run"),
    ("zh-CN", "?lang=en", "Run"),
    ("en-US", "?lang=zh-TW", "运行"),
]


@pytest.mark.parametrize(("browser_language", "query", "run_button"), CHOICES)
def test_the_page_speaks_the_readers_language(
    server: Server, visits: Visits, browser_language: str, query: str, run_button: str
) -> None:
    page = visits.open(f"{server.url}/{query}", locale=browser_language)
    expect(page.locator("#run")).to_have_text(run_button)
    assert page.evaluate("document.documentElement.lang") == ("zh" if run_button == "运行" else "en")
