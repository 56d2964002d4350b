"""One layer that continues the target's own hidden states: drafts from what the target thought, not only what it said.

Knows which states are the target's and which are the head's own guesses. Does not know how the net was trained.
Li et al., "EAGLE: Speculative Sampling Requires Rethinking Feature Uncertainty" (arXiv 2401.15077), as a chain.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from specdemo.core import ids
from specdemo.core.protocols import Pass
from specdemo.core.verify import Verdict
from specdemo.drafters.draft_file import FEATURE_HEAD
from specdemo.drafters.draft_net import DraftNet
from specdemo.drafters.model import SessionDrafter, Support, recorded, takes_first
from specdemo.drafters.registry import Setup
from specdemo.drafters.trained import find
from specdemo.errors import PairError


def make(setup: Setup) -> "FeatureHead":
    """`PairError` if there is no file for the target or it does not fit."""
    return FeatureHead(session(setup), setup)


def session(setup: Setup) -> "FeatureSession":
    """The head's session, from the knob's file or the default one."""
    path = find(setup.access, FEATURE_HEAD, str(setup.knobs["file"]))
    return FeatureSession(DraftNet.of(path, FEATURE_HEAD, setup.access))


class FeatureSession:
    """The head behind the interface of a model.

    Its input at token i is that token and the hidden state at i − 1: the target's where it is known, else the
    head's own output there, which takes the state's place as the head's training had it.
    """

    limit = DraftNet.limit

    def __init__(self, net: DraftNet) -> None:
        self._net = net
        self._fresh: list[Tensor] = []
        self._known = 0
        self._guess: Tensor | None = None

    @property
    def support(self) -> Support:
        """The ids it has logits for."""
        return self._net.support

    def __len__(self) -> int:
        return len(self._net)

    def learn(self, states: Tensor) -> None:
        """Takes the target's states `[n, H]` at the next n tokens; what was read with guesses is undone."""
        self.rollback(min(len(self), self._known + 1))
        if len(states):
            self._fresh.append(states)
            self._known += len(states)

    @torch.inference_mode()
    def extend(self, tokens: Sequence[int], keep: int) -> Pass:
        """Logits `[keep, R]`. Only the last of the new tokens may lack a state, and only the one at the head's end."""
        new = ids.tensor(tokens, len(self))
        if len(new) < max(keep, 1):
            raise ValueError("too few tokens are new")
        features = self._net.read(self._net.joined(self._net.embedded(new), self._states(len(new))))
        self._guess = features[-1:]
        return Pass(self._net.logits(features[len(new) - keep :]))

    def rollback(self, length: int) -> None:
        """Only behind the known states: what was read with them is never undone."""
        if not min(self._known, len(self)) <= length <= len(self):
            raise ValueError(f"cannot roll back to {length} of {len(self)}")
        self._net.rollback(length)

    def _states(self, count: int) -> Tensor:
        """States `[count, H]` before the next tokens; zero before the very first."""
        start = len(self)
        if start > self._known:
            if count > 1 or self._guess is None:
                raise ValueError("the head guesses one token at a time")
            return self._guess
        if start + count - 1 > self._known:
            raise ValueError("the target's states are behind the tokens")
        states = torch.cat(self._fresh) if self._fresh else None
        if start == 0:
            zero = self._net.embedded(torch.zeros(1, dtype=torch.long)) * 0
            states = zero if states is None else torch.cat([zero.to(states.dtype), states])
        assert states is not None
        # Kept for the next call: states behind these tokens.
        self._fresh = [states[count:]] if len(states) > count else []
        return states[:count]


class FeatureHead(SessionDrafter):
    """Drafts as any model does; in between it learns the target's states."""

    _session: FeatureSession

    def __init__(self, session: FeatureSession, setup: Setup) -> None:
        super().__init__(
            session,
            session.support.shaped(setup.shaping),
            "feature head",
            draw=recorded(setup),
            argmax=takes_first(setup),
            min_confidence=setup.min_confidence,
            end_tokens=setup.shaping.end_tokens,
            support=session.support,
        )

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None = None) -> None:
        """`PairError` if the target gives no hidden states."""
        if len(tokens):
            self._learn(hidden)
            self._session.extend(tokens, keep=0)

    def observe(self, tokens: Sequence[int], verdict: Verdict, hidden: Tensor | None = None) -> None:
        # Where a rule leaves the last token out, the kept guess before it is read again, and its state comes then.
        known = verdict.accepted + (verdict.token is not None)
        self._learn(None if hidden is None else hidden[:known])

    def _learn(self, states: Tensor | None) -> None:
        if states is None:
            raise PairError("no_hidden_states", name="this target")
        self._session.learn(states)
