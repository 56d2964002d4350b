// The free-lunch curve: what a pass over n tokens costs against a pass over one, as measured on this machine.

import { h } from "../player/dom.js";
import { times } from "../player/format.js";
import { chart, ticks } from "./measure-chart.js";
import { freeUpTo } from "./measure-numbers.js";

const NOISY = 1.3;
const SOME = [1, 2, 4, 8, 16, 24, 32];

/** What the curve says. */
export function verdict({ passes }, say) {
  const [[, one]] = passes;
  const [n, seconds] = passes.at(-1);
  const free = freeUpTo(passes);
  const told = { free, n, v: times(seconds / one), each: times(seconds / one / n) };
  return say(free > 1 ? "lunch_said" : "lunch_none", { ...told, next: times(passes[Math.min(1, passes.length - 1)][1] / one) });
}

/** A warning where something else was using the machine: the middle width took much longer than its fastest pass. */
export function noise({ passes, least }, say) {
  const ratios = passes.map(([, seconds], i) => seconds / least[i][1]).sort((a, b) => a - b);
  const middle = ratios[Math.floor(ratios.length / 2)];
  return middle > NOISY ? say("noisy", { ratio: times(middle) }) : null;
}

/** v(n) with the line of a free lunch and the one of no lunch at all. */
export function curve({ passes, least }, width, say) {
  const [[, one]] = passes;
  const fastest = least.map(([n, seconds]) => [n, seconds / one]);
  const points = passes.map(([n, seconds]) => [n, seconds / one]);
  const [last] = passes.at(-1);
  const top = Math.max(2, ...points.map(([, v]) => v)) * 1.1;
  const linear = [[1, 1], [Math.min(last, top), Math.min(last, top)]];
  const described = say("lunch_text", { list: points.filter(([n]) => SOME.includes(n)).map(([n, v]) => `v(${n}) = ${v.toFixed(2)}`).join("; ") });
  return chart({
    width,
    x: { low: 0, high: last + 0.5, ticks: SOME.filter((n) => n <= last).map((n) => [n, String(n)]), name: say("axis.width") },
    y: { low: 0, high: top, ticks: ticks(top), name: say("axis.v") },
    level: 1,
    curves: [{ kind: "linear", points: linear }, { kind: "least", points: fastest }, { kind: "flat", points }],
    points: points.map((at) => ({ kind: "small", at })),
    described,
  });
}

/** Some of the numbers. */
export function numbers({ passes }, say) {
  const [[, one]] = passes;
  const shown = passes.filter(([n]) => SOME.includes(n));
  return h(
    "div",
    { class: "sp-scroll", tabindex: "0", role: "region", "aria-label": say("lunch_table") },
    h("table", { class: "sp-table sp-cells" }, h("tbody", {}, line("n", ([n]) => n), line("t(n), ms", ([, t]) => (1000 * t).toFixed(1)), line("v(n)", ([, t]) => (t / one).toFixed(2)), line("v(n) / n", ([n, t]) => (t / one / n).toFixed(2)))),
  );

  function line(head, value) {
    return h("tr", {}, h("th", { scope: "row" }, head), shown.map((pass) => h("td", {}, value(pass))));
  }
}
