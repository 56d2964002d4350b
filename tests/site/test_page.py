"""The page of the static site: its slots, its packing, and that the shrunk player still computes the same."""

import base64
import bz2
import hashlib
import inspect
import json
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from specdemo.core.verify import verify
from specdemo.errors import sentences
from specdemo.paths import ASSETS
from specdemo.site import page
from specdemo.site.packs import pack, packs
from specdemo.site.page import Options
from specdemo.ui.replays import MOST_BYTES, Library
from specdemo.web import shrink

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
TESTS = ASSETS.parent / "tests" / "player"
GOLDENS = ("theory", "compare", "state", "stream", "tokens", "walk", "inspector", "labs")
"""Tests of the player that compare it with numbers made by Python, and the rest of what computes."""


def unpacked(packed: str) -> Any:
    return json.loads(bz2.decompress(base64.b85decode(packed.replace(",", "<"))))


def element(html: str, id: str) -> str:
    found = re.search(rf'<script type="[^"]+" id="{id}">(.*?)</script>', html, re.S)
    assert found
    return found[1]


def test_what_is_packed_comes_out_again() -> None:
    html = page.page(packs())
    assert unpacked(element(html, "packed")) == page.parts()
    given = json.loads(element(html, "given"))
    assert [one["id"] for one in given["traces"]] == [one.id for one in Library().all]


def test_a_trace_is_packed_as_it_is() -> None:
    for one in packs():
        found = re.fullmatch(r'specdemoPack\("([\w-]+)","(\S+)"\)\n', one.script.decode())
        assert found
        assert found[1] == one.id
        assert bz2.decompress(base64.b85decode(found[2].replace(",", "<"))) == Library().text(one.id).encode()


def test_packed_text_can_end_no_element() -> None:
    for number in range(50):
        assert "<" not in pack(bytes(range(number, number + 200)))


def test_no_slot_is_left_open_and_none_ends_the_page() -> None:
    given = Options(title="<b>&", head="<meta name=x>", above="<p>above</p>", below="<p>below</p>")
    html = page.page((), given)
    assert not re.search(r"\{\{\w+\}\}", html.replace(element(html, "packed"), ""))
    assert "<title>&lt;b&gt;&amp;</title>" in html
    assert (
        html.index("<meta name=x>") < html.index("<p>above</p>") < html.index('id="stage"') < html.index("<p>below</p>")
    )
    script = page.page((), Options(script='const a = "</script><!--";'))
    assert script.count("</script>") == page.page(()).count("</script>")


def test_a_page_that_follows_waits_and_has_the_player_alone() -> None:
    html = page.page((), Options(follows=True, tabs=("watch",)))
    assert 'class="sp-site sp-follows"' in html
    assert json.loads(element(html, "given"))["autoplay"] is False
    assert 'id="theory"' not in html


def test_the_page_knows_the_same_as_the_served_one() -> None:
    assert page.verify_source() == inspect.getsource(verify)
    assert page.MOST_BYTES == MOST_BYTES


def test_every_text_is_there_in_both_languages() -> None:
    texts = page.site_texts()
    assert texts["en"].keys() == texts["zh"].keys()
    assert "recorded" in texts["en"]["ui.page.title"]
    instead = [key for key in sentences("en") if key.startswith(page.INSTEAD)]
    assert {key.removeprefix(page.INSTEAD) for key in instead} <= sentences("en").keys(), "each stands for another"
    assert not any("press run" in said.lower() for said in texts["en"].values())
    script, named = page.script(), set(texts["en"])
    for key in re.findall(r'"((?:ui\.page|error)\.[\w.]+)"', script):
        assert key in named, key


def test_styles_of_the_served_pages_forms_are_left_out() -> None:
    style = page.style()
    assert not re.search(r"^(#dock|#settings|\.gradio-container)", style, re.M)
    for kept in (".sd-root", ".sp-reel", ".sp-tour", ".sp-lab", ".sp-foot", "prefers-reduced-motion", "@container"):
        assert kept in style


@needs_node
def test_browsers_unpack_what_python_packs() -> None:
    """bzip2 and base 85 by the page's own script: runs, blocks, all bytes, and every length modulo four."""
    chance = random.Random(2)
    cases = [bytes(chance.choices(range(97, 97 + letters), k=size)) for letters in (1, 2, 26) for size in range(1, 40)]
    cases += [b"a" * size for size in (255, 256, 259, 260, 100_000)] + [
        bytes(range(128)) * 9,
        Library().text("hero").encode(),
    ]
    cases += [bytes(chance.choices(range(32, 127), k=950_000)), b"ab" * 500_000]
    script = f"""{page.begin().replace("const specdemoReady = specdemoBegin();", "")}
const texts = JSON.parse(require("fs").readFileSync(0, "utf8")).map(specdemoUnpack);
const digest = (text) => require("crypto").createHash("sha256").update(text).digest("hex");
console.log(JSON.stringify(texts.map(digest)));"""
    given = json.dumps([pack(case) for case in cases])
    done = subprocess.run(["node", "-e", script], input=given, capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(done.stdout) == [hashlib.sha256(case).hexdigest() for case in cases]


@needs_node
def test_the_script_is_one_classic_script(tmp_path: Path) -> None:
    file = tmp_path / "site.cjs"
    file.write_text(page.script(), encoding="utf-8")
    subprocess.run(["node", "--check", file], check=True, timeout=60)


@needs_node
def test_the_shrunk_player_computes_the_same(tmp_path: Path) -> None:
    """The player's own tests, goldens made by Python among them, on the scripts as the site has them."""
    for source in ASSETS.rglob("*.js"):
        target = tmp_path / "assets" / source.relative_to(ASSETS)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text(encoding="utf-8")
        target.write_text(text if "vendor" in source.parts else shrink.script(text), encoding="utf-8")
    for data in (*ASSETS.rglob("*.json"), *ASSETS.rglob("*.css"), *ASSETS.rglob("*.jsonl")):
        target = tmp_path / "assets" / data.relative_to(ASSETS)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(data, target)
    shutil.copytree(TESTS, tmp_path / "tests" / "player")
    (tmp_path / "specdemo" / "core").mkdir(parents=True)
    shutil.copy(inspect.getfile(verify), tmp_path / "specdemo" / "core")
    chosen = [str(tmp_path / "tests" / "player" / f"{name}.test.js") for name in GOLDENS]
    done = subprocess.run(["node", "--test", *chosen], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    assert re.search(r"# tests ([1-9]\d+)\n", done.stdout)


def test_shrinking_keeps_what_is_no_comment() -> None:
    source = '// gone\n  const a = "// kept"; /* kept */\n/** gone\n * too */\nconst b = `x ${a} y`;\n\n  // gone\n'
    assert shrink.script(source) == 'const a = "// kept"; /* kept */\nconst b = `x ${a} y`;\n'
    with pytest.raises(ValueError, match="several lines"):
        shrink.script("const a = `one\n  two`;\n")


def test_shrinking_drops_foreign_rules_alone() -> None:
    source = """/* a */ .a, #dock .b { c: d }
@media (x) { #dock { e: f } }
.g:is(#dock, .h) > i { j: k }
@keyframes l { from { m: n } }"""
    kept = [".a {c: d}", ".g:is(#dock, .h) > i {j: k}", "@keyframes l {from { m: n }}"]
    assert shrink.style(source, re.compile("#dock")).splitlines() == kept
    with pytest.raises(ValueError, match="braces"):
        shrink.style("a { b: c", re.compile("x"))
