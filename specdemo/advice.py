"""The sentences of "why is it slower?": the reason with its numbers, and what to change with the speedup to expect.

Knows the locale files. Finds nothing itself: `core/why.py` does.
"""

from specdemo.core.metrics import Comparison, Metrics
from specdemo.core.why import Change, Why, why
from specdemo.errors import sentences


def advice(comparison: Comparison, metrics: Metrics, language: str = "en") -> tuple[str, ...]:
    """The reason, then the changes that would help, best first; empty where nothing was slow or can be judged."""
    found = why(comparison, metrics)
    if found is None:
        return ()
    better = (change for change in found.changes if change.speedup > found.speedup)
    return (reason(found, comparison, metrics, language), *(say(change, language) for change in better))


def reason(found: Why, comparison: Comparison, metrics: Metrics, language: str = "en") -> str:
    """Why the run was slow, in the player's words."""
    # A rule that judges whole blocks has no count of tests.
    key = "alpha_untested" if found.reason == "alpha" and not metrics.tested else found.reason
    return sentences(language)[f"player.why.{key}"].format(
        tau=_fixed(metrics.tau),
        cost=_fixed(found.costs.total),
        draft=_fixed(found.costs.draft),
        verify=_fixed(found.costs.verify),
        other=_fixed(found.costs.other),
        c=_fixed(comparison.c),
        v=_fixed(comparison.v),
        width=comparison.width or "–",
        accepted=metrics.accepted,
        tested=metrics.tested,
        proposals=metrics.proposals,
        rounds=metrics.rounds,
    )


def say(change: Change, language: str = "en") -> str:
    """A change and its predicted speedup."""
    key = "none" if change.gamma == 0 else change.key
    return sentences(language)[f"ui.why.{key}"].format(speedup=_fixed(change.speedup), gamma=change.gamma)


def _fixed(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
