import assert from "node:assert/strict";
import test from "node:test";

import { compare, marginOf, raceAt } from "../../assets/player/compare.js";
import { stateAt } from "../../assets/player/state.js";
import { goldens, long, records, text, timelineOf } from "./fixtures.js";

const close = (a, b) => (a === null || b === null ? a === b : Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(b)));
const counted = (lane, rounds) => lane.rounds.slice(0, rounds).map((round) => round.counted);
const end = (timeline) => raceAt(stateAt(timeline, timeline.steps.length));

test("the comparison equals that of specdemo/core/metrics.py, up to the digits written", () => {
  for (const [name, cases] of Object.entries(goldens())) {
    const { lanes } = timelineOf(text(name));
    const baseline = lanes.find((lane) => lane.baseline);
    for (const golden of cases) {
      const speculative = lanes.filter((lane) => !lane.baseline).at(-1);
      const ours = compare(counted(speculative, golden.speculative), counted(baseline, golden.baseline));
      for (const [key, value] of Object.entries(golden.is))
        assert.ok(
          typeof value === "number" ? close(ours[key], value) : ours[key] === value,
          `${name} ${key}: ${ours[key]} is not ${value}`,
        );
    }
  }
});

test("no denominator gives null, never zero or infinity", () => {
  const nothing = compare([], []);
  assert.deepEqual(
    [nothing.speedup, nothing.c, nothing.v, nothing.adds_up_to, nothing.too_short],
    [null, null, null, null, true],
  );
});

test("the live speedup is tokens at equal device time, from round 4 on", () => {
  const timeline = timelineOf(long(60));
  const races = timeline.steps.map((_, i) => raceAt(stateAt(timeline, i + 1)));
  const first = races.find((race) => race.phase === "running");
  assert.equal(first.speculative.rounds, 4);
  assert.equal(first.speedup, first.fast / first.slow);
  for (const race of races.filter(({ phase }) => phase === "waiting")) assert.equal(race.speedup, null);
});

test("the clock of the comparison stops when the first lane ends; at the finish it is time to the same tokens", () => {
  const timeline = timelineOf(text("greedy"));
  const ends = timeline.lanes[0].rounds.at(-1).clock;
  const late = raceAt(stateAt(timeline, timeline.steps.length - 1));
  assert.deepEqual([late.phase, late.seconds, late.fast], ["running", ends, 80]);
  assert.equal(late.slow, timeline.lanes[1].rounds.filter(({ clock }) => clock <= ends).at(-1).tokens);
  const finish = end(timeline);
  assert.equal(finish.phase, "finish");
  assert.ok(close(finish.speedup, timeline.lanes[1].rounds.at(-1).clock / ends));
});

test("greedy lanes say how far they agree; a difference is found wherever it is", () => {
  assert.deepEqual(
    {
      same: end(timelineOf(text("greedy"))).same,
      of: end(timelineOf(text("greedy"))).of,
      parts: end(timelineOf(text("greedy"))).parts,
    },
    { same: 80, of: 80, parts: null },
  );
  const lines = records(text("greedy")).map((line) =>
    line.event === "judged" && line.lane === "baseline" && line.round === 31 ? { ...line, emitted: [3] } : line,
  );
  const parted = timelineOf(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  assert.deepEqual([end(parted).same, end(parted).of, end(parted).parts], [30, 80, 30]);
  assert.equal(typeof marginOf(parted.lanes[0], 30), "number");
  const before = raceAt(stateAt(parted, parted.positionOf(parted.lanes[1].rounds[28].step)));
  assert.equal(before.parts, null);
});

test("a stopped lane is compared over what both have", () => {
  const lines = records(text("greedy"));
  const kept = lines.filter((line) => !(line.lane === "baseline" && line.round > 40 && line.event !== "run_finished"));
  const stopped = kept.map((line) =>
    line.event === "run_finished" && line.lane === "baseline" ? { ...line, finish_reason: "cancelled" } : line,
  );
  const race = end(timelineOf(stopped.map((line) => `${JSON.stringify(line)}\n`).join("")));
  assert.deepEqual([race.same, race.of, race.parts], [40, 40, null]);
});

test("a lane alone is compared with nothing; with three the chosen one is compared", () => {
  const lines = records(text("greedy")).filter((line) => line.lane !== "baseline");
  assert.equal(end(timelineOf(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))).phase, "alone");
  const timeline = timelineOf(text("three"));
  const state = stateAt(timeline, timeline.steps.length);
  assert.equal(raceAt(state).speculative.lane.name, "γ = 2");
  assert.equal(raceAt(state, "γ = 8").speculative.lane.name, "γ = 8");
  assert.equal(raceAt(state, "γ = 8").baseline.lane.name, "baseline");
});
