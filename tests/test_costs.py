"""Costs are medians without the warm-up, interpolated between the measured widths."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from specdemo.core.policy import Goodput
from specdemo.core.protocols import Pass
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft, Verdict
from specdemo.costs import Costs, measure_costs, visits
from specdemo.models.toy import ToySession, fixed

COSTS = Costs(((1, 10.0), (2, 12.0), (6, 20.0)), 2.5)


@pytest.mark.parametrize(("n", "seconds"), [(1, 10.0), (2, 12.0), (3, 14.0), (6, 20.0), (8, 24.0)])
def test_linear_between_and_beyond_the_measured_widths(n: int, seconds: float) -> None:
    assert COSTS.t(n) == pytest.approx(seconds)


def test_ratios_are_to_one_pass_over_one_token() -> None:
    assert COSTS.c == pytest.approx(0.25)
    assert COSTS.v(6) == pytest.approx(2.0)
    assert Costs(((1, 4.0),), 0.0).v(9) == 1.0


def test_what_got_quicker_by_luck_does_not_get_quicker_for_ever() -> None:
    lucky = Costs(((1, 10.0), (12, 20.0), (16, 10.0)), 1.0)
    assert lucky.t(14) == pytest.approx(15.0)
    assert lucky.t(40) == pytest.approx(10.0)
    assert 0 <= Goodput(32, lucky.c, lucky.v).gamma() <= 32


def test_a_clock_that_stands_still_makes_ratios_of_nothing() -> None:
    still = Costs(((1, 0.0), (4, 0.0)), 0.0)
    assert (still.c, still.v(4)) == (0.0, 1.0)


class Slow(ToySession):
    """Its passes take 10 + n; the first visit of a width 100 more."""

    def __init__(self, limit: int = 4096) -> None:
        super().__init__(fixed(torch.zeros(5)), limit)
        self.now = 0.0
        self.widths: list[int] = []

    def extend(self, tokens: Sequence[int], keep: int) -> Pass:
        if keep:
            self.now += 10.0 + keep + (100.0 if keep not in self.widths else 0.0)
            self.widths.append(keep)
        return super().extend(tokens, keep)


class Steady:
    """A drafter whose proposals take `seconds` in `steps` steps."""

    def __init__(self, session: Slow, seconds: float, steps: int) -> None:
        self.session, self.seconds, self.steps = session, seconds, steps
        self.closed = False

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None = None) -> None:
        pass

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        self.session.now += self.seconds
        return Draft((1,) * self.steps, steps=self.steps)

    def observe(self, tokens: Sequence[int], verdict: Verdict, hidden: Tensor | None = None) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def test_first_visit_is_left_out_and_a_step_is_a_share_of_a_proposal() -> None:
    session = Slow()
    drafter = Steady(session, seconds=6.0, steps=3)
    costs = measure_costs(session, drafter, (1, 2, 3), lambda: session.now, widths=(1, 4), repeats=3)
    assert costs == Costs(((1, 11.0), (4, 14.0)), 2.0)
    assert session.widths == [1, 4, 4, 1] * 2, "no width is always the first"
    assert drafter.closed


def test_turn_by_turn_every_pass_is_a_turn_and_every_visit_tells_its_costs() -> None:
    target = Slow()
    turns = list(visits(target, None, [1, 2, 3], lambda: target.now, (1, 4), 3))
    assert [turn is None for turn in turns] == [True, True] + 3 * [True, True, False]
    assert turns[-1] == measure_costs(target, None, [1, 2, 3], lambda: target.now, (1, 4), 3)
    assert turns[-1] == Costs(((1, 11.0), (4, 14.0)), 0.0)
    assert turns[-1] is not None
    assert turns[-1].least == turns[-1].passes, "no pass was disturbed"


def test_without_steps_a_draft_costs_nothing() -> None:
    session = Slow()
    assert measure_costs(session, Steady(session, 6.0, 0), (1, 2), lambda: session.now).t_draft == 0.0
    assert measure_costs(Slow(), None, (1, 2), lambda: 0.0).t_draft == 0.0


def test_context_near_the_limit_is_cut() -> None:
    session = Slow(limit=20)
    measure_costs(session, None, (1,) * 19, lambda: session.now, widths=(1, 16))
    assert len(session) == 3
    drafter = Steady(session := Slow(limit=30), 1.0, 1)
    measure_costs(session, drafter, (1,) * 29, lambda: session.now, widths=(1, 16))
    assert len(session) < 30


def test_drafter_is_closed_when_the_target_fails() -> None:
    session = Slow()
    drafter = Steady(session, 1.0, 1)

    def broken() -> float:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        measure_costs(session, drafter, (1, 2), broken)
    assert drafter.closed
