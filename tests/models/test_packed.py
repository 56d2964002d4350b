"""Packed matrices say what plain ones say, and where there are none nothing changes."""

import pytest
import torch
from tiny_models import ROWS, tiny
from torch.nn import functional
from transformers.pytorch_utils import Conv1D

from specdemo.models import packed
from specdemo.models.hf_session import HFSession
from specdemo.models.packed import Packed, PackedLinear, Rounded, can_pack, can_round, light, linear, with_packed_layers

PROMPT = [(7 * i + 3) % 250 for i in range(12)]
needs_packing = pytest.mark.skipif(not can_pack(torch.float32), reason="torch has no such operators here")


def test_this_machine_packs_if_it_is_one_of_those_that_torch_packs_for() -> None:
    """A fallback that is always taken would go unseen: on x86 with the pinned torch it must not be."""
    assert can_pack(torch.float32) == torch.backends.mkldnn.is_available()
    assert not can_pack(torch.float16)


@needs_packing
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, 2, 4, 7, 16, 100])
@pytest.mark.parametrize("biased", [False, True])
def test_a_packed_matrix_says_what_a_plain_one_says(dtype: torch.dtype, rows: int, biased: bool) -> None:
    coin = torch.Generator().manual_seed(rows)
    x, weight = (torch.randn(n, 96, generator=coin).to(dtype) for n in (rows, 160))
    bias = torch.randn(160, generator=coin).to(dtype) if biased else None
    layer = linear(weight, bias)
    assert isinstance(layer, Packed)
    torch.testing.assert_close(layer(x), functional.linear(x, weight, bias))
    torch.testing.assert_close(layer(x[None])[0], layer(x))


@pytest.mark.skipif(not can_round(), reason="torch has no such operator here")
@pytest.mark.parametrize("rows", [1, 2, 4, 7, 100])
@pytest.mark.parametrize("size", [(160, 64), (17, 1152), (8192, 576)])
def test_a_matrix_in_bytes_says_nearly_the_same(rows: int, size: tuple[int, int]) -> None:
    """Every row by its own scale: none is lost beside a large one."""
    coin = torch.Generator().manual_seed(rows)
    x = torch.randn(rows, size[1], generator=coin).to(torch.bfloat16)
    weight = (torch.randn(size, generator=coin) * torch.logspace(-3, 3, size[0])[:, None]).to(torch.bfloat16)
    layer = light(weight)
    assert isinstance(layer, Rounded)
    apart = layer(x).float() - x.float() @ weight.float().T
    assert bool(
        (apart.abs() < 0.06 * x.float().norm(dim=1)[:, None] * weight.float().norm(dim=1) * size[1] ** -0.5).all()
    )


@pytest.mark.parametrize("weight", [torch.ones(8, 40, dtype=torch.bfloat16), torch.ones(8, 64)], ids=["odd", "float32"])
def test_other_matrices_are_not_kept_in_bytes(weight: torch.Tensor) -> None:
    """With 40 columns torch's kernel reads beyond the end; as float32 it takes ten times as long."""
    assert not isinstance(light(weight), Rounded)


@needs_packing
@pytest.mark.parametrize("kind", ["gpt2", "neox", "bloom", "mistral"])
def test_a_model_over_packed_layers_is_the_same_model(kind: str) -> None:
    model = tiny(kind)
    other = with_packed_layers(model)
    assert any(isinstance(part, PackedLinear) for part in other.modules())
    assert not any(isinstance(part, PackedLinear) for part in model.modules()), "the model itself is left alone"
    assert {p.data_ptr() for p in other.parameters()} <= {p.data_ptr() for p in model.parameters()}
    a, b = (HFSession(one, ROWS).extend(PROMPT, keep=5) for one in (model, other))
    torch.testing.assert_close(a.logits, b.logits, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(a.hidden, b.hidden, atol=1e-4, rtol=1e-4)


def test_where_the_operators_are_missing_or_wrong_all_stays_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise AttributeError("no such operator")

    model, weight, asked = tiny("gpt2"), torch.randn(4, 4), packed.can_pack.__wrapped__
    monkeypatch.setattr(packed, "can_pack", asked)
    for broken in (missing, lambda *_: torch.zeros(3, 16)):
        monkeypatch.setattr(Packed, "__call__", broken)
        assert with_packed_layers(model) is model
        assert torch.equal(linear(weight)(weight), functional.linear(weight, weight))


def test_conv1d_is_a_matrix_the_other_way_round() -> None:
    layer = Conv1D(6, 4)
    x = torch.randn(3, 4)
    torch.testing.assert_close(PackedLinear(layer)(x), layer(x))
