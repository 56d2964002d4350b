// Two laws as bars that are bent by mouse, touch or keys, and what a round makes of them.

import { h } from "../player/dom.js";
import { number } from "./theory-formulas.js";

const STEPS = { ArrowUp: 0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowLeft: -0.01, PageUp: 0.1, PageDown: -0.1, Home: -1, End: 1 };

/** What a key does to a chance, null if nothing. */
export function stepOf(key) {
  return STEPS[key] ?? null;
}

/** Rows as of `shares`, the words they are about, and say(key, params). */
export function laws({ beta, rows }, words, say) {
  return [
    h(
      "div",
      { class: "sp-laws" },
      bars("p", rows, words, say, ["shared", "missing"]),
      bars("q", rows, words, say, ["shared", "wrong"]),
      outcome(beta, rows, words, say),
    ),
    strip(beta, say),
    table(beta, rows, words, say),
  ];
}

function bars(law, rows, words, say, parts) {
  const bar = (row, i) =>
    h(
      "div",
      { class: "sp-bar-column" },
      h(
        "div",
        {
          class: "sp-bend",
          role: "slider",
          tabindex: "0",
          "data-law": law,
          "data-index": i,
          "aria-label": say("bar", { law, word: words[i] }),
          "aria-orientation": "vertical",
          "aria-valuemin": "0",
          "aria-valuemax": "1",
          "aria-valuenow": row[law].toFixed(2),
        },
        h("span", { class: "sp-bar-value", style: `bottom:${100 * row[law]}%` }, number(row[law])),
        h("i", { class: "sp-grip", style: `bottom:${100 * row[law]}%` }),
        parts.map((name, at) => h("i", { class: `sp-part sp-part-${name}`, style: part(row, parts, at) })),
      ),
      h("span", { class: "sp-word" }, words[i]),
    );
  return h("figure", { class: `sp-law sp-law-${law}` }, h("figcaption", {}, h("b", {}, law), ` ${say(`law.${law}`)}`), h("div", { class: "sp-bars" }, rows.map(bar)));
}

function part(row, parts, at) {
  const below = at === 0 ? 0 : row[parts[0]];
  return `bottom:${(100 * below).toFixed(2)}%;height:${(100 * row[parts[at]]).toFixed(2)}%`;
}

function outcome(beta, rows, words, say) {
  const bar = (row, i) => {
    const drawn = row.emitted - row.shared;
    return h(
      "div",
      { class: "sp-bar-column" },
      h(
        "div",
        { class: "sp-bend sp-still" },
        h("span", { class: "sp-bar-value", style: `bottom:${100 * row.emitted}%` }, number(row.emitted)),
        h("i", { class: "sp-part sp-part-shared", style: `bottom:0;height:${(100 * row.shared).toFixed(2)}%` }),
        h("i", { class: "sp-part sp-part-missing", style: `bottom:${(100 * row.shared).toFixed(2)}%;height:${(100 * drawn).toFixed(2)}%` }),
        h("i", { class: "sp-outline", style: `bottom:${100 * row.p}%` }),
      ),
      h("span", { class: "sp-word" }, words[i]),
    );
  };
  return h("figure", { class: "sp-law sp-law-out" }, h("figcaption", {}, h("b", {}, say("law.out_name")), ` ${say("law.out")}`), h("div", { class: "sp-bars", role: "img", "aria-label": say("out_text", { beta: number(beta) }) }, rows.map(bar)));
}

function strip(beta, say) {
  const share = (name, value) => h("span", { class: `sp-share sp-part-${name}`, style: `flex-grow:${value.toFixed(4)}` });
  return h(
    "div",
    { class: "sp-verdict" },
    h("p", { class: "sp-verdict-said", role: "status" }, say("verdict", { beta: number(beta), rest: number(1 - beta) })),
    h("div", { class: "sp-strip", "aria-hidden": "true" }, share("shared", beta), share("wrong", 1 - beta)),
    h(
      "ul",
      { class: "sp-key" },
      ["shared", "wrong", "missing"].map((name) => h("li", {}, h("i", { class: `sp-swatch sp-part-${name}` }), say(`key.${name}`))),
    ),
  );
}

function table(beta, rows, words, say) {
  const names = ["p", "q", "min(p, q)", "min(1, p/q)", "max(0, p − q)", say("column.residual"), "(1 − β) · r", say("column.sum")];
  const cell = (value) => h("td", {}, value === null ? "–" : number(value));
  return h(
    "div",
    { class: "sp-scroll", tabindex: "0", role: "region", "aria-label": say("table") },
    h(
      "table",
      { class: "sp-table sp-shares" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, say("column.word")), names.map((name) => h("th", { scope: "col" }, name)))),
      h(
        "tbody",
        {},
        rows.map((row, i) =>
          h("tr", {}, h("th", { scope: "row" }, words[i]), [row.p, row.q, row.shared, row.test, row.missing, row.residual, row.residual === null ? 0 : (1 - beta) * row.residual, row.emitted].map(cell)),
        ),
      ),
    ),
  );
}
