"""How γ moves from round to round."""

import pytest

from specdemo.core import theory
from specdemo.core.policy import Constant, Goodput, Heuristic


def played(policy, outcomes: list[tuple[int, int]]) -> list[int]:
    """γ before each outcome (drafted, accepted) and after the last."""
    gammas = [policy.gamma()]
    for drafted, accepted in outcomes:
        policy.observe(drafted, accepted)
        gammas.append(policy.gamma())
    return gammas


def test_constant() -> None:
    assert played(Constant(4), [(4, 0), (4, 4), (0, 0)]) == [4, 4, 4, 4]
    assert (Constant(4).name, Constant(3, "confidence").name, Constant(3).limit) == ("constant", "confidence", 3)


def test_heuristic_goes_up_by_two_and_down_by_one() -> None:
    assert played(Heuristic(9), [(5, 5), (7, 6), (6, 6), (8, 8), (9, 9), (9, 0)]) == [5, 7, 6, 8, 9, 9, 8]


def test_heuristic_never_falls_below_one_and_ignores_idle_rounds() -> None:
    assert played(Heuristic(4), [(2, 0), (1, 0), (1, 0), (0, 0), (1, 1)]) == [2, 1, 1, 1, 1, 3]


@pytest.mark.parametrize("limit", [0, 1, 2, 32])
def test_heuristic_stays_within_its_limit(limit: int) -> None:
    gammas = played(Heuristic(limit), [(1, 1)] * 20 + [(1, 0)] * 40)
    assert set(gammas) <= set(range(min(1, limit), limit + 1))
    assert max(gammas) == limit


def test_goodput_follows_the_formula() -> None:
    policy = Goodput(8, c=0.1, v=theory.flat)
    assert policy.gamma() == theory.best_gamma(0.5, 0.1, most=8)
    policy.observe(8, 8)
    assert policy.gamma() == theory.best_gamma(9 / 10, 0.1, most=8)
    policy.observe(8, 1)
    assert policy.gamma() == theory.best_gamma(10 / 12, 0.1, most=8)
    policy.observe(0, 0)
    assert policy.gamma() == theory.best_gamma(10 / 12, 0.1, most=8)


def test_goodput_counts_tested_guesses_only() -> None:
    """A round of eight with the first one rejected is one test, not eight."""
    policy = Goodput(8, c=0.02, v=theory.flat)
    policy.observe(8, 0)
    assert policy.gamma() == theory.best_gamma(1 / 3, 0.02, most=8) > 0


def test_goodput_sees_what_a_wide_pass_costs() -> None:
    steep = Goodput(8, c=0.02, v=lambda n: 1 + 0.4 * (n - 1))
    flat = Goodput(8, c=0.02, v=theory.flat)
    assert steep.gamma() < flat.gamma()


def test_goodput_keeps_looking_where_nothing_pays() -> None:
    policy = Goodput(8, c=0.9, v=theory.flat)
    assert [policy.gamma() for _ in range(17)] == [0] * 7 + [1] + [0] * 7 + [1] + [0]


def test_goodput_comes_back_when_the_text_gets_easier() -> None:
    policy = Goodput(8, c=0.3, v=theory.flat)
    for _ in range(10):
        policy.observe(4, 0)
    asked = []
    for _ in range(200):
        gamma = policy.gamma()
        policy.observe(gamma, gamma)
        asked.append(gamma)
    assert asked[0] == 0
    assert asked[-1] > 1


@pytest.mark.parametrize("c", [0.0, 0.9])
def test_goodput_with_no_room_asks_for_nothing(c: float) -> None:
    policy = Goodput(0, c=c, v=theory.flat)
    assert {policy.gamma() for _ in range(20)} == {0}
