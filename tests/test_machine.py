"""How many processors a process counts on, in containers of both generations and outside."""

import os
from pathlib import Path

import pytest
import torch

from specdemo import machine
from specdemo.machine import limit_threads, usable_cpus


@pytest.fixture(autouse=True)
def sixteen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of 16 processors."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(16)), raising=False)


@pytest.mark.parametrize(
    ("limit", "expected"), [("max 100000", 16), ("200000 100000", 2), ("150000 100000", 2), ("1000 100000", 1)]
)
def test_the_quota_of_a_new_container_counts(tmp_path: Path, limit: str, expected: int) -> None:
    (tmp_path / "cpu.max").write_text(limit + "\n")
    assert usable_cpus(tmp_path) == expected


@pytest.mark.parametrize(("quota", "expected"), [(-1, 16), (300_000, 3)])
def test_the_quota_of_an_old_container_counts(tmp_path: Path, quota: int, expected: int) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(f"{quota}\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert usable_cpus(tmp_path) == expected


def test_without_a_container_the_affinity_counts_and_elsewhere_all_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert usable_cpus(tmp_path) == 16
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert usable_cpus(tmp_path) == 6


def test_threads_are_limited_but_never_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to: list[int] = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    for cpus in (2, 64):
        monkeypatch.setattr(machine, "usable_cpus", lambda cpus=cpus: cpus)
        limit_threads()
    assert set_to == [2, 8]
