// Policies over a text: for each, the γ that was asked for in every round as a bar over the words that the round gave.

import { h } from "../player/dom.js";

/** state: of a sweep over policies. prompt: its id. most: the largest γ. name(lane): of the policy. */
export function strips(state, prompt, most, name, say) {
  const lanes = state.strips.filter(([of]) => of === prompt);
  return h("div", { class: "sp-strips" }, lanes.map(([, lane, beats]) => strip(beats, most, name(lane), say)));
}

function strip(beats, most, name, say) {
  const [drafted, kept] = [1, 2].map((at) => beats.reduce((sum, beat) => sum + beat[at], 0));
  return h(
    "figure",
    { class: "sp-gammas" },
    h("figcaption", {}, h("b", {}, name), ` ${say("strip", { rounds: beats.length, drafted, kept })}`),
    h("p", { class: "sp-beats", lang: "" }, beats.map((beat) => round(beat, most, say))),
  );
}

function round([asked, drafted, kept, text], most, say) {
  const height = (value) => `height:${((100 * value) / Math.max(1, most)).toFixed(0)}%`;
  const bars = [h("i", { class: "sp-beat-asked", style: height(asked) }), h("i", { class: "sp-beat-drafted", style: height(drafted) }), h("i", { class: "sp-beat-kept", style: height(kept) })];
  return h("span", { class: "sp-beat", title: say("round", { asked, drafted, kept }) }, h("span", { class: "sp-beat-bar", "aria-hidden": "true" }, bars, h("b", {}, String(asked))), h("span", { class: "sp-beat-text" }, text.replaceAll("\n", "⏎")));
}

/** What the bars mean. */
export function stripKey(say) {
  return h("ul", { class: "sp-key" }, ["asked", "drafted", "kept"].map((name) => h("li", {}, h("i", { class: `sp-swatch sp-beat-${name}` }), say(`beat.${name}`))));
}
