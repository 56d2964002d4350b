// Test (b) on the real model: what was emitted against p, and how the distance falls as decisions come.

import { h } from "../player/dom.js";
import { label } from "../player/format.js";
import { mark } from "./prove-fields.js";

const SUPER = { 100: "10²", 1000: "10³", 10000: "10⁴", 100000: "10⁵", 1000000: "10⁶" };
const HEIGHT = 230;
const EDGE = { left: 52, right: 14, top: 12, bottom: 34 };

/** How many decisions can be asked for, as [value, text]. */
export const SIZES = Object.entries(SUPER);

/** state: of the server, with at least one result. rule: its name. width: of the chart in pixels. */
export function result(state, rule, width, say) {
  return h(
    "div",
    { class: "sp-result-box" },
    h("p", { class: "sp-where" }, h("span", { class: "sp-context" }, state.context), h("b", {}, "?")),
    verdict(state, rule, say),
    numbers(state, say),
    h("div", { class: "sp-sampled" }, histogram(state, say), h("figure", { class: "sp-converging" }, h("figcaption", {}, say("converging")), h("div", { class: "sp-chart-box" }, chart(state, width, say)), key(say))),
  );
}

function verdict({ state, passed, n, of }, rule, say) {
  const key = passed ? "agrees" : "differs";
  return h("p", { class: `sp-said ${passed ? "sp-said-good" : "sp-said-bad"}`, role: state === "running" ? null : "status" }, mark(passed, say), ` ${rule}: `, say(key, { n: whole(n) }), state === "running" ? h("progress", { max: of, value: n, "aria-label": say("progress") }) : null);
}

function numbers({ n, of, accepted, beta, history, chi2, degrees, p_value }, say) {
  const [, distance, , low, high] = history.at(-1);
  const shown = {
    decisions: `${whole(n)} / ${whole(of)}`,
    kept: `${((100 * accepted) / n).toFixed(1)} %`,
    beta: beta.toFixed(3),
    distance: distance.toFixed(4),
    band: `${low.toFixed(4)} – ${high.toFixed(4)}`,
    chi: `${chi2 < 1e6 ? chi2.toFixed(0) : "∞"} (${degrees})`,
    chance: p_value < 1e-4 ? "< 0.0001" : p_value.toFixed(4),
  };
  return h("dl", { class: "sp-numbers" }, Object.entries(shown).map(([name, value]) => h("div", {}, h("dt", {}, say(`number.${name}`)), h("dd", {}, value))));
}

function histogram({ cells, n }, say) {
  const most = Math.max(1e-9, ...cells.map(([, p, , count]) => Math.max(p, count / n)));
  const share = (value) => `${((100 * value) / most).toFixed(2)}%`;
  const row = ([name, p, q, count]) =>
    h(
      "li",
      {},
      h("span", { class: "sp-id" }, name ? label(name) : say("others")),
      h("span", { class: "sp-track", "aria-hidden": "true" }, h("i", { class: "sp-came", style: `width:${share(count / n)}` }), h("i", { class: "sp-hoped", style: `width:${share(p)}` }), q <= most ? h("i", { class: "sp-guessed", style: `left:${share(q)}` }) : null),
      h("span", { class: "sp-chance" }, p.toFixed(4)),
      h("span", { class: "sp-chance" }, (count / n).toFixed(4)),
    );
  const keys = ["came", "hoped", "guessed"].map((name) => h("li", {}, h("i", { class: `sp-swatch sp-swatch-${name}` }), say(`key.${name}`)));
  return h("figure", { class: "sp-histogram" }, h("ul", { class: "sp-key" }, keys), h("ol", { "aria-label": say("histogram") }, h("li", { class: "sp-heads", "aria-hidden": "true" }, h("span", {}), h("span", {}), h("span", { class: "sp-chance" }, "p"), h("span", { class: "sp-chance" }, say("share"))), cells.map(row)));
}

/** Distance over decisions, both by powers of ten, with the band of chance. */
function chart({ history, of }, width, say) {
  const x = (n) => EDGE.left + ((Math.log10(n) - 2) / Math.max(0.3, Math.log10(of) - 2)) * (width - EDGE.left - EDGE.right);
  const y = (value) => EDGE.top + (-Math.log10(Math.min(1, Math.max(1e-4, value))) / 4) * (HEIGHT - EDGE.top - EDGE.bottom);
  const path = (at, list = history) => list.map((one, i) => `${i ? "L" : "M"}${x(one[0]).toFixed(1)} ${y(one[at]).toFixed(1)}`).join("");
  const back = [...history].reverse().map((one) => `L${x(one[0]).toFixed(1)} ${y(one[3]).toFixed(1)}`).join("");
  const [n, distance] = history.at(-1);
  return h(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, class: "sp-curve", role: "img", "aria-label": say("chart_text", { n: whole(n), distance: distance.toFixed(4) }) },
    h("g", { class: "sp-grid" }, [1, 0.1, 0.01, 0.001, 0.0001].map((value) => [h("path", { d: `M${EDGE.left} ${y(value)}H${width - EDGE.right}` }), h("text", { x: EDGE.left - 8, y: y(value) + 5, "text-anchor": "end" }, String(value))]), SIZES.filter(([size]) => Number(size) <= of).map(([size, name]) => h("text", { x: x(Number(size)), y: HEIGHT - 12, "text-anchor": "middle" }, name))),
    h("path", { class: "sp-band", d: `${path(4)}${back}Z` }),
    h("path", { class: "sp-expected", d: path(2) }),
    h("path", { class: "sp-values", d: path(1) }),
    h("circle", { class: "sp-here", cx: x(n), cy: y(distance), r: 4.5 }),
  );
}

function key(say) {
  return h("ul", { class: "sp-key" }, ["values", "expected", "band"].map((name) => h("li", {}, h("i", { class: `sp-swatch sp-swatch-${name}` }), say(`key.${name}`))));
}

function whole(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, " ");
}
