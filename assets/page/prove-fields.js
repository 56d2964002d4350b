// Fields of a form that the page draws itself: a name and a control, whose `name` says what it sets.

import { h } from "../player/dom.js";

/** A menu. options: [value, text] pairs. */
export function menu(name, label, value, options) {
  const shown = options.map(([given, text]) => h("option", { value: given }, text));
  return field(label, h("select", { name, value }, shown));
}

/** A number in a range. */
export function number(name, label, value, { low, high, step }) {
  return field(label, h("input", { type: "number", name, min: low, max: high, step, value }));
}

/** A longer text. */
export function words(name, label, value) {
  return field(label, h("textarea", { name, rows: 2, value }), "sp-wide");
}

function field(label, control, more = "") {
  return h("label", { class: `sp-field ${more}` }, h("span", {}, label), control);
}

/** The button that starts a test, or ends it while it runs. */
export function startButton(kind, running, busy, say) {
  return running
    ? h("button", { type: "button", class: "sp-go sp-halt", "data-do": "halt" }, say("stop"))
    : h("button", { type: "button", class: "sp-go", "data-do": kind, disabled: busy }, say(`start.${kind}`));
}

/** Passed or failed, for eyes and for ears. */
export function mark(passed, say) {
  return h("span", { class: passed ? "sp-pass" : "sp-fail" }, h("span", { "aria-hidden": "true" }, passed ? "✓" : "✗"), h("span", { class: "sd-hidden" }, say(passed ? "passed" : "failed")));
}
