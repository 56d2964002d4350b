"""The one page of the static site as HTML, for the folder and for a workshop's attendees.

Knows which scripts, styles and texts it takes and how they are packed: everything but the recorded runs is in the file,
compressed, and unpacked by the browser. Does not know gradio, torch, or who serves it.
"""

import ast
import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from specdemo.config import RULES
from specdemo.paths import ASSETS
from specdemo.site.packs import Pack, pack
from specdemo.web import markup, shrink
from specdemo.web.bundle import bundle, charts, inline
from specdemo.web.colours import palette, variables
from specdemo.web.texts import LANGUAGES, texts

FOLDER = ASSETS / "site"
STYLES = (
    ASSETS / "style.css",
    *(ASSETS / "page" / f"{name}.css" for name in ("page", "labs", "lessons")),
    FOLDER / "site.css",
)
FOREIGN = re.compile(
    r"\.gradio-container|#(dock|bar|under|settings|go|run|stop|figures|notes|top_k|seed)\b|\.sp-(knob|snippet|export)"
)
"""Selectors of what only the served page has."""
TEXTS = ("player.", "ui.page.", "ui.rule.", "site.", "error.trace_")
NO_TEXTS = (
    *(f"ui.page.{part}." for part in ("prove", "measure", "train", "knob", "choice")),
    "ui.page.lessons.tried_settings",
    "error.trace_un",
)
INSTEAD = "site.instead."
MOST_BYTES = 5_000_000
"""The largest trace that a visitor may open."""
TABS = ("watch", "theory")


@dataclass(frozen=True, slots=True)
class Options:
    """What a page is for.

    title: of the window before its scripts run. follows: another script leads the player: no bar of runs, no tour, no
    foot, and nothing plays by itself. tabs: those on show. base: where the recorded runs lie, as seen from the page.
    worker: the script that keeps the page for later, or "". repository: the project's address, or "".
    lessons: the file of their data, seen from `base`, or "".
    head, above, below: HTML of the caller's own, in the head, above the stage and below it. script: run at the end of
    the page; `specdemoReady` is a promise of the page's handle (`assets/site/remote.js`).
    """

    title: str = "specdemo"
    follows: bool = False
    tabs: tuple[str, ...] = TABS
    base: str = ""
    worker: str = ""
    repository: str = ""
    lessons: str = ""
    head: str = ""
    above: str = ""
    below: str = ""
    script: str = ""


def page(packs: Sequence[Pack], options: Options | None = None) -> str:
    """The page. packs: the recorded runs on offer; none for one that follows."""
    options = options or Options()
    shell = (FOLDER / "index.html").read_text(encoding="utf-8")
    slots = {
        "title": html.escape(options.title),
        "head": options.head,
        "light": palette("light")["bg"],
        "dark": palette("dark")["bg"],
        "kind": "sp-site sp-follows" if options.follows else "sp-site",
        "tabs": " ".join(options.tabs),
        "header": markup.HEAD,
        "stage": markup.STAGE,
        "lessons": f'<div id="lessons">{markup.LESSONS}</div>' if options.lessons else "",
        "labs": "".join(f'<div id="{tab}">{markup.LAB}</div>\n' for tab in options.tabs if tab != "watch"),
        "above": options.above,
        "below": options.below,
        "packed": _packed(),
        "given": _data(_given(packs, options)),
        "begin": inline(begin()),
        "script": inline(options.script),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda slot: slots[slot[1]], shell)


def _given(packs: Sequence[Pack], options: Options) -> dict[str, Any]:
    return {
        "languages": LANGUAGES,
        "traces": [one.entry for one in packs],
        "most_bytes": MOST_BYTES,
        "rules": RULES,
        "base": options.base,
        "worker": options.worker,
        "repository": options.repository,
        "lessons": options.lessons,
        "autoplay": not options.follows,
    }


@cache
def _packed() -> str:
    """Styles, scripts and texts, compressed together. They are the same in every page."""
    return pack(json.dumps(parts(), ensure_ascii=False, separators=(",", ":")).encode())


def parts() -> dict[str, Any]:
    """What is packed: `style`, `script` (leaves `specdemo` behind), `texts`, and the source of `verify`.

    texts: the languages, then a row a key: the key and its text in each of them.
    """
    tables = site_texts()
    rows = [[key, *(table[key] for table in tables.values())] for key in tables["en"]]
    return {"style": style(), "script": script(), "texts": [[*tables], *rows], "verify_source": verify_source()}


def begin() -> str:
    """The classic script that unpacks the rest."""
    return "".join(shrink.script((FOLDER / name).read_text(encoding="utf-8")) for name in ("bunzip.js", "begin.js"))


def script() -> str:
    """All scripts of the page."""
    modules = shrink.script(bundle(FOLDER / "site.js"))
    return f'"use strict";\n(() => {{\n{charts()}\nwindow.specdemo = {modules.rstrip()};\n}})();\n'


def style() -> str:
    """All styles of the page, without those of the served page's forms."""
    sheets = [variables(), *(sheet.read_text(encoding="utf-8") for sheet in STYLES)]
    return shrink.style("\n".join(sheets), FOREIGN)


def site_texts() -> dict[str, dict[str, str]]:
    """Language → key → text. What `site.instead.<key>` says stands for <key>: nothing is live here."""
    return {language: _instead(table) for language, table in texts(TEXTS, NO_TEXTS).items()}


def _instead(table: dict[str, str]) -> dict[str, str]:
    others = {key.removeprefix(INSTEAD): said for key, said in table.items() if key.startswith(INSTEAD)}
    return {key: said for key, said in (table | others).items() if not key.startswith(INSTEAD)}


def verify_source() -> str:
    """The text of `verify`, read and not imported: that would load torch."""
    source = (ASSETS.parent / "specdemo" / "core" / "verify.py").read_text(encoding="utf-8")
    found = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == "verify")
    return "".join(source.splitlines(keepends=True)[found.lineno - 1 : found.end_lineno])


def _data(value: object) -> str:
    """JSON that may stand inside `<script>`: no text in it can end the element."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
