import assert from "node:assert/strict";
import test from "node:test";

import { LAST, neighbourOf, roundItems, slotOf, slots } from "../../assets/player/tokens.js";
import { stateAt } from "../../assets/player/state.js";
import { NAMES, text, timelineOf } from "./fixtures.js";

const items = (lane, count, ghosts, timeline) =>
  lane.rounds
    .filter((round) => round.first < count)
    .flatMap((round) => roundItems(lane, round, count, ghosts, timeline));
const shown = (list) =>
  list
    .filter((item) => item.kind === "token")
    .map((item) => item.text)
    .join("");

test("the tokens of a lane are its text, exactly", () => {
  for (const name of NAMES) {
    const timeline = timelineOf(text(name));
    for (const lane of timeline.lanes) {
      const { text: whole, tail } = lane.finished;
      assert.equal(shown(items(lane, lane.tokens.length, true, timeline)) + tail, whole);
    }
  }
});

test("an unfinished character shows its bytes, a whole one its glyph", () => {
  const timeline = timelineOf(text("bytes"));
  const lane = timeline.lanes[1];
  const at = lane.tokens.findIndex((token) => token.piece === "😀");
  const before = items(lane, at, false, timeline).slice(0, at);
  assert.deepEqual(before.at(-1), { kind: "chip", text: "F0 9F", fate: "plain", slot: LAST, mixed: false });
  // The text ends with the same two bytes again: those stay bytes.
  const chips = items(lane, lane.tokens.length, false, timeline).filter((item) => item.kind === "chip");
  assert.deepEqual(
    chips.map((item) => item.text),
    ["F0 9F"],
  );
  assert.equal(items(lane, at + 1, false, timeline)[at - 1].text, "😀");
});

test("a glyph of tokens with different fates takes the last fate and says so", () => {
  const timeline = timelineOf(text("bytes"));
  const glyph = timeline.lanes[0].tokens.find((token) => token.piece === "😀");
  assert.deepEqual([glyph.fate, glyph.mixed], ["resampled", true]);
  const plain = timeline.lanes[1].tokens.find((token) => token.piece === "😀");
  assert.equal(plain.mixed, false);
});

test("special tokens show as chips and add no text", () => {
  const timeline = timelineOf(text("greedy"));
  const [lane] = timeline.lanes;
  const last = items(lane, lane.tokens.length, false, timeline).at(-1);
  assert.deepEqual([last.kind, last.text], ["chip", "<|im_end|>"]);
});

test("ghosts stand before the token that replaces them", () => {
  const timeline = timelineOf(text("greedy"));
  const lane = timeline.lanes[0];
  const round = lane.rounds.find(({ judged }) => judged.fates.includes("discarded"));
  const fates = roundItems(lane, round, lane.tokens.length, true, timeline).map((item) => item.fate);
  assert.equal(fates.indexOf("rejected") + 1, fates.indexOf("discarded"));
  assert.equal(fates.at(-1), "resampled");
  assert.deepEqual(
    roundItems(lane, round, lane.tokens.length, false, timeline).map((item) => item.fate),
    fates.filter((fate) => !["rejected", "discarded"].includes(fate)),
  );
});

test("every drafted and every drawn token has its slot", () => {
  for (const name of NAMES) {
    const timeline = timelineOf(text(name));
    for (const lane of timeline.lanes) {
      for (const round of lane.rounds) {
        const list = slots(round, timeline);
        assert.deepEqual(
          list.filter(({ slot }) => slot !== LAST).map(({ fate }) => fate),
          round.judged.fates,
        );
        assert.equal(slotOf(round, 99, timeline), null);
        const emitted = list.filter(({ fate }) => fate !== "rejected" && fate !== "discarded").map(({ id }) => id);
        assert.deepEqual(emitted, round.judged.emitted);
      }
    }
  }
});

test("from neighbour to neighbour one visits every token of a lane, both ways", () => {
  const timeline = timelineOf(text("greedy"));
  const state = stateAt(timeline, timeline.steps.length);
  const lane = timeline.lanes[0];
  const all = lane.rounds.flatMap((round) =>
    slots(round, timeline).map(({ slot }) => ({ lane: lane.name, round: round.number, slot })),
  );
  for (const [by, list] of [
    [1, all],
    [-1, all.toReversed()],
  ]) {
    const visited = [list[0]];
    for (let at = list[0]; (at = neighbourOf(state, at, by, timeline));) visited.push(at);
    assert.deepEqual(visited, list);
  }
});
