// The numbers of the Theory tab: curves over γ, where they cross one, and two laws that can be bent by hand. No DOM.

import { beta, bestGamma, speedup } from "../player/theory.js";

/** The longest draft that is looked at. */
export const MOST = 32;

/** v of a machine on which every further position costs `slope` of a pass over one. */
export function sloped(slope) {
  return (n) => 1 + slope * (n - 1);
}

/** S(γ) for γ = 0 … MOST. */
export function curve(alpha, c, v) {
  return Array.from({ length: MOST + 1 }, (_, gamma) => speedup(alpha, gamma, c, v));
}

/** The curve with its best γ and the longest γ that is not slower than plain decoding (MOST: it never is, up to there). */
export function summary(alpha, c, v) {
  const values = curve(alpha, c, v);
  const best = bestGamma(alpha, c, v, MOST);
  let even = 0;
  // S rises and then falls, so what is at least one is an interval that begins at γ = 0.
  for (let gamma = 1; gamma <= MOST && values[gamma] >= 1; gamma++) even = gamma;
  return { values, best, top: values[best], even };
}

/** The α from which on a γ is no slower than plain decoding; null if not even α = 1 is enough. */
export function alphaNeeded(gamma, c, v) {
  if (gamma === 0) return 0;
  if (speedup(1, gamma, c, v) < 1) return null;
  let [low, high] = [0, 1];
  for (let i = 0; i < 40; i++) {
    const middle = (low + high) / 2;
    if (speedup(middle, gamma, c, v) < 1) low = middle;
    else high = middle;
  }
  return high;
}

/** The law with another chance for one id; the others keep their proportions. */
export function withChance(law, index, chance) {
  const wanted = Math.min(1, Math.max(0, chance));
  const rest = 1 - law[index];
  return law.map((value, i) => {
    if (i === index) return wanted;
    return rest > 1e-9 ? (value * (1 - wanted)) / rest : (1 - wanted) / (law.length - 1);
  });
}

/**
 * β and, for every id, what becomes of p and q there: shared = min(p, q), the chance that it is guessed and kept;
 * missing = p − shared; wrong = q − shared, the chance that it is guessed and rejected; test = min(1, p/q) or null where
 * it is never guessed; residual: the law of what replaces a rejected guess (null if nothing is ever rejected);
 * emitted = shared + (1 − β) · residual.
 */
export function shares(p, q) {
  const kept = beta(p, q);
  const missing = p.map((chance, i) => Math.max(0, chance - q[i]));
  const total = missing.reduce((sum, value) => sum + value, 0);
  const rows = p.map((chance, i) => {
    const shared = Math.min(chance, q[i]);
    const residual = total > 1e-9 ? missing[i] / total : null;
    return {
      p: chance,
      q: q[i],
      shared,
      missing: missing[i],
      wrong: q[i] - shared,
      test: q[i] > 0 ? Math.min(1, chance / q[i]) : null,
      residual,
      emitted: shared + (residual === null ? 0 : (1 - kept) * residual),
    };
  });
  return { beta: kept, rows };
}

/** Pairs of laws to begin with. */
export const PAIRS = {
  alike: { p: [0.34, 0.24, 0.18, 0.12, 0.08, 0.04], q: [0.24, 0.36, 0.12, 0.06, 0.14, 0.08] },
  same: { p: [0.34, 0.24, 0.18, 0.12, 0.08, 0.04], q: [0.34, 0.24, 0.18, 0.12, 0.08, 0.04] },
  sure: { p: [0.34, 0.24, 0.18, 0.12, 0.08, 0.04], q: [0, 1, 0, 0, 0, 0] },
  apart: { p: [0.48, 0.3, 0.16, 0.04, 0.02, 0], q: [0, 0.02, 0.04, 0.16, 0.3, 0.48] },
};

/** Two laws as text for an address, and back: null where the text is no two laws of as many ids. */
export function textOf({ p, q }) {
  return [p, q].map((law) => law.map((chance) => Number(chance.toFixed(4))).join(" ")).join("/");
}

export function lawsOf(text) {
  const known = Object.values(PAIRS).find((pair) => textOf(pair) === text);
  if (known) return known;
  const laws = text.split("/").map((law) => law.split(" ").map(Number));
  const fine = (law) => law.length === PAIRS.alike.p.length && law.every((chance) => chance >= 0) && Math.abs(sum(law) - 1) < 0.01;
  if (laws.length !== 2 || !laws.every(fine)) return null;
  const [p, q] = laws.map((law) => law.map((chance) => chance / sum(law)));
  return { p, q };
}

function sum(law) {
  return law.reduce((total, chance) => total + chance, 0);
}
