// The first line of the page: how much faster, on what, and whether the words are the same.

import { h } from "./dom.js";
import { marginOf } from "./compare.js";
import { fixed, seconds, times } from "./format.js";
import { quoted, runFacts } from "./facts.js";
import { fruitless, LONG } from "./fruitless.js";
import { keepsLaw, ruleName, ruleOf, warning } from "./rules.js";
import { why } from "./why.js";

/** The hero panel. */
export function hero(model) {
  const noted = note(model);
  return h(
    "header",
    { class: `sd-hero sd-panel${noted ? " sd-noted" : ""}` },
    runningLine(model),
    banner(model),
    headline(model),
    subline(model),
    h("p", { class: "sd-notes" }, noted),
  );
}

/** What is running: recorded or live, device, dtype, pair, drafter. */
export function runningLine({ t, header }) {
  if (!header) return h("p", { class: "sd-running" }, t("hero.empty"));
  const live = header.kind === "live";
  const date = header.recorded ? header.recorded.slice(0, 10) : null;
  return h(
    "p",
    { class: "sd-running" },
    h(
      "span",
      { class: `sd-badge ${live ? "sd-badge-live" : "sd-badge-recorded"}` },
      t(live ? "hero.live" : "hero.recorded"),
    ),
    [...(live ? [] : [date]), ...runFacts(header, t)]
      .filter(Boolean)
      .map((fact) => h("span", { class: "sd-fact" }, fact)),
  );
}

/** What must be known of the rule before any number: that the output is not the target's law, or that tokens are wasted. */
export function banner({ t, race }) {
  const lane = race.speculative?.lane;
  if (!lane?.started || lane.baseline) return null;
  const rule = ruleOf(lane);
  const key = warning(rule, lane.started.greedy);
  if (!key) return null;
  const sort = key === "wasteful" ? "sd-banner-wasteful" : "sd-banner-other";
  return h("p", { class: `sd-banner ${sort}`, role: "note" }, t(`hero.banner_${key}`, { rule: ruleName(rule, t) }));
}

/** The one sentence; its number is an element of its own. `hidden` shows a question mark in its place. */
export function headline({ t, race }, hidden = false) {
  const number = h("b", { class: "sd-big" }, hidden ? "?" : numberOf(race));
  return h(
    "h2",
    { class: "sd-headline" },
    t.parts(`hero.${headlineKey(race)}`, { number, tokens: race.comparison?.tokens }),
  );
}

function headlineKey(race) {
  if (!race.speculative || (race.phase === "alone" && !race.speculative.rounds)) return "idle";
  if (race.phase === "alone") return "alone";
  const law = keepsLaw(ruleOf(race.speculative.lane), race.greedy) ? "law" : "other";
  const words = law === "law" && race.words && race.parts === null ? "words" : law;
  if (race.phase === "waiting" || !race.speculative.rounds) return `waiting_${words}`;
  if (race.phase === "finish" && race.comparison.too_short) return "too_short";
  if (race.speedup === null) return `waiting_${words}`;
  return `${race.speedup < 1 ? "slower" : "faster"}_${words}`;
}

function numberOf(race) {
  if (race.phase === "alone") return fixed(race.speculative?.metrics?.tau, 1);
  return race.speedup === null ? "" : times(race.speedup);
}

function subline({ t, race }) {
  return h("p", { class: "sd-sub" }, h("span", {}, sublineText(race, t)), sameWords(race, t));
}

function sublineText(race, t) {
  if (!race.speculative || race.phase === "alone") return "";
  const { phase, fast, slow, comparison } = race;
  if (!race.seconds) return "";
  if (phase !== "finish") return t("hero.sub_running", { fast, slow, seconds: seconds(race.seconds) });
  const { tokens, fast_s, slow_s } = comparison;
  const key = comparison.speedup < 1 ? "hero.sub_finish_slower" : "hero.sub_finish";
  return t(key, { tokens, fast: seconds(fast_s), slow: seconds(slow_s) });
}

/** "identical 96/96 ✓"; only greedy lanes and those that share their noise are held to the same words. */
export function sameWords(race, t) {
  if (!race.words || !race.of) return null;
  const { same, of } = race;
  if (race.parts !== null) return h("span", { class: "sd-same sd-parted" }, t("hero.same_until", { same, of }));
  return h(
    "span",
    { class: "sd-same" },
    t(race.phase === "finish" ? "hero.identical" : "hero.identical_so_far", { same, of }),
  );
}

function note({ t, race, timeline }) {
  if (race.phase === "alone" || !race.speculative) return null;
  if (race.words && race.parts !== null) return parted(race, timeline, t);
  const vain = fruitless(race.speculative.lane.rounds.slice(0, race.speculative.rounds));
  if (vain >= LONG) return t("hero.fruitless", { rounds: vain });
  if (race.phase !== "finish") return null;
  const reason = why(race.comparison, race.speculative.metrics);
  return reason ? t(reason.key, reason.params) : looped(race, t);
}

// Greedy texts under a sound rule part where rounding decides between two nearly equal choices: say by what margin.
function parted({ speculative, baseline, parts, greedy }, timeline, t) {
  const [one, other] = [speculative.lane.tokens[parts], baseline.lane.tokens[parts]];
  if (!one || !other) return null;
  const rounding = greedy && keepsLaw(ruleOf(speculative.lane), greedy);
  const margin = rounding ? (marginOf(speculative.lane, parts) ?? marginOf(baseline.lane, parts)) : null;
  const words = { token: parts + 1, one: quoted(timeline.string(one.id)), other: quoted(timeline.string(other.id)) };
  return t(margin === null ? "hero.parted" : "hero.parted_margin", { ...words, margin: fixed(margin, 3) });
}

// A looping text is easy to guess: its speedup is not worth much.
function looped({ speculative }, t) {
  const share = speculative.metrics?.looped;
  return share > 0.3 ? t("hero.looped", { share: Math.round(share * 100) }) : null;
}
