// A speculative lane against the baseline of the same race: the same definitions as specdemo/core/metrics.py, at any position.

import { ruleOf } from "./rules.js";

export const TOO_SHORT = 25;
const FIRST_ROUND = 4;

/** Speedup (and its two times), c, v, width, adds_up_to of two lists of counted rounds; null where there is no denominator. */
export function compare(speculative, baseline) {
  const tokens = Math.min(emitted(speculative), emitted(baseline));
  const [fast_s, slow_s] = [timeTo(tokens, speculative), timeTo(tokens, baseline)];
  const one = ratio(slow_s, tokens);
  const result = { tokens, fast_s, slow_s, speedup: ratio(slow_s, fast_s), too_short: tokens < TOO_SHORT };
  Object.assign(result, { c: null, v: null, width: null, adds_up_to: null });
  if (!one) return result;
  const steps = sum(speculative, (r) => r.steps);
  result.c = ratio(sum(speculative, (r) => r.draft_s) / one, steps);
  result.width = commonest(speculative.map((r) => r.width).filter((width) => width > 1));
  if (result.width !== null) {
    const wide = median(speculative.filter((r) => r.width === result.width).map((r) => r.verify_s));
    result.v = ratio(wide, median(baseline.map((r) => r.verify_s)));
  }
  result.adds_up_to = ratio(emitted(speculative) * one, sum(speculative, spent));
  return result;
}

/**
 * The race at a state: its two lanes, and what can be said about them.
 * phase: "alone" (one lane), "waiting" (under four rounds), "running" (tokens at equal device time), "finish" (time to
 * the same number of tokens). words: both lanes must say the same, at T = 0 or by shared noise. fast, slow: tokens of either at `seconds` of the race.
 */
export function raceAt(state, focus) {
  const pair = lanesOf(state, focus);
  if (!pair.baseline) return { ...pair, phase: "alone", speedup: null };
  const { speculative, baseline } = pair;
  const seconds = clockOfRace(state, speculative, baseline);
  const [fast, slow] = [tokensAt(speculative, seconds), tokensAt(baseline, seconds)];
  const comparison = compare(counted(speculative), counted(baseline));
  const finish = Boolean(speculative.finished && baseline.finished);
  const phase = finish ? "finish" : speculative.rounds >= FIRST_ROUND && slow > 0 ? "running" : "waiting";
  const speedup = finish ? comparison.speedup : phase === "running" ? fast / slow : null;
  return { ...pair, phase, speedup, seconds, fast, slow, comparison, ...sameness(speculative, baseline, finish) };
}

function lanesOf(state, focus) {
  const lanes = state.lanes.filter((lane) => lane.lane.started);
  const speculative =
    lanes.find((lane) => lane.lane.name === focus) || lanes.find((lane) => !lane.lane.baseline) || lanes[0] || null;
  const others = lanes.filter((lane) => lane !== speculative);
  const baseline = others.find((lane) => lane.lane.baseline) || others[0] || null;
  return { speculative, baseline };
}

// The clock of the comparison stops when the first lane ends.
function clockOfRace(state, ...lanes) {
  const ends = lanes.filter((lane) => lane.finished).map((lane) => lane.clock);
  return Math.min(state.clock, ...ends);
}

function tokensAt(lane, seconds) {
  const { rounds } = lane.lane;
  let at = lane.rounds;
  while (at > 0 && rounds[at - 1].clock > seconds) at--;
  return at > 0 ? rounds[at - 1].tokens : 0;
}

function sameness(one, other, finish) {
  const [a, b] = [one.lane.tokens, other.lane.tokens];
  const both = Math.min(one.tokens, other.tokens);
  const parted = firstDifference(one.lane, other.lane, Math.min(a.length, b.length));
  const cancelled = [one, other].some((lane) => lane.finished?.finish_reason === "cancelled");
  const of = finish && !cancelled ? Math.max(one.tokens, other.tokens) : both;
  const same = Math.min(parted, both);
  const greedy = Boolean(one.lane.started.greedy && other.lane.started.greedy);
  return {
    greedy,
    words: greedy || sharesNoise(one.lane, other.lane),
    same,
    of,
    parts: same < of ? same : null,
  };
}

// With the same noise for every position both lanes say the same at any temperature.
function sharesNoise(...lanes) {
  return lanes.every((lane) => ruleOf(lane).coupled) && lanes[0].started.seed === lanes[1].started.seed;
}

// Lanes only grow, so the search goes on where it stopped.
function firstDifference(one, other, end) {
  const known = one.agreement?.with === other ? one.agreement.tokens : 0;
  let i = known;
  while (i < end && one.tokens[i].id === other.tokens[i].id) i++;
  one.agreement = { with: other, tokens: i };
  return i;
}

/** The margin (top-1 minus top-2 logit) with which a token was chosen, if its round was inspected. */
export function marginOf(lane, index) {
  const token = lane.tokens[index];
  const round = token && lane.rounds[token.round - 1];
  const row = round?.positions?.find((position) => position.index === index - round.first);
  return row ? row.margin : null;
}

function counted(lane) {
  return lane.lane.rounds.slice(0, lane.rounds).map((round) => round.counted);
}

function timeTo(tokens, rounds) {
  let [time, count] = [0, 0];
  for (const round of rounds) {
    if (count >= tokens) break;
    time += spent(round);
    count += round.emitted;
  }
  return time;
}

function spent(round) {
  return round.draft_s + round.verify_s + round.overhead_s;
}

function emitted(rounds) {
  return sum(rounds, (round) => round.emitted);
}

function sum(items, value) {
  return items.reduce((total, item) => total + value(item), 0);
}

function ratio(part, whole) {
  return whole ? part / whole : null;
}

function median(values) {
  const ordered = values.slice().sort((a, b) => a - b);
  const half = ordered.length >> 1;
  return ordered.length % 2 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
}

// Of equally common ones the smallest.
function commonest(values) {
  const counts = new Map();
  for (const value of values.slice().sort((a, b) => a - b)) counts.set(value, (counts.get(value) || 0) + 1);
  let best = null;
  for (const [value, count] of counts) if (best === null || count > counts.get(best)) best = value;
  return best;
}
