"""A quantised copy of a model that shares no storage with it. Knows bitsandbytes; does not know pairs or sessions."""

import copy
import importlib.util
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from specdemo.config import one_of
from specdemo.errors import PairError

SCHEMES = ("nf4", "int8")


@dataclass(frozen=True, slots=True)
class Quantised:
    """The copy, the number of layers that were really quantised, and the bytes it takes."""

    model: Any
    layers: int
    bytes: int


def quantise(model: Any, scheme: str, name: str) -> Quantised:
    """A copy of `model` whose linear layers are "nf4" or "int8"; embeddings and head keep their precision.

    Raises PairError that says what is missing; the model itself is never touched.
    """
    one_of("scheme", scheme, SCHEMES)
    if importlib.util.find_spec("bitsandbytes") is None:
        raise PairError("quantise_no_package", scheme=scheme)
    head = model.get_output_embeddings()
    layers = [part for part in model.modules() if isinstance(part, nn.Linear | Conv1D) and part is not head]
    if not layers:
        raise PairError("quantise_nothing", scheme=scheme, name=name)
    try:
        make = _maker(scheme, model.dtype, model.device)
        # deepcopy looks up what it has copied already: there it finds the quantised layers, so the large
        # matrices are never doubled.
        copied = copy.deepcopy(model, {id(part): make(part) for part in layers})
        size = tensor_bytes(copied)
        with torch.inference_mode():
            copied(input_ids=torch.tensor([[0, 0]], device=model.device), use_cache=False)
    except (RuntimeError, ImportError) as refusal:
        reason = next((line.strip() for line in str(refusal).splitlines() if line.strip()), type(refusal).__name__)
        raise PairError("quantise_refused", scheme=scheme, device=model.device.type, reason=reason[:200]) from refusal
    return Quantised(copied, len(layers), size)


def tensor_bytes(model: nn.Module) -> int:
    """Bytes of all weights with their scales; tied ones count once."""
    tensors = [value for value in model.state_dict().values() if isinstance(value, Tensor)]
    return sum({tensor.data_ptr(): tensor.numel() * tensor.element_size() for tensor in tensors}.values())


def _maker(scheme: str, dtype: torch.dtype, device: torch.device) -> Callable[[Any], nn.Module]:
    """A function from a linear layer to its quantised copy on `device`."""
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # it warns at its import and in every layer's pass
    from bitsandbytes.nn import Linear4bit, Linear8bitLt

    def make(layer: Any) -> nn.Module:
        weight, bias = layer.weight.detach(), layer.bias
        if isinstance(layer, Conv1D):
            weight = weight.T
        outputs, inputs = weight.shape
        new = (
            Linear4bit(inputs, outputs, bias is not None, compute_dtype=dtype, quant_type="nf4")
            if scheme == "nf4"
            else Linear8bitLt(inputs, outputs, bias is not None, has_fp16_weights=False)
        )
        new.load_state_dict({"weight": weight} if bias is None else {"weight": weight, "bias": bias})
        quantised: nn.Module = new.to(device).eval()  # moving is what quantises
        return quantised

    return make
