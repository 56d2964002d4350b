// The class board: everybody's runs as points over what theory expects. Knows points and formulas.

import { h } from "../player/dom.js";
import { fixed, times } from "../player/format.js";
import { speedup } from "../player/theory.js";

const EDGE = { left: 54, right: 66, top: 18, bottom: 46 };
const GAMMAS = [1, 2, 4, 8];
const STEPS = 40;
const LINE = 17;
const SHAPES = ["circle", "square", "diamond", "triangle"];
const INKS = ["--sd-accent", "--sd-q", "--sd-bonus", "--sd-accepted", "--sd-rejected", "--sd-p", "--sd-resampled", "--sd-muted"];

function median(values) {
  const sorted = values.filter((value) => value !== null && value !== undefined).sort((a, b) => a - b);
  return sorted.length ? sorted[Math.floor(sorted.length / 2)] : null;
}

/** What the curves are drawn with: the class's own median c, and a v that grows in a straight line to its median. */
export function costs(points) {
  const c = median(points.map((point) => point.c)) ?? 0.05;
  const slope = median(points.filter((point) => point.v && point.gamma).map((point) => Math.max(0, (point.v - 1) / point.gamma))) ?? 0;
  return { c, slope };
}

/** points: of the board. mine: ids of this reader's own. width, height: of the picture in pixels. */
export function board({ points, mine, width, height, say, csv }) {
  const shown = points.filter((point) => point.alpha !== null);
  const look = looks(shown);
  return h(
    "section",
    { class: "ws-board", "aria-label": say("board") },
    h("div", { class: "ws-board-head" }, h("h2", {}, say("board")), h("p", { class: "ws-hint" }, say("board_about")), csv ? h("button", { type: "button", class: "ws-button", "data-do": "csv" }, say("csv")) : null),
    chart(shown, look, mine, width, height, say),
    key(shown, look, say),
    h("p", { class: "ws-hint" }, points.length ? summary(points, say) : say("board_empty")),
  );
}

function chart(points, look, mine, width, height, say) {
  const { c, slope } = costs(points);
  const expected = (alpha, gamma) => speedup(alpha, gamma, c, (n) => 1 + slope * (n - 1));
  const top = Math.max(2, ...points.map((point) => point.speedup), ...GAMMAS.map((gamma) => Math.min(expected(0.97, gamma), 4)));
  const most = Math.ceil(2 * (top * 1.04)) / 2;
  const x = (alpha) => EDGE.left + alpha * (width - EDGE.left - EDGE.right);
  const y = (value) => height - EDGE.bottom - (Math.min(value, most) / most) * (height - EDGE.top - EDGE.bottom);
  return h(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, class: "ws-chart", role: "img", "aria-label": say("board_text", { count: points.length, best: points.length ? times(Math.max(...points.map((point) => point.speedup))) : "–" }) },
    grid(x, y, most, width, height, say),
    curves(expected, x, y, most),
    h("path", { class: "ws-even", d: `M${x(0)} ${y(1)}H${x(1)}` }),
    points.map((point) => mark(point, x(point.alpha), y(point.speedup), mine.has(point.id), say, look.get(point.drafter))),
  );
}

function grid(x, y, most, width, height, say) {
  const step = most > 6 ? 1 : 0.5;
  const across = Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
  const along = [0, 0.2, 0.4, 0.6, 0.8, 1];
  return h(
    "g",
    { class: "ws-grid" },
    across.map((value) => h("path", { d: `M${x(0)} ${y(value)}H${x(1)}` })),
    across.map((value) => h("text", { x: x(0) - 8, y: y(value) + 5, "text-anchor": "end" }, `${value}×`)),
    along.map((value) => h("text", { x: x(value), y: height - EDGE.bottom + 20, "text-anchor": "middle" }, fixed(value, 1))),
    h("text", { x: (x(0) + x(1)) / 2, y: height - 6, "text-anchor": "middle" }, say("axis_alpha")),
  );
}

/** The curves, and their names beside their ends: pushed apart where these meet. */
function curves(expected, x, y, most) {
  const ends = GAMMAS.map((gamma) => {
    const alphas = Array.from({ length: STEPS + 1 }, (_, i) => i / STEPS).filter((alpha) => expected(alpha, gamma) <= most);
    return { gamma, alphas, at: y(expected(alphas.at(-1), gamma)) };
  });
  let free = Infinity;
  for (const end of ends.toSorted((a, b) => b.at - a.at)) {
    end.label = Math.min(end.at + 5, free);
    free = end.label - LINE;
  }
  return ends.map(({ gamma, alphas, label }) => {
    const path = alphas.map((alpha, i) => `${i ? "L" : "M"}${x(alpha).toFixed(1)} ${y(expected(alpha, gamma)).toFixed(1)}`).join("");
    return h("g", { class: "ws-curve" }, h("path", { d: path }), h("text", { x: x(alphas.at(-1)) + 6, y: label }, `γ ${gamma}`));
  });
}

/** Drafters in the order in which they came to the board, each with an ink and a shape of its own. */
function looks(points) {
  const ids = [...new Set(points.map((point) => point.drafter))];
  return new Map(ids.map((id, i) => [id, { ink: INKS[i % INKS.length], shape: SHAPES[i % SHAPES.length] }]));
}

function shape(name, x, y, r, attributes) {
  if (name === "square") return h("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, rx: 2, ...attributes });
  if (name === "diamond") return h("path", { d: `M${x} ${y - 1.3 * r}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}l${-1.3 * r} ${-1.3 * r}z`, ...attributes });
  if (name === "triangle") return h("path", { d: `M${x} ${y - 1.3 * r}L${x + 1.3 * r} ${y + r}H${x - 1.3 * r}z`, ...attributes });
  return h("circle", { cx: x, cy: y, r, ...attributes });
}

function mark(point, x, y, own, say, { ink, shape: name }) {
  const told = say("point", { drafter: say.drafter(point.drafter), gamma: point.gamma, alpha: fixed(point.alpha, 2), speedup: times(point.speedup) });
  return h(
    "g",
    { class: `ws-point${own ? " ws-own" : ""}`, style: `color:var(${ink})`, "data-point": point.id },
    h("title", {}, told),
    shape(name, x, y, 10, {}),
    h("text", { x, y: y + 4, "text-anchor": "middle" }, String(point.gamma)),
  );
}

function key(points, look, say) {
  if (!look.size) return null;
  const { c, slope } = costs(points);
  return h(
    "ul",
    { class: "ws-key" },
    [...look].map(([id, { ink, shape: name }]) =>
      h("li", {}, h("svg", { viewBox: "0 0 20 20", width: 20, height: 20, style: `color:var(${ink})`, class: "ws-point", "aria-hidden": "true" }, shape(name, 10, 10, 6, {})), say.drafter(id)),
    ),
    h("li", {}, h("svg", { viewBox: "0 0 26 10", width: 26, height: 10, class: "ws-curve", "aria-hidden": "true" }, h("path", { d: "M1 5H25" })), say("curves", { c: fixed(c, 2), v: fixed(1 + 4 * slope, 2) })),
  );
}

function summary(points, say) {
  const best = points.reduce((a, b) => (b.speedup > a.speedup ? b : a));
  const slower = points.filter((point) => point.speedup < 1).length;
  return say("board_summary", { count: points.length, median: times(median(points.map((point) => point.speedup))), best: times(best.speedup), drafter: say.drafter(best.drafter), gamma: best.gamma, slower });
}

