"""The player's own tests, run by node's test runner: `node --test tests/player/` gives the details."""

import shutil
import subprocess
from pathlib import Path

import pytest

NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="node is not installed: the player's unit tests need it")
def test_the_players_unit_tests_pass() -> None:
    assert NODE is not None
    folder = Path(__file__).parent / "player"
    files = sorted(str(path) for path in folder.glob("*.test.js"))
    assert files
    done = subprocess.run([NODE, "--test", *files], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
