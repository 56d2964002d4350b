// The three charts of a run, drawn by uPlot on nodes that stay. Colours come from the style sheet's variables.
// Where uPlot is not loaded there are no charts and everything else works.

import { h, kept, patch } from "./dom.js";
import { fixed, percent, times } from "./format.js";
import { laneName } from "./facts.js";
import { goal, lengthSeries, longest, raceSeries, roundSeries, roundUp } from "./series.js";
import { roundsShown, shortSeconds, slowest } from "./series.js";

const HEIGHT = { race: 210, rounds: 150, lengths: 130 };
const SERIES = {
  race: ({ state }) => raceSeries(state),
  rounds: ({ race }) => roundSeries(race.speculative),
  lengths: ({ race }) => lengthSeries(race.speculative),
};
// A canvas costs more than all the rest of a page: one at a time, with room for other work in between.
const GAP_MS = 80;
const LINES = [
  { ink: "--sd-accent", width: 3, dash: [] },
  { ink: "--sd-q", width: 3, dash: [2, 4] },
  { ink: "--sd-p", width: 3, dash: [10, 4] },
];
const PLAIN = { ink: "--sd-muted", width: 2.5, dash: [6, 4] };

/** Keeps the nodes of the charts up to date. */
export class Charts {
  constructor(root, uPlot) {
    this.root = root;
    this.uPlot = uPlot;
    this.boxes = Object.fromEntries(Object.keys(HEIGHT).map((name) => [name, this.box(name)]));
    this.plots = {};
    this.width = 0;
    this.inks = new Map();
    this.due = new Set();
    this.timer = null;
  }

  box(name) {
    const node = kept(this.root.ownerDocument.createElement("div"));
    node.className = `sd-chart sd-chart-${name}`;
    node.setAttribute("style", `height:${HEIGHT[name]}px`);
    return node;
  }

  /** The panel: the kept chart nodes with titles and a text for those who cannot see them. */
  view(model) {
    const { t } = model;
    const figure = (name, key) =>
      h(
        "figure",
        { class: "sd-figure" },
        h("figcaption", {}, h("h4", {}, t(`chart.${name}`)), key),
        h("div", { class: "sd-chart-box", role: "img", "aria-label": summary(name, model) }, this.boxes[name]),
      );
    return h(
      "section",
      { class: "sd-panel sd-charts", "aria-label": t("chart.label") },
      figure("race", raceKey(model)),
      figure("rounds", roundsKey(t)),
      figure("lengths", null),
    );
  }

  /** Draws the state soon, one chart after the other; call after the nodes are in the page. */
  update(model) {
    this.model = model;
    if (!this.uPlot || !this.width) return;
    for (const name of Object.keys(HEIGHT)) this.due.add(name);
    if (this.timer === null) this.tick();
  }

  tick() {
    const [name] = this.due;
    this.timer = null;
    if (name === undefined) return;
    this.due.delete(name);
    this.draw(name, SERIES[name](this.model), this.model);
    this.timer = this.root.ownerDocument.defaultView.setTimeout(() => this.tick(), GAP_MS);
  }

  draw(name, data, model) {
    const signature = name === "race" ? model.state.lanes.map(({ lane }) => `${lane.name}${lane.baseline}`).join() : "";
    const { width } = this;
    const plot = this.plots[name];
    if (!plot || plot.signature !== signature) {
      plot?.chart.destroy();
      this.plots[name] = { signature, chart: new this.uPlot(this.options(name, width, model), data, this.boxes[name]) };
      return;
    }
    if (plot.chart.width !== width) plot.chart.setSize({ width, height: HEIGHT[name] });
    plot.chart.setData(data);
  }

  /** Takes the width of the page of now, true if it changed; asking for it at every update would make the browser lay out twice. */
  measure() {
    const { clientWidth } = this.boxes.race;
    const changed = clientWidth !== this.width;
    this.width = clientWidth;
    return changed;
  }

  /** Draws again with the colours of now. */
  recolour() {
    this.inks.clear();
    for (const { chart } of Object.values(this.plots)) chart.redraw(true, true);
  }

  destroy() {
    if (this.timer !== null) this.root.ownerDocument.defaultView.clearTimeout(this.timer);
    for (const { chart } of Object.values(this.plots)) chart.destroy();
    this.plots = {};
  }

  ink(name) {
    if (!this.inks.has(name))
      this.inks.set(
        name,
        this.root.ownerDocument.defaultView.getComputedStyle(this.root).getPropertyValue(name).trim(),
      );
    return this.inks.get(name);
  }

  options(name, width, model) {
    const base = {
      width,
      height: HEIGHT[name],
      padding: [8, 12, 0, 0],
      cursor: { show: false },
      legend: { show: false },
      select: { show: false },
    };
    return {
      ...base,
      ...{
        race: () => this.raceOptions(model),
        rounds: () => this.roundsOptions(),
        lengths: () => this.lengthsOptions(),
      }[name](),
    };
  }

  axis(extra) {
    const ink = () => this.ink("--sd-muted");
    const grid = () => this.ink("--sd-line");
    return {
      stroke: ink,
      font: "13px system-ui, sans-serif",
      grid: { stroke: grid, width: 1 },
      ticks: { show: false },
      gap: 4,
      ...extra,
    };
  }

