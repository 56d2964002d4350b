"""The quick norm is the norm, also beside one large number, as hidden states have them."""

import pytest
import torch
from torch.nn import functional

from specdemo.models.norm import FEW, Mirrored, norm


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(1, 64), (5, 576), (FEW, 576), (FEW + 1, 576), (3, 4, 24)])
def test_it_is_the_norm(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    coin = torch.Generator().manual_seed(0)
    x, weight = torch.randn(shape, generator=coin), torch.randn(shape[-1], generator=coin)
    x[..., 3] *= 3000
    x, weight = x.to(dtype), weight.to(dtype)
    found = norm(weight, 1e-5)(x)
    exact = functional.rms_norm(x.double(), weight.shape, weight.double(), 1e-5)
    apart = (found.double() - exact).abs() / (exact.abs() + 1e-6 * weight.double().abs())
    assert (found.shape, found.dtype) == (shape, dtype)
    # Small numbers count as well: they are off by their own rounding, not by that of the large one.
    assert float(apart.max()) < (1e-2 if dtype == torch.bfloat16 else 1e-5)


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    x = torch.randn(FEW, 576, generator=torch.Generator().manual_seed(1)).to(torch.bfloat16)
    quick = norm(torch.ones(576, dtype=torch.bfloat16), 1e-5)
    assert isinstance(quick, Mirrored)
    assert all(torch.equal(quick(x)[i : i + n], quick(x[i : i + n])) for i in range(4) for n in (1, 4, 12))
