"""Made-up slow runs, each with its reason and the change that helps most."""

from specdemo.core.metrics import Comparison, Metrics, Round, Tally
from specdemo.core.verify import Fate

ROUNDS = 30
CASES = [
    # Kept of 4; draft, verify, other in plain steps a round; share of rounds with a proposal; reason, best change.
    (1.4, 2.0, 1.1, 0.1, 1.0, "draft", "alpha"),
    (0.17, 1.54, 1.0, 0.02, 1.0, "draft", "gamma"),
    (1.0, 0.2, 2.4, 0.1, 1.0, "verify", "verify"),
    (0.1, 0.05, 1.6, 0.05, 1.0, "verify", "alpha"),
    (0.5, 0.1, 1.1, 0.9, 1.0, "other", "other"),
    (0.1, 0.15, 1.1, 0.05, 1.0, "alpha", "alpha"),
    (0.1, 0.12, 1.02, 0.02, 0.1, "seldom", "hits"),
    (0.0, 0.03, 1.0, 0.02, 0.0, "nothing", "gamma"),
]
"""Like the rows of `tests/player/why.test.js`, whose reasons are the same."""


def run(kept: float, draft: float, verify: float, other: float, hits: float) -> tuple[Comparison, Metrics]:
    """30 rounds that keep `kept` of four guesses in the mean, on a machine whose plain step is a second."""
    adding, tokens, proposals = Tally(), 0, round(hits * ROUNDS)
    wanted = round(kept * ROUNDS)
    for number in range(ROUNDS):
        left = proposals - number
        keep = min(4, -(-wanted // left)) if left > 0 else 0
        wanted -= keep
        fates = [Fate.ACCEPTED] * keep + [Fate.REJECTED] * (keep < 4) + [Fate.DISCARDED] * (3 - keep)
        last = (Fate.BONUS if keep == 4 else Fate.RESAMPLED) if left > 0 else Fate.PLAIN
        counted = Round(tuple(fates) if left > 0 else (), keep + 1, last, 4, 0, 5, draft, verify, other)
        adding.add(counted, range(tokens, tokens + keep + 1))
        tokens += keep + 1
    speedup = tokens / ((draft + verify + other) * ROUNDS)
    return Comparison(tokens, speedup, draft / 4, verify, 5, speedup, too_short=False), adding.metrics()
