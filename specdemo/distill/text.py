"""Text that any target writes itself, for n-gram tables: slower than `sampler.py`, and for every family of models.

Knows transformers' sampling and the chat template's head. Does not know what the text is used for. The target
is given the bare beginning of a chat, writes the user's turn and then its own answer.
"""

from collections.abc import Iterator
from typing import Any

import torch
from transformers import GenerationConfig

from specdemo.distill.sampler import Template
from specdemo.models.pair import Pair
from specdemo.models.progress import Cancel, Progress, stop_if

BATCH = 32
TEMPERATURES = (0.4, 0.7, 1.0)
"""Taken in turn, batch by batch: cool text looks like greedy answers, warm text is varied."""


def own_text(
    pair: Pair, tokens: int, length: int, seed: int, progress: Progress, cancelled: Cancel
) -> Iterator[tuple[int, ...]]:
    """Conversations of at most `length` ids until there are `tokens` ids of them, without the head of the template.

    Leaves the global random generator as it was.
    """
    head = Template.of(pair.text).head
    made, batches = 0, 0
    while made < tokens:
        stop_if(cancelled)
        rows = _sample(pair.model, head, length, TEMPERATURES[batches % len(TEMPERATURES)], seed + batches)
        batches += 1
        for row in rows:
            conversation = _conversation(row, pair.end_tokens)
            made += len(conversation)
            yield conversation
        progress("write text", min(made, tokens), tokens)


def _sample(model: Any, head: tuple[int, ...], length: int, temperature: float, seed: int) -> list[list[int]]:
    settings = GenerationConfig(
        do_sample=True, temperature=temperature, top_k=0, max_new_tokens=length, pad_token_id=0, eos_token_id=None
    )
    prompts = torch.tensor([head] * BATCH, device=model.device)
    devices = [model.device] if model.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices), torch.inference_mode():
        torch.manual_seed(seed)
        out = model.generate(prompts, attention_mask=torch.ones_like(prompts), generation_config=settings)
    rows: list[list[int]] = out[:, len(head) :].tolist()
    return rows


def _conversation(row: list[int], end_tokens: tuple[int, ...]) -> tuple[int, ...]:
    """Up to the end of the second turn, the answer; all of it if that does not come."""
    ends = [i for i, token in enumerate(row) if token in end_tokens]
    return tuple(row[: ends[1] + 1] if len(ends) > 1 else row)
