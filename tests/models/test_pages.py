"""Large pages change no content, and where the system lends them they are there."""

import platform
import re
from pathlib import Path

import pytest
import torch

from specdemo.models import pages
from specdemo.models.pages import LARGE, LENDS, held, in_large_pages, lent


def kernel() -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])


@pytest.mark.skipif(not lent() or "[madvise]" not in LENDS.read_text(), reason="none here, or without asking")
@pytest.mark.parametrize("written", [False, True], ids=["still to be written", "written before"])
def test_a_matrix_lies_in_large_pages(written: bool) -> None:
    if written and kernel() < (6, 1):
        pytest.skip("Linux moves nothing before 6.1")
    memory = torch.empty(32 * LARGE // 8, dtype=torch.long)
    numbers = torch.arange(len(memory))
    before = held()
    if written:
        memory.copy_(numbers)
    in_large_pages(memory.data_ptr(), memory.nbytes)
    if not written:
        memory.copy_(numbers)
    assert held() - before >= 30 * LARGE
    assert torch.equal(memory, numbers)


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_elsewhere_nothing_is_asked(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages.sys, "platform", system)
    monkeypatch.setattr(pages, "_madvise", lambda: pytest.fail("asked"))
    in_large_pages(LARGE, LARGE)


def test_a_system_that_refuses_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_madvise", lambda: lambda *_: -1)
    in_large_pages(LARGE + 5, LARGE)


def test_whole_pages_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int, int]] = []
    monkeypatch.setattr(pages.sys, "platform", "linux")
    monkeypatch.setattr(pages, "_lent", lambda: True)
    monkeypatch.setattr(pages, "_madvise", lambda: lambda *given: asked.append(given))
    in_large_pages(LARGE + 5, LARGE)
    assert asked == [(LARGE, 2 * LARGE, pages.HUGEPAGE), (LARGE, 2 * LARGE, pages.COLLAPSE)]


@pytest.mark.parametrize(("says", "there"), [("always [madvise] never", True), ("always madvise [never]", False)])
def test_the_system_says_whether_it_lends_them(says: str, there: bool, tmp_path: Path) -> None:
    file = tmp_path / "enabled"
    assert not lent(file), "it says nothing"
    file.write_text(says)
    assert lent(file) is there


def test_a_system_that_lends_none_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages.sys, "platform", "linux")
    monkeypatch.setattr(pages, "_lent", lambda: False)
    monkeypatch.setattr(pages, "_madvise", lambda: pytest.fail("asked"))
    in_large_pages(LARGE, LARGE)
