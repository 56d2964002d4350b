"""Starts the page that install.py installed, without a network: `python3 start.py`. Options go on to the page."""

import os
import subprocess
import sys
from pathlib import Path

HOME = Path(os.environ.get("SPECDEMO_HOME") or Path.home() / "specdemo-offline")
OWN = {"HF_HUB_OFFLINE": "1", "SPECDEMO_CACHE": str(HOME / "cache")}
"""For the page; what is for these scripts alone is left out."""


def main() -> None:
    """Waits until the page ends; Ctrl-C ends both."""
    python = HOME / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.is_file():
        sys.exit(f"Nothing is installed in {HOME}. First: {Path(sys.executable).name} install.py")
    environment = {name: value for name, value in os.environ.items() if name != "SPECDEMO_HOME"} | OWN
    command = [str(python), "app.py", *sys.argv[1:]]
    if os.name != "nt":
        os.chdir(HOME / "app")
        os.execve(python, command, environment)
    try:
        sys.exit(subprocess.run(command, env=environment, cwd=HOME / "app", check=False).returncode)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
