"""Many modules as one classic script, for pages that are served and pages that lie on a disk.

Browsers refuse module scripts from `file://`, and a script in the page itself needs no request that a sub-path
could break. Every module becomes a function of its own, so names never clash. Knows import and export lines.
Does not know what the scripts do.
"""

import re
from pathlib import Path

from specdemo.paths import ASSETS

CHARTS = ASSETS / "player" / "vendor" / "uPlot.iife.min.js"

IMPORT = re.compile(
    r"^import\s+(?P<names>\{[^}]*\}|\*\s+as\s+\w+)\s+from\s+[\"'](?P<path>\./[^\"']+|\.\./[^\"']+)[\"'];?\s*$", re.M
)
EXPORT = re.compile(r"^export\s+(?=(?:async\s+)?(?:function\*?|class|const|let)\s+(?P<name>[\w$]+))", re.M)
LEFTOVER = re.compile(r"^\s*(import|export)\b|\bimport\(|\bimport\.meta\b", re.M)


def bundle(entry: Path) -> str:
    """One expression: what `entry` exports, as an object. Modules are run once, those they import first."""
    order: list[Path] = []
    _visit(entry.resolve(), order)
    names = {path: f"module{number}" for number, path in enumerate(order)}
    modules = "".join(_module(path, names) for path in order)
    return f"(() => {{\n{modules}return {names[order[-1]]};\n}})()"


def _visit(path: Path, order: list[Path], above: tuple[Path, ...] = ()) -> None:
    if path in above:
        raise ValueError(f"{path.name} imports itself by way of others")
    if path in order:
        return
    for found in IMPORT.finditer(path.read_text(encoding="utf-8")):
        _visit((path.parent / found["path"]).resolve(), order, (*above, path))
    order.append(path)


def _module(path: Path, names: dict[Path, str]) -> str:
    """The module as a function that runs at once and returns its exports."""

    def bound(found: re.Match[str]) -> str:
        pattern = re.sub(r"\s+as\s+", ": ", found["names"]).removeprefix("*: ")
        return f"const {pattern} = {names[(path.parent / found['path']).resolve()]};"

    source = path.read_text(encoding="utf-8")
    exported = [found["name"] for found in EXPORT.finditer(source)]
    body = EXPORT.sub("", IMPORT.sub(bound, source))
    if odd := LEFTOVER.search(body):
        raise ValueError(f"{path.name}: cannot bundle {odd[0].strip()!r}")
    return f"const {names[path]} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();\n"


def charts() -> str:
    """The chart library as statements that leave `uPlot` behind, here and for the window."""
    library = CHARTS.read_text(encoding="utf-8")
    return f"const uPlot = (() => {{\n{library}\nreturn uPlot;\n}})();\nwindow.uPlot ??= uPlot;"


def inline(source: str) -> str:
    """A script that may stand inside `<script>`: no text in it can end the element."""
    return re.sub(r"<(?=/script|!--|script)", r"\\x3c", source, flags=re.IGNORECASE)
