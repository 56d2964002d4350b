// A sweep as it stands: what it says in a sentence, its chart, its table, and where it can be saved.

import { h } from "../player/dom.js";
import { fixed, times } from "../player/format.js";
import { chart, ticks } from "./measure-chart.js";
import { most, real } from "./measure-numbers.js";
import { predictions } from "./measure-theory.js";

const BESIDE = 0.25;

/** The name of a cell among the others of its sweep. names: drafter(id), policy(id), say. */
export function nameOf(cell, state, { drafter, policy, say }) {
  const lane = state.lanes[cell.lane];
  if (!lane) return say("baseline");
  if (state.kind === "gamma") return `γ = ${lane.gamma}`;
  if (state.kind === "temperature") return `T = ${cell.temperature}`;
  return state.kind === "policies" ? policy(lane.policy) : drafter(lane.drafter);
}

/** The sentences over the table: which was fastest, and what else is worth saying, each as [mood, text]. */
export function verdicts(state, names) {
  const { say } = names;
  const cells = real(state.cells);
  const fastest = most(cells, ({ summary }) => summary.speedup);
  if (!fastest) return [["", say("nothing")]];
  const told = { name: nameOf(fastest, state, names), speedup: times(fastest.summary.speedup), span: span(fastest, say) };
  const said = [fastest.summary.speedup < 1 ? ["bad", say("none_faster", told)] : ["good", say("fastest", told)]];
  const surest = most(cells, ({ summary }) => summary.alpha);
  if (state.kind === "drafters" && cells.length > 1 && surest) {
    const compared = { surest: nameOf(surest, state, names), surest_alpha: fixed(surest.summary.alpha, 2), surest_speedup: times(surest.summary.speedup), surest_c: fixed(surest.summary.c, 3), name: told.name, alpha: fixed(fastest.summary.alpha, 2), c: fixed(fastest.summary.c, 3) };
    said.push(["", say(surest === fastest ? "alpha_and_fastest" : "alpha_not_fastest", compared)]);
  }
  const looping = cells.reduce((sum, { summary }) => sum + summary.looping, 0);
  if (looping) said.push(["", say("looping", { count: looping, of: cells.reduce((sum, { summary }) => sum + summary.runs, 0) })]);
  const apart = cells.filter(({ summary }) => summary.identical < summary.greedy);
  if (apart.length) said.push(["bad", say("not_identical", { count: apart.reduce((sum, { summary }) => sum + summary.greedy - summary.identical, 0) })]);
  return said;
}

function span({ low, high }, say) {
  return low === null ? say("one_prompt") : say("interval", { low: times(low), high: times(high) });
}

/** The chart of speedups; null until there is a point. earlier: the run that theory is taken from, or null. */
export function speedups(state, earlier, width, names) {
  const cells = real(state.cells);
  if (!cells.length) return null;
  const { say } = names;
  const theory = state.kind === "gamma" && earlier ? predictions(state, earlier) : null;
  const top = 1.08 * Math.max(1.25, ...cells.map(({ summary, high }) => Math.max(summary.speedup, high ?? 0)), ...(theory?.curves ?? []).map((curve) => curve.best.at[1]));
  const at = place(state, cells, names);
  const points = cells.map((cell, i) => ({ kind: cell.summary.speedup < 1 ? "slow" : "fast", at: [at.x(cell, i), cell.summary.speedup], low: cell.low, high: cell.high, ...at.label(cell) }));
  const books = state.kind === "gamma" ? cells.filter(({ books }) => books).map((cell, i) => ({ kind: "books", at: [at.x(cell, i) + BESIDE, cell.books.adds_up_to] })) : [];
  const described = say("speedup_text", { list: cells.map((cell) => `${nameOf(cell, state, names)}: ${times(cell.summary.speedup)}`).join("; ") });
  return chart({ width, x: at.axis, y: { low: 0, high: top, ticks: ticks(top, "×"), name: say("axis.speedup") }, level: 1, curves: theory?.curves ?? [], points: [...points, ...books], described });
}

