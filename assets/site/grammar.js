// Which event may follow which, and what its numbers may be: specdemo/grammar.py once more, for pages without a server.

import { MAX_GAMMA, Misfit } from "./fields.js";

const AFTER = {
  prefilled: ["run_started", "prefilled"],
  drafted: ["run_started", "prefilled", "round_finished"],
  judged: ["drafted"],
  round_finished: ["judged"],
  run_finished: ["run_started", "prefilled", "round_finished"],
};
// How far over one a probability may be: sums over a large vocabulary do not end on one exactly.
const SLACK = 1e-4;

/** Follows the lanes of one stream and refuses what cannot be. */
export class Grammar {
  /** rules: ids of the verification rules; the first is meant where none is named. */
  constructor(rules) {
    this.rules = rules;
    this.lanes = new Map();
  }

  check(event, name) {
    if (!chances(event, name).every((chance) => chance >= 0 && chance <= 1 + SLACK))
      throw new Misfit("trace_field", { field: `${name}.${name === "judged" ? "tests" : "positions"}` });
    if (name === "run_started" && !this.rules.includes(event.rule ?? this.rules[0])) throw new Misfit("trace_field", { field: `${name}.rule` });
    if (event.gamma > MAX_GAMMA) throw new Misfit("trace_field", { field: `${name}.gamma` });
    if (!this.follows(event, name)) throw new Misfit("trace_order", { event: name });
  }

  follows(event, name) {
    if (name === "run_started") {
      const fresh = !this.lanes.has(event.lane);
      this.lanes.set(event.lane, { last: name, drafted: [], judged: 0, inspected: new Set(), clock_s: 0 });
      return fresh;
    }
    const lane = this.lanes.get(event.lane);
    if (!lane || lane.last === "run_finished") return false;
    if (name === "inspected") return inspectable(lane, event);
    if (!AFTER[name].includes(lane.last)) return false;
    lane.last = name;
    return advance(lane, event, name);
  }
}

function inspectable(lane, { round, positions }) {
  if (round < 1 || round > lane.judged || lane.inspected.has(round)) return false;
  lane.inspected.add(round);
  return positions.every(({ index }) => index <= lane.drafted[round - 1]);
}

function advance(lane, event, name) {
  if (name === "drafted") {
    lane.drafted.push(event.tokens.length);
    return event.round === lane.drafted.length;
  }
  if (name === "judged") {
    lane.judged += 1;
    const [tested, known, emitted] = [event.tests.length, event.fates.length, event.emitted.length];
    const parallel = emitted === event.emitted_fates.length && emitted === event.pieces.length;
    return event.round === lane.judged && tested <= known && known <= lane.drafted.at(-1) && parallel;
  }
  if (name === "round_finished") {
    const before = lane.clock_s;
    lane.clock_s = event.clock_s;
    return event.round === lane.judged && event.clock_s >= before;
  }
  return true;
}

function chances(event, name) {
  if (name === "judged") return event.tests.flatMap(({ u, p, q, h }) => [u, p, q, h ?? 0]);
  if (name !== "inspected") return [];
  return event.positions.flatMap(({ beta, p_top, q_top, residual_top }) => [beta ?? 0, ...[p_top, q_top, residual_top].flatMap((top) => (top ?? []).map(([, chance]) => chance))]);
}
