"""Installs specdemo from this folder, without a network: `python3 install.py`. Needs nothing but Python.

Afterwards the folder is no longer needed on this machine.
"""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = Path(os.environ.get("SPECDEMO_HOME") or Path.home() / "specdemo-offline")
COPIED = ("app", "start.py", "README.txt")


def main() -> None:
    """Makes an environment, installs the wheels, copies the project and unpacks the default model."""
    pythons = json.loads((HERE / "bundle.json").read_text(encoding="utf-8"))["pythons"]
    mine = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if mine not in pythons:
        sys.exit(
            f"This bundle is for Python {' or '.join(pythons)}; this is Python {mine}. Start it with the other one."
        )
    print(f"Installing into {HOME} (about 2 GB, some minutes) ...", flush=True)
    HOME.mkdir(parents=True, exist_ok=True)
    venv.create(HOME / "venv", with_pip=True)
    python = interpreter(HOME)
    wheels = HERE / "wheels"
    pip = [str(python), "-m", "pip", "install", "--no-index", "--find-links", str(wheels), "--no-cache-dir", "--quiet"]
    run([*pip, "-r", str(HERE / "app" / "requirements.txt")])
    for name in COPIED:
        copy(HERE / name, HOME / name)
    # As an address: pip takes a path with a space for two.
    run([str(python), "-m", "specdemo", "fetch"], PIP_FIND_LINKS=wheels.as_uri())
    print(f'Done. Now: {Path(sys.executable).name} "{HOME / "start.py"}"')


def interpreter(home: Path) -> Path:
    """The environment's own Python."""
    return home / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(command: list[str], **more: str) -> None:
    """Runs a command without a network; ends everything if it fails."""
    own = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    cache = {"SPECDEMO_CACHE": str(HOME / "cache"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, env={**os.environ, **own, **cache, **more}, cwd=HERE / "app", check=False)
    if done.returncode:
        sys.exit("That did not work. The lines above say why; nothing outside the folder named there was changed.")


def copy(source: Path, target: Path) -> None:
    """Copies a file or a folder; what was there before goes."""
    if source.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)


if __name__ == "__main__":
    main()
