// The chart S(γ) as a picture that scales with the page: both curves, their best γ, where they cross one, the γ chosen.

import { h } from "../player/dom.js";
import { times } from "../player/format.js";
import { MOST } from "./theory-numbers.js";

const HEIGHT = 300;
const EDGE = { left: 44, right: 16, top: 20, bottom: 40 };

/** flat, slope: of `summary`. gamma: the chosen one. width: of the picture in pixels. say(key, params): a text. */
export function chart({ flat, slope, gamma, width, say }) {
  const most = Math.max(2, Math.ceil(Math.max(flat.top, slope.top) * 1.08));
  const x = (at) => EDGE.left + (at / MOST) * (width - EDGE.left - EDGE.right);
  const y = (value) => HEIGHT - EDGE.bottom - (value / most) * (HEIGHT - EDGE.top - EDGE.bottom);
  const described = say("chart_text", { gamma, flat: times(flat.values[gamma]), slope: times(slope.values[gamma]), best_flat: flat.best, best_slope: slope.best });
  return h(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, class: "sp-curve", role: "img", "aria-label": described },
    grid(x, y, most, width, say),
    h("path", { class: "sp-even", d: `M${x(0)} ${y(1)}H${x(MOST)}` }),
    h("path", { class: "sp-chosen", d: `M${x(gamma)} ${y(0)}V${EDGE.top}` }),
    line("flat", flat, x, y, gamma, -11),
    line("slope", slope, x, y, gamma, 24),
  );
}

function grid(x, y, most, width, say) {
  const step = most > 12 ? 4 : most > 6 ? 2 : 1;
  const across = Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
  const along = Array.from({ length: MOST / 4 + 1 }, (_, i) => 4 * i);
  return h(
    "g",
    { class: "sp-grid" },
    across.map((value) => h("path", { d: `M${x(0)} ${y(value)}H${x(MOST)}` })),
    across.map((value) => h("text", { x: x(0) - 8, y: y(value) + 5, "text-anchor": "end" }, `${value}×`)),
    along.map((value) => h("text", { x: x(value), y: HEIGHT - EDGE.bottom + 18, "text-anchor": "middle" }, String(value))),
    h("text", { x: width / 2, y: HEIGHT - 4, "text-anchor": "middle" }, say("axis")),
  );
}

function line(name, { values, best, top, even }, x, y, gamma, label) {
  const path = values.map((value, at) => `${at ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const [left, down] = [x(even), y(values[even])];
  return h(
    "g",
    { class: `sp-line-${name}` },
    h("path", { class: "sp-values", d: path }),
    even > 0 && even < MOST ? h("path", { class: "sp-cross", d: `M${left - 5} ${down - 5}l10 10m0-10l-10 10` }) : null,
    h("path", { class: "sp-best", d: `M${x(best)} ${y(top) - 7}l7 7l-7 7l-7-7z` }),
    h("text", { class: "sp-best-name", x: Math.max(x(best), 70), y: y(top) + label, "text-anchor": "middle" }, times(top)),
    h("circle", { class: "sp-here", cx: x(gamma), cy: y(values[gamma]), r: 5 }),
  );
}
