"""The cost of no cache: without it every token of the text is fed, with it one."""

from types import SimpleNamespace

import pytest
from toypair import Clock, TimedSession, cycle

from specdemo.bench import no_cache


def test_without_a_cache_all_rows_are_fed_with_it_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(no_cache, "hero", lambda: SimpleNamespace(text="prompt"))
    clock = Clock()
    pair = SimpleNamespace(
        text=SimpleNamespace(encode=lambda text, raw: (1, 2, 3)),
        target=lambda: TimedSession(cycle(7), 4096, clock, base=1.0, each=0.5),
        clock=clock,
    )
    rows = no_cache.measure(pair, lengths=(8, 64), repeats=3)  # type: ignore[arg-type]
    assert [row.tokens for row in rows] == [8, 64]
    assert [row.with_cache_s for row in rows] == [1.5, 1.5]
    assert [row.without_s for row in rows] == [1 + 0.5 * 9, 1 + 0.5 * 65]
