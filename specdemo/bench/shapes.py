"""Models of published shapes with random weights: what they cost to run is real, what they say is not.

Knows the configurations of a few families and how to build one without files. Does not know runs. A pass costs what
the shape costs, whatever the weights, so speed can be measured where no weights can be had.
"""

from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from specdemo.errors import PairError, SettingError
from specdemo.machine import free_memory
from specdemo.models.packed import can_pack

SPREAD = 0.02


@dataclass(frozen=True, slots=True)
class Shape:
    """As in the config file that was published with the model. kind: transformers' model type."""

    kind: str
    vocabulary: int
    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    tied: bool
    context: int

    def config(self) -> Any:
        """The configuration for transformers."""
        return AutoConfig.for_model(
            self.kind,
            vocab_size=self.vocabulary,
            hidden_size=self.hidden,
            intermediate_size=self.intermediate,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            num_key_value_heads=self.kv_heads,
            head_dim=self.head_dim,
            tie_word_embeddings=self.tied,
            max_position_embeddings=self.context,
        )


SHAPES = {
    "smollm2-135m": Shape("llama", 49152, 576, 1536, 30, 9, 3, 64, True, 8192),
    "smollm2-360m": Shape("llama", 49152, 960, 2560, 32, 15, 5, 64, True, 8192),
    "smollm2-1.7b": Shape("llama", 49152, 2048, 8192, 24, 32, 32, 64, True, 8192),
    "qwen2.5-0.5b": Shape("qwen2", 151936, 896, 4864, 24, 14, 2, 64, True, 32768),
    "qwen2.5-1.5b": Shape("qwen2", 151936, 1536, 8960, 28, 12, 2, 128, True, 32768),
    "qwen2.5-7b": Shape("qwen2", 152064, 3584, 18944, 28, 28, 4, 128, False, 32768),
    "qwen3-0.6b": Shape("qwen3", 151936, 1024, 3072, 28, 16, 8, 128, True, 40960),
    "qwen3-4b": Shape("qwen3", 151936, 2560, 9728, 36, 32, 8, 128, True, 40960),
    "llama-3.2-1b": Shape("llama", 128256, 2048, 8192, 16, 32, 8, 64, True, 131072),
    "llama-3.1-8b": Shape("llama", 128256, 4096, 14336, 32, 32, 8, 128, False, 131072),
}


def names(text: str) -> tuple[str, str]:
    """`qwen2.5-1.5b,0.5b` → target and draft; a draft of the target's family may be written by its size alone.

    SettingError for anything else.
    """
    target, _, draft = (part.strip() for part in text.partition(","))
    family = target.rpartition("-")[0]
    found = target, draft if draft in SHAPES else f"{family}-{draft}"
    for name in found:
        if name not in SHAPES:
            raise SettingError("unknown_shapes", value=text, choices=", ".join(SHAPES))
    return found


def build(name: str, shape: Shape, dtype: torch.dtype, device: str) -> Any:
    """The model on the device, ready to decode. PairError if it does not fit; the same weights every time."""
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(shape.config(), dtype=dtype)
    model.tie_weights()
    # On a CPU every matrix is there twice: as transformers reads it and packed.
    copies = 2 if device == "cpu" and can_pack(dtype) else 1
    need, free = copies * dtype.itemsize * sum(p.numel() for p in model.parameters()), free_memory(device)
    if need > free:
        raise PairError("not_enough_memory", name=name, need=need // 10**6, free=free // 10**6)
    model.to_empty(device=device)
    model.tie_weights()
    generator = torch.Generator(device).manual_seed(0)
    for key, weight in model.named_parameters():
        _fill(key, weight.data, generator)
    base = model.model
    base.rotary_emb = type(base.rotary_emb)(config=model.config).to(device)  # its angles are no weights
    return model.eval().requires_grad_(False)


def _fill(key: str, weight: torch.Tensor, generator: torch.Generator) -> None:
    """Matrices at random, norms 1, biases 0."""
    if weight.dim() > 1:
        weight.normal_(0.0, SPREAD, generator=generator)
    else:
        weight.fill_(0.0 if key.endswith("bias") else 1.0)
