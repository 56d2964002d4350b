// Test (a) on the real model: two greedy texts side by side, marked where they part.

import { h } from "../player/dom.js";
import { label } from "../player/format.js";
import { mark } from "./prove-fields.js";

const DIGITS = ["float32", "bfloat16"];

/** Index of the first piece in which two texts differ; the length of the shorter while they agree. */
export function common(a, b) {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return i;
  return length;
}

/** state: of the server, with pieces of both lanes. rule: the name of the rule that was tested. */
export function result(state, rule, say, others = []) {
  const { speculative, baseline, exact, dtype, beside } = state;
  const at = state.of === undefined ? common(speculative, baseline) : state.same;
  const text = (name, pieces) =>
    h(
      "figure",
      { class: "sp-lane" },
      h("figcaption", {}, h("b", {}, say(`lane.${name}`)), ` ${say("tokens", { count: pieces.length })}`),
      h("p", { class: "sp-text", lang: "" }, h("span", {}, pieces.slice(0, at).join("")), parts(pieces, at, speculative, baseline)),
    );
  return h(
    "div",
    { class: "sp-result-box" },
    verdict(state, rule, say),
    h("p", { class: "sd-hint" }, say(exact ? "passes_exact" : "passes_loaded", { dtype }), DIGITS.includes(dtype) ? ` ${say(`digits_${dtype}`)}` : null, beside ? ` ${say("beside", { dtype, megabytes: megabytes(beside) })}` : null),
    h("div", { class: "sp-lanes" }, text("speculative", speculative), text("baseline", baseline)),
    others.map((other) => h("p", { class: "sp-across" }, across(state, other, say))),
  );
}

/** Bytes as whole megabytes. */
export function megabytes(bytes) {
  return String(Math.round(bytes / 1e6));
}

/** What the target alone says in two number types: the same, or where they part and how close its choice was there. */
export function across(one, other, say) {
  const at = common(one.baseline, other.baseline);
  const names = { one: one.dtype, other: other.dtype };
  if (at >= Math.min(one.baseline.length, other.baseline.length)) return say("across_same", { ...names, count: at });
  const margin = (state) => (state.margins?.[at] === undefined ? "–" : short(state.margins[at]));
  const word = (state) => `“${label([state.baseline[at], "text"])}”`;
  return say("across_parts", { ...names, at: at + 1, word: word(one), otherWord: word(other), margin: margin(one), otherMargin: margin(other) });
}

function parts(pieces, at, ...both) {
  const parted = both.every((list) => list.length > at);
  const rest = pieces.slice(at);
  if (!rest.length) return null;
  return parted ? [h("mark", { class: "sp-parting" }, rest[0] || "∅"), h("span", { class: "sp-other" }, rest.slice(1).join(""))] : h("span", { class: "sp-ahead" }, rest.join(""));
}

function verdict({ state, identical, same, of, divergence }, rule, say) {
  if (state === "running") return h("p", { class: "sp-said" }, `${rule}: `, say("running"));
  if (identical) return h("p", { class: "sp-said sp-said-good", role: "status" }, mark(true, say), ` ${rule}: `, say("identical", { same, of }));
  const why = divergence ? say(divergence.tie ? "tie" : "fault", { gap: short(divergence.gap), difference: short(divergence.difference) }) : say(state === "stopped" ? "cut" : "parted");
  const bad = state !== "stopped";
  return h("p", { class: `sp-said ${bad ? "sp-said-bad" : ""}`, role: "status" }, bad ? mark(false, say) : null, ` ${rule}: `, say("parts", { at: same + 1, of }), " ", why);
}

function short(logits) {
  return logits === 0 ? "0" : logits.toPrecision(2);
}
