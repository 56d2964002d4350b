"""The target's own quantised copy as the draft: nearly the same law, in weights of fewer bits.

Knows the name of the number format. Does not know how a copy is made.
"""

from specdemo.drafters.model import SessionDrafter, over
from specdemo.drafters.registry import Setup


def make(setup: Setup) -> SessionDrafter:
    """A copy in the knob's `scheme`. `PairError` where it cannot be made."""
    scheme = str(setup.knobs["scheme"])
    return over(setup.access.quantised(scheme), setup, f"{scheme} copy")
