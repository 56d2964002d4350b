import assert from "node:assert/strict";
import test from "node:test";

import { fruitless, LONG } from "../../assets/player/fruitless.js";
import { text, timelineOf } from "./fixtures.js";

const round = (fates, tokens = fates.length) => ({ drafted: { tokens: Array(tokens).fill(1) }, judged: { fates } });
const vain = round(["rejected", "discarded"]);

test("rounds that keep nothing add up until one keeps a guess", () => {
  assert.equal(fruitless([]), 0);
  assert.equal(fruitless(Array(LONG).fill(vain)), LONG);
  assert.equal(fruitless([...Array(LONG).fill(vain), round(["accepted", "rejected"])]), 0);
  assert.equal(fruitless([round(["accepted"]), vain, vain]), 2);
});

test("a round without a guess neither adds nor ends", () => {
  assert.equal(fruitless([vain, round([]), vain]), 2);
});

test("recorded rounds have what it reads", () => {
  const [lane] = timelineOf(text("foil")).lanes.filter(({ baseline }) => !baseline);
  const kept = lane.rounds.map(({ judged }) => judged.fates.includes("accepted"));
  assert.equal(fruitless(lane.rounds) === 0, kept.at(-1));
});
