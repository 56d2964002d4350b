"""Tiny random models that say many different things (wide initialisation, nothing tied), and folders of them."""

from pathlib import Path
from typing import Any

import torch
from tokenizers_for_tests import byte_level
from transformers import (
    AutoModelForCausalLM,
    BloomConfig,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    MambaConfig,
    MistralConfig,
    PreTrainedConfig,
    PreTrainedTokenizerFast,
    Qwen2Config,
)

ROWS = 300
"""Rows of the embedding tables; `byte_level()` has 259 ids, the rest is padding."""

SHAPE: dict[str, Any] = {
    "vocab_size": ROWS,
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GATED: dict[str, Any] = SHAPE | {"intermediate_size": 128, "num_key_value_heads": 2, "initializer_range": 0.4}

CONFIGS: dict[str, PreTrainedConfig] = {
    "llama": LlamaConfig(**GATED, max_position_embeddings=1024),
    "mistral": MistralConfig(**GATED, sliding_window=6),
    "qwen2": Qwen2Config(**GATED),
    "gpt2": GPT2Config(**SHAPE, initializer_range=0.5, n_positions=512),
    "bloom": BloomConfig(**SHAPE, initializer_range=0.5),
    "neox": GPTNeoXConfig(**SHAPE, intermediate_size=128, initializer_range=0.5),
    "mamba": MambaConfig(vocab_size=ROWS, hidden_size=64, num_hidden_layers=2, initializer_range=0.4, eos_token_id=2),
}
ATTENTION = tuple(name for name in CONFIGS if name != "mamba")


def tiny(kind: str, seed: int = 0, **changes: Any) -> Any:
    """A model in float32; the same seed gives the same weights. Global random state is left as it was."""
    config = type(CONFIGS[kind]).from_dict(CONFIGS[kind].to_dict() | changes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return AutoModelForCausalLM.from_config(config).eval()


def save(folder: Path, model: Any, tokenizer: PreTrainedTokenizerFast | None = None) -> str:
    """Writes a model folder and returns it as a source."""
    model.save_pretrained(folder)
    (tokenizer or byte_level()).save_pretrained(folder)
    return str(folder)


def greedy(model: Any, prompt: list[int], count: int, vocabulary: int = ROWS) -> list[int]:
    """The model's own greedy tokens without any cache: the golden output."""
    tokens = list(prompt)
    with torch.inference_mode():
        for _ in range(count):
            logits = model(torch.tensor([tokens]), use_cache=False).logits[0, -1, :vocabulary]
            tokens.append(int(logits.argmax()))
    assert len(set(tokens[len(prompt) :])) >= 10, "a model that repeats itself proves nothing"
    return tokens[len(prompt) :]
