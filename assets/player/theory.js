// The formulas of speculative decoding; the same functions as specdemo/core/theory.py, tested against the same goldens.
// alpha: acceptance chance of a tested token. gamma: tokens drafted a round. c: draft step / target step. v(n): target
// pass over n tokens / over one.

/** Chance that a token drawn from q survives the test against p: Σ min(p, q). */
export function beta(p, q) {
  return p.reduce((total, chance, i) => total + Math.min(chance, q[i]), 0);
}

/** Tokens emitted a round, (1 − α^(γ+1)) / (1 − α). */
export function tau(alpha, gamma) {
  let [total, power] = [0, 1];
  for (let i = 0; i <= gamma; i++, power *= alpha) total += power;
  return total;
}

/** Tokens emitted a round where position j has its own acceptance: 1 + Σ_i Π_{j≤i} α_j. */
export function tauByPosition(alphas) {
  let [total, survives] = [1, 1];
  for (const alpha of alphas) total += survives *= alpha;
  return total;
}

/** Share of drafted tokens that are kept. gamma ≥ 1. */
export function acceptedPerDrafted(alpha, gamma) {
  return (tau(alpha, gamma) - 1) / gamma;
}

/** Share of emitted tokens that were drafted. */
export function acceptedPerEmitted(alpha, gamma) {
  return 1 - 1 / tau(alpha, gamma);
}

/** v of a machine on which checking n tokens costs as much as one. */
export function flat() {
  return 1;
}

/** Expected speed against plain decoding, τ / (γc + v(γ+1)). */
export function speedup(alpha, gamma, c, v = flat) {
  return tau(alpha, gamma) / (gamma * c + v(gamma + 1));
}

/** Arithmetic operations against plain decoding, (γĉ + γ + 1) / τ. */
export function arithmetic(alpha, gamma, cHat = 0) {
  return (gamma * cHat + gamma + 1) / tau(alpha, gamma);
}

/** The gamma in 0 … most with the largest expected speedup; of equals the smallest. */
export function bestGamma(alpha, c, v = flat, most = 32) {
  let best = 0;
  for (let gamma = 1; gamma <= most; gamma++)
    if (speedup(alpha, gamma, c, v) > speedup(alpha, best, c, v)) best = gamma;
  return best;
}

/** True if some gamma gives a speedup above one on a machine with flat verification. */
export function worthIt(alpha, c) {
  return alpha > c;
}

/** The speedup of a run had only model time counted: tokens · t(1) / Σ (steps · t_d + t(n)). rounds: [steps, n] pairs. */
export function limit(tokens, tOne, rounds, tDraft, tPass) {
  return (tokens * tOne) / rounds.reduce((total, [steps, n]) => total + steps * tDraft + tPass(n), 0);
}
