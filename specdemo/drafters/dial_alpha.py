"""Control: drafts with an acceptance that is set beforehand, from an honest q.

It looks at the target's own law p at each position, which no real deployment can. With m the least likely id,

    q = α·p + (1 − α)·δ_m        β = Σ min(p, q) = α + (1 − α)·p(m)

so β is α wherever p(m) = 0 (greedy, filtered) and within p(m) of it elsewhere: the i.i.d. acceptance that the
theory assumes. At T = 0 q has two atoms, the target's choice and a wrong one, and the draw decides.
"""

from torch import Tensor

from specdemo.core.protocols import Session
from specdemo.core.sampling import Shaping
from specdemo.drafters.model import SessionDrafter
from specdemo.drafters.registry import Setup


def make(setup: Setup) -> SessionDrafter:
    """A drafter over a second session of the target. It always drafts γ tokens, as theory has it."""
    alpha = float(setup.knobs["alpha"])
    return DialAlpha(setup.access.target(), setup.shaping, alpha)


class DialAlpha(SessionDrafter):
    """Draws from q in place of the law that the session's logits say."""

    def __init__(self, target: Session, shaping: Shaping, alpha: float) -> None:
        super().__init__(target, shaping, f"dial α = {alpha:g}")
        self._alpha = alpha

    def _law(self, logits: Tensor) -> Tensor:
        return dialled(super()._law(logits), self._alpha)


def dialled(p: Tensor, alpha: float) -> Tensor:
    """q `[1, V]` for the target's law p `[1, V]`."""
    q = alpha * p
    q[0, p[0].argmin()] += 1.0 - alpha
    return q
