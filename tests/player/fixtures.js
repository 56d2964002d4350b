// Recorded streams of toy models, and a generator of long ones.

import { readFileSync } from "node:fs";

import { Stream } from "../../assets/player/stream.js";
import { Timeline } from "../../assets/player/state.js";

export const NAMES = ["greedy", "sampled", "lookup", "foil", "hostile", "bytes", "three", "empty"];

const here = new URL(".", import.meta.url);
const assets = new URL("../../assets/", here);

export const strings = Object.fromEntries(
  ["en", "zh"].map((name) => [name, JSON.parse(readFileSync(new URL(`locales/${name}.json`, assets)))]),
);

/** The NDJSON text of a fixture. */
export function text(name) {
  return readFileSync(new URL(`${name}.jsonl`, here), "utf8");
}

/** The goldens of the comparison, computed by specdemo/core/metrics.py. */
export function goldens() {
  return JSON.parse(readFileSync(new URL("compare-goldens.json", here)));
}

/** A file below assets/, or null where it does not exist. */
export function asset(path) {
  try {
    return readFileSync(new URL(path, assets), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

/** The timeline of a whole text. */
export function timelineOf(ndjson) {
  const { header, records } = new Stream().read(ndjson);
  const timeline = new Timeline(header);
  timeline.append(records);
  return timeline;
}

/** The events of a text as parsed lines. */
export function records(ndjson) {
  return ndjson
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** A race of `tokens` tokens against plain decoding, three guesses a round of which two are kept; deterministic. */
export function long(tokens, kind = "trace") {
  const lines = [{ specdemo: 1, kind, recorded: null, models: {}, settings: {}, hardware: {}, versions: {} }];
  lines.push({
    strings: Object.fromEntries([...Array(200).keys()].map((i) => [i, [i % 17 ? ` word${i}` : "\n", "text"]])),
  });
  const sources = [speculativeRounds(tokens), baselineRounds(tokens)];
  const clocks = [0, 0];
  for (const [i, lane] of ["speculative", "baseline"].entries()) {
    lines.push({
      event: "run_started",
      lane,
      drafter: i ? "none" : "model",
      gamma: i ? 0 : 3,
      policy: "constant",
      greedy: true,
      seed: 0,
      prompt: [1, 2],
      max_new_tokens: tokens,
    });
    lines.push({ event: "prefilled", lane, tokens: 1, target_s: 0.01, draft_s: 0.001 });
  }
  const open = [0, 1];
  while (open.length) {
    const i = open.reduce((a, b) => (clocks[b] < clocks[a] ? b : a));
    const { value, done } = sources[i].next();
    if (done) open.splice(open.indexOf(i), 1);
    else {
      clocks[i] = value.at(-1).clock_s ?? clocks[i];
      lines.push(...value);
    }
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function* speculativeRounds(tokens) {
  const id = (i) => (i * 7) % 200;
  for (let n = 0, round = 1; n < tokens; n += 3, round++) {
    const emitted = [n, n + 1, n + 2].map(id);
    yield roundOf("speculative", round, {
      drafted: [emitted[0], emitted[1], (emitted[2] + 1) % 200],
      fates: ["accepted", "accepted", "rejected"],
      emitted,
      last: "resampled",
      seconds: 0.04,
      before: n,
    });
  }
  yield [
    {
      event: "run_finished",
      lane: "speculative",
      finish_reason: "length",
      detail: "",
      tokens: [...Array(tokens).keys()].map(id),
      text: "",
      tail: "",
      metrics: metrics(1, 1),
    },
  ];
}

function* baselineRounds(tokens) {
  for (let n = 0; n < tokens; n++)
    yield roundOf("baseline", n + 1, {
      drafted: [],
      fates: [],
      emitted: [(n * 7) % 200],
      last: "plain",
      seconds: 0.03,
      before: n,
    });
  yield [
    {
      event: "run_finished",
      lane: "baseline",
      finish_reason: "length",
      detail: "",
      tokens: [...Array(tokens).keys()].map((i) => (i * 7) % 200),
      text: "",
      tail: "",
      metrics: metrics(1, 1),
    },
  ];
}

function roundOf(lane, round, { drafted, fates, emitted, last, seconds, before }) {
  const counted = {
    fates,
    emitted: emitted.length,
    last,
    steps: drafted.length,
    skipped: 0,
    width: drafted.length + 1,
    draft_s: seconds / 4,
    verify_s: seconds / 2,
    overhead_s: seconds / 4,
  };
  const pieces = emitted.map((i) => (i % 17 ? ` word${i}` : "\n"));
  return [
    {
      event: "drafted",
      lane,
      round,
      gamma: drafted.length,
      tokens: drafted,
      source: "model",
      steps: drafted.length,
      skipped: 0,
    },
    {
      event: "judged",
      lane,
      round,
      fates,
      tests: fates.map((fate) => ({ u: 0.5, p: fate === "accepted" ? 1 : 0, q: 1, accepted: fate === "accepted" })),
      emitted,
      emitted_fates: emitted.map((_, i) => (i < emitted.length - 1 ? "accepted" : last)),
      pieces,
    },
    {
      event: "round_finished",
      lane,
      round,
      counted,
      clock_s: round * seconds,
      metrics: metrics(round, before + emitted.length),
    },
  ];
}

function metrics(rounds, tokens) {
  const some = {
    rounds,
    tokens,
    drafted: 3 * rounds,
    accepted: 2 * rounds,
    tested: 3 * rounds,
    rejected: rounds,
    discarded: 0,
    resampled: rounds,
    bonus: 0,
    plain: 0,
    proposals: rounds,
    skipped: 0,
    draft_steps: 3 * rounds,
  };
  const rates = {
    alpha: 2 / 3,
    accepted_per_drafted: 2 / 3,
    accepted_per_emitted: 2 / 3,
    tau: tokens / rounds,
    passes_saved: tokens - rounds,
    hit_rate: 1,
    lengths: [0, 0, rounds],
    position_tested: [],
    position_accepted: [],
    looped: 0,
  };
  return {
    ...some,
    ...rates,
    draft_s: 0.01 * rounds,
    verify_s: 0.02 * rounds,
    overhead_s: 0.01 * rounds,
    decode_s: 0.04 * rounds,
    tokens_per_s: 75,
    draft_step_s: 0.003,
    prefill_s: 0.01,
    first_token_s: 0.05,
  };
}

/** All text in descriptions. */
export function words(description, between = "") {
  if (Array.isArray(description)) return description.map((one) => words(one, between)).join(between);
  if (description === null || typeof description !== "object") return String(description ?? "");
  return words(description.children, between);
}

/** All descriptions with a tag, at any depth. */
export function all(description, tag) {
  if (Array.isArray(description)) return description.flatMap((one) => all(one, tag));
  if (description === null || typeof description !== "object") return [];
  return [...(description.tag === tag ? [description] : []), ...all(description.children, tag)];
}
