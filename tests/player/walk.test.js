import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { translator } from "../../assets/player/labels.js";
import { STEPS, cacheAt, linesOf, litLines, revealAt, said, stagesOf } from "../../assets/player/walk.js";
import { NAMES, strings, text, timelineOf } from "./fixtures.js";

const source = readFileSync(new URL("../../specdemo/core/verify.py", import.meta.url), "utf8");
const verify = source.slice(source.indexOf("def verify("), source.indexOf("\n\n\ndef residual("));

function* everyRound() {
  for (const name of NAMES) {
    const timeline = timelineOf(text(name));
    for (const lane of timeline.lanes) for (const round of lane.rounds) yield { timeline, lane, round };
  }
}

test("the stages of a round follow the six steps, one test for each tested guess", () => {
  for (const { round } of everyRound()) {
    const stages = stagesOf(round);
    const order = stages.map(({ step }) => STEPS.indexOf(step));
    assert.deepEqual(
      order,
      order.slice().sort((a, b) => a - b),
    );
    assert.equal(
      stages.filter(({ step }) => step === "test").length,
      round.judged.fates.filter((fate) => fate !== "discarded").length,
    );
  }
});

test("the grid keeps its secrets until their step and shows all at the end", () => {
  for (const { round } of everyRound()) {
    const stages = stagesOf(round);
    const kept = stages.map((stage) => round.judged.emitted.filter((_, i) => revealAt(round, stage)("kept", i)).length);
    assert.equal(kept[0], 0);
    assert.equal(kept.at(-1), round.judged.emitted.length);
    assert.deepEqual(
      kept,
      kept.slice().sort((a, b) => a - b),
    );
    assert.equal(revealAt(round, stages[0])("guess", 0), "plain");
    assert.equal(revealAt(round, stages.at(-1))("guess", 0), true);
  }
});

test("after the roll-back the cache holds the text without its last token", () => {
  for (const { timeline, lane, round } of everyRound()) {
    const { before, cells, next } = cacheAt(lane, round, stagesOf(round).at(-1), timeline);
    const kept = before + cells.filter(({ state }) => state === "kept").length;
    const drawn = round.judged.emitted_fates.at(-1) !== "accepted";
    assert.equal(kept, lane.started.prompt.length + round.tokens - 1);
    assert.equal(Boolean(next), drawn);
    assert.equal(cells.length, round.drafted.tokens.length + 1);
  }
});

test("the roll-back speaks of a new token only where one was drawn", () => {
  const t = translator(strings, "en");
  const seen = new Set();
  for (const { timeline, lane, round } of everyRound()) {
    const drawn = round.judged.emitted_fates.at(-1) !== "accepted";
    const words = said(lane, round, stagesOf(round).at(-1), { t, timeline });
    assert.equal(/new token/.test(words), drawn, words);
    seen.add(drawn);
  }
  assert.deepEqual([...seen].sort(), [false, true]);
});

test("each step that verify decides lights lines of it", () => {
  const [lane] = timelineOf(text("sampled")).lanes;
  const fallen = lane.rounds.find(({ judged }) => judged.fates.includes("rejected"));
  const whole = lane.rounds.find(({ judged }) => judged.emitted_fates.includes("bonus"));
  const lit = (round, step) =>
    litLines(linesOf(verify), { step, index: 0 }, round).map((i) => linesOf(verify)[i].trim());
  assert.ok(lit(fallen, "test").some((line) => line.startsWith("u = coin.uniform()")));
  assert.ok(lit(fallen, "draw").some((line) => line.includes("Fate.RESAMPLED")));
  assert.ok(lit(whole, "draw").every((line) => line.includes("Fate.BONUS")));
  assert.deepEqual(lit(whole, "commit"), []);
  // The dozen lines that do the work: no docstring, nothing cut.
  assert.deepEqual(
    [linesOf(verify)[0].slice(0, 11), linesOf(verify).at(-1).trim().slice(0, 6)],
    ["def verify(", "return"],
  );
  assert.ok(linesOf(verify).length <= 14 && !linesOf(verify).some((line) => line.includes('"""')));
});
