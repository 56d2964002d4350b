// Why a run was slower than plain decoding: one sentence with its numbers, by rules over measured values. No page.

const ENOUGH_GAIN = 0.25;

/**
 * The reason for a speedup below one: {key, params} of a sentence, or null where there is nothing to explain.
 * comparison: of `compare`; metrics: of the speculative lane. All costs are in target steps of one token.
 */
export function why(comparison, metrics) {
  if (comparison.speedup === null || comparison.speedup >= 1 || comparison.too_short || !metrics.tau) return null;
  const step = plainStep(comparison, metrics);
  const costs = {
    draft: metrics.draft_s / metrics.rounds / step,
    verify: metrics.verify_s / metrics.rounds / step,
    other: metrics.overhead_s / metrics.rounds / step,
  };
  const total = costs.draft + costs.verify + costs.other;
  const found = reason(costs, metrics);
  // A rule that judges whole blocks has no count of tests.
  const key = found === "alpha" && !metrics.tested ? "alpha_untested" : found;
  return { key: `why.${key}`, params: amounts(costs, total, comparison, metrics) };
}

// The time of one baseline token; adds_up_to = tokens · step / time spent.
function plainStep(comparison, metrics) {
  return (comparison.adds_up_to * metrics.decode_s) / metrics.tokens;
}

// What costs most above the one step that a token costs anyway; if next to nothing was gained, cost is not the reason.
function reason(costs, metrics) {
  if (metrics.proposals === 0) return "nothing";
  const gain = metrics.tau - 1;
  const excess = { draft: costs.draft, verify: costs.verify - 1, other: costs.other };
  const worst = Object.keys(excess).reduce((a, b) => (excess[b] > excess[a] ? b : a));
  if (gain < ENOUGH_GAIN && excess[worst] < 2 * ENOUGH_GAIN) return metrics.hit_rate < 0.5 ? "seldom" : "alpha";
  return worst;
}

function amounts(costs, total, comparison, metrics) {
  return {
    tau: metrics.tau.toFixed(2),
    cost: total.toFixed(2),
    draft: costs.draft.toFixed(2),
    verify: costs.verify.toFixed(2),
    other: costs.other.toFixed(2),
    c: comparison.c === null ? "–" : comparison.c.toFixed(2),
    v: comparison.v === null ? "–" : comparison.v.toFixed(2),
    width: comparison.width ?? "–",
    accepted: metrics.accepted,
    tested: metrics.tested,
    proposals: metrics.proposals,
    rounds: metrics.rounds,
  };
}
