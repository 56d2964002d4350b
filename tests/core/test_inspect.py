"""The inspector's rows against values worked out by hand."""

import math

import pytest
import torch

from specdemo.core.inspect import entropy, inspect_round, top
from specdemo.core.verify import Draft, Fate, Test, Verdict

P = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.25, 0.25, 0.5]])
Q = torch.tensor([[0.2, 0.3, 0.5], [0.1, 0.2, 0.7]])
LOGITS = torch.tensor([[3.0, 1.0, 0.5], [0.0, 1.0, 5.0], [1.0, 1.0, 1.0]])
KEPT, FELL = Test(0.1, 0.5, 0.5, accepted=True), Test(0.9, 0.2, 0.5, accepted=False)


def approx(pairs: list[tuple[int, float]]) -> list[tuple[int, object]]:
    return [(i, pytest.approx(value)) for i, value in pairs]


def test_a_rejected_round_shows_its_tested_rows_only() -> None:
    rows = inspect_round(Draft((2, 2), Q), Verdict(0, 0, Fate.RESAMPLED, (FELL,)), LOGITS, P)
    assert [row.index for row in rows] == [0]
    row = rows[0]
    assert list(row.p_top) == approx([(0, 0.5), (1, 0.3), (2, 0.2)])
    assert list(row.q_top or ()) == approx([(2, 0.5), (1, 0.3), (0, 0.2)])
    assert list(row.residual_top or ()) == approx([(0, 1.0)])
    assert row.beta == pytest.approx(0.2 + 0.3 + 0.2)
    assert row.p_entropy == pytest.approx(-sum(p * math.log(p) for p in (0.5, 0.3, 0.2)))
    assert row.q_entropy == pytest.approx(row.p_entropy)
    assert row.margin == pytest.approx(2.0)


def test_a_whole_round_shows_the_bonus_row_without_q() -> None:
    rows = inspect_round(Draft((2, 2), Q), Verdict(2, 2, Fate.BONUS, (KEPT, KEPT)), LOGITS, P)
    assert [row.index for row in rows] == [0, 1, 2]
    assert rows[1].beta == pytest.approx(1.0)
    assert list(rows[1].residual_top or ()) == approx([(2, 0.7), (1, 0.2), (0, 0.1)])  # p = q: the law itself
    assert (rows[2].q_top, rows[2].residual_top, rows[2].beta, rows[2].q_entropy) == (None,) * 4
    assert rows[2].margin == 0.0


def test_a_plain_round_shows_one_row() -> None:
    rows = inspect_round(Draft(), Verdict(0, 1, Fate.PLAIN, ()), LOGITS[:1], P[:1])
    assert [(row.index, row.q_top) for row in rows] == [(0, None)]


def test_a_draft_without_laws_is_one_hot() -> None:
    (row,) = inspect_round(Draft((1,)), Verdict(0, 0, Fate.RESAMPLED, (FELL,)), LOGITS[:2], P[:2])
    assert row.q_top == ((1, 1.0),)
    assert (row.beta, row.q_entropy) == (pytest.approx(0.3), 0.0)
    assert list(row.residual_top or ()) == approx([(0, 5 / 7), (2, 2 / 7)])


def test_tops_are_at_most_eight_and_have_mass() -> None:
    law = torch.arange(20.0) / 190
    assert [i for i, _ in top(law)] == [19, 18, 17, 16, 15, 14, 13, 12]
    assert top(torch.tensor([0.0, 1.0, 0.0])) == ((1, 1.0),)


def test_entropy_of_the_extremes() -> None:
    assert entropy(torch.tensor([0.0, 1.0])) == 0.0
    assert entropy(torch.full((8,), 1 / 8)) == pytest.approx(math.log(8))


def test_margin_is_taken_from_16_bit_logits_too() -> None:
    (row,) = inspect_round(Draft(), Verdict(0, 1, Fate.PLAIN, ()), LOGITS[:1].bfloat16(), P[:1])
    assert row.margin == pytest.approx(2.0)
