import assert from "node:assert/strict";
import test from "node:test";

import { Timeline, stateAt } from "../../assets/player/state.js";
import { NAMES, long, records, text, timelineOf } from "./fixtures.js";

// The slow and obvious way: sort the steps by clock, apply the first `position` of them, count.
function naive(lines, position) {
  const steps = lines.filter((line) => line.event === "prefilled" || line.event === "round_finished");
  const clock = (line) => line.clock_s ?? 0;
  const ordered = steps.map((line, i) => [clock(line), i, line]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const lanes = {};
  for (const line of lines) if (line.event === "run_started") lanes[line.lane] = { rounds: 0, tokens: 0, clock: 0 };
  for (const [, , line] of ordered.slice(0, position)) {
    if (line.event !== "round_finished") continue;
    lanes[line.lane] = {
      rounds: line.round,
      tokens: lanes[line.lane].tokens + line.counted.emitted,
      clock: line.clock_s,
    };
  }
  return lanes;
}

const seen = (state) =>
  Object.fromEntries(state.lanes.map(({ lane, rounds, tokens, clock }) => [lane.name, { rounds, tokens, clock }]));

test("the state at every position is the fold of the first steps by device clock", () => {
  for (const name of NAMES) {
    const timeline = timelineOf(text(name));
    const lines = records(text(name));
    for (let position = 0; position <= timeline.steps.length; position++)
      assert.deepEqual(seen(stateAt(timeline, position)), naive(lines, position));
  }
});

test("going back, forward and jumping give the same states", () => {
  const timeline = timelineOf(long(300));
  const forward = [...Array(timeline.steps.length + 1).keys()].map((position) => seen(stateAt(timeline, position)));
  for (const position of [400, 3, 65, 64, 63, 128, 0, 399])
    assert.deepEqual(seen(stateAt(timeline, position)), forward[position]);
});

test("a stream fed line by line ends in the same timeline, though steps arrive out of order", () => {
  const [header, ...rest] = records(text("three"));
  const timeline = new Timeline(header);
  for (const record of rest) {
    timeline.append([record]);
    stateAt(timeline, timeline.steps.length);
  }
  const whole = timelineOf(text("three"));
  assert.deepEqual(
    timeline.steps.map((step) => [step.lane.name, step.number]),
    whole.steps.map((step) => [step.lane.name, step.number]),
  );
  for (let position = 0; position <= whole.steps.length; position++)
    assert.deepEqual(seen(stateAt(timeline, position)), seen(stateAt(whole, position)));
  assert.ok(whole.steps.every((step, i) => i === 0 || step.clock >= whole.steps[i - 1].clock));
});

test("a lane that comes after another has run is sorted in among its steps", () => {
  const [header, ...rest] = records(long(300));
  const timeline = new Timeline(header);
  for (const name of ["baseline", "speculative"]) {
    timeline.append(rest.filter((record) => record.strings || record.lane === name));
    stateAt(timeline, timeline.steps.length);
  }
  const whole = timelineOf(long(300));
  const positions = [70, 130, 200, 399, 400, 401, whole.steps.length];
  const tokens = (known, position) =>
    Object.fromEntries(stateAt(known, position).lanes.map(({ lane, tokens: count }) => [lane.name, count]));
  // Steps that end at the same moment stand in the order of arrival, which differs here.
  for (const position of positions)
    if (whole.steps[position]?.clock !== whole.steps[position - 1].clock)
      assert.deepEqual(tokens(timeline, position), tokens(whole, position));
});

test("a lane has ended only at its last step", () => {
  const timeline = timelineOf(text("greedy"));
  const ended = [...Array(timeline.steps.length + 1).keys()].map((position) =>
    stateAt(timeline, position).lanes.map((lane) => Boolean(lane.finished)),
  );
  assert.deepEqual(ended.at(-1), [true, true]);
  assert.deepEqual(ended.at(-2), [true, false]);
  assert.deepEqual(ended[0], [false, false]);
});

test("a run stopped before its first round has no steps and has ended", () => {
  const timeline = timelineOf(text("empty"));
  const state = stateAt(timeline, 0);
  assert.deepEqual(
    [timeline.steps.length, state.lanes.map((lane) => lane.finished.finish_reason)],
    [0, ["cancelled", "cancelled"]],
  );
});

test("laws that come late find their round", () => {
  const lines = records(text("sampled"));
  const [header, ...rest] = lines;
  const late = [
    ...rest.filter((line) => line.event !== "inspected"),
    ...rest.filter((line) => line.event === "inspected"),
  ];
  const timeline = new Timeline(header);
  timeline.append(late);
  const whole = timelineOf(text("sampled"));
  for (const [i, lane] of whole.lanes.entries())
    for (const [k, round] of lane.rounds.entries())
      assert.deepEqual(timeline.lanes[i].rounds[k].positions, round.positions);
});

test("a time finds the last position not after it", () => {
  const timeline = timelineOf(text("greedy"));
  const { clock } = timeline.steps[20];
  assert.equal(timeline.positionAt(clock), 21);
  assert.equal(timeline.positionAt(clock - 1e-9), 20);
  assert.equal(timeline.positionAt(1e9), timeline.steps.length);
});
