// Every rule against every test on a tiny world, as a table whose rows are the picker of the rule, and one rule closely.

import { h } from "../player/dom.js";
import { mark } from "./prove-fields.js";

const TESTS = ["a", "b", "c", "d"];
const PROVED = 3;
const LABELLED = 40;

/** rules: [{id, badge, side, source}]. rows: by rule, of those tested so far. name(id), badge(id): texts. */
export function table({ rules, rows, chosen, name, badge, say }) {
  const head = [say("rule"), ...TESTS.map((test) => [`(${test})`, h("span", { class: "sp-long" }, ` ${say(`test.${test}`)}`)]), say("promised")];
  return h(
    "div",
    { class: "sp-scroll", tabindex: "0", role: "region", "aria-label": say("exact") },
    h(
      "table",
      { class: "sp-table sp-rules" },
      h("thead", {}, h("tr", {}, head.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, rules.map((rule) => line(rule, rows.get(rule.id), rule.id === chosen, { name, badge, say }))),
    ),
  );
}

function line(rule, row, chosen, { name, badge, say }) {
  const radio = h("input", { type: "radio", name: "row", value: rule.id, checked: chosen });
  const cells = row ? TESTS.map((test) => cell(test, row, say)) : TESTS.map(() => h("td", { class: "sp-pending" }, "…"));
  return h(
    "tr",
    { "data-rule": rule.id, class: chosen ? "sp-now" : null },
    h("th", { scope: "row" }, h("label", { class: "sp-rule" }, radio, h("span", {}, name(rule.id)), badge(rule.badge))),
    cells,
    h("td", {}, row ? [mark(row.as_promised, say), h("span", { class: "sp-measured" }, ` ${say(row.as_promised ? "yes" : "no")}`)] : "…"),
  );
}

function cell(test, row, say) {
  return h("td", { "data-test": test, class: row.passed[test] ? null : "sp-refused" }, mark(row.passed[test], say), h("span", { class: "sp-measured" }, ` ${measured[test](row, say)}`));
}

const measured = {
  a: ({ greedy }) => `${greedy.same}/${greedy.of}`,
  b: ({ sampled }) => `TV ${sampled.distance.toFixed(3)} (≤ ${sampled.high.toFixed(3)})`,
  c: ({ joints }) => `TV ${tiny(joints[PROVED].distance)}`,
  d: ({ waste }) => `Δτ ${signed(waste.exact)}`,
};

/** A distance: what rounding alone can do reads as a power of ten. */
export function tiny(distance) {
  if (distance === 0) return "0";
  return distance < 1e-3 ? `10${power(Math.round(Math.log10(distance)))}` : distance.toFixed(3);
}

function power(exponent) {
  return [...String(exponent)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("");
}

/** One rule: what it does, and the joint law of two to four tokens under it beside the target's. */
export function detail({ rule, row, length, lengths, name, about, badge, source, say }) {
  return h(
    "section",
    { class: "sp-detail", "aria-label": name(rule.id) },
    h("h4", {}, name(rule.id), " ", badge(rule.badge)),
    h("p", {}, about(rule.id)),
    h("p", { class: "sd-hint" }, say("touches", { side: say(`side.${rule.side}`) }), " · ", source(rule)),
    row ? law(row, length, lengths, say) : null,
  );
}

function law({ joints, waste }, length, lengths, say) {
  const joint = joints[length];
  const { texts } = joint;
  const most = Math.max(...texts.map(([, target, emitted]) => Math.max(target, emitted)));
  const bar = (kind, value) => h("i", { class: `sp-joint-${kind}`, style: `height:${((100 * value) / most).toFixed(2)}%` });
  return h(
    "div",
    { class: "sp-joint" },
    h(
      "div",
      { class: "sp-choices", role: "group", "aria-label": say("lengths") },
      h("span", { class: "sd-hint" }, say("lengths")),
      lengths.map((one) => h("button", { type: "button", class: "sp-choice", "data-length": String(one), "aria-pressed": String(one === length) }, String(one))),
    ),
    h("p", {}, say("joint", { count: texts.length, length, distance: tiny(joint.distance) })),
    h(
      "div",
      { class: `sp-joint-bars${texts.length > LABELLED ? " sp-joint-many" : ""}`, role: "img", "aria-label": say("joint_text", { distance: tiny(joint.distance) }) },
      texts.map(([tokens, target, emitted]) => h("span", { title: `${tokens.join(" ")}: ${target.toFixed(4)}, ${emitted.toFixed(4)}` }, h("span", {}, bar("target", target), bar("emitted", emitted)), h("small", {}, tokens.join("")))),
    ),
    h("ul", { class: "sp-key" }, h("li", {}, h("i", { class: "sp-swatch sp-joint-target" }), say("key.target")), h("li", {}, h("i", { class: "sp-swatch sp-joint-emitted" }), say("key.emitted"))),
    h("p", {}, say("waste", { tau: waste.tau.toFixed(2), correct: waste.correct.toFixed(2), rounds: waste.rounds, fewer: waste.fewer, more: waste.more, exact: signed(waste.exact) })),
  );
}

function signed(value) {
  return `${value < -5e-4 ? "−" : value < 5e-4 ? "±" : "+"}${Math.abs(value).toFixed(3)}`;
}
