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
    """The JSON of one lane. `proposed` counts a round's whole draft, `drafted` what stands before the run's end.

    Of a recording that breaks off it says what there is, with no reason for the finish.
    """
    assert lane.started is not None
    end, metrics = lane.finished, lane.metrics
    rounds = [
        {
            "proposed": proposed,
            "drafted": len(r.fates),
            "accepted": r.fates.count(Fate.ACCEPTED),
            "emitted": r.emitted,
        }
        for r, proposed in zip(lane.rounds, lane.proposed, strict=end is not None)
    ]
    return {
        "tokens": list(end.tokens) if end else lane.said,
        "text": end.text if end else lane.text,
        "finish_reason": end.finish_reason if end else None,
        "finish_detail": end.detail if end else "",
        "prompt_tokens": len(lane.started.prompt),
        "drafter": lane.started.drafter,
        "rule": lane.started.rule,
        "rounds": rounds,
        "metrics": asdict(metrics) if metrics else None,
    }
