"""The formulas give the golden values, the published ones and the exact ones. The page's script has the same test."""

import json
import math

import pytest

from specdemo.core import theory
from specdemo.paths import ASSETS

GOLDENS = json.loads((ASSETS / "theory-goldens.json").read_text(encoding="utf-8"))


def exact(value: float) -> object:
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def at(values: list[float]):
    """A function of n from a list that starts with n = 1."""
    return lambda n: values[n - 1]


def shown(golden: dict[str, float], name: str, value: float) -> bool:
    """True if `value`, rounded to the digits of the published one, is that."""
    digits = 3 if name.startswith("accepted") else 2
    return name not in golden or round(value, digits) == golden[name]


@pytest.mark.parametrize("golden", [row for row in GOLDENS["published"] if "gamma" in row], ids=str)
def test_published_values_at_a_gamma(golden: dict[str, float]) -> None:
    alpha, gamma = golden["alpha"], golden["gamma"]
    assert shown(golden, "tau", theory.tau(alpha, gamma))
    assert shown(golden, "arithmetic", theory.arithmetic(alpha, gamma))
    assert shown(golden, "accepted_per_drafted", theory.accepted_per_drafted(alpha, gamma))
    assert shown(golden, "accepted_per_emitted", theory.accepted_per_emitted(alpha, gamma))


@pytest.mark.parametrize("golden", [row for row in GOLDENS["published"] if "best_gamma" in row], ids=str)
def test_published_best_gammas(golden: dict[str, float]) -> None:
    best = theory.best_gamma(golden["alpha"], golden["c"])
    assert best == golden["best_gamma"]
    assert shown(golden, "speedup", theory.speedup(golden["alpha"], best, golden["c"]))


def test_goldens_are_as_many_as_published() -> None:
    assert len(GOLDENS["published"]) == 6 + 1 + 8
    assert len(GOLDENS["rows"]) >= 48


def test_rows() -> None:
    for row in GOLDENS["rows"]:
        alpha, gamma, c = row["alpha"], row["gamma"], row["c"]
        assert theory.tau(alpha, gamma) == exact(row["tau"]), row
        assert theory.speedup(alpha, gamma, c) == exact(row["speedup"]), row
        assert theory.arithmetic(alpha, gamma, row["c_hat"]) == exact(row["arithmetic"]), row
        assert theory.accepted_per_emitted(alpha, gamma) == exact(row["accepted_per_emitted"]), row
        assert theory.worth_it(alpha, c) == row["worth_it"], row
        if gamma:
            assert theory.accepted_per_drafted(alpha, gamma) == exact(row["accepted_per_drafted"]), row


def test_measured_verification() -> None:
    for row in GOLDENS["measured_verification"]:
        v = at(row["v"])
        found = [theory.speedup(row["alpha"], gamma, row["c"], v) for gamma in range(len(row["v"]))]
        assert found == exact(row["speedup"])
        assert theory.best_gamma(row["alpha"], row["c"], v, most=len(row["v"]) - 1) == row["best_gamma"]


def test_best_gamma() -> None:
    for row in GOLDENS["best_gamma"]:
        assert theory.best_gamma(row["alpha"], row["c"], most=row["most"]) == row["best_gamma"], row
        assert theory.speedup(row["alpha"], row["best_gamma"], row["c"]) == exact(row["speedup"])


def test_tau_by_position() -> None:
    for row in GOLDENS["tau_by_position"]:
        assert theory.tau_by_position(row["alphas"]) == exact(row["tau"])


def test_beta() -> None:
    for row in GOLDENS["beta"]:
        assert theory.beta(row["p"], row["q"]) == exact(row["beta"])
    with pytest.raises(ValueError, match="zip"):
        theory.beta([1.0], [0.5, 0.5])


def test_limit() -> None:
    for row in GOLDENS["limit"]:
        rounds = [tuple(pair) for pair in row["rounds"]]
        found = theory.limit(row["tokens"], row["t_one"], rounds, row["t_draft"], at(row["t_pass"]))
        assert found == exact(row["limit"])


@pytest.mark.parametrize("gamma", [0, 1, 5, 32])
def test_certain_rejection_and_certain_acceptance(gamma: int) -> None:
    assert theory.tau(0.0, gamma) == 1
    assert theory.tau(1.0, gamma) == gamma + 1
    assert theory.tau(math.nextafter(1.0, 0.0), gamma) == pytest.approx(gamma + 1)
    assert theory.speedup(1.0, gamma, c=0.0) == gamma + 1


@pytest.mark.parametrize("alpha", [0.0, 0.4, 1.0])
def test_nothing_drafted_is_plain_decoding(alpha: float) -> None:
    assert theory.tau(alpha, 0) == theory.speedup(alpha, 0, c=0.7) == theory.arithmetic(alpha, 0) == 1
    assert theory.accepted_per_emitted(alpha, 0) == 0


def test_equal_positions_are_the_same_formula() -> None:
    assert theory.tau_by_position([0.7] * 6) == exact(theory.tau(0.7, 6))


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("c", [0.05, 0.2, 0.4, 0.8])
def test_worth_it_exactly_where_some_gamma_gains(alpha: float, c: float) -> None:
    assert theory.worth_it(alpha, c) == (theory.best_gamma(alpha, c) > 0)


def test_of_equal_gammas_the_smallest_is_best() -> None:
    assert theory.speedup(0.5, 1, 0.5) == theory.speedup(0.5, 0, 0.5) == 1
    assert theory.best_gamma(0.5, 0.5) == 0
    assert theory.best_gamma(0.0, 0.0) == 0
