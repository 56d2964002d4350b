// A chart of curves and measured points, as a picture that scales with the page. Draws what it is given, knows no numbers.

import { h } from "../player/dom.js";

const EDGE = { left: 48, right: 18, top: 26, bottom: 44 };
const HEIGHT = 300;
const [LETTER, LINE] = [8, 16];

/**
 * width, height: of the picture in pixels. x, y: {low, high, ticks: [[value, text]], name}. level: a dashed line at this y.
 * curves: {kind, points: [[x, y]], best: {at: [x, y], text}, cross: [x, y]}. points: {kind, at: [x, y], low, high, text,
 * left}, in the order of reading. x.words: its ticks are words, in two lines. described: the same in words.
 */
export function chart({ width, height = HEIGHT, x, y, level = null, curves = [], points = [], described }) {
  const right = (value) => EDGE.left + ((value - x.low) / (x.high - x.low)) * (width - EDGE.left - EDGE.right);
  const up = (value) => height - EDGE.bottom - ((value - y.low) / (y.high - y.low)) * (height - EDGE.top - EDGE.bottom);
  const frame = { right, up, width, height, x, y };
  return h(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, class: "sp-curve", role: "img", "aria-label": described },
    grid(frame),
    level === null ? null : h("path", { class: "sp-even", d: `M${right(x.low)} ${up(level)}H${right(x.high)}` }),
    curves.map((curve) => line(curve, frame)),
    apart(points, frame).map((point) => dot(point, frame)),
  );
}

/** Values from 0 to at least `most`, about five of them: [value, text] with as few digits as they need. */
export function ticks(most, unit = "") {
  const rough = most / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough * 0.999);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => [i * step, `${(i * step).toFixed(digits)}${unit}`]);
}

function grid({ right, up, width, height, x, y }) {
  return h(
    "g",
    { class: "sp-grid" },
    y.ticks.map(([value]) => h("path", { d: `M${right(x.low)} ${up(value)}H${right(x.high)}` })),
    y.ticks.map(([value, text]) => h("text", { x: right(x.low) - 8, y: up(value) + 5, "text-anchor": "end" }, text)),
    x.ticks.map(([value, text], i) => h("text", { x: within(right(value), text, width), y: height - EDGE.bottom + 19 + (x.words && i % 2 ? LINE : 0), "text-anchor": "middle" }, text)),
    h("text", { x: (right(x.low) + right(x.high)) / 2, y: height - 5, "text-anchor": "middle" }, x.name),
    h("text", { x: 4, y: 14 }, y.name),
  );
}

function line({ kind, points, best, cross }, { right, up, width }) {
  const path = points.map(([a, b], i) => `${i ? "L" : "M"}${right(a).toFixed(1)} ${up(b).toFixed(1)}`).join("");
  const [left, down] = cross ? [right(cross[0]), up(cross[1])] : [0, 0];
  return h(
    "g",
    { class: `sp-line-${kind}` },
    h("path", { class: "sp-values", d: path }),
    cross ? h("path", { class: "sp-cross", d: `M${left - 5} ${down - 5}l10 10m0-10l-10 10` }) : null,
    best ? h("path", { class: "sp-best", d: `M${right(best.at[0])} ${up(best.at[1]) - 7}l7 7l-7 7l-7-7z` }) : null,
    best?.text ? h("text", { class: "sp-best-name", x: Math.min(width - 40, Math.max(right(best.at[0]), 80)), y: up(best.at[1]) - 12, "text-anchor": "middle" }, best.text) : null,
  );
}

// About the width of a text in pixels; a Chinese character counts for two letters.
function span(text) {
  return LETTER * text.replace(/[^\u0000-\u02ff]/g, "mm").length;
}

// The middle of a text that shall not run out of the picture.
function within(x, text, width) {
  return Math.min(Math.max(x, span(text) / 2), width - span(text) / 2);
}

// Names that would lie on each other move down, line by line.
function apart(points, { right, up }) {
  const taken = [];
  const free = (x, y, wide) => taken.every(([a, b, width]) => x > a + width || a > x + wide || Math.abs(b - y) >= LINE);
  return points.map((point) => {
    if (!point.text) return point;
    const [x, y] = [right(point.at[0]), up(point.at[1])];
    const wide = 10 + span(point.text);
    const from = point.left ? x - wide : x;
    let down = 0;
    while (!free(from, y + down, wide)) down += LINE;
    taken.push([from, y + down, wide]);
    return { ...point, down };
  });
}

function dot({ kind, at: [a, b], low = null, high = null, text = "", left = false, down = 0 }, { right, up }) {
  const [x, y] = [right(a), up(b)];
  return h(
    "g",
    { class: `sp-dot-${kind}` },
    low === null ? null : h("path", { class: "sp-whisker", d: `M${x} ${up(low)}V${up(high)}M${x - 5} ${up(low)}h10M${x - 5} ${up(high)}h10` }),
    kind === "books" ? h("path", { class: "sp-cross", d: `M${x - 5} ${y}h10M${x} ${y - 5}v10` }) : h("circle", { class: "sp-here", cx: x, cy: y, r: 5.5 }),
    text ? h("text", { class: "sp-dot-name", x: left ? x - 10 : x + 10, y: y + 5 + down, "text-anchor": left ? "end" : "start" }, text) : null,
  );
}
