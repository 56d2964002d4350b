"""What is said of a slow run, in both languages."""

import re
from dataclasses import replace

import pytest
from slow_runs import CASES, run

from specdemo.advice import advice
from specdemo.core.why import why


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[5])
def test_a_reason_with_its_numbers_and_changes_that_would_help(case, language: str) -> None:
    comparison, metrics = run(*case[:5])
    reason, *changes = advice(comparison, metrics, language)
    assert re.search(r"\d", reason)
    assert not re.search(r"[{}]", reason + "".join(changes))
    predicted = [float(re.search(r"×(\d+\.\d\d)", change)[1]) for change in changes]
    assert predicted == sorted(predicted, reverse=True)
    assert predicted[0] == pytest.approx(why(comparison, metrics).changes[0].speedup, abs=0.005)
    assert predicted[-1] >= round(comparison.speedup, 2)


def test_nothing_is_said_of_a_fast_run() -> None:
    comparison, metrics = run(2.0, 0.1, 1.1, 0.05, 1.0)
    assert advice(comparison, metrics) == ()
    assert advice(replace(comparison, speedup=0.5, too_short=True), metrics) == ()
