"""Turns a GGUF file into a plain transformers folder, once.

The 4-bit values are kept exactly: scale · q + minimum needs more bits than bfloat16 or float16 have, so the
folder holds float32. Any `from_pretrained` can read it. Does not know where the file came from.
"""

from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from specdemo.models.folders import building, is_whole, models_dir
from specdemo.models.progress import Cancel, Progress, never, silent, stop_if


def dequantise(gguf: Path, sha256: str, name: str, progress: Progress = silent, cancelled: Cancel = never) -> Path:
    """The folder `name` in the cache with the weights of `gguf` as float32 safetensors, its tokenizer and LICENSE.

    Made on the first call (about 15 s for 135M parameters), found on later ones.
    """
    final = models_dir() / name
    if is_whole(final, sha256):
        return final
    with building(final, sha256) as folder:
        progress("dequantise", 0, None)
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
        stop_if(cancelled)
        packed = AutoModelForCausalLM.from_pretrained(
            gguf.parent, gguf_file=gguf.name, dtype=torch.float32, quantization_config=GgufConfig(dequantize=True)
        )
        stop_if(cancelled)
        tokenizer.save_pretrained(folder)
        _plain(packed).save_pretrained(folder)
        (folder / "LICENSE").write_bytes((gguf.parent / "LICENSE").read_bytes())
        stop_if(cancelled)
    return final


def _plain(packed: Any) -> Any:
    """The same weights in a model whose config says nothing of quantisation; nothing is copied."""
    config = type(packed.config).from_dict(packed.config.to_dict())
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    with torch.device("meta"):
        plain = type(packed)(config)
    plain.load_state_dict(packed.state_dict(), assign=True)
    plain.tie_weights()
    plain.generation_config = packed.generation_config
    return plain
