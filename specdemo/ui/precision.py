"""The same models held in another number type: how such a second pair is called, and whether there is room for it.

Knows specs, number types and bytes. Does not know how a pair is loaded.
"""

from specdemo.errors import PairError
from specdemo.machine import free_memory
from specdemo.models.loader import Pair

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
"""Of one number."""
SPARE = 2.0
"""Memory that must be free, in sizes of what is to be held: weights are packed once more while they are read."""
AS = " as "


def in_dtype(spec: str, dtype: str) -> str:
    """The spec of the same pair in another number type."""
    return f"{spec}{AS}{dtype}"


def split(spec: str) -> tuple[str, str | None]:
    """The pair's own spec and the number type that was asked for, None for its usual one."""
    name, _, dtype = spec.partition(AS)
    return name, dtype or None


def room_for(pair: Pair, dtype: str) -> int:
    """Bytes of the weights of a pair in another number type. `PairError` if there is no room for them beside it."""
    needed = (pair.target_bytes + pair.draft_bytes) * BYTES[dtype] // BYTES.get(pair.dtype, 2)
    free = free_memory(pair.device)
    if needed * SPARE > free:
        raise PairError(
            "no_room_beside", name=pair.target_name, dtype=dtype, needed=_mb(needed * SPARE), free=_mb(free)
        )
    return needed


def _mb(size: float) -> str:
    return f"{size / 1e6:.0f}"
