"""The machine: what a run may use of it, and what to say of it beside a figure.

Knows processors, memory, versions and the commit. Names no user, host or path. Does not know models.
"""

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil
import torch

Facts = dict[str, str | int | float | bool | None]

CGROUP = Path("/sys/fs/cgroup")
PACKAGES = ("torch", "transformers", "tokenizers", "bitsandbytes")


def hardware() -> Facts:
    """Processor, its widest instruction set, cores this process may use, torch threads of this thread, memory, GPU."""
    return {
        "processor": _processor(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "cores": usable_cpus(),
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


def usable_cpus(cgroup: Path = CGROUP) -> int:
    """Processors that this process may use: its affinity and, in a container, the cgroup's quota rounded up."""
    affinity = getattr(os, "sched_getaffinity", None)
    cpus = len(affinity(0)) if affinity else os.cpu_count() or 1
    quota = _quota(cgroup)
    return max(1, min(cpus, -(-quota[0] // quota[1]))) if quota else cpus


def multiplies_bfloat16() -> bool:
    """True if the processor has instructions for matrices of bfloat16: only then is it faster than float32."""
    asked: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return any(asked.get(name, False) for name in ("amx_bf16", "avx512_bf16", "bf16"))


def limit_threads() -> None:
    """Lets torch use no more threads than there are processors for it: in a container it counts the host's."""
    torch.set_num_threads(min(torch.get_num_threads(), usable_cpus()))


def free_memory(device: str) -> int:
    """Bytes that can still be had on the device."""
    if device == "cuda":
        return torch.cuda.mem_get_info()[0]
    return int(psutil.virtual_memory().available)


def peak_memory(device: str) -> int:
    """The most memory used so far, in bytes: the accelerator's if there is one, else the process's own."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated()
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _quota(cgroup: Path) -> tuple[int, int] | None:
    """CPU time and period in µs from cgroup v2 or v1; None where there is no limit."""
    second, first = cgroup / "cpu.max", cgroup / "cpu" / "cpu.cfs_quota_us"
    if second.is_file():
        quota, period = second.read_text(encoding="ascii").split()
        return None if quota == "max" else (int(quota), int(period))
    if first.is_file():
        quota, period = (
            first.read_text(encoding="ascii"),
            first.with_name("cpu.cfs_period_us").read_text(encoding="ascii"),
        )
        return None if int(quota) < 0 else (int(quota), int(period))
    return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
