"""The target's first layers as the draft, with its own norm and output layer: no second model is needed.

Knows how many layers. Does not know how they are run. The choice of `layers` changes acceptance and the cost of a
draft step, never the text's law: the whole target tests every guess.
"""

from specdemo.drafters.model import SessionDrafter, over
from specdemo.drafters.registry import Setup


def make(setup: Setup) -> SessionDrafter:
    """The first `layers` layers. `SettingError` if the target has not so many."""
    layers = int(setup.knobs["layers"])
    return over(setup.access.prefix(layers), setup, f"first {layers} layers")
