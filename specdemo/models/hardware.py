"""What this process may use of the machine: processors and memory. Does not know models."""

import os
import sys
from pathlib import Path

import psutil
import torch

CGROUP = Path("/sys/fs/cgroup")


def usable_cpus(cgroup: Path = CGROUP) -> int:
    """Processors that this process may use: its affinity and, in a container, the cgroup's quota rounded up."""
    affinity = getattr(os, "sched_getaffinity", None)
    cpus = len(affinity(0)) if affinity else os.cpu_count() or 1
    quota = _quota(cgroup)
    return max(1, min(cpus, -(-quota[0] // quota[1]))) if quota else cpus


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
