"""What went wrong, as one sentence for the visitor in every language.

Knows errors. Does not know where they are shown. A mistake of the visitor is explained; anything else is a fault
of ours: the visitor learns that there was one, the log learns what.
"""

import logging

import torch

from specdemo.errors import Cancelled, UserError
from specdemo.ui.i18n import Texts, spoken, texts

LOG = logging.getLogger("specdemo")


def sentence(error: BaseException) -> Texts:
    """The sentence for an error. Logs the traceback of what nobody expected."""
    if isinstance(error, UserError):
        return spoken(error)
    if isinstance(error, Cancelled):
        return texts("problem.cancelled")
    if out_of_memory(error):
        return texts("problem.memory")
    LOG.error("unexpected error", exc_info=error)
    return texts("problem.unexpected")


def out_of_memory(error: BaseException) -> bool:
    """True if there was not enough memory, on whatever device. torch has no class of its own for the CPU's."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and "not enough memory" in str(error)
    )
