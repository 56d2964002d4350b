"""How good a net is on conversations kept from training: α and greedy agreement by depth, and the τ they promise.

Knows laws and held-out rows. Does not know files or the running drafter, whose figures come from real runs.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from specdemo.distill.dataset import Batch, Rows, batch, packed
from specdemo.distill.nets import Net, causal

MOST_PACKS = 24
CHUNK = 256


@dataclass(frozen=True, slots=True)
class Judgement:
    """On ids of answers, by depth 1 … : alpha, mean Σ min(p, q) at temperature 1; agree, share of equal first choices.

    tau: tokens a round would emit at temperature 0 with γ = depths, had it begun at any place of a greedy answer.
    rows: ids judged.
    """

    alpha: tuple[float, ...]
    agree: tuple[float, ...]
    tau: float
    rows: int

    def __str__(self) -> str:
        alpha, agree = (" ".join(f"{x:.3f}" for x in xs) for xs in (self.alpha, self.agree))
        return f"alpha {alpha} | agree {agree} | tau {self.tau:.2f} ({self.rows} ids)"


@torch.inference_mode()
def judge(net: Net, rows: Rows, embedding: Tensor, head: Tensor, kept: Tensor, length: int, depths: int) -> Judgement:
    """embedding and head `[V, H]` of the target, kept `[R]`: ids that the net can say."""
    head = head.to(torch.bfloat16)
    packs = packed(rows, list(range(len(rows.spans))), length)[:MOST_PACKS]
    alphas, agrees = (torch.zeros(depths, device=head.device) for _ in range(2))
    counts, emitted, rounds = torch.zeros(depths, device=head.device), 0.0, 0
    for pack in packs:
        one = batch(rows, [pack], length).to(embedding.device)
        answer = one.weight[0] == 1.0
        with torch.autocast(embedding.device.type, dtype=torch.bfloat16):
            found = net.features(embedding[one.tokens], one.before.float(), one.place, causal(one.segment), depths)
        found += [found[-1]] * (depths - len(found))
        alpha, agree = _against(found, one, head, kept)
        for d in range(depths):
            valid = answer & (one.depth[0] >= d)
            alphas[d] += alpha[d][valid].sum()
            agrees[d] += agree[d][valid].sum()
            counts[d] += valid.sum()
        cool = torch.tensor([rows.greedy[i] for i in pack], device=head.device)
        starts = answer & cool[(one.segment[0] - 1).clamp(min=0)]
        chain, here = (torch.ones(length, device=head.device) for _ in range(2))
        for d in range(depths):
            here = here * torch.nn.functional.pad(agree[d][d:], (0, d))
            chain = chain + here
        emitted += float(chain[starts].sum())
        rounds += int(starts.sum())
    return Judgement(
        tuple((alphas / counts).tolist()), tuple((agrees / counts).tolist()), emitted / max(rounds, 1), int(counts[0])
    )


def _against(found: list[Tensor], one: Batch, head: Tensor, kept: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Σ min(p, q) and equality of first choices, each a list over depths of `[T]`."""
    alphas, agrees = ([torch.zeros(len(one.tokens[0]), device=head.device) for _ in found] for _ in range(2))
    for first in range(0, len(one.tokens[0]), CHUNK):
        here = slice(first, first + CHUNK)
        p = (one.at[0, here].to(head.dtype) @ head.T).float().softmax(-1)
        said, choice = p[:, kept], p.argmax(-1)
        for d, feature in enumerate(found):
            q = (feature[0, here].to(head.dtype) @ head[kept].T).float().softmax(-1)
            alphas[d][here] = torch.minimum(said, q).sum(-1)
            agrees[d][here] = (kept[q.argmax(-1)] == choice).float()
    return alphas, agrees
