// One lane of a sweep closely: acceptance by position, where its time went, and what it did on every prompt.

import { h } from "../player/dom.js";
import { fixed, seconds, times } from "../player/format.js";
import { chart } from "./measure-chart.js";
import { records } from "./measure-numbers.js";

/** Acceptance of the i-th drafted token, with how many were tested; null where nothing was. */
export function positions({ tested, accepted }, width, say) {
  if (!tested.length) return null;
  const points = tested.map((count, i) => ({ kind: "fast", at: [i + 1, accepted[i] / count], text: `${accepted[i]}/${count}` }));
  const curve = { kind: "slope", points: points.map(({ at }) => at) };
  const every = (room) => Math.max(1, Math.ceil((tested.length * room) / width));
  const shown = points.map((point, i) => (i % every(ROOM) ? { ...point, text: "" } : point));
  const described = say("positions_text", { list: tested.map((count, i) => `${i + 1}: ${accepted[i]}/${count}`).join("; ") });
  const ticks = tested.map((_, i) => [i + 1, String(i + 1)]).filter((_, i) => i % every(TICK) === 0);
  const y = { low: 0, high: 1.08, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1].map((value) => [value, String(value)]), name: say("axis.position_alpha") };
  return chart({ width, x: { low: 0.5, high: tested.length + 1, ticks, name: say("axis.position") }, y, curves: [curve], points: shown, described });
}

/** Where the time of a round went: bookkeeping of this very run, never a prediction. */
export function books({ books: own, summary }, say) {
  if (!own) return null;
  const parts = { draft: own.draft, verify: own.verify, other: own.other };
  const total = own.draft + own.verify + own.other;
  return h(
    "div",
    { class: "sp-books" },
    h("p", {}, say("adds_up", { tau: fixed(summary.tau, 2), draft: fixed(own.draft, 2), verify: fixed(own.verify, 2), other: fixed(own.other, 2), total: times(own.adds_up_to) })),
    h("div", { class: "sp-strip", "aria-hidden": "true" }, Object.entries(parts).map(([name, value]) => h("i", { class: `sp-share sp-cost-${name}`, style: `flex-grow:${value / total}` }))),
    h("ul", { class: "sp-key" }, Object.keys(parts).map((name) => h("li", {}, h("i", { class: `sp-swatch sp-cost-${name}` }), say(`cost.${name}`)))),
  );
}

// Pixels that the name of a point and a tick need.
const [ROOM, TICK] = [62, 24];
const HEADS = ["prompt", "speedup", "alpha", "tokens", "latency", "token_ms", "plain_ms", "rate", "same"];

/** What a lane did on each prompt. */
export function prompts(state, cell, say) {
  const titles = new Map(state.prompts.map(({ id, titles: given }) => [id, given[say.language] ?? given.en]));
  const rows = records(state).filter(({ lane, temperature }) => lane === cell.lane && temperature === cell.temperature);
  return h(
    "div",
    { class: "sp-scroll", tabindex: "0", role: "region", "aria-label": say("by_prompt") },
    h("table", { class: "sp-table sp-cells" }, h("thead", {}, h("tr", {}, HEADS.map((head) => h("th", { scope: "col", title: say(`about.${head}`) }, say(`head.${head}`))))), h("tbody", {}, rows.map((row) => line(row, titles.get(row.prompt) ?? row.prompt, say)))),
  );
}

function line(row, title, say) {
  const plain = row.compared ? (1000 * row.baseline_s) / row.compared : null;
  const marks = [row.finish_reason === "cancelled" ? say("cut") : null, row.too_short ? say("too_short") : null, row.looped > 0.3 ? say("loops") : null].filter(Boolean);
  const cells = [
    row.speedup === null ? "–" : h("b", { class: row.speedup < 1 ? "sp-fail" : "sp-gain" }, times(row.speedup)),
    row.alpha === null ? "–" : [fixed(row.alpha, 2), h("small", {}, ` ${say("of", { accepted: row.accepted, tested: row.tested })}`)],
    row.tokens,
    seconds(row.latency_s),
    row.token_s === null ? "–" : (1000 * row.token_s).toFixed(1),
    fixed(plain, 1),
    fixed(row.tokens_per_s, 1),
    row.identical === null ? "–" : say(row.identical ? "yes" : row.tie ? "tie" : "no"),
  ];
  return h("tr", {}, h("th", { scope: "row", class: "sp-prompt" }, title, marks.map((mark) => h("small", {}, ` · ${mark}`))), cells.map((cell) => h("td", {}, cell)));
}
