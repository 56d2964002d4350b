"""The guide to hosting names things of the project as they are."""

import re
import shlex
from pathlib import Path

import pytest

from specdemo import cli
from specdemo.ui import hosting, zero_gpu
from specdemo.ui.app import BODY_BYTES

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
RECIPE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


def commands(program: str) -> list[list[str]]:
    """The arguments of each command of the guide that starts so, without its comment."""
    lines = [line.split("  #")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    return [shlex.split(line.partition(program)[2]) for line in lines if program in line]


def test_proxies_let_through_what_the_page_takes():
    assert int(re.search(r"client_max_body_size (\d+)m;", GUIDE)[1]) << 20 >= BODY_BYTES
    assert int(re.search(r"max_size (\d+)MB", GUIDE)[1]) * 1_000_000 >= BODY_BYTES
    assert "proxy_buffering off;" in blocks("nginx")[0]
    assert "flush_interval -1" in blocks("caddy")[0]


def test_commands_have_the_options_that_are_there():
    pages, others = commands("app.py"), commands("-m specdemo ")
    assert len(pages) >= 2
    assert len(others) >= 2
    for arguments in pages:
        hosting.settings(arguments, {})
    for arguments in others:
        cli.parser().parse_args(arguments)


@pytest.mark.parametrize("pattern", [r"--build-arg (\w+)=", r"`(CPU_INDEX)=|`(COMPUTE)="])
def test_build_arguments_are_the_recipes(pattern):
    named = {name for found in re.findall(pattern, GUIDE) for name in ([found] if isinstance(found, str) else found)}
    assert named - {""}
    for name in named - {""}:
        assert re.search(rf"^ARG {name}\b", RECIPE, re.MULTILINE), name


def test_versions_for_zerogpu_are_the_codes():
    assert ", ".join(zero_gpu.TORCH) in GUIDE


def test_targets_of_make_are_there():
    targets = set(re.findall(r"`?make ([a-z-]+)", GUIDE))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {"demo", "static", "offline-bundle"} <= targets
    assert all(f"\n{target}:" in makefile for target in targets)
