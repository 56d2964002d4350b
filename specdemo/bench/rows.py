"""One lane of one race as a row of plain numbers.

Knows results, outcomes and costs. Does not know how they were run or where rows are kept. What could not be
measured is None, never 0, inf or NaN.
"""

from dataclasses import dataclass

from specdemo.bench.plan import Lane, Race
from specdemo.core import theory
from specdemo.core.metrics import TOO_SHORT, ratio, time_to
from specdemo.core.result import LaneResult
from specdemo.costs import Costs
from specdemo.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Row:
    """What one lane did on one prompt. Seconds are the lane's own compute.

    drafter: label, "none" for the baseline. tokens … tau, hit_rate, looped: as in `core.metrics.Metrics`.
    proposed: all tokens drafted, also those behind the end of the run.
    compared: tokens up to which lane and baseline are compared, the smaller of the two counts; seconds, baseline_s: the
    decoding time that each took for so many; speedup: baseline_s / seconds, None for baseline and controls.
    predicted: the speedup if only model time counted, from costs measured apart; None as for speedup.
    c, v, width: as in `core.metrics.Comparison`. token_s: decode_s / tokens. latency_s: prefill_s + decode_s.
    identical: same tokens as the baseline; None at T > 0, which does not promise it. divergence: index of the first
    other token. gap: the target's top-1 minus top-2 logit there. tie: rounding alone explains the divergence.
    """

    prompt: str
    group: str
    temperature: float
    repeat: int
    lane: str
    drafter: str
    gamma: int
    control: bool
    tokens: int
    rounds: int
    proposed: int
    drafted: int
    tested: int
    accepted: int
    alpha: float | None
    tau: float | None
    hit_rate: float | None
    c: float | None
    v: float | None
    width: int | None
    compared: int
    seconds: float
    baseline_s: float
    speedup: float | None
    predicted: float | None
    tokens_per_s: float | None
    token_s: float | None
    latency_s: float
    first_token_s: float | None
    prefill_s: float
    decode_s: float
    draft_s: float
    verify_s: float
    overhead_s: float
    looped: float | None
    too_short: bool
    identical: bool | None
    divergence: int | None
    gap: float | None
    tie: bool | None
    finish_reason: str

    @property
    def race(self) -> tuple[str, float, int]:
        """The key of its race."""
        return self.prompt, self.temperature, self.repeat


def row(race: Race, lane: Lane, did: LaneResult, baseline: LaneResult, outcome: Outcome, costs: Costs | None) -> Row:
    """The row of a finished lane. `outcome`: of the lane against the baseline (against itself for the baseline)."""
    assert did.finished is not None
    m, compared = did.finished.metrics, outcome.comparison.tokens
    seconds, baseline_s = time_to(compared, did.rounds), time_to(compared, baseline.rounds)
    counts_as_speedup = lane.choice is not None and not lane.choice.control
    divergence = outcome.divergence
    return Row(
        prompt=race.prompt.id,
        group=race.prompt.group,
        temperature=race.temperature,
        repeat=race.repeat,
        lane=lane.name,
        drafter=lane.drafter,
        gamma=lane.gamma,
        control=lane.choice is not None and lane.choice.control,
        tokens=m.tokens,
        rounds=m.rounds,
        proposed=sum(did.proposed),
        drafted=m.drafted,
        tested=m.tested,
        accepted=m.accepted,
        alpha=m.alpha,
        tau=m.tau,
        hit_rate=m.hit_rate,
        c=outcome.comparison.c,
        v=outcome.comparison.v,
        width=outcome.comparison.width,
        compared=compared,
        seconds=seconds,
        baseline_s=baseline_s,
        speedup=ratio(baseline_s, seconds) if counts_as_speedup else None,
        predicted=predicted(did, costs) if counts_as_speedup else None,
        tokens_per_s=m.tokens_per_s,
        token_s=ratio(m.decode_s, m.tokens),
        latency_s=m.prefill_s + m.decode_s,
        first_token_s=m.first_token_s,
        prefill_s=m.prefill_s,
        decode_s=m.decode_s,
        draft_s=m.draft_s,
        verify_s=m.verify_s,
        overhead_s=m.overhead_s,
        looped=m.looped,
        too_short=compared < TOO_SHORT,
        identical=outcome.identical if lane.choice else None,
        divergence=outcome.same if lane.choice and outcome.identical is False else None,
        gap=divergence.gap if divergence else None,
        tie=divergence.numerical_tie if divergence else None,
        finish_reason=did.finished.finish_reason,
    )


def predicted(did: LaneResult, costs: Costs | None) -> float | None:
    """The limit of a run for its own rounds at the given costs; None without costs or rounds."""
    if costs is None or not did.rounds:
        return None
    rounds = [(r.steps, r.width) for r in did.rounds]
    return theory.limit(sum(r.emitted for r in did.rounds), costs.t(1), rounds, costs.t_draft, costs.t)
