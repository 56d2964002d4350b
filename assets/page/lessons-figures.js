// The figures of a recorded run that lessons speak of, as numbers and as they are written. Computed from the trace alone, by
// the player's own functions, so that a lesson and the page never differ.

import { raceAt } from "../player/compare.js";
import { drafterName, quoted } from "../player/facts.js";
import { chance, fixed, seconds, times } from "../player/format.js";
import { stateAt, Timeline } from "../player/state.js";
import { Stream } from "../player/stream.js";
import { LAST, slotOf } from "../player/tokens.js";
import { predict, tellingRound } from "./telling.js";

const SURE = 0.995;
const CLEAR = [0.1, 0.9];

/** A whole run read once: {timeline, race at its end}. */
export function readRun(ndjson) {
  const { header, records } = new Stream().read(ndjson);
  const timeline = new Timeline(header);
  timeline.append(records);
  return { timeline, race: raceAt(stateAt(timeline, timeline.steps.length), null) };
}

/** The first test whose coin could have fallen either way, by a draft with a law of its own: {round, slot, test} or null. */
export function coinOf(run) {
  return firstTest(run, ({ p, q }) => q < SURE && p / q > CLEAR[0] && p / q < CLEAR[1]);
}

/** The first guess of such a draft that fell. */
export function fallOf(run) {
  return firstTest(run, ({ accepted, p, q }) => !accepted && q < SURE && p / q < CLEAR[1]);
}

function firstTest({ race: { speculative } }, fits) {
  for (const round of speculative.lane.rounds) {
    const slot = round.judged.tests.findIndex(fits);
    if (slot >= 0) return { round, slot, test: round.judged.tests[slot] };
  }
  return null;
}

/** The draft length that a prediction asks about: three times that of the run. */
export function longer(run) {
  return 3 * run.race.speculative.lane.started.gamma;
}

/** Name → number (or word), for conditions. */
export function numbers(run) {
  const { race, timeline } = run;
  const { speculative, baseline, comparison } = race;
  const { metrics, lane } = speculative;
  return {
    speedup: race.speedup,
    tau: metrics.tau,
    alpha: metrics.tested ? metrics.accepted / metrics.tested : null,
    accepted: metrics.accepted,
    tested: metrics.tested,
    rejected: metrics.rejected,
    discarded: metrics.discarded,
    bonus: metrics.bonus,
    c: comparison?.c ?? null,
    v: comparison?.v ?? null,
    width: comparison?.width ?? null,
    cost: comparison?.adds_up_to ? metrics.tau / comparison.adds_up_to : null,
    gamma: lane.started.gamma,
    temperature: timeline.header.settings.sampling?.temperature ?? null,
    tokens: speculative.tokens,
    passes: metrics.rounds,
    plain_passes: baseline?.metrics.rounds ?? null,
    hit_rate: metrics.hit_rate,
    same: race.same ?? null,
    of: race.of ?? null,
    fast_s: comparison?.fast_s ?? null,
    slow_s: comparison?.slow_s ?? null,
    megabytes: timeline.header.models.target_bytes / 1e6,
    draft_megabytes: timeline.header.models.draft_bytes / 1e6,
    prediction: predict(race, longer(run))?.answer ?? null,
    ...telling(run),
    coin: coinOf(run) ? 1 : 0,
    fall: fallOf(run) ? 1 : 0,
  };
}

function telling({ race: { speculative } }) {
  const { rounds } = speculative.lane;
  const { judged, drafted } = rounds[tellingRound(rounds) - 1];
  const kept = judged.fates.filter((fate) => fate === "accepted").length;
  const lost = judged.fates.filter((fate) => fate === "discarded").length;
  return { guesses: drafted.tokens.length, kept, lost, fell: judged.fates.indexOf("rejected") + 1, emitted: judged.emitted.length };
}

