"""Ids that nobody has looked at: a sequence like any other, brought over once and together with what else is asked."""

import torch

from specdemo.bench.transfers import Transfers
from specdemo.core import ids
from specdemo.core.ids import Ids


def test_a_sequence_like_any_other() -> None:
    mixed = Ids([4, 5], torch.tensor([6, 7]))
    assert len(mixed) == 4
    assert list(mixed) == [4, 5, 6, 7]
    assert mixed[2] == 6
    assert mixed[1:3] == (5, 6)
    assert mixed == (4, 5, 6, 7) == mixed
    assert mixed != (4, 5, 6)
    assert {(4, 5, 6, 7): "found"}[mixed] == "found"
    assert not Ids((), torch.empty(0, dtype=torch.long))


def test_length_known_ids_and_tensors_need_no_look() -> None:
    with Transfers() as counted:
        guesses = Ids((), torch.tensor([6, 7]))
        text = ids.behind([4, 5], guesses)
        assert (len(text), ids.known(text)) == (4, [4, 5])
        found = [ids.tensor(text, start) for start in range(5)]
    assert counted.count == 0
    assert [one.tolist() for one in found] == [[4, 5, 6, 7], [5, 6, 7], [6, 7], [7], []]
    assert ids.tensor((1, 2, 3), 1).tolist() == [2, 3]
    assert ids.behind([4], (5, 6)) == [4, 5, 6]


def test_everything_comes_by_one_transfer() -> None:
    guesses = Ids((), torch.tensor([2**40, 7]))
    with Transfers() as counted:
        p, count = ids.bring(guesses, torch.tensor([0.1, 0.2]), torch.tensor([3]))
        assert guesses == (2**40, 7)
        assert tuple(guesses) == (2**40, 7)
    assert counted.count == 1
    assert p == torch.tensor([0.1, 0.2]).tolist(), "float32 as it was"
    assert count == [3.0]
    assert ids.bring(guesses, torch.tensor([1.0])) == [[1.0]]
    assert ids.bring((1, 2), torch.tensor([1.0])) == [[1.0]]
