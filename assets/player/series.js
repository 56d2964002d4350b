// The numbers behind the charts, up to a position, and how far their axes go. No drawing.

import { expected } from "./lanes.js";

/** Tokens over device time: [times, one column per lane], every lane carried to the moment of the state. */
export function raceSeries(state) {
  const end = Math.max(state.clock, ...state.lanes.map((lane) => lane.clock));
  const points = [];
  state.lanes.forEach((lane, column) => {
    for (const round of lane.lane.rounds.slice(0, lane.rounds)) points.push([round.clock, column, round.tokens]);
  });
  points.sort((a, b) => a[0] - b[0]);
  const columns = state.lanes.map(() => [0]);
  const times = [0];
  for (const [time, column, tokens] of points) {
    times.push(time);
    columns.forEach((values, i) => values.push(i === column ? tokens : null));
  }
  times.push(end);
  columns.forEach((values, i) => values.push(state.lanes[i].finished ? null : state.lanes[i].tokens));
  return [times, ...columns];
}

/** Milliseconds of each round of a lane, stacked, the tallest first as each is drawn over it: [rounds, all, draft + verify, draft]. */
export function roundSeries(lane) {
  const rounds = lane ? lane.lane.rounds.slice(0, lane.rounds) : [];
  const stacked = rounds.map(({ counted: { draft_s, verify_s, overhead_s } }) => [
    draft_s + verify_s + overhead_s,
    draft_s + verify_s,
    draft_s,
  ]);
  return [rounds.map((round) => round.number), ...[0, 1, 2].map((i) => stacked.map((sums) => 1000 * sums[i]))];
}

/** Rounds by the number of guesses that they kept: [0 … γ, counts]. */
export function lengthSeries(lane) {
  const gamma = lane?.lane.started?.gamma ?? 0;
  const lengths = lane?.metrics?.lengths ?? [];
  const kept = [...Array(Math.max(gamma + 1, lengths.length)).keys()];
  return [kept, kept.map((k) => lengths[k] || 0)];
}

/** The smallest of 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 7.5 × 10^n that is not below `value`: axes that grow in few, round steps. */
export function roundUp(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10].find((step) => step * power >= value * (1 - 1e-9)) * power;
}

/** Where the time axis ends, in seconds: known of a recorded run from the start, growing in round steps with a live one. */
export function longest(state) {
  const seen = Math.max(...state.lanes.map(({ lane }) => lane.rounds.at(-1)?.clock ?? 0), 0);
  const done = state.lanes.every(({ lane }) => lane.finished);
  return done && seen > 0 ? 1.03 * seen : roundUp(1.02 * seen || 0.1);
}

/** Tokens up to which a lane's axis must reach. */
export function goal(lane, timeline) {
  return timeline.header?.kind === "live" && !timeline.finished
    ? Math.min(expected(lane), roundUp(1.2 * Math.max(10, lane.lane.tokens.length)))
    : expected(lane);
}

/** Rounds for which there is room on the axis of rounds. */
export function roundsShown(lane) {
  if (!lane) return 10;
  return lane.lane.finished ? Math.max(5, lane.lane.rounds.length) : roundUp(Math.max(10, lane.lane.rounds.length));
}

/** Seconds of a lane's longest round. */
export function slowest(lane) {
  return Math.max(0.001, ...(lane?.lane.rounds || []).map(({ counted: c }) => c.draft_s + c.verify_s + c.overhead_s));
}

/** A moment as the time axis writes it. */
export function shortSeconds(value) {
  return value === 0 ? "0" : value < 1 ? `${Math.round(value * 1000)} ms` : `${+value.toFixed(1)} s`;
}
