"""The folder for a room without a network: what is asked of pip, what lies in it, and how its scripts behave."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from specdemo import offline
from specdemo.models.fetch import SMOLLM2_135M
from specdemo.offline import Target

LINUX, MAC = Target("Linux x86_64", "3.11"), Target("Darwin arm64", "3.12")


def test_torch_comes_first_where_another_index_has_its_cpu_build(tmp_path: Path):
    torch, everything, model = offline.commands(tmp_path, "torch==2.13.0", "https://example.org/cpu")
    assert "https://example.org/cpu" in torch
    assert torch[-1] == "torch==2.13.0"
    assert "--no-deps" in torch
    assert "https://example.org/cpu" not in everything
    assert {"torch==2.13.0", str(tmp_path)} <= set(everything)  # the build that is there already
    assert model[-1] == f"{SMOLLM2_135M.project}=={SMOLLM2_135M.version}"
    assert len(list(offline.commands(tmp_path, "torch==2.13.0", ""))) == 2


def test_a_folder_with_other_things_is_refused(tmp_path: Path):
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(offline.Failed, match="other things"):
        offline.prepare(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle without wheels, for two kinds of machines, in a folder with a space in its name."""
    out = tmp_path_factory.mktemp("USB DISK") / "bundle"
    offline.prepare(out)
    (out / "wheels" / "kept.whl").write_bytes(b"1234")
    for target in (LINUX, MAC, MAC):
        offline.prepare(out)
        offline.fill(out, target)
    return out


def test_it_has_the_project_the_static_site_and_two_commands(bundle: Path):
    assert {"app", "static", "wheels", "install.py", "start.py", "README.txt"} <= {one.name for one in bundle.iterdir()}
    assert (bundle / "app" / "app.py").read_bytes() == (offline.ROOT / "app.py").read_bytes()
    assert (bundle / "app" / "assets" / "traces" / "index.json").is_file()
    assert (bundle / "static" / "index.html").is_file()
    assert not list(bundle.rglob("__pycache__"))
    assert (bundle / "wheels" / "kept.whl").is_file()  # a second call downloads nothing again


def test_it_remembers_for_which_machines_it_is(bundle: Path):
    about = json.loads((bundle / "bundle.json").read_text())
    assert about["pythons"] == ["3.11", "3.12"]
    assert [one["platform"] for one in about["targets"]] == ["Linux x86_64", "Darwin arm64"]
    readme = (bundle / "README.txt").read_text()
    assert "Python 3.11 or 3.12 (Linux x86_64, Darwin arm64)" in readme
    assert readme.count("python3 install.py") == 1


def test_sizes_are_told(bundle: Path):
    parts = offline.sizes(bundle)
    assert parts["wheels"] == 4
    assert parts["project"] > 1_000_000
    assert "wheels 0.0 MB" in offline.told(parts)


def script(bundle: Path, name: str, home: Path) -> subprocess.CompletedProcess[str]:
    own = {**os.environ, "SPECDEMO_HOME": str(home)}
    return subprocess.run(
        [sys.executable, bundle / name], env=own, capture_output=True, text=True, check=False, timeout=120
    )


def test_another_python_is_told_which_one_is_needed(bundle: Path, tmp_path: Path):
    about = json.loads((bundle / "bundle.json").read_text())
    (bundle / "bundle.json").write_text(json.dumps(about | {"pythons": ["2.7"]}))
    done = script(bundle, "install.py", tmp_path / "home")
    (bundle / "bundle.json").write_text(json.dumps(about))
    assert done.returncode == 1
    assert "This bundle is for Python 2.7" in done.stderr
    assert not (tmp_path / "home").exists()


def test_start_before_install_says_so(bundle: Path, tmp_path: Path):
    done = script(bundle, "start.py", tmp_path / "home")
    assert done.returncode == 1
    assert "install.py" in done.stderr


def test_start_hands_its_options_and_an_environment_without_network_on(bundle: Path, tmp_path: Path):
    home = tmp_path / "a home"
    (home / "venv" / "bin").mkdir(parents=True)
    (home / "app").mkdir()
    (home / "venv" / "bin" / "python").symlink_to(sys.executable)
    (home / "app" / "app.py").write_text(
        "import json, os, sys\n"
        "names = ('HF_HUB_OFFLINE', 'SPECDEMO_CACHE', 'SPECDEMO_HOME')\n"
        "print(json.dumps([sys.argv[1:], os.getcwd(), [os.environ.get(name) for name in names]]))\n"
    )
    own = {**os.environ, "SPECDEMO_HOME": str(home)}
    command = [sys.executable, bundle / "start.py", "--port", "8000"]
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == [
        ["--port", "8000"],
        str(home / "app"),
        ["1", str(home / "cache"), None],
    ]
