"""A small language model of our own as the draft: two layers over the target's embedding, with fewer ids to say.

Knows how the trained net answers as a session. Does not know how it was trained. The textbook draft model: it sees
tokens only, and costs a twentieth of the target.
"""

from collections.abc import Sequence

import torch

from specdemo.core import ids
from specdemo.core.protocols import Pass
from specdemo.drafters.draft_file import TINY_MODEL
from specdemo.drafters.draft_net import DraftNet
from specdemo.drafters.model import SessionDrafter, over
from specdemo.drafters.registry import Setup
from specdemo.drafters.trained import find


def make(setup: Setup) -> SessionDrafter:
    """`PairError` if there is no file for the target or it does not fit."""
    path = find(setup.access, TINY_MODEL, str(setup.knobs["file"]))
    net = DraftNet.of(path, TINY_MODEL, setup.access)
    return over(TinySession(net), setup, "tiny model", net.support)


class TinySession:
    """The net behind the interface of a model."""

    limit = DraftNet.limit

    def __init__(self, net: DraftNet) -> None:
        self._net = net

    def __len__(self) -> int:
        return len(self._net)

    @torch.inference_mode()
    def extend(self, tokens: Sequence[int], keep: int) -> Pass:
        """Logits `[keep, R]` of the ids that the net can say."""
        new = ids.tensor(tokens, len(self))
        if len(new) < keep:
            raise ValueError("too few tokens are new")
        if not len(new):
            return Pass(self._net.logits(self._net.embedded(new)))
        features = self._net.read(self._net.embedded(new))
        return Pass(self._net.logits(features[len(new) - keep :]))

    def rollback(self, length: int) -> None:
        if not 0 <= length <= len(self):
            raise ValueError(f"cannot roll back to {length} of {len(self)}")
        self._net.rollback(length)
