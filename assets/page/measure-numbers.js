// The numbers of the Measure tab: theory from an earlier run, the axes of its charts, who is best. No DOM.

import { bestGamma, speedup } from "../player/theory.js";

/** v(n) from measured passes [[n, seconds]]: on straight lines between and beyond them, as `Costs.v` of the server. */
export function measuredV(passes) {
  const t = (n) => {
    const found = passes.findIndex(([width]) => width >= n);
    const right = found < 0 ? passes.length - 1 : found;
    if (passes.length === 1 || passes[right][0] === n) return passes[right][1];
    const [[n0, t0], [n1, t1]] = [passes[Math.max(right - 1, 0)], passes[Math.max(right, 1)]];
    return t0 + ((t1 - t0) * (n - n0)) / (n1 - n0);
  };
  return (n) => t(n) / t(1);
}

/** S(γ) for γ = 0 … most with its best γ and the longest γ that is not slower than plain decoding. */
export function predicted({ alpha, c }, v, most) {
  const values = Array.from({ length: most + 1 }, (_, gamma) => speedup(alpha, gamma, c, v));
  const best = bestGamma(alpha, c, v, most);
  let even = 0;
  for (let gamma = 1; gamma <= most && values[gamma] >= 1; gamma++) even = gamma;
  return { values, best, top: values[best], even };
}

/** The cells that count as speedups. */
export function real(cells) {
  return cells.filter(({ summary }) => summary.speedup !== null);
}

/** The cell with the largest value; null without one. */
export function most(cells, value) {
  return cells.filter((cell) => value(cell) !== null).reduce((best, cell) => (best === null || value(cell) > value(best) ? cell : best), null);
}

/** The largest n up to which a pass costs at most `limit` times one over a single token, all narrower ones too. */
export function freeUpTo(passes, limit = 1.1) {
  const beyond = passes.find(([, seconds]) => seconds > limit * passes[0][1]);
  return beyond ? beyond[0] - 1 : passes.at(-1)[0];
}

/** Rows as objects by field name. */
export function records({ fields = [], rows = [] }) {
  return rows.map((row) => Object.fromEntries(fields.map((name, i) => [name, row[i]])));
}

/** How many runs and tokens a sweep will take: {lanes, races, runs, tokens}. */
export function size(asked, prompts) {
  const count = (text) => new Set(String(text).split(/[\s,;，；、]+/).filter(Boolean).map(Number)).size;
  const drafted = { gamma: () => count(asked.gammas), temperature: () => 1, drafters: () => asked.drafters.length, policies: () => asked.policies }[asked.kind]();
  const races = prompts * (asked.kind === "temperature" ? count(asked.temperatures) : 1);
  const runs = races * (drafted + 1);
  return { lanes: drafted + 1, races, runs, tokens: runs * asked.max_new_tokens };
}
