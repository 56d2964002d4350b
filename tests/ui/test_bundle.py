"""Many modules, one classic script."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from specdemo.ui import bundle

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def run_node(script: str) -> str:
    return subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True, timeout=60).stdout.strip()


@needs_node
def test_the_pages_script_is_one_classic_script(tmp_path: Path) -> None:
    # .cjs: node reads it as a classic script, in which an import or export left over is an error.
    file = tmp_path / "page.cjs"
    file.write_text(bundle.script(), encoding="utf-8")
    subprocess.run(["node", "--check", file], check=True, timeout=60)


LOW = """
const secret = 1;
export const one = secret;
export function* two() { yield 2; }
"""
MID = """
import { one as uno, two } from "./low.js";
const secret = 10;
export class Sum { get() { return uno + secret + [...two()][0]; } }
"""
TOP = """
import * as low from "./low.js";
import {
  Sum,
} from "./mid.js";
export async function all() { return [low.one, new Sum().get()]; }
"""


@needs_node
def test_modules_keep_their_names_apart(tmp_path: Path) -> None:
    for name, source in (("low", LOW), ("mid", MID), ("top", TOP)):
        (tmp_path / f"{name}.js").write_text(source, encoding="utf-8")
    script = f"{bundle.bundle(tmp_path / 'top.js')}.all().then((all) => console.log(JSON.stringify(all)))"
    assert json.loads(run_node(script)) == [1, 13]


@pytest.mark.parametrize(
    "line",
    [
        "export default 1;",
        'import low from "./low.js";',
        'const x = import("./low.js");',
        'export { a } from "./low.js";',
    ],
)
def test_what_cannot_be_bundled_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "low.js").write_text("export const a = 1;\n")
    (tmp_path / "top.js").write_text(line + "\n")
    with pytest.raises(ValueError, match="cannot bundle"):
        bundle.bundle(tmp_path / "top.js")


def test_a_circle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\nexport const a = b;\n')
    (tmp_path / "b.js").write_text('import { a } from "./a.js";\nexport const b = a;\n')
    with pytest.raises(ValueError, match="imports itself"):
        bundle.bundle(tmp_path / "a.js")


def test_no_text_can_end_the_script_element() -> None:
    inlined = bundle.inline('const a = "</script><SCRIPT><!--";')
    assert "</script" not in inlined.lower()
    assert "<script" not in inlined.lower()
    assert "<!--" not in inlined


def test_the_pages_script_can_stand_in_the_head() -> None:
    assert "</script" not in bundle.inline(bundle.script()).lower()
