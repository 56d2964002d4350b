"""One loaded model and the fastest way to run it that is right here.

Knows the ways there are and how to check them. Does not know tokenizers, pairs or where a model came from.
"""

import weakref
from dataclasses import replace
from typing import Any

import torch

from specdemo.config import EXACT_WIDTH
from specdemo.models.attention import fused
from specdemo.models.captured import Captured, graph
from specdemo.models.hf_session import HFSession, context_limit, first_layers, head_rows
from specdemo.models.llama import Llama, belongs, llama
from specdemo.models.llama_session import LEAST, Eager, LlamaSession
from specdemo.models.packed import can_pack, with_packed_layers
from specdemo.models.session import ModelSession

LEAN, CAPTURED, PACKED, PLAIN = "lean", "captured", "packed", "plain"
OFFSETS = (60, 100)
"""Lengths of text behind which the exactness of a width is tried: across two blocks and within one."""

PARTED = {torch.float32: 1e-3, torch.bfloat16: 0.15, torch.float16: 0.05}
"""How far two ways to the same logits may part, as a share of their norm. Rounding parts them by 6e-6 and up to 0.07
in float32 and bfloat16; a wrong equation by about 1."""


class Decoder:
    """Sessions over one model. path: "lean" its family's own pass ("captured" if recorded as CUDA graphs), "packed"
    transformers' pass over packed matrices, "plain" transformers' pass as it is.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._limit = context_limit(model)
        self._cuda = model.device.type == "cuda"
        self._llama = _lean(model)
        self._run = model if self._llama else with_packed_layers(model)
        self._spare: list[Captured] = []
        self._exact: bool | None = None

    @property
    def model(self) -> Any:
        """The transformers model."""
        return self._model

    @property
    def path(self) -> str:
        if self._llama:
            return CAPTURED if self._cuda else LEAN
        return PACKED if not self._cuda and can_pack(self._model.dtype) else PLAIN

    def session(self, vocabulary: int) -> ModelSession:
        """A new one with a cache of its own."""
        if self._llama is None:
            return HFSession(self._run, vocabulary)
        if not self._cuda:
            return LlamaSession(Eager(self._llama), vocabulary, self._limit, LEAST)
        runner = self._spare.pop() if self._spare else Captured(self._llama, graph)
        session = LlamaSession(runner, vocabulary, self._limit, width=1)
        # Recording takes longer than a run: the next session goes on with the recordings of one that is gone.
        weakref.finalize(session, self._spare.append, runner)
        return session

    def exact_session(self, vocabulary: int) -> ModelSession | None:
        """One in whose passes a token's logits are the same bits wherever it stands; None where there is none."""
        if self._exact is None:
            self._exact = self._llama is not None and self._same_bits(self._llama)
        return self._fixed(self._llama, vocabulary) if self._exact and self._llama else None

    def prefix(self, layers: int, vocabulary: int) -> ModelSession:
        """A session over the first `layers` layers with the model's own norm and head; SettingError if too many."""
        if self._llama:
            return LlamaSession(Eager(self._llama.first(layers)), vocabulary, self._limit)
        return HFSession(first_layers(self._run, layers), vocabulary)

    def _fixed(self, llama: Llama, vocabulary: int) -> ModelSession:
        """Passes of one width and one kernel, whatever is asked for."""
        return LlamaSession(Eager(replace(llama, attend=fused)), vocabulary, self._limit, EXACT_WIDTH)

    def _same_bits(self, llama: Llama) -> bool:
        """One token at a time against blocks of several, behind texts of several lengths."""
        rows = head_rows(self._model)
        for offset in OFFSETS:
            tokens = _ids(offset + EXACT_WIDTH, rows)
            blocks, steps = self._fixed(llama, rows), self._fixed(llama, rows)
            together = []
            for session in (blocks, steps):
                session.extend(tokens[:offset], keep=0)
            for size in (5, EXACT_WIDTH - 5):
                together.append(blocks.extend(tokens[: len(blocks) + size], keep=size).logits)
            alone = [steps.extend(tokens[: n + 1], keep=1).logits for n in range(offset, len(tokens))]
            if not torch.equal(torch.cat(together), torch.cat(alone)):
                return False
        return True


def _lean(model: Any) -> Llama | None:
    """The family's own pass, if it is the model's and gives what transformers' pass gives."""
    if not belongs(model) or model.dtype not in PARTED:
        return None
    rows = head_rows(model)
    tried = llama(model)
    lean, plain = LlamaSession(Eager(tried), rows, context_limit(model)), HFSession(model, rows)
    tokens = _ids(12, rows)
    a, b = (session.extend(tokens, keep=len(tokens)).logits.float() for session in (lean, plain))
    return tried if bool((a - b).norm() <= PARTED[model.dtype] * b.norm()) else None


def _ids(count: int, rows: int) -> list[int]:
    """Ids all over the table."""
    return [(7919 * i * i + 31 * i) % rows for i in range(count)]
