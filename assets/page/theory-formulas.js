// The formulas of speculative decoding with the numbers of now in them.

import { h } from "../player/dom.js";
import { percent, times } from "../player/format.js";
import { acceptedPerDrafted, acceptedPerEmitted, arithmetic, speedup, tau, worthIt } from "../player/theory.js";
import { alphaNeeded, sloped } from "./theory-numbers.js";

/** Rows [name, formula, the same with numbers, result] for the settings {alpha, gamma, c, slope}. */
export function formulas({ alpha, gamma, c, slope }, { flat, sloping }, say) {
  const v = sloped(slope);
  const t = tau(alpha, gamma);
  const a = number(alpha);
  const limit = alpha === 1;
  const share = gamma ? percent(acceptedPerDrafted(alpha, gamma)) : "–";
  const needed = alphaNeeded(gamma, c, v);
  return [
    row("tau", limit ? "γ + 1" : over(["1 − α", sup("γ+1")], "1 − α"), limit ? `${gamma} + 1` : over(["1 − ", a, sup(gamma + 1)], `1 − ${a}`), number(t)),
    row("flat", over("τ", "γc + 1"), over(number(t), `${gamma} · ${number(c)} + 1`), times(speedup(alpha, gamma, c))),
    row("slope", over("τ", "γc + v(γ+1)"), over(number(t), `${gamma} · ${number(c)} + ${number(v(gamma + 1))}`), times(speedup(alpha, gamma, c, v))),
    row("used", over("τ − 1", "γ"), over(`${number(t)} − 1`, String(gamma)), share),
    row("drafted", over("τ − 1", "τ"), over(`${number(t)} − 1`, number(t)), percent(acceptedPerEmitted(alpha, gamma))),
    row("arithmetic", over("γ + 1", "τ"), over(`${gamma} + 1`, number(t)), times(arithmetic(alpha, gamma))),
    row("worth", "α > c", `${a} ${worthIt(alpha, c) ? ">" : "≤"} ${number(c)}`, say(worthIt(alpha, c) ? "yes" : "no")),
    row("best_flat", "argmax S(γ)", "", `γ = ${flat.best}, ${times(flat.top)}`),
    row("best_slope", "argmax S(γ)", "", `γ = ${sloping.best}, ${times(sloping.top)}`),
    row("even_gamma", "S(γ) ≥ 1", "", `γ ≤ ${sloping.even}`),
    row("even_alpha", "S(α) = 1", `γ = ${gamma}`, needed === null ? say("never") : number(needed)),
  ];

  function row(key, formula, filled, result) {
    return h(
      "tr",
      { "data-row": key },
      h("th", { scope: "row" }, say(`formula.${key}`)),
      h("td", { class: "sp-formula" }, formula),
      h("td", { class: "sp-formula sp-filled" }, filled),
      h("td", { class: "sp-result" }, result),
    );
  }
}

/** Two decimals, in the style of formulas. */
export function number(value) {
  return value.toFixed(2);
}

function over(top, bottom) {
  return h("span", { class: "sp-over" }, h("span", {}, top), h("span", {}, bottom));
}

function sup(exponent) {
  return h("sup", {}, String(exponent));
}
