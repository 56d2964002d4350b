"""Training of a draft net on the target's own text, with checkpoints that a stopped training goes on from.

Knows optimiser, schedule and checkpoints. Does not know how text was made or how a draft runs.
"""

import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from specdemo.distill.dataset import Batch, Rows, batches
from specdemo.distill.nets import Net, causal
from specdemo.distill.objective import distance, divergence, teacher
from specdemo.drafters.draft_file import FEATURE_HEAD

NOISE = 0.3
"""Noise on the true states, whose size is about 2: the head must not learn its text by heart, nor trust states that
it will often have to guess."""
UNROLL = (1.0, 0.8, 0.6, 0.5)
"""Weight of each unrolled step."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How long and how fast. steps: of the optimiser; the rate rises over `warmup`, is flat, and falls over `decay`."""

    steps: int
    packs: int = 4
    length: int = 512
    rate: float = 1e-3
    warmup: int = 50
    decay: float = 0.35
    unroll: int = 2
    seed: int = 0
    save_every: int = 100

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, 0 at the last."""
        falling = self.steps * (1 - self.decay)
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        if step < falling:
            return self.rate
        return self.rate * max(0.0, (self.steps - step) / (self.steps - falling))


@dataclass(slots=True)
class Progressed:
    """Where a training is: kept in its checkpoint."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0


class Training:
    """A net, its optimiser and its place in the plan."""

    def __init__(self, net: Net, embedding: Tensor, head: Tensor, plan: Plan, folder: Path) -> None:
        """embedding `[V, H]` of the target, head `[R, H]`: its output rows of the reduced vocabulary."""
        self.net, self.plan = net, plan
        self._embedding = embedding
        self._head = head.to(torch.bfloat16)
        self._optimiser = torch.optim.AdamW(net.parameters(), lr=plan.rate, betas=(0.9, 0.95), weight_decay=0.05)
        self._noise = torch.Generator().manual_seed(plan.seed)
        self._path = folder / f"{net.kind}.pt"
        self.at = Progressed()
        if self._path.is_file():
            kept = torch.load(self._path, weights_only=True)
            net.load_state_dict(kept["net"])
            self._optimiser.load_state_dict(kept["optimiser"])
            self.at = Progressed(**kept["at"])

    def run(self, rows: Callable[[], Rows], report: Callable[[Progressed, float], None]) -> None:
        """Trains to the end of the plan. `rows` is asked anew for every pass over the text, which may have grown."""
        epoch = 0
        losses: list[float] = []
        while self.at.step < self.plan.steps:
            coin = random.Random(f"{self.plan.seed}-{self.at.step}-{epoch}")
            epoch += 1
            for batch in batches(rows(), self.plan.packs, self.plan.length, coin):
                began = time.perf_counter()
                losses.append(self._step(batch.to(self._embedding.device)))
                self.at.step += 1
                self.at.tokens += int((batch.weight > 0).sum())
                self.at.seconds += time.perf_counter() - began
                if self.at.step % self.plan.save_every == 0 or self.at.step == self.plan.steps:
                    self.save()
                    report(self.at, sum(losses) / len(losses))
                    losses = []
                if self.at.step >= self.plan.steps:
                    return

    def _step(self, batch: Batch) -> float:
        for group in self._optimiser.param_groups:
            group["lr"] = self.plan.rate_at(self.at.step)
        loss = loss_of(self.net, batch, self._embedding, self._head, self.plan.unroll, self._noise)
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(self.net.parameters(), 1.0)
        self._optimiser.step()
        return float(loss.detach())

    def save(self) -> None:
        """The checkpoint, complete or not at all."""
        unfinished = self._path.with_suffix(".part")
        state: dict[str, Any] = {
            "net": self.net.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "at": asdict(self.at),
        }
        torch.save(state, unfinished)
        unfinished.replace(self._path)


def loss_of(
    net: Net, batch: Batch, embedding: Tensor, head: Tensor, unroll: int, noise: torch.Generator | None = None
) -> Tensor:
    """Mean loss of a row that counts, over all unrolled steps. noise: where that on a head's states comes from."""
    counted = batch.weight > 0
    p, first = teacher(batch.at[counted], head)
    before = batch.before.float()
    if noise is not None and net.kind == FEATURE_HEAD:
        before = before + NOISE * torch.randn(before.shape, generator=noise).to(before.device)
    with torch.autocast(embedding.device.type, dtype=torch.bfloat16):
        found = net.features(embedding[batch.tokens], before, batch.place, causal(batch.segment), unroll)
    total = torch.zeros((), device=p.device)
    for step, (feature, share) in enumerate(zip(found, UNROLL, strict=False)):
        # In a later step the row's state is a guess made `step` rows before; those lie in another conversation there.
        weight = batch.weight[counted] * (batch.depth[counted] >= step) * share
        total = total + divergence(feature[counted], head, p, first, weight)
        if net.kind == FEATURE_HEAD:
            total = total + distance(feature[counted], batch.at[counted], weight)
    return total / batch.weight.sum()
