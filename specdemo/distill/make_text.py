"""The first stage of distilling: the target writes text, shard by shard. Stopped and started again it goes on.

Knows the sampler and the shards. Does not know training.
"""

import random
import time
from pathlib import Path

import torch

from specdemo.distill.batch_llama import BatchLlama, require_llama
from specdemo.distill.conversations import LEAST_PASSAGE, Script, draw
from specdemo.distill.sampler import Conversation, Role, Sampler, Template, longest
from specdemo.distill.shards import read_shard, shard_paths, write_head, write_shard
from specdemo.models.pair import Pair
from specdemo.models.progress import Cancel, Progress, stop_if

ROWS = 128
SHARD_TOKENS = 40_000
MOST_PASSAGES = 4_000


def make_text(
    pair: Pair,
    folder: Path,
    answer_tokens: int,
    seed: int,
    progress: Progress,
    cancelled: Cancel,
    rows: int = ROWS,
    dtype: torch.dtype = torch.bfloat16,
) -> int:
    """Writes shards until the folder holds `answer_tokens` ids of answers; returns how many it holds.

    What was being written when it stopped is lost; the seed goes on with the number of shards.
    """
    require_llama(pair.model, pair.target_name)
    folder.mkdir(parents=True, exist_ok=True)
    done = shard_paths(folder)
    passages: list[str] = []
    made = 0
    for path in done:
        shard = read_shard(path, hidden=False)
        made += int((shard.roles == Role.ANSWER).sum())
        for kind, (start, end) in zip(shard.kinds, shard.spans(), strict=True):
            if kind == "writing":
                _remember(passages, pair, shard.tokens[start:end].tolist(), shard.roles[start:end].tolist())
    if made >= answer_tokens:
        return made
    coin = random.Random(f"{seed}-{len(done)}")
    template = Template.of(pair.text)
    batch_model = BatchLlama(pair.model, pair.vocabulary, rows, longest(template), dtype)
    sampler = Sampler(batch_model, template, pair.end_tokens, coin.getrandbits(32))
    write_head(folder, template.head, sampler.head_hidden)

    def next_script() -> Script:
        return draw(coin, passages, lambda written: template.words(pair.text, written))

    batch: list[Conversation] = []
    held, number, began = 0, len(done), time.perf_counter()
    for one in sampler.conversations(next_script):
        stop_if(cancelled)
        batch.append(one)
        held += len(one.tokens)
        made += one.roles.count(Role.ANSWER)
        if one.script.passage:
            _remember(passages, pair, one.tokens, [int(role) for role in one.roles])
        if held >= SHARD_TOKENS or made >= answer_tokens:
            write_shard(folder, number, batch)
            spent = time.perf_counter() - began
            progress(f"write text ({held / spent:.0f} tokens/s)", min(made, answer_tokens), answer_tokens)
            batch, held, number, began = [], 0, number + 1, time.perf_counter()
            if made >= answer_tokens:
                break
    return made


def _remember(passages: list[str], pair: Pair, tokens: list[int], roles: list[int]) -> None:
    """Keeps an answer as a passage if it is long enough; of very many the oldest go."""
    ids = [token for token, role in zip(tokens, roles, strict=True) if role == Role.ANSWER]
    if len(ids) >= LEAST_PASSAGE:
        passages.append(pair.text.decode(ids))
        del passages[:-MOST_PASSAGES]
