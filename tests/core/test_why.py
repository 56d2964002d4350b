"""Why a run was slower: a table of made-up runs, each with its reason and the change that helps most."""

from dataclasses import replace

import pytest
from slow_runs import CASES, run

from specdemo.core import theory
from specdemo.core.metrics import Tally
from specdemo.core.why import why


@pytest.mark.parametrize(("kept", "draft", "verify", "other", "hits", "reason", "change"), CASES)
def test_the_reason_and_the_change_that_helps_most(kept, draft, verify, other, hits, reason, change) -> None:
    comparison, metrics = run(kept, draft, verify, other, hits)
    found = why(comparison, metrics)
    assert (found.reason, found.changes[0].key) == (reason, change)
    assert (found.costs.draft, found.costs.verify, found.costs.other) == pytest.approx((draft, verify, other))
    assert [one.speedup for one in found.changes] == sorted((one.speedup for one in found.changes), reverse=True)
    assert all(one.speedup > 0 for one in found.changes)


@pytest.mark.parametrize("case", CASES)
def test_a_cost_that_goes_is_exactly_its_share(case) -> None:
    comparison, metrics = run(*case[:5])
    changes = {change.key: change.speedup for change in why(comparison, metrics).changes}
    _, draft, verify, other, _ = case[:5]
    total = draft + verify + other
    assert changes["draft"] == pytest.approx(metrics.tau / (total - draft / 2))
    assert changes["verify"] == pytest.approx(metrics.tau / (total - max(0, verify - 1)))
    assert changes["other"] == pytest.approx(metrics.tau / (total - other))


def test_another_gamma_is_predicted_by_the_formula() -> None:
    comparison, metrics = run(1.4, 2.0, 1.1, 0.1, 1.0)
    best = next(change for change in why(comparison, metrics).changes if change.key == "gamma")
    predicted = {
        gamma: theory.tau(metrics.alpha, gamma) / (0.5 * gamma + 1 + 0.025 * gamma + 0.1) for gamma in range(1, 17)
    }
    # Guesses cost half a step each and survive by half: not worth a draft.
    assert max(predicted.values()) < 1.2
    assert best.speedup == pytest.approx(max(1.0, *predicted.values()))


def test_not_speculating_is_a_choice() -> None:
    comparison, metrics = run(0.17, 1.54, 1.0, 0.02, 1.0)
    best = next(change for change in why(comparison, metrics).changes if change.key == "gamma")
    assert (best.gamma, best.speedup) == (0, 1.0)


def test_nothing_is_explained_where_nothing_is_slow_or_can_be_judged() -> None:
    comparison, metrics = run(2.0, 0.1, 1.1, 0.05, 1.0)
    assert comparison.speedup > 1
    assert why(comparison, metrics) is None
    slow, metrics = run(*CASES[0][:5])
    for other in (replace(slow, too_short=True), replace(slow, speedup=None), replace(slow, adds_up_to=None)):
        assert why(other, metrics) is None
    assert why(slow, Tally().metrics()) is None


def test_a_rule_without_alpha_is_advised_by_costs_alone() -> None:
    comparison, metrics = run(*CASES[0][:5])
    found = why(comparison, replace(metrics, alpha=None, tested=0))
    assert {change.key for change in found.changes} == {"draft", "verify", "other", "gamma"}