/** Name → text in the reader's language, for placeholders. */
export function said(run, t) {
  const all = numbers(run);
  const { timeline, race } = run;
  const { header } = timeline;
  const two = (name) => fixed(all[name], 2);
  const whole = (value) => (value === null ? "–" : String(Math.round(value)));
  return {
    ...Object.fromEntries(Object.entries(all).map(([name, value]) => [name, typeof value === "number" ? String(value) : (value ?? "–")])),
    speedup: all.speedup === null ? "–" : times(all.speedup),
    tau: two("tau"),
    alpha: two("alpha"),
    c: two("c"),
    v: two("v"),
    cost: two("cost"),
    hit_rate: `${whole(100 * all.hit_rate)} %`,
    identical: `${all.same}/${all.of}`,
    fast: all.fast_s === null ? "–" : seconds(all.fast_s),
    slow: all.slow_s === null ? "–" : seconds(all.slow_s),
    megabytes: whole(all.megabytes),
    draft_megabytes: whole(all.draft_megabytes),
    longer: String(longer(run)),
    drafter: drafterName(header.settings.drafter, t),
    machine: header.hardware.processor ?? header.hardware.device ?? "–",
    date: header.recorded ? header.recorded.slice(0, 10) : "–",
    ...tellingWords(run),
    ...coinWords("coin", coinOf(run), timeline, t),
    ...coinWords("fall", fallOf(run), timeline, t),
    ...predicted(race, longer(run)),
  };
}

function tellingWords({ race: { speculative }, timeline }) {
  const { rounds } = speculative.lane;
  const round = rounds[tellingRound(rounds) - 1];
  const fell = round.judged.fates.indexOf("rejected");
  const last = slotOf(round, LAST, timeline);
  return {
    round: String(round.number),
    round_width: String(round.drafted.tokens.length + 1),
    guess: fell < 0 ? "–" : quoted(slotOf(round, fell, timeline).string),
    correction: last ? quoted(last.string) : "–",
  };
}

function coinWords(name, found, timeline, t) {
  if (!found) return {};
  const { round, slot, test } = found;
  const last = slotOf(round, LAST, timeline);
  return {
    [`${name}_token`]: quoted(slotOf(round, slot, timeline).string),
    [`${name}_p`]: chance(test.p),
    [`${name}_q`]: chance(test.q),
    [`${name}_u`]: fixed(test.u, 2),
    [`${name}_ratio`]: fixed(test.p / test.q, 2),
    [`${name}_product`]: fixed(test.p * test.q, 2),
    [`${name}_word`]: t(test.accepted ? "fate.accepted" : "fate.rejected"),
    [`${name}_sign`]: test.u < test.p / test.q ? "<" : "≥",
    [`${name}_new`]: last ? quoted(last.string) : "–",
  };
}

function predicted(race, to) {
  const told = predict(race, to);
  if (!told) return {};
  const amounts = (when, { tokens, cost, speed }) => ({ [`${when}_tokens`]: fixed(tokens, 2), [`${when}_cost`]: fixed(cost, 2), [`${when}_speed`]: times(speed) });
  return { ...amounts("before", told.before), ...amounts("after", told.after), share: `${Math.round(100 * told.share)} %` };
}

/** What can be said of many runs: how many there are, how many are so fast, and how many greedy texts are the target's own. */
export function together(runs) {
  const all = runs.map(numbers);
  const speeds = all.map(({ speedup }) => speedup).filter((speedup) => speedup !== null);
  const greedy = all.filter(({ temperature }) => temperature === 0);
  return {
    count: speeds.length,
    twice: speeds.filter((speedup) => speedup >= 2).length,
    slower: speeds.filter((speedup) => speedup < 1).length,
    best: Math.max(...speeds),
    worst: Math.min(...speeds),
    greedy: greedy.length,
    identical: greedy.filter(({ same, of }) => same === of).length,
    sampled: all.length - greedy.length,
  };
}

/** The same as texts. */
export function togetherSaid(runs) {
  const all = together(runs);
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, name === "best" || name === "worst" ? times(value) : String(value)]));
}
