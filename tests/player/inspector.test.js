import assert from "node:assert/strict";
import test from "node:test";

import { firstRejected, inspect, inspector, verdict } from "../../assets/player/inspector.js";
import { translator } from "../../assets/player/labels.js";
import { lawRows } from "../../assets/player/laws.js";
import { stateAt } from "../../assets/player/state.js";
import { slots } from "../../assets/player/tokens.js";
import { NAMES, strings, text, timelineOf } from "./fixtures.js";

const said = (node) => (typeof node === "object" ? node.children.map(said).join("") : String(node));

function* everyToken() {
  for (const name of NAMES) {
    const timeline = timelineOf(text(name));
    const state = stateAt(timeline, timeline.steps.length);
    for (const lane of timeline.lanes)
      for (const round of lane.rounds)
        for (const { slot } of slots(round, timeline))
          yield { timeline, state, selection: { lane: lane.name, round: round.number, slot } };
  }
}

test("every token has a verdict without holes in both languages", () => {
  for (const language of ["en", "zh"]) {
    const t = translator(strings, language);
    for (const { timeline, state, selection } of everyToken()) {
      const sentence = verdict(inspect(state, selection, timeline), t)
        .map(said)
        .join("");
      assert.doesNotMatch(sentence.replace(/“[^”]*”/g, ""), /\{|undefined|NaN|verdict\./, JSON.stringify(selection));
    }
  }
});

test("the panel of every token can be drawn; at T = 0 it has no coin, else its u", () => {
  const t = translator(strings, "en");
  for (const { timeline, state, selection } of everyToken()) {
    const seen = inspect(state, selection, timeline);
    const drawn = said(inspector({ t, state, timeline, ui: { selected: selection }, greedy: seen.greedy }));
    assert.doesNotMatch(drawn, /NaN|undefined/);
    if (seen.greedy) assert.doesNotMatch(drawn, /u = /);
    else if (seen.test && seen.token.slot !== "last") assert.match(drawn, /u = \d\.\d\d/);
  }
});

test("it opens on the first token that failed, and not before there is one", () => {
  const timeline = timelineOf(text("sampled"));
  const [lane] = timeline.lanes;
  const number = lane.rounds.find(({ judged }) => judged.fates.includes("rejected")).number;
  const at = timeline.positionOf(lane.rounds[number - 1].step);
  assert.equal(firstRejected(stateAt(timeline, at - 1).lanes[0]), null);
  const opened = firstRejected(stateAt(timeline, at).lanes[0]);
  assert.deepEqual([opened.round, inspect(stateAt(timeline, at), opened, timeline).token.fate], [number, "rejected"]);
  assert.equal(inspect(stateAt(timeline, at - 1), opened, timeline), null);
});

test("a rejected token knows what replaced it, a discarded one what fell before it", () => {
  const timeline = timelineOf(text("greedy"));
  const state = stateAt(timeline, timeline.steps.length);
  const round = timeline.lanes[0].rounds.find(({ judged }) => judged.fates.includes("discarded"));
  const fallen = round.judged.fates.indexOf("rejected");
  const see = (slot) => inspect(state, { lane: "speculative", round: round.number, slot }, timeline);
  assert.equal(see(fallen).replacement.id, round.judged.emitted.at(-1));
  assert.equal(see(fallen + 1).fallen.slot, fallen);
  assert.equal(see(fallen + 1).test, null);
  assert.equal(see("last").fallen.slot, fallen);
});

test("a lookup's guess is seen to have a one-hot q", () => {
  const timeline = timelineOf(text("lookup"));
  const state = stateAt(timeline, timeline.steps.length);
  assert.equal(inspect(state, firstRejected(state.lanes[0]), timeline).oneHot, true);
});

test("rows are exact where the trace is, bounds where it is not, and add up", () => {
  for (const { timeline, state, selection } of everyToken()) {
    const { row, token, test: coin, replacement } = inspect(state, selection, timeline);
    if (!row || !row.q_top || token.slot === "last") continue;
    const { rows, rest } = lawRows(row, coin, token.id, replacement?.id ?? null);
    assert.ok(rows.length <= 8 && rows.some((r) => r.tested && r.id === token.id));
    if (replacement) assert.ok(rows.some((r) => r.taken && r.id === replacement.id));
    const mass = rows.reduce((sum, r) => sum + (r.p.bound ? 0 : r.p.value), 0) + rest.p;
    assert.ok(Math.abs(mass - 1) < 0.02, `${mass}`);
    const overlap = rows.reduce((sum, r) => sum + r.overlap, 0);
    assert.ok(overlap <= row.beta + 1e-4);
    for (const r of rows)
      if (!r.p.bound && !r.q.bound && row.beta < 1)
        assert.ok(
          r.residual.bound || Math.abs(Math.max(0, r.p.value - r.q.value) - r.residual.value * (1 - row.beta)) < 2e-3,
        );
  }
});

test("a chance that is not listed is bounded by the smallest that is, and zero where the list is short", () => {
  const top = [...Array(8).keys()].map((i) => [i, (8 - i) / 40]);
  const row = {
    p_top: top,
    q_top: [
      [100, 0.7],
      [0, 0.3],
    ],
    residual_top: top.slice(1),
    beta: 0.2,
    p_entropy: 1,
    q_entropy: 1,
  };
  const { rows } = lawRows(row, null, null, null);
  const short = lawRows({ ...row, p_top: [[0, 1]] }, null, null, null).rows;
  assert.deepEqual(short.find((r) => r.id === 100).p, { value: 0, bound: false });
  const first = rows.find((r) => r.id === 100);
  assert.deepEqual(
    [first.p, first.q],
    [
      { value: 1 / 40, bound: true },
      { value: 0.7, bound: false },
    ],
  );
  assert.equal(rows.find((r) => r.id === 1).q.bound, false);
});
