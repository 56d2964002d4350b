"""Weight matrices laid out once for the processor's matrix kernels, instead of anew in every pass.

Knows two private operators of torch that beat the public ones on a CPU (a bf16 matrix of this project's default
runs 1.3 to 1.8 times as fast, a float32 one 1.1 to 4 times), a third that keeps a matrix in bytes, and a plain fallback
where they are missing. Does not know models.
"""

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.pytorch_utils import Conv1D

from specdemo.models.pages import in_large_pages

Linear = Callable[[Tensor], Tensor]
"""x `[…, in]` → x Wᵀ + b `[…, out]`."""

ROWS = 8
"""Rows that the layout is made for. Made for one row, a float32 matrix is twice as slow at six."""


def linear(weight: Tensor, bias: Tensor | None = None) -> Linear:
    """weight `[out, in]`, bias `[out]`. Packed where that works here, else plain."""
    if weight.device.type == "cpu" and can_pack(weight.dtype):
        return Packed(weight, bias)
    return lambda x: functional.linear(x, weight, bias)


WHOLE = 64
"""Columns that torch's kernel for bytes takes at once; in a matrix with others left over it reads beyond the end."""


class Packed:
    """A packed copy of a matrix; takes any number of rows."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), ROWS)
        in_large_pages(torch.ops.mkldnn.data_ptr(self._weight), torch.ops.mkldnn._nbytes(self._weight))
        self._bias = bias

    def __call__(self, x: Tensor) -> Tensor:
        out: Tensor = torch.ops.mkldnn._linear_pointwise(x, self._weight, self._bias, "none", [], "")
        return out


@cache
def can_pack(dtype: torch.dtype) -> bool:
    """True if torch has the operators on this machine and they agree with the public one."""
    there: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if dtype not in (torch.float32, torch.bfloat16) or not there:
        return False
    x, weight, bias = _ramp(3, 32, dtype), _ramp(16, 32, dtype), _ramp(1, 16, dtype)[0]
    try:
        packed = Packed(weight, bias)(x)
    except (AttributeError, RuntimeError):  # not built in, or not for this processor
        return False
    plain = functional.linear(x, weight, bias)
    return torch.allclose(packed.float(), plain.float(), atol=1e-2 if dtype == torch.bfloat16 else 1e-5)


def light(weight: Tensor) -> Linear:
    """The same for a draft, whose law is whatever it computes: weight `[out, in]` as int8 where that is faster.

    Between two passes of the target a draft's matrices leave the nearest cache, so what counts is how many bytes come
    back: a draft step of the default takes three quarters of its time. As float32 torch has no fast operator for it.
    """
    whole = weight.shape[1] % WHOLE == 0 and weight.dtype == torch.bfloat16
    return Rounded(weight) if whole and weight.device.type == "cpu" and can_round() else linear(weight)


class Rounded:
    """A matrix of whole blocks of columns as int8 with a scale per row; takes any number of rows."""

    def __init__(self, weight: Tensor) -> None:
        scale = (weight.detach().float().abs().amax(1) / 127).clamp_(min=1e-12)
        self._weight = (weight.detach() / scale[:, None]).round().to(torch.int8)
        in_large_pages(self._weight.data_ptr(), self._weight.nbytes)
        self._scale = scale.to(weight.dtype)

    def __call__(self, x: Tensor) -> Tensor:
        return torch.ops.aten._weight_int8pack_mm(x, self._weight, self._scale)  # type: ignore[no-any-return]


@cache
def can_round() -> bool:
    """True if torch has a fast bfloat16 times int8 on this machine and it agrees with the public operator."""
    if not can_pack(torch.bfloat16):
        return False
    x, weight = _ramp(3, WHOLE, torch.bfloat16), _ramp(17, WHOLE, torch.bfloat16)
    try:
        rounded = Rounded(weight)(x)
    except (AttributeError, RuntimeError):  # as above
        return False
    return torch.allclose(rounded.float(), functional.linear(x, weight).float(), atol=0.2)


class PackedLinear(nn.Module):
    """A linear layer of a model over a packed copy of its matrix."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        weight = layer.weight.T if isinstance(layer, Conv1D) else layer.weight
        # What model code asks a layer for beside its output: the number type and device.
        self.weight = weight
        self.bias = layer.bias
        self._packed = linear(weight, layer.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self._packed(x)


def with_packed_layers(model: Any) -> Any:
    """The same model over the same weights, with every linear layer packed. Itself where nothing can be packed."""
    layers = [part for part in model.modules() if type(part) in (nn.Linear, Conv1D)]
    if model.device.type != "cpu" or not can_pack(model.dtype) or not layers:
        return model
    shared = {id(tensor): tensor for tensor in [*model.parameters(), *model.buffers()]}
    # deepcopy looks up what it has copied already: there it finds the weights themselves and the packed layers.
    return copy.deepcopy(model, {**shared, **{id(layer): PackedLinear(layer) for layer in layers}})


def _ramp(rows: int, columns: int, dtype: torch.dtype) -> Tensor:
    """Numbers without a pattern that a wrong layout would survive, with no random generator."""
    return torch.sin(torch.arange(rows * columns, dtype=torch.float32) ** 2).view(rows, columns).to(dtype)
