"""Totals are totals; controls and loops are kept apart."""

import pytest

from specdemo.bench.rows import Row
from specdemo.bench.summary import best, geometric_mean, summarise
from specdemo.bench.tables import tables


def row(prompt: str, group: str = "copy", **values: object) -> Row:
    usual: dict[str, object] = {
        "prompt": prompt, "group": group, "temperature": 0.0, "repeat": 0, "lane": "model γ3", "drafter": "model",
        "gamma": 3, "control": False, "tokens": 30, "rounds": 10, "proposed": 30, "drafted": 30, "tested": 20,
        "accepted": 10, "alpha": 0.5, "tau": 3.0, "hit_rate": 1.0, "c": 0.1, "v": 1.2, "width": 4, "compared": 30,
        "seconds": 2.0, "baseline_s": 3.0, "speedup": 1.5, "predicted": 2.0, "tokens_per_s": 15.0, "token_s": 1 / 15,
        "latency_s": 3.0, "first_token_s": 1.2, "prefill_s": 1.0, "decode_s": 2.0, "draft_s": 0.5, "verify_s": 1.3,
        "overhead_s": 0.2, "looped": 0.0, "too_short": False, "identical": True, "divergence": None, "gap": None,
        "tie": None, "finish_reason": "length",
    }  # fmt: skip
    return Row(**(usual | values))  # type: ignore[arg-type]


def test_rates_are_totals_divided_once() -> None:
    rows = [
        row("a", accepted=9, tested=10, tokens=40, rounds=10, baseline_s=4.0, seconds=1.0, decode_s=1.0, c=0.1),
        row("b", "code", accepted=1, tested=30, tokens=20, rounds=20, baseline_s=2.0, seconds=4.0, decode_s=4.0, c=0.3),
        row("c", "code", accepted=0, tested=0, tokens=0, rounds=0, speedup=None, baseline_s=0.0, seconds=0.0, c=None),
    ]
    (s,) = summarise(rows)
    assert (s.prompts, s.runs) == (3, 3)
    assert s.alpha == pytest.approx(10 / 40)
    assert s.tau == pytest.approx(60 / 30)
    assert s.c == pytest.approx(0.2)
    assert s.tokens_per_s == pytest.approx(60 / 7)
    assert s.speedup == pytest.approx(6 / 5)
    assert s.groups == (("copy", pytest.approx(4.0)), ("code", pytest.approx(0.5)))
    assert s.geometric_mean == pytest.approx(2**0.5)
    assert (s.slowest, s.middle, s.fastest) == (pytest.approx(0.5), pytest.approx(2.25), pytest.approx(4.0))
    assert s.alpha_low is not None
    assert s.alpha_low <= s.alpha <= s.alpha_high  # type: ignore[operator]


def test_repeats_of_one_prompt_are_one_prompt() -> None:
    rows = [row("a", seconds=1.0), row("a", repeat=1, seconds=3.0), row("b", seconds=2.0)]
    (s,) = summarise(rows)
    assert (s.prompts, s.runs) == (2, 3)
    assert s.fastest == s.slowest == pytest.approx(1.5)


def test_interval_needs_two_prompts() -> None:
    (s,) = summarise([row("a"), row("a", repeat=1)])
    assert s.alpha == pytest.approx(0.5)
    assert s.alpha_low is s.alpha_high is None


def test_predictions_add_up_as_times() -> None:
    """30 tokens at twice the baseline's speed and 30 at half of it take 15 + 60 baseline steps."""
    (s,) = summarise([row("a", predicted=2.0), row("b", predicted=0.5)])
    assert s.predicted == pytest.approx(60 / 75)


def test_loops_are_shown_apart() -> None:
    (s,) = summarise([row("a", looped=0.9, seconds=1.0), row("b", looped=0.3, seconds=3.0), row("c", looped=None)])
    assert s.looping == 1
    assert s.speedup_looping == pytest.approx(3.0)
    assert s.speedup_plain == pytest.approx(6 / 5)


def test_temperatures_and_gammas_are_apart_and_in_order() -> None:
    found = summarise([row("a", temperature=1.0), row("a", gamma=1), row("a"), row("b", gamma=1)])
    assert [(s.temperature, s.gamma, s.runs) for s in found] == [(0.0, 1, 2), (0.0, 3, 1), (1.0, 3, 1)]


def test_controls_and_baseline_are_never_the_fastest() -> None:
    control = row("a", drafter="oracle", control=True, speedup=None, seconds=0.1)
    baseline = row("a", drafter="none", gamma=0, speedup=None)
    found = summarise([baseline, control, row("a", seconds=4.0, speedup=0.75)])
    fastest = best(found, 0.0)
    assert fastest is not None
    assert (fastest.drafter, fastest.speedup) == ("model", pytest.approx(0.75))
    assert all(s.speedup is None for s in found if s.drafter in ("oracle", "none"))
    assert best(found, 1.0) is None
    sentences = " ".join(part for part in tables(found) if isinstance(part, str))
    assert "nothing was faster than plain decoding; the best, model γ3, ran at ×0.75" in sentences
    assert "Fastest" not in sentences


def test_geometric_mean_of_nothing_is_none() -> None:
    assert geometric_mean([]) is None
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
