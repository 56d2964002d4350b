"""A target and perhaps a draft, loaded and checked to fit: all that a run needs of the models.

Knows models by their sessions. Does not know where they came from, drafters or runs.
"""

import time
from dataclasses import dataclass
from typing import Any

import torch
from transformers import PreTrainedTokenizerFast

from specdemo.core.protocols import Session, Tables
from specdemo.core.sampling import Draw, Drawing
from specdemo.errors import PairError
from specdemo.machine import peak_memory
from specdemo.models.captured import Recorded, graph
from specdemo.models.decoder import Decoder
from specdemo.models.hf_session import HFSession, cache_bytes, can_roll_back, context_limit, head_rows
from specdemo.models.norm import norm
from specdemo.models.packed import light
from specdemo.models.presets import Preset
from specdemo.models.quantise import Quantised, quantise, tensor_bytes
from specdemo.models.text import Text, special_ids

DRAWS_KEPT = 8


@dataclass(frozen=True, slots=True)
class Loaded:
    """One model with its tokenizer. name: what is shown. key: what files made for it are named after."""

    name: str
    key: str
    model: Any
    tokenizer: PreTrainedTokenizerFast


@dataclass(frozen=True, slots=True)
class QuantisedReport:
    """What a quantised copy is: layers really quantised, its bytes and the target's."""

    layers: int
    bytes: int
    target_bytes: int


class Pair:
    """`core.protocols.ModelAccess` over real models. Every session is new and has a cache of its own.

    vocabulary: V = min(ids of the tokenizer, rows of the target's head, rows of the draft's).
    end_tokens: every id that target or tokenizer calls the end.
    rollback_refusal: None, or the key of the sentence why the target cannot roll back: then it can decode
    plainly, but every drafter is refused (`require_rollback`).
    """

    def __init__(self, preset: Preset, target: Loaded, draft: Loaded | None = None) -> None:
        """Raises PairError with one sentence that names the culprit if the two cannot work together."""
        self.preset = preset
        self._key = target.key
        self.target_name = target.name
        self.draft_name = draft.name if draft else None
        self.device = target.model.device.type
        self.dtype = str(target.model.dtype).removeprefix("torch.")
        self.target_bytes = tensor_bytes(target.model)
        self.draft_bytes = tensor_bytes(draft.model) if draft else 0
        self.end_tokens = end_tokens(target)
        self.text = Text.from_tokenizer(target.tokenizer, end_tokens=self.end_tokens)
        self.vocabulary = _shared_vocabulary(self.text, target, draft)
        self.rollback_refusal = can_roll_back(target.model)
        if self.rollback_refusal == "no_cache":
            raise PairError("no_cache", name=target.name)
        if draft:
            self.require_rollback()
            if refusal := can_roll_back(draft.model):
                raise PairError(refusal, name=draft.name)
        self._model: Any = target.model
        self._target = Decoder(target.model)
        self._draft = Decoder(draft.model) if draft else None
        self._quantised: dict[str, Quantised] = {}
        self._tables: Tables | None = None
        self._draws: dict[Draw, Recorded] = {}

    @property
    def name(self) -> str:
        return self._key

    @property
    def model(self) -> Any:
        """The target itself, a transformers model: to compare with transformers itself, or to write training text."""
        return self._model

    @property
    def draft_model(self) -> Any:
        """The draft as a transformers model, None if there is none."""
        return self._draft.model if self._draft else None

    @property
    def path(self) -> str:
        """How the target's passes are made: see `Decoder`."""
        return self._target.path

    @property
    def limit(self) -> int:
        """The target's context length in tokens."""
        return context_limit(self._model)

    @property
    def token_bytes(self) -> int:
        """Bytes of keys and values that the target keeps for one token."""
        return cache_bytes(self._model)

    def target(self) -> Session:
        return self._target.session(self.vocabulary)

    def exact_target(self) -> Session:
        """The target in passes of one width, whose logits are the same bits wherever a token stands.

        PairError if they are not, here.
        """
        session = self._target.exact_session(self.vocabulary)
        if session is None:
            raise PairError("not_exact", name=self.target_name)
        return session

    def draft(self) -> Session:
        if self._draft is None:
            raise PairError("no_draft", name=self.target_name)
        return self._draft.session(self.vocabulary)

    def prefix(self, layers: int) -> Session:
        self.require_rollback()
        return self._target.prefix(layers, self.vocabulary)

    def quantised(self, scheme: str) -> Session:
        return HFSession(self._copy(scheme).model, self.vocabulary)

    def recorded(self, draw: Draw) -> Drawing | None:
        if self.device != "cuda":
            return None
        # Kept, for recording takes longer than many draws; but not for every top-k there is.
        if draw not in self._draws:
            if len(self._draws) == DRAWS_KEPT:
                del self._draws[next(iter(self._draws))]
            self._draws[draw] = Recorded(draw, graph, self._model.device)
        return self._draws[draw]

    def tables(self) -> Tables:
        if self._tables is None:
            embedding, head = self._model.get_input_embeddings(), self._model.get_output_embeddings()
            self._tables = Tables(embedding.weight.detach(), head.weight.detach(), light, norm)
        return self._tables

    def quantised_report(self, scheme: str) -> QuantisedReport:
        """What the copy is; makes it if need be."""
        copied = self._copy(scheme)
        return QuantisedReport(copied.layers, copied.bytes, self.target_bytes)

    def require_rollback(self) -> None:
        """PairError if the target's cache cannot forget: whoever drafts must call this first."""
        if self.rollback_refusal:
            raise PairError(self.rollback_refusal, name=self.target_name)

    def clock(self) -> float:
        """Seconds, after all that was asked of the device is done."""
        if self.device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    def peak_memory(self) -> int:
        """The most memory used so far, in bytes."""
        return peak_memory(self.device)

    def close(self) -> None:
        """Lets go of the quantised copies and the models. The pair cannot be used afterwards."""
        self._quantised.clear()
        self._tables = None
        self._draws.clear()
        del self._model, self._target, self._draft
        if self.device == "cuda":
            torch.cuda.empty_cache()

    def _copy(self, scheme: str) -> Quantised:
        if scheme not in self._quantised:
            self._quantised[scheme] = quantise(self._model, scheme, self.target_name)
        return self._quantised[scheme]


def end_tokens(loaded: Loaded) -> tuple[int, ...]:
    """Every id that the generation settings, the config or the tokenizer call the end; each may name one or several."""
    model = loaded.model
    named = [
        getattr(model.generation_config, "eos_token_id", None),
        getattr(model.config.get_text_config(), "eos_token_id", None),
        loaded.tokenizer.eos_token_id,
    ]
    ids = {token for value in named for token in (value if isinstance(value, list | tuple) else [value])}
    return tuple(sorted(token for token in ids if token is not None and token < len(loaded.tokenizer)))


def _shared_vocabulary(text: Text, target: Loaded, draft: Loaded | None) -> int:
    """V. PairError if a model lacks a row for an ordinary token, an end token or one that the chat template writes."""
    special = special_ids(target.tokenizer)
    ordinary = {token for token in target.tokenizer.get_vocab().values() if token not in special}
    needed = max({*ordinary, *text.encode("a", raw=False), *end_tokens(target)}) + 1
    rows = {loaded.name: head_rows(loaded.model) for loaded in (target, draft) if loaded}
    for name, count in rows.items():
        if count < needed:
            raise PairError("vocabulary_too_small", name=name, rows=count, needed=needed)
    return min(text.vocabulary, *rows.values())
