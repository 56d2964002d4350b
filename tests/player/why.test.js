import assert from "node:assert/strict";
import test from "node:test";

import { compare } from "../../assets/player/compare.js";
import { why } from "../../assets/player/why.js";
import { strings, text, timelineOf } from "./fixtures.js";

// A run of 30 rounds against plain steps of one second: [τ, draft, verify, other (target steps a round), hit rate] → reason.
const CASES = [
  [2.4, 2.0, 1.1, 0.1, 1, "why.draft"],
  [1.17, 1.54, 1.0, 0.02, 1, "why.draft"],
  [2.0, 0.2, 2.4, 0.1, 1, "why.verify"],
  [1.1, 0.05, 1.6, 0.05, 1, "why.verify"],
  [1.5, 0.1, 1.1, 0.9, 1, "why.other"],
  [1.1, 0.15, 1.1, 0.05, 1, "why.alpha"],
  [1.02, 0.03, 1.02, 0.02, 0.1, "why.seldom"],
  [1.0, 0.03, 1.0, 0.02, 0, "why.nothing"],
  [2.0, 0.1, 1.1, 0.05, 1, null],
];

function run([tau, draft, verify, other, hits]) {
  const rounds = 30;
  const tokens = tau * rounds;
  const spent = (draft + verify + other) * rounds;
  const metrics = {
    tau,
    rounds,
    tokens,
    draft_s: draft * rounds,
    verify_s: verify * rounds,
    overhead_s: other * rounds,
    decode_s: spent,
    hit_rate: hits,
    proposals: hits * rounds,
    accepted: tokens - rounds,
    tested: 100,
  };
  return [
    { speedup: tokens / spent, adds_up_to: tokens / spent, c: draft / 4, v: verify, width: 5, too_short: false },
    metrics,
  ];
}

test("the reason for a slow run is the cost that stands out, or the missing gain", () => {
  for (const row of CASES) assert.equal(why(...run(row))?.key ?? null, row.at(-1), row.join(" "));
});

test("every reason is one sentence with its numbers in both languages", () => {
  for (const row of CASES.slice(0, -1)) {
    const { key, params } = why(...run(row));
    for (const table of Object.values(strings)) {
      const sentence = table[`player.${key}`].replace(
        /\{(\w+)\}/g,
        (_, name) => params[name] ?? assert.fail(`${key} wants ${name}`),
      );
      assert.match(sentence, /\d/);
    }
  }
});

test("nothing is explained where nothing is slow or nothing can be judged", () => {
  const [comparison, metrics] = run(CASES[0]);
  assert.equal(why({ ...comparison, too_short: true }, metrics), null);
  assert.equal(why({ ...comparison, speedup: null }, metrics), null);
});

test("the foil is slow because its draft is dear", () => {
  const [speculative, baseline] = timelineOf(text("foil")).lanes;
  const counted = (lane) => lane.rounds.map((round) => round.counted);
  const reason = why(compare(counted(speculative), counted(baseline)), speculative.rounds.at(-1).metrics);
  assert.equal(reason.key, "why.draft");
  // What a round costs adds up: its parts, and τ over the speedup.
  const { draft, verify, other, cost, tau } = reason.params;
  assert.ok(Math.abs(Number(draft) + Number(verify) + Number(other) - cost) < 0.02);
  assert.ok(Math.abs(tau / cost - compare(counted(speculative), counted(baseline)).speedup) < 0.02);
});
