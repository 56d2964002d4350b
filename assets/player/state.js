// From events to what is known at a position. Knows the event schema (specdemo/core/events.py), no page and no language.
//
// A step is a turn of one lane: a prefill chunk or a round. The steps of all lanes are ordered by their lanes' own device
// clocks, so a position in that list is a moment of the true race. Lanes only ever grow; a state is therefore a count of
// steps per lane, and going back costs as little as going forward.

import { addTokens } from "./tokens.js";

const STRIDE = 64;

/** All that a stream has told so far: header, strings, lanes, and the steps in the order of the race. */
export class Timeline {
  constructor(header = null) {
    this.header = header;
    this.strings = new Map();
    this.lanes = [];
    this.steps = [];
    this.checkpoints = [[]];
  }

  /** Takes in parsed records. Strings come before the events that use them. */
  append(records) {
    for (const record of records) {
      if (record.strings) this.name(record.strings);
      else if (record.event) this.apply(record);
    }
  }

  /** True once every lane has ended. */
  get finished() {
    return this.lanes.length > 0 && this.lanes.every((lane) => lane.finished);
  }

  /** [what to show, "text" | "bytes" | "special"] of a token id. */
  string(id) {
    return this.strings.get(id) || [`#${id}`, "special"];
  }

  /** How many steps have a clock of at most `seconds`. */
  positionAt(seconds) {
    return upperBound(this.steps, seconds);
  }

  /** Position just after the given step. */
  positionOf(step) {
    return this.steps.indexOf(step) + 1;
  }

  name(strings) {
    for (const [id, string] of Object.entries(strings)) this.strings.set(Number(id), string);
  }

  lane(name) {
    let lane = this.lanes.find((known) => known.name === name);
    if (!lane) {
      lane = new Lane(name, this.lanes.length);
      this.lanes.push(lane);
    }
    return lane;
  }

  apply(event) {
    const lane = this.lane(event.lane);
    const step = lane.take(event, this);
    if (step) this.insert(step);
  }

  // A round that began earlier may end later: the order is that of the ends, and among equals that of arrival.
  insert(step) {
    const at = upperBound(this.steps, step.clock);
    this.steps.splice(at, 0, step);
    this.checkpoints.length = Math.min(this.checkpoints.length, Math.floor(at / STRIDE) + 1);
  }

  /** Steps of each lane, by lane index, among the first `position` steps. */
  counts(position) {
    while (this.checkpoints.length * STRIDE <= position) {
      const k = this.checkpoints.length;
      this.checkpoints.push(this.count(this.checkpoints[k - 1], (k - 1) * STRIDE, k * STRIDE));
    }
    const k = Math.floor(position / STRIDE);
    return this.count(this.checkpoints[k], k * STRIDE, position);
  }

  count(from, start, end) {
    const counts = from.slice();
    for (let i = start; i < end; i++) {
      const { index } = this.steps[i].lane;
      counts[index] = (counts[index] || 0) + 1;
    }
    return counts;
  }
}

/** One lane of the race, append-only: its prefill chunks, rounds and tokens. */
class Lane {
  constructor(name, index) {
    this.name = name;
    this.index = index;
    this.started = null;
    this.prefills = [];
    this.rounds = [];
    this.tokens = [];
    this.pending = [];
    this.finished = null;
    this.open = {};
  }

  get baseline() {
    return !this.started || this.started.drafter === "none";
  }

  take(event, timeline) {
    switch (event.event) {
      case "run_started":
        this.started = event;
        return null;
      case "prefilled":
        this.prefills.push(event);
        return { lane: this, kind: "prefill", number: this.prefills.length, clock: 0 };
      case "drafted":
        this.open = { drafted: event };
        return null;
      case "judged":
        this.open.judged = event;
        return null;
      case "inspected":
        this.inspect(event);
        return null;
      case "round_finished":
        return this.close(event, timeline);
      case "run_finished":
        this.finished = event;
        return null;
      default:
        return null;
    }
  }

  // The laws of a round may come within it or long after it.
  inspect(event) {
    const round = this.rounds[event.round - 1] || this.open;
    round.positions = event.positions;
  }

  close(event, timeline) {
    const round = {
      ...this.open,
      number: event.round,
      counted: event.counted,
      clock: event.clock_s,
      metrics: event.metrics,
    };
    round.first = this.tokens.length;
    addTokens(this, round, timeline);
    round.tokens = this.tokens.length;
    round.step = { lane: this, kind: "round", number: event.round, clock: event.clock_s };
    this.rounds.push(round);
    return round.step;
  }
}

/**
 * What is known after the first `position` steps; a pure function of the two. Per lane: how many prefill chunks,
 * rounds and tokens, its last round, clock (seconds), metrics, and `finished` (the event) once it has ended.
 */
export function stateAt(timeline, position) {
  const at = Math.max(0, Math.min(position, timeline.steps.length));
  const counts = timeline.counts(at);
  const step = timeline.steps[at - 1] || null;
  return {
    position: at,
    last: timeline.steps.length,
    step,
    clock: step ? step.clock : 0,
    lanes: timeline.lanes.map((lane, i) => laneState(lane, counts[i] || 0)),
  };
}

function laneState(lane, steps) {
  const prefills = Math.min(steps, lane.prefills.length);
  const rounds = steps - prefills;
  const round = rounds > 0 ? lane.rounds[rounds - 1] : null;
  const all = steps === lane.prefills.length + lane.rounds.length;
  return {
    lane,
    prefills,
    rounds,
    round,
    tokens: round ? round.tokens : 0,
    clock: round ? round.clock : 0,
    metrics: round ? round.metrics : null,
    finished: all ? lane.finished : null,
  };
}

function upperBound(steps, clock) {
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle].clock <= clock) low = middle + 1;
    else high = middle;
  }
  return low;
}
