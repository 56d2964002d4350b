"""A model folder before its weights are read: is it complete, and is it something we can decode with?

Knows the files of a transformers folder. Does not know pairs or sessions.
"""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
from transformers.utils import logging

from specdemo.errors import FetchError, PairError
from specdemo.machine import free_memory

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"


def lacking(folder: Path) -> str | None:
    """The first file that is missing for loading, None if the folder is complete."""
    if not (folder / "config.json").is_file():
        return "config.json"
    if not any((folder / name).is_file() for name in ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")):
        return "tokenizer.json"
    shards = _shards(folder) or {WEIGHTS}
    return next((shard for shard in sorted(shards) if not (folder / shard).is_file()), None)


def check(folder: Path, name: str) -> None:
    """FetchError if a file is missing, PairError if it is no causal language model that can be loaded as it is."""
    with _whole(name, INDEX):
        missing = lacking(folder)
    if missing:
        raise FetchError("folder_incomplete", name=name, file=missing)
    with _whole(name, "config.json"):
        config = _read(folder / "config.json")
    kind, classes = config.get("model_type"), config.get("architectures") or []
    if config.get("is_encoder_decoder"):
        raise PairError("encoder_decoder", name=name)
    if kind not in CONFIG_MAPPING_NAMES:
        raise PairError("unknown_architecture", name=name, kind=kind)
    causal = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(kind)
    if causal is None or (classes and causal not in classes):
        raise PairError("no_language_head", name=name, kind=", ".join(classes) or kind)
    if config.get("quantization_config"):
        raise PairError("already_quantised", name=name)


def tokenizer(folder: Path, name: str = "") -> PreTrainedTokenizerFast:
    """The folder's tokenizer. FetchError if its file is damaged."""
    with _whole(name or folder.name, "tokenizer.json"):
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)


def weights(folder: Path, name: str, dtype: torch.dtype, device: str) -> Any:
    """The model, ready to decode. PairError if weights are missing: transformers would fill them with noise."""
    logging.disable_progress_bar()
    with _whole(name, WEIGHTS):
        need, free = _bytes_as(folder, dtype), free_memory(device)
    if need > free:
        raise PairError("not_enough_memory", name=name, need=need // 10**6, free=free // 10**6)
    model, report = AutoModelForCausalLM.from_pretrained(
        folder, dtype=dtype, use_safetensors=True, local_files_only=True, output_loading_info=True
    )
    if report["missing_keys"] or report["mismatched_keys"]:
        missing = sorted(map(str, [*report["missing_keys"], *report["mismatched_keys"]]))[0]
        raise PairError("weights_missing", name=name, weight=missing)
    return model.eval().requires_grad_(False).to(device)


@contextmanager
def _whole(name: str, file: str) -> Iterator[None]:
    """FetchError where reading a file finds it damaged: cut off, most likely."""
    try:
        yield
    except (SafetensorError, ValueError) as error:
        raise FetchError("file_broken", name=name, file=file) from error


def _bytes_as(folder: Path, dtype: torch.dtype) -> int:
    """Bytes of the weights once they are `dtype`."""
    total = 0
    for file in sorted(_shards(folder)):
        with safe_open(folder / file, framework="pt") as opened:
            total += sum(math.prod(opened.get_slice(key).get_shape()) for key in opened.keys())  # noqa: SIM118
    return total * dtype.itemsize


def _shards(folder: Path) -> set[str]:
    """Names of the weight files; empty if there is neither a file nor an index."""
    if (folder / WEIGHTS).is_file():
        return {WEIGHTS}
    index = folder / INDEX
    return set(_read(index).get("weight_map", {}).values()) if index.is_file() else set()


def _read(file: Path) -> dict[str, Any]:
    content = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{file.name} holds no object")
    return content
