// What can be told by a recorded run: which of its rounds shows most, and what theory says of another draft length.

import { tau } from "../player/theory.js";

const CLOSE = 0.05;

/** The number of the first round that shows most: guesses kept, one that fell, others discarded behind it. */
export function tellingRound(rounds) {
  const worth = ({ judged: { fates } }) =>
    new Set(fates).size + Math.min(2, fates.filter((fate) => fate === "accepted").length);
  return rounds.reduce((best, round) => (worth(round) > worth(best) ? round : best), rounds[0]).number;
}

/**
 * Draft length `to` against that of a finished race, by theory from what the race measured; null where it measured too
 * little. A round without a proposal is an ordinary step; v, measured at one width, is taken to grow in a straight line.
 * before, after: {gamma, tokens, cost, speed} of a mean round, costs in target steps. answer: of `after` against
 * `before`: "faster", "slower" or "same" (within 5 %).
 */
export function predict(race, to) {
  const { comparison, speculative } = race;
  const { metrics } = speculative;
  if (!metrics.tested || !comparison?.v || comparison.c === null) return null;
  const [alpha, share] = [metrics.accepted / metrics.tested, metrics.proposals / metrics.rounds];
  const { c, v, width } = comparison;
  const wide = (n) => 1 + ((v - 1) * (n - 1)) / (width - 1);
  const mean = (gamma) => {
    const tokens = share * tau(alpha, gamma) + 1 - share;
    const cost = share * (gamma * c + wide(gamma + 1)) + 1 - share;
    return { gamma, tokens, cost, speed: tokens / cost };
  };
  const [before, after] = [mean(speculative.lane.started.gamma), mean(to)];
  const gain = after.speed / before.speed - 1;
  return { alpha, share, c, v, width, before, after, answer: Math.abs(gain) <= CLOSE ? "same" : gain > 0 ? "faster" : "slower" };
}
