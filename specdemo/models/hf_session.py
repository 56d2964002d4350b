"""A transformers model with a cache of its own. The only file that knows the transformers cache.

Knows feeding, trimming, rolling back and cutting a model to its first layers. Does not know tokenizers, pairs
or sampling. What bites in transformers 5.24: `crop` wants minus the number of tokens to remove, `crop(0)`
removes nothing, `logits_to_keep=0` keeps all rows.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn
from transformers import Cache, DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from specdemo.core.ids import to_device
from specdemo.core.protocols import Pass
from specdemo.errors import SettingError
from specdemo.models.session import ModelSession

NO_TABLE = 1 << 20
"""Context limit of a model whose config names none (BLOOM's ALiBi, recurrent ones): only memory bounds it."""


class HFSession(ModelSession):
    """`core.protocols.Session` over a causal language model, one sequence, nothing padded.

    vocabulary: V; the columns behind it are padding of the embedding table and are cut off, so they never win.
    """

    def __init__(self, model: Any, vocabulary: int) -> None:
        super().__init__(vocabulary, context_limit(model))
        self._model = model
        self._chooses_rows = "logits_to_keep" in signature(model.forward).parameters
        self._cache = _new_cache(model)

    def _feed(self, chunk: Tensor, rows: int) -> Pass:
        """The head reads the last `rows` positions only."""
        # None as an empty list of positions, for the number 0 would mean all.
        last = rows or torch.empty(0, dtype=torch.long, device=self._model.device)
        choice = {"logits_to_keep": last} if self._chooses_rows else {}
        ids = to_device(chunk, self._model.device).unsqueeze(0)
        with _hidden_states(self._model) as read:
            logits = self._model(input_ids=ids, cache=self._cache, use_cache=True, **choice).logits
        return Pass(logits[0, logits.shape[1] - rows :, : self._vocabulary], read[0][0])

    def _forget(self, removed: int) -> None:
        self._cache.crop(-removed)


def context_limit(model: Any) -> int:
    """The most tokens that the model has positions for."""
    return int(getattr(model.config.get_text_config(), "max_position_embeddings", None) or NO_TABLE)


def cache_bytes(model: Any) -> int:
    """Bytes of keys and values for one token, at most: as if every layer kept them for every token."""
    config = model.config.get_text_config()
    heads = getattr(config, "num_attention_heads", None) or 1
    kept = getattr(config, "num_key_value_heads", None) or heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    return int(2 * config.num_hidden_layers * kept * width * model.dtype.itemsize)


def head_rows(model: Any) -> int:
    """Ids that the model can read and say: rows of the smaller of its two tables."""
    return int(min(model.get_input_embeddings().weight.shape[0], model.get_output_embeddings().weight.shape[0]))


def can_roll_back(model: Any) -> str | None:
    """None if the model's cache can forget its last tokens, else the key of the sentence that says why not.

    Asks the cache first, then tries it: five tokens in, three back, three others in, against a fresh pass.
    """
    if "cache" not in signature(model.forward).parameters:
        return "no_cache"
    rows = head_rows(model)
    first, second = [[(seed * 7 + i) % rows for i in range(5)] for seed in (1, 2)]
    tried, fresh = HFSession(model, rows), HFSession(model, rows)
    tried.extend(first, keep=0)
    if not _new_cache(model).is_croppable or not tried._cache.is_croppable:
        return "cache_cannot_forget"
    tried.rollback(2)
    again = first[:2] + second[2:]
    fresh.extend(again[:2], keep=0)
    a, b = tried.extend(again, keep=3).logits.float(), fresh.extend(again, keep=3).logits.float()
    tolerance = 1e-3 if model.dtype == torch.float32 else 5e-2
    return None if bool((a - b).abs().max() <= tolerance * b.abs().max()) else "cache_forgets_wrongly"


def first_layers(model: Any, count: int) -> Any:
    """The model's first `count` layers with its own norm and head. Weights are shared, nothing is copied.

    Raises SettingError unless 1 ≤ count < the number of layers.
    """
    total = model.config.get_text_config().num_hidden_layers
    if not 1 <= count < total:
        raise SettingError("out_of_range", name="layers", value=count, low=1, high=total - 1)
    path = next(name for name, part in model.named_modules() if isinstance(part, nn.ModuleList) and len(part) == total)
    config = copy.copy(model.config)
    config.num_hidden_layers = count
    if config.__dict__.get("layer_types"):
        config.layer_types = config.layer_types[:count]
    cut = part = _shallow(model, config)
    *parents, last = path.split(".")
    for name in parents:
        part._modules[name] = _shallow(part._modules[name], config)
        part = part._modules[name]
    part._modules[last] = part._modules[last][:count]
    return cut


def _shallow(module: Any, config: Any) -> Any:
    """A copy of one module that shares its children and weights but can be given others."""
    copied = copy.copy(module)
    copied._modules = dict(module._modules)
    copied.config = config
    return copied


def _new_cache(model: Any) -> Cache:
    """An empty cache of the kind the model needs.

    A layer with a sliding window cannot roll back once the window is full: such layers keep all, and the mask hides
    what lies outside the window.
    """
    cache = DynamicCache(config=model.config)
    cache.layers = [DynamicLayer() if type(layer) is DynamicSlidingWindowLayer else layer for layer in cache.layers]
    return cache


@contextmanager
def _hidden_states(model: Any) -> Iterator[list[Tensor]]:
    """Collects the last hidden states `[1, n, H]` of a forward pass: what comes out below the output head."""
    read: list[Tensor] = []
    hook = model.base_model.register_forward_hook(lambda _, inputs, out: read.append(out[0]))
    try:
        yield read
    finally:
        hook.remove()