  raceOptions(model) {
    const paths = this.uPlot.paths.stepped({ align: 1 });
    const lines = lineStyles(model.state.lanes);
    const line = ({ ink, width, dash }) => ({
      stroke: () => this.ink(ink),
      width,
      dash,
      paths,
      spanGaps: true,
      points: { show: false },
    });
    return {
      scales: {
        x: { time: false, range: () => [0, longest(this.model.state)] },
        y: {
          range: () => [
            0,
            roundUp(1.05 * Math.max(1, ...this.model.state.lanes.map((lane) => goal(lane, this.model.timeline)))),
          ],
        },
      },
      axes: [
        this.axis({ size: 26, values: (u, ticks) => ticks.map(shortSeconds), space: 60 }),
        this.axis({ size: 38, space: 34, incrs: WHOLE }),
      ],
      series: [{}, ...lines.map(line)],
      hooks: { draw: [(chart) => this.bracket(chart)] },
    };
  }

  // The gap between the lanes at this moment, with the number it makes.
  bracket(chart) {
    const { race, state } = this.model;
    if (race.phase !== "running") return;
    const { ctx } = chart;
    const ratio = chart.pxRatio || this.root.ownerDocument.defaultView.devicePixelRatio || 1;
    const x = chart.valToPos(race.seconds, "x", true);
    const [top, bottom] = [race.fast, race.slow].map((tokens) => chart.valToPos(tokens, "y", true));
    ctx.save();
    ctx.strokeStyle = this.ink("--sd-ink");
    ctx.fillStyle = this.ink("--sd-ink");
    ctx.lineWidth = 1.5 * ratio;
    ctx.setLineDash([2 * ratio, 2 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, bottom);
    ctx.stroke();
    ctx.font = `600 ${14 * ratio}px system-ui, sans-serif`;
    const left = race.seconds > 0.7 * longest(state);
    ctx.textAlign = left ? "right" : "left";
    ctx.textBaseline = "middle";
    ctx.fillText(times(race.speedup), x + (left ? -6 : 6) * ratio, (top + bottom) / 2);
    ctx.restore();
  }

  roundsOptions() {
    const paths = this.uPlot.paths.bars({ size: [0.8, 40], align: 0, gap: 0 });
    const bar = (ink) => ({ fill: () => this.ink(ink), width: 0, paths, points: { show: false } });
    return {
      scales: {
        x: { time: false, range: () => [0.4, roundsShown(this.model.race.speculative) + 0.6] },
        y: { range: () => [0, roundUp(1000 * slowest(this.model.race.speculative))] },
      },
      axes: [
        this.axis({ size: 26, space: 40, incrs: WHOLE, grid: { show: false } }),
        this.axis({ size: 38, space: 30 }),
      ],
      series: [{}, bar("--sd-other"), bar("--sd-verify"), bar("--sd-draft")],
    };
  }

  lengthsOptions() {
    const paths = this.uPlot.paths.bars({ size: [0.7, 48] });
    return {
      scales: {
        x: { time: false, range: (u, low, high) => [-0.6, Math.max(1, high) + 0.6] },
        y: {
          range: () => [
            0,
            roundUp(Math.max(4, ...(this.model.race.speculative?.lane.rounds.at(-1)?.metrics.lengths || []))),
          ],
        },
      },
      axes: [
        this.axis({ size: 26, incrs: WHOLE, space: 18, grid: { show: false } }),
        this.axis({ size: 38, incrs: WHOLE, space: 30 }),
      ],
      series: [{}, { fill: () => this.ink("--sd-accepted"), width: 0, paths, points: { show: false } }],
    };
  }
}

const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000];

/** How each lane's line is drawn: by colour and by dash. */
export function lineStyles(lanes) {
  let drafting = 0;
  return lanes.map(({ lane }) => (lane.baseline ? PLAIN : LINES[drafting++ % LINES.length]));
}

function raceKey({ t, state }) {
  const styles = lineStyles(state.lanes);
  const swatch = ({ ink, width, dash }) =>
    h(
      "svg",
      { viewBox: "0 0 26 8", class: "sd-swatch", "aria-hidden": "true" },
      h("path", {
        d: "M1 4H25",
        style: `stroke:var(${ink});stroke-width:${width};stroke-dasharray:${dash.join(" ") || "none"}`,
      }),
    );
  return h(
    "ul",
    { class: "sd-chart-key" },
    state.lanes.map((lane, i) => h("li", {}, swatch(styles[i]), laneName(lane.lane, t))),
  );
}

function roundsKey(t) {
  return h(
    "ul",
    { class: "sd-chart-key" },
    ["draft", "verify", "other"].map((part) =>
      h("li", {}, h("i", { class: `sd-box sd-box-${part}` }), t(`chart.${part}`)),
    ),
  );
}

function summary(name, { t, race, state }) {
  const metrics = race.speculative?.metrics;
  if (!metrics) return t("chart.nothing");
  if (name === "race")
    return t("chart.race_text", {
      lanes: state.lanes.map((lane) => `${laneName(lane.lane, t)}: ${lane.tokens}`).join(", "),
      speedup: race.speedup ? times(race.speedup) : "–",
    });
  if (name === "lengths")
    return t("chart.lengths_text", { lengths: metrics.lengths.join(", ") || "–", tau: fixed(metrics.tau, 2) });
  const share = (part) => percent(metrics.decode_s ? metrics[`${part}_s`] / metrics.decode_s : null);
  return t("chart.rounds_text", { draft: share("draft"), verify: share("verify"), other: share("overhead") });
}
