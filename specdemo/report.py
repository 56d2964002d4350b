"""A run as one JSON object, for the command line's `--json`.

Knows results. Does not know how they are printed.
"""

from dataclasses import asdict
from typing import Any

from specdemo.core.result import LaneResult, Results
from specdemo.core.verify import Fate
from specdemo.outcome import Outcome


def report(results: Results, outcome: Outcome | None = None) -> dict[str, Any]:
    """The JSON of a run: one lane flat, several under "lanes" with their comparison."""
    if outcome is None and len(results.lanes) == 1:
        return lane_report(next(iter(results.lanes.values())))
    several: dict[str, Any] = {"lanes": {name: lane_report(lane) for name, lane in results.lanes.items()}}
    if outcome is not None:
        several |= asdict(outcome)
    return several


def lane_report(lane: LaneResult) -> dict[str, Any]:
    """The JSON of one lane. `proposed` counts a round's whole draft, `drafted` what stands before the run's end."""
    assert lane.finished is not None
    assert lane.started is not None
    rounds = [
        {
            "proposed": proposed,
            "drafted": len(r.fates),
            "accepted": r.fates.count(Fate.ACCEPTED),
            "emitted": r.emitted,
        }
        for r, proposed in zip(lane.rounds, lane.proposed, strict=True)
    ]
    return {
        "tokens": list(lane.finished.tokens),
        "text": lane.finished.text,
        "finish_reason": lane.finished.finish_reason,
        "finish_detail": lane.finished.detail,
        "prompt_tokens": len(lane.started.prompt),
        "drafter": lane.started.drafter,
        "rule": lane.started.rule,
        "rounds": rounds,
        "metrics": asdict(lane.finished.metrics),
    }