// Where a cell stands from left to right, and with which name.
function place(state, cells, names) {
  const { say } = names;
  const bare = () => ({});
  if (state.kind === "gamma") {
    const high = Math.max(8, ...cells.map(({ summary }) => summary.gamma)) + 1;
    return { axis: axis(0, high, Array.from({ length: high + 1 }, (_, i) => i).filter((i) => i % (high > 12 ? 4 : 1) === 0), say("axis.gamma")), x: ({ summary }) => summary.gamma, label: bare };
  }
  if (state.kind === "temperature") {
    const values = cells.map(({ temperature }) => temperature);
    const high = Math.max(1, ...values) * 1.05;
    return { axis: axis(-0.05 * high, high, values, say("axis.temperature")), x: ({ temperature }) => temperature, label: bare };
  }
  if (state.kind === "policies") {
    return { axis: { low: -0.5, high: cells.length - 0.5, ticks: cells.map((cell, i) => [i, nameOf(cell, state, names)]), name: "", words: true }, x: (_, i) => i, label: bare };
  }
  return {
    axis: axis(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1], say("axis.alpha")),
    x: ({ summary }) => summary.alpha ?? 0,
    label: (cell) => ({ text: nameOf(cell, state, names), left: (cell.summary.alpha ?? 0) > 0.6 }),
  };
}

function axis(low, high, values, name) {
  return { low, high, ticks: values.map((value) => [value, String(value)]), name };
}

/** All cells as a table. */
export function table(state, names) {
  const { say } = names;
  const heavy = state.kind === "drafters";
  const heads = ["what", "speedup", "spread", "alpha", "tau", "c", "v", ...(heavy ? ["mb"] : []), ...(state.kind === "policies" ? ["mean_gamma"] : []), "token_ms", "rate", "same"];
  return h(
    "div",
    { class: "sp-scroll", tabindex: "0", role: "region", "aria-label": say("table") },
    h("table", { class: "sp-table sp-cells" }, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col", title: say(`about.${head}`) }, say(`head.${head}`))))), h("tbody", {}, state.cells.map(row))),
  );

  function row(cell) {
    const { summary, low, high } = cell;
    const lane = state.lanes[cell.lane];
    const shown = {
      alpha: summary.alpha === null ? "–" : [h("b", {}, fixed(summary.alpha, 2)), h("small", {}, ` ${summary.alpha_low === null ? "" : `${fixed(summary.alpha_low, 2)}–${fixed(summary.alpha_high, 2)} · `}${say("of", { accepted: summary.accepted, tested: summary.tested })}`)],
      tau: fixed(summary.tau, 2),
      c: lane ? fixed(summary.c, 3) : "–",
      v: lane ? fixed(summary.v, 2) : "–",
      mb: lane ? megabytes(state.bytes[lane.label]) : "–",
      mean_gamma: lane ? fixed(cell.drafted, 2) : "–",
      token_ms: summary.token_s === null ? "–" : (1000 * summary.token_s).toFixed(1),
      rate: fixed(summary.tokens_per_s, 1),
      speedup: summary.speedup === null ? (lane?.control ? say("control") : "–") : [h("b", { class: summary.speedup < 1 ? "sp-fail" : "sp-gain" }, times(summary.speedup)), low === null ? null : h("small", {}, ` ${times(low)}–${times(high)}`)],
      spread: summary.slowest === null ? "–" : `${times(summary.slowest)} · ${times(summary.fastest)}`,
      same: summary.greedy ? `${summary.identical}/${summary.greedy}` : "–",
    };
    const title = state.kind !== "temperature" || lane ? nameOf(cell, state, names) : `${say("baseline")}, T = ${cell.temperature}`;
    return h("tr", { "data-lane": cell.lane }, h("th", { scope: "row" }, title), heads.slice(1).map((head) => h("td", { "data-head": head }, shown[head])));
  }
}

/** 4300000 → "4.3"; what needs no file reads as 0. */
export function megabytes(bytes) {
  if (bytes === undefined || bytes === null) return "–";
  return bytes === 0 ? "0" : (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
}
