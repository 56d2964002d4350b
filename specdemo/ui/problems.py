"""What went wrong, as one sentence for the visitor in every language.

Knows errors. Does not know where they are shown. A mistake of the visitor is explained; anything else is a fault
of ours: the visitor learns that there was one, the log learns what.
"""

import errno
import logging

import torch

from specdemo.errors import Cancelled, UserError
from specdemo.ui.i18n import Texts, spoken, texts

LOG = logging.getLogger("specdemo")
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory")
"""What torch says on Linux and macOS, on Windows, and on an Apple GPU."""


def sentence(error: BaseException) -> Texts:
    """The sentence for an error. Logs the traceback of what nobody expected."""
    if isinstance(error, UserError):
        return spoken(error)
    if isinstance(error, Cancelled):
        return texts("problem.cancelled")
    if out_of_memory(error):
        return texts("problem.memory")
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return texts("problem.disk")
    LOG.error("unexpected error", exc_info=error)
    return texts("problem.unexpected")


def out_of_memory(error: BaseException | None) -> bool:
    """True if there was not enough memory, on whatever device. torch has a class of its own for CUDA only."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and any(words in str(error) for words in NO_MEMORY)
    )
