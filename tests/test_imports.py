"""The shape of the code: who may import whom, how long things may be, and that every error has its sentence."""

import ast
import inspect
import json
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import specdemo
from specdemo import engine, errors
from specdemo.paths import ASSETS

ROOT = Path(specdemo.__file__).parent
SOURCES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")
}
LOCALES = sorted(path.stem for path in (ASSETS / "locales").glob("*.json"))

BASE = {"errors", "config", "paths"}
ENGINE = {"engine", "device", "trace", "wire", "codec", "grammar", "costs", "outcome", "machine", "prompts"}
MAY_IMPORT = {
    "paths": set(),
    "errors": {"paths"},
    "config": {"errors"},
    "core": {"errors", "config"},
    "models": BASE | {"core", "machine"},
    "drafters": BASE | {"core"},
    "web": {"errors", "paths"},
    "site": BASE | {"web"},
    "workshop": {"errors"},
} | dict.fromkeys(ENGINE, BASE | {"core"} | ENGINE)
"""The lower parts. What is not here (command line, bench, page …) may import all of specdemo but the page."""

LIBRARIES = {
    "core": {"torch"},
    "drafters": {"torch", "numpy", "safetensors"},
    "web": set(),
    "site": set(),
    "workshop": {"starlette", "segno"},
} | {below: {"torch", "psutil"} for below in BASE | ENGINE}
PAGE = {"gradio", "plotly", "starlette", "fastapi"}
SERVES = {"ui", "workshop"}

FILE_LINES, FUNCTION_LINES, LOOP_LINES = 300, 60, 40


def part(file: str) -> str:
    """The package or module of specdemo that a file belongs to."""
    return file.split("/")[0].removesuffix(".py")


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """(dotted name, line) of every import, also of those inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def offences(own: str, tree: ast.AST) -> Iterator[str]:
    """Imports that a part must not have, as `name in line n`."""
    for name, line in imports(tree):
        top, *rest = name.split(".")
        if top == "specdemo":
            other = rest[0] if rest else ""
            free = own not in MAY_IMPORT and other != "ui"
            lawful = free or other in {own, "", "__version__"} | MAY_IMPORT.get(own, set())
        else:
            lawful = top in sys.stdlib_module_names or (
                top in LIBRARIES.get(own, {top}) and (top not in PAGE or own in SERVES)
            )
        if not lawful:
            yield f"{name} in line {line}"


@pytest.mark.parametrize("file", SOURCES)
def test_imports_go_one_way(file: str) -> None:
    assert list(offences(part(file), SOURCES[file])) == []


@pytest.mark.parametrize(
    ("own", "code"),
    [
        ("core", "import transformers"),
        ("core", "from specdemo.models import toy"),
        ("engine", "def f():\n    from specdemo import drafters"),
        ("drafters", "import specdemo.models.loader"),
        ("models", "from specdemo.engine import Run"),
        ("cli", "from specdemo.ui.app import build_app"),
        ("bench", "import gradio as gr"),
        ("config", "from specdemo.core import verify"),
        ("workshop", "import gradio"),
        ("workshop", "from specdemo import trace"),
    ],
)
def test_an_import_against_the_law_is_noticed(own: str, code: str) -> None:
    assert len(list(offences(own, ast.parse(code)))) == 1


def test_only_one_file_knows_the_cache_of_transformers() -> None:
    words = ("DynamicCache", "StaticCache", "cache_utils", "past_key_values")
    knows = {file for file in SOURCES if any(word in (ROOT / file).read_text(encoding="utf-8") for word in words)}
    assert knows <= {"models/hf_session.py"}


def test_the_engine_loads_neither_page_nor_models() -> None:
    code = "import sys, specdemo.engine; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT.parent)
    assert not {"gradio", "plotly", "transformers", "specdemo.models", "specdemo.drafters"} & {*loaded.stdout.split()}


# --- sizes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", SOURCES)
def test_files_and_functions_are_short(file: str) -> None:
    assert len((ROOT / file).read_text(encoding="utf-8").splitlines()) <= FILE_LINES
    for node in ast.walk(SOURCES[file]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert length(node) <= FUNCTION_LINES, node.name
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"bare except in line {node.lineno}"


def length(node: ast.stmt) -> int:
    return (node.end_lineno or 0) - node.lineno + 1


def test_the_main_loop_fits_on_a_slide() -> None:
    (function,) = ast.parse(inspect.getsource(engine.speculative)).body
    loops = [node for node in ast.walk(function) if isinstance(node, ast.While)]
    assert len(loops) == 1
    assert length(function) <= LOOP_LINES


@pytest.mark.parametrize("file", SOURCES)
def test_every_module_says_what_it_is(file: str) -> None:
    assert ast.get_docstring(SOURCES[file])


# --- sentences for errors -------------------------------------------------------------------------------------------


def user_errors(kind: type = errors.UserError) -> set[str]:
    """Names of `UserError` and all below it."""
    return {kind.__name__}.union(*(user_errors(below) for below in kind.__subclasses__()))


def raised() -> Iterator[tuple[str, str, set[str] | None]]:
    """(where, key, parameters or None where they are not written out) of every error made with a literal key."""
    names = user_errors()
    for file, tree in SOURCES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in names and node.args:
                first = node.args[0]
                choices = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
                given = None if any(k.arg is None for k in node.keywords) else {k.arg or "" for k in node.keywords}
                for choice in choices:
                    if isinstance(choice, ast.Constant) and isinstance(choice.value, str):
                        yield f"{file}:{node.lineno}", choice.value, given


def placeholders(sentence: str) -> set[str]:
    """Names in braces, without their attributes and formats."""
    return {
        name.split(".")[0].split("[")[0] for _, name, _, _ in string.Formatter().parse(sentence) if name is not None
    }


def sentences(language: str) -> dict[str, str]:
    table = json.loads((ASSETS / "locales" / f"{language}.json").read_text(encoding="utf-8"))
    return {key.removeprefix("error."): text for key, text in table.items() if key.startswith("error.")}


RAISED = list(raised())


@pytest.mark.parametrize("language", LOCALES)
def test_every_error_has_a_sentence_that_fits_its_parameters(language: str) -> None:
    table = sentences(language)
    missing = [(where, key) for where, key, _ in RAISED if key not in table]
    assert not missing
    for where, key, given in RAISED:
        assert given is None or placeholders(table[key]) <= given, (where, key)


def test_no_sentence_is_left_over() -> None:
    text = "".join((ROOT / file).read_text(encoding="utf-8") for file in SOURCES)
    assert [key for key in sentences("en") if f'"{key}"' not in text] == []


@pytest.mark.parametrize("language", LOCALES)
def test_languages_have_the_same_sentences_and_placeholders(language: str) -> None:
    own, english = sentences(language), sentences("en")
    assert own.keys() == english.keys()
    assert {key: placeholders(text) for key, text in own.items()} == {k: placeholders(t) for k, t in english.items()}


def test_the_scan_finds_errors() -> None:
    assert {"prompt_empty", "out_of_range"} <= {key for _, key, _ in RAISED}
