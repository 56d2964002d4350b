"""Rejection sampling, the rule that is taught: `core/verify.py`."""

from specdemo.core.rules.entry import Badge, Entry, Side
from specdemo.core.verify import verify

RULE = Entry(
    id="rejection",
    label="Rejection sampling",
    badge=Badge.LOSSLESS,
    side=Side.TARGET,
    source="Leviathan et al., arXiv 2211.17192; Chen et al., arXiv 2302.01318",
    summary="Keeps x if u < p(x)/q(x), else draws from the residual max(0, p − q)",
    judge=verify,
)
