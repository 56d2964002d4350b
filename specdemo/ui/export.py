"""A run as one HTML file that works from disk, offline, for ever.

Knows the player's script and the page's styles. Does not know the page. Everything is in the file: one classic
script and the trace as data, which browsers allow on `file://`.
"""

import html
import inspect
import json

from specdemo.core.verify import verify
from specdemo.ui import bundle
from specdemo.ui.i18n import text


def page(trace_text: str, language: str, title: str) -> str:
    """The file. trace_text: a whole trace. title: of the window, as text."""
    options = {"lang": language, "verify_source": inspect.getsource(verify)}
    return PAGE.format(
        language=language,
        title=html.escape(title),
        note=html.escape(text("export.note", language)),
        style=bundle.style().replace("</", "<\\/"),
        script=bundle.inline(bundle.player()),
        data=_data({"trace": trace_text, "options": options}),
    )


def _data(value: object) -> str:
    """JSON that may stand inside `<script>`: no text in it can end the element."""
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c")


PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body class="sp-export">
<header class="sp-head"><h1>{title}</h1><p>{note}</p><div class="sp-switches">
<button type="button" data-lang="en">English</button>
<button type="button" data-lang="zh">中文</button>
<button type="button" data-theme-switch aria-label="light / dark">◐</button>
</div></header>
<main id="player"></main>
<script type="application/json" id="data">{data}</script>
<script>
{script}
</script>
<script>
const {{ trace, options }} = JSON.parse(document.getElementById("data").textContent);
if (matchMedia("(prefers-color-scheme: dark)").matches) document.body.classList.add("dark");
const strings = window.specdemo.texts;
const player = window.specdemo.mount(document.getElementById("player"), {{ ...options, strings }});
player.feed(trace);
for (const button of document.querySelectorAll("[data-lang]")) {{
  button.addEventListener("click", () => {{
    player.setLanguage(button.dataset.lang);
    document.documentElement.lang = button.dataset.lang;
  }});
}}
document.querySelector("[data-theme-switch]").addEventListener("click", () => document.body.classList.toggle("dark"));
</script>
</body>
</html>
"""
