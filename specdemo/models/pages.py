"""Memory in large pages, where Linux lends them: in small ones a pass over the weights looks up an address every 4 KB.

Knows madvise(2). Does not know tensors or models. A hint: contents stay, and where it is not taken all stays as it was.
"""

import ctypes
import re
import sys
from functools import cache
from pathlib import Path

LARGE = 1 << 21
LENDS = Path("/sys/kernel/mm/transparent_hugepage/enabled")
"""Where Linux says whether it lends them: "always", "madvise" (to those who ask) or "never"."""

SMALL = 1 << 18
"""Bytes below which it is not worth asking: a cache keeps them."""
HUGEPAGE, COLLAPSE = 14, 25
"""MADV_HUGEPAGE and MADV_COLLAPSE (Linux 6.1): from now on, and what is there already."""


def lent(says: Path = LENDS) -> bool:
    """Whether this system lends large pages to those who ask."""
    try:
        return "[never]" not in says.read_text()
    except OSError:  # there are none, or this process may not know
        return False


def held(rollup: Path = Path("/proc/self/smaps_rollup")) -> int:
    """Bytes of this process that lie in large pages."""
    found = re.search(r"AnonHugePages: +(\d+) kB", rollup.read_text())
    return int(found[1]) * 1024 if found else 0


def in_large_pages(address: int, size: int) -> None:
    """Asks for `size` bytes at an address, and for what shares their pages."""
    if sys.platform != "linux" or size < SMALL or not _lent():
        return
    start, end = address // LARGE * LARGE, -(-(address + size) // LARGE) * LARGE
    for advice in (HUGEPAGE, COLLAPSE):
        _madvise()(start, end - start, advice)  # a refusal (an older system, none to be had) changes nothing


@cache
def _lent() -> bool:
    return lent()


@cache
def _madvise() -> "ctypes._NamedFuncPointer":
    function = ctypes.CDLL(None).madvise
    function.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    return function
