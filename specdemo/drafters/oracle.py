"""Control: the target drafts for itself. q = p, so α = 1 (up to rounding between passes of different widths).

It sees what no real deployment can afford: each draft step costs a whole target step. It shows what perfect
guesses would bring, τ = γ + 1, and that verification keeps them.
"""

from specdemo.drafters.model import SessionDrafter, over
from specdemo.drafters.registry import Setup


def make(setup: Setup) -> SessionDrafter:
    """A second session of the target."""
    return over(setup.access.target(), setup, "oracle")
