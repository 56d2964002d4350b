"""Where a measurement was made: processor, memory, versions, commit. A figure without these says little.

Knows the machine and the installed packages. Names no user, host or path.
"""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil
import torch

Facts = dict[str, str | int | float | bool | None]

PACKAGES = ("torch", "transformers", "tokenizers", "bitsandbytes")


def hardware() -> Facts:
    """Processor, its widest instruction set, cores this process may use, torch threads of this thread, memory, GPU."""
    return {
        "processor": _processor(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "cores": _cores(),
        "threads": torch.get_num_threads(),
        "memory_bytes": int(psutil.virtual_memory().total),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> Facts:
    """Versions of Python and of the packages that do the work; None where one is not installed."""
    return {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}


def commit() -> str | None:
    """Short hash of the working copy's commit; None outside a git repository or without git."""
    try:
        asked = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() or None if asked.returncode == 0 else None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
