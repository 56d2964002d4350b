// The Measure tab over measurements of a toy pair as the server sends them (measures.json): numbers, sentences, files.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { chart, ticks } from "../../assets/page/measure-chart.js";
import * as closer from "../../assets/page/measure-closer.js";
import * as form from "../../assets/page/measure-form.js";
import { Measure } from "../../assets/page/measure.js";
import * as lunch from "../../assets/page/measure-lunch.js";
import { freeUpTo, measuredV, predicted, real, size } from "../../assets/page/measure-numbers.js";
import { nameOf, speedups, table, verdicts } from "../../assets/page/measure-result.js";
import { csv, record, wrapped } from "../../assets/page/measure-save.js";
import { candidates, predictions, suited } from "../../assets/page/measure-theory.js";
import { views } from "../../assets/page/measure-views.js";
import { teller } from "../../assets/page/tell.js";
import { flat, speedup } from "../../assets/player/theory.js";
import { all, asset, strings, words as textOf } from "./fixtures.js";

const states = JSON.parse(readFileSync(new URL("measures.json", import.meta.url), "utf8"));
const goldens = JSON.parse(asset("theory-goldens.json"));
const close = (a, b, within = 1e-9) => assert.ok(Math.abs(a - b) < within, `${a} ≠ ${b}`);
const languages = Object.keys(strings);

const namesIn = (language) => ({ say: teller(strings, "measure", language), drafter: (id) => strings[language][`player.drafter.${id}`], policy: (id) => strings[language][`ui.policy.${id}`] });
const tabIn = (language, more = {}) => ({ names: namesIn(language), say: namesIn(language).say, widths: { main: 560, side: 400 }, own: [], recorded: [], chosen: {}, ...more });

const words = (description) => textOf(description, " ");

const sound = (drawn) => {
  assert.doesNotMatch(words(drawn), /measure\.|\{\w+\}|NaN|undefined|null/);
  assert.doesNotMatch(JSON.stringify(all(drawn, "path")), /NaN|undefined|Infinity/);
};

test("every measurement is shown whole in every language", () => {
  for (const language of languages)
    for (const state of Object.values(states)) {
      const drawn = views(tabIn(language), state);
      sound(drawn);
      if (state.cells) assert.equal(all(table(state, namesIn(language)), "tr").length, state.cells.length + 1);
    }
});

test("a measurement that has only begun, waits or was refused draws nothing false", () => {
  const { cells, rows, strips, ...begun } = states.gamma;
  for (const language of languages) {
    const { say } = namesIn(language);
    sound(views(tabIn(language), begun));
    sound(views(tabIn(language), { ...states.gamma, state: "stopped", cells: cells.slice(0, 1) }));
    for (const more of [{ state: "waiting", ahead: 2 }, { state: "waiting" }, { about: undefined }, { progress: { done: 0, of: 4, racing: false } }]) sound(form.progress({ ...begun, ...more }, say));
    sound(form.progress({ ...begun, progress: undefined, about: undefined }, say));
  }
  assert.match(words(form.progress({ ...begun, state: "waiting", ahead: 2 }, namesIn("en").say)), /live runs go first \(2 under way\)/);
});

test("the figures of the table are those of the cells", () => {
  const { say } = namesIn("en");
  const lines = all(table(states.gamma, namesIn("en")), "tr").slice(1);
  lines.forEach((line, i) => {
    const { summary } = states.gamma.cells[i];
    const cell = (head) => words(all(line, "td").find(({ attributes }) => attributes["data-head"] === head)).trim();
    assert.equal(cell("tau"), summary.tau.toFixed(2));
    assert.equal(cell("rate"), summary.tokens_per_s.toFixed(1));
    if (summary.speedup !== null) assert.ok(cell("speedup").startsWith(summary.speedup.toFixed(summary.speedup < 1.995 ? 2 : 1)));
    if (summary.alpha !== null) assert.ok(cell("alpha").includes(say("of", { accepted: summary.accepted, tested: summary.tested })));
  });
});

const cellOf = (lane, alpha, speedup, c) => ({ lane, temperature: 0, low: null, high: null, tested: [], accepted: [], drafted: 1, books: null, summary: { ...states.drafters.cells[1].summary, alpha, speedup, c, looping: 0, runs: 2, greedy: 2, identical: 2 } });

test("it says when the highest α is not the fastest, and when it is", () => {
  const names = namesIn("en");
  const [a, b] = real(states.drafters.cells).map(({ lane }) => lane);
  const said = (cells) => verdicts({ ...states.drafters, cells }, names).map(([mood, text]) => `${mood}: ${text}`);
  const apart = said([cellOf(a, 0.8, 0.9, 0.5), cellOf(b, 0.4, 1.6, 0.01)]);
  assert.match(apart[0], /^good: Fastest: .*1\.60×/);
  assert.match(apart[1], /highest α is not the fastest: .*α 0\.80, c 0\.500\) and runs at 0\.90×; .* α 0\.40 and c 0\.010/);
  assert.match(said([cellOf(a, 0.8, 1.9, 0.1), cellOf(b, 0.4, 1.6, 0.01)])[1], /highest α is also the fastest/);
});

test("a slowdown is said plainly", () => {
  const [a] = real(states.drafters.cells).map(({ lane }) => lane);
  const state = { ...states.drafters, cells: [cellOf(a, 0.8, 0.71, 0.5)] };
  const [[mood, text]] = verdicts(state, namesIn("en"));
  assert.equal(mood, "bad");
  assert.match(text, /Nothing was faster than plain decoding.*0\.71×.*slower/);
  assert.equal(all(speedups(state, null, 500, namesIn("en")), "g").filter(({ attributes }) => attributes.class === "sp-dot-slow").length, 1);
  const looping = { ...cellOf(a, 0.8, 2, 0.1), summary: { ...cellOf(a, 0.8, 2, 0.1).summary, looping: 1, identical: 1 } };
  const more = verdicts({ ...state, cells: [looping] }, namesIn("en")).map(([, said]) => said);
  assert.ok(more.some((said) => /1 of 2 drafted runs repeat/.test(said)));
  assert.ok(more.some((said) => /1 greedy texts are not the baseline/.test(said)));
});

test("theory is that of the formulas, with α and c of another run", () => {
  for (const { alpha, c, best_gamma: best, speedup: top, most } of goldens.best_gamma) {
    const found = predicted({ alpha, c }, flat, most);
    assert.equal(found.best, best);
    close(found.top, top);
  }
  const v = measuredV([[1, 2], [2, 2.4], [6, 4]]);
  [[1, 1], [2, 1.2], [3, 1.4], [6, 2], [8, 2.4]].forEach(([n, want]) => close(v(n), want));
  close(measuredV([[1, 4]])(9), 1);
  const earlier = { alpha: 0.7, c: 0.1 };
  const { curves } = predictions(states.gamma, earlier);
  const passes = states.gamma.costs.find(({ drafter }) => drafter === "none").costs.passes;
  assert.deepEqual(curves.map(({ kind }) => kind), ["flat", "slope"]);
  curves[1].points.forEach(([gamma, value]) => close(value, speedup(0.7, gamma, 0.1, measuredV(passes))));
});

test("a sweep is never predicted from itself", () => {
  const names = namesIn("en");
  const recorded = [{ drafter: "prompt-lookup", gamma: 5, temperature: 0, alpha: 0.5, c: 0.001 }, { drafter: "model", gamma: 4, temperature: 1, alpha: 0.6, c: 0.1, processor: "P", recorded: "2026" }];
  const alone = candidates(states.gamma, [states.gamma], recorded, names);
  assert.deepEqual(alone.map(({ own, drafter }) => [own, drafter]), [[false, "model"], [false, "prompt-lookup"]]);
  assert.equal(suited(alone, states.gamma).alpha, 0.6);
  const later = candidates(states.gamma, [states.gamma, states.drafters], recorded, names);
  const mine = states.drafters.cells.find(({ lane }) => states.drafters.lanes[lane]?.drafter === "model");
  assert.equal(suited(later, states.gamma).alpha, mine.summary.alpha);
  assert.equal(suited(alone.filter(({ drafter }) => drafter !== "model"), states.gamma), null);
  for (const language of languages) sound(views(tabIn(language, { own: [states.drafters], recorded }), states.gamma));
});

test("several recorded runs of a draft count as one", () => {
  const run = (accepted, tested, c) => ({ drafter: "model", gamma: 4, temperature: 0, accepted, tested, alpha: accepted / tested, c, processor: "P", recorded: "2026" });
  const list = candidates(states.gamma, [], [run(9, 10, 0.3), run(1, 30, 0.1), run(5, 10, 0.2)], namesIn("en"));
  assert.equal(list.length, 4);
  const chosen = suited(list, states.gamma);
  assert.deepEqual([chosen.alpha, chosen.c], [15 / 50, 0.2]);
  assert.match(chosen.text, /^3 recorded runs together/);
});

test("what is bookkeeping is called so", () => {
  const [, cell] = states.gamma.cells;
  const drawn = words(closer.books(cell, namesIn("en").say));
  assert.match(drawn, /adds up to/);
  assert.doesNotMatch(drawn, /predict/);
  close(cell.books.adds_up_to, cell.summary.tau / (cell.books.draft + cell.books.verify + cell.books.other), 1e-4);
});

test("positions and prompts are those of the chosen run", () => {
  const [, , cell] = states.gamma.cells;
  const drawn = closer.positions(cell, 400, namesIn("en").say);
  assert.equal(all(drawn, "circle").length, cell.tested.length);
  assert.ok(words(drawn).includes(`${cell.accepted[0]}/${cell.tested[0]}`));
  const lines = all(closer.prompts(states.gamma, cell, namesIn("en").say), "tr").slice(1);
  assert.equal(lines.length, 2);
  assert.ok(words(lines[1]).includes("<img src=x>"));
});

test("however many positions and however narrow the picture, names and ticks have room", () => {
  for (const [width, gamma] of [[400, 4], [330, 16], [330, 32], [800, 32]]) {
    const tested = Array.from({ length: gamma }, (_, i) => 99 - i);
    const drawn = closer.positions({ tested, accepted: tested }, width, namesIn("en").say);
    const texts = all(drawn, "text");
    const named = texts.filter(({ attributes }) => attributes.class === "sp-dot-name");
    const ticked = texts.filter(({ attributes, children }) => attributes["text-anchor"] === "middle" && /^\d+$/.test(children[0]));
    assert.equal(all(drawn, "circle").length, gamma);
    const apart = (list) => Math.min(...list.slice(1).map(({ attributes: { x } }, i) => x - list[i].attributes.x));
    assert.ok(apart(named) >= 45, `${width} ${gamma}: names ${apart(named)}`);
    assert.ok(apart(ticked) >= 17, `${width} ${gamma}: ticks ${apart(ticked)}`);
  }
});

test("a number field that is empty is being written: nothing changes yet", () => {
  const tab = Object.assign(Object.create(Measure.prototype), { asked: { gamma: 4, listed: "", prompts: "few", gammas: "1" }, draw: () => {}, check: () => {} });
  tab.changed({ name: "gamma", value: "" });
  assert.equal(tab.asked.gamma, 4);
  tab.changed({ name: "gamma", value: "12" });
  tab.changed({ name: "gammas", value: "" });
  assert.deepEqual([tab.asked.gamma, tab.asked.gammas], [12, ""]);
});

test("the strip shows the rounds over the whole text of every policy", () => {
  const drawn = views(tabIn("en"), states.policies);
  const beats = all(drawn, "span").filter(({ attributes }) => attributes.class === "sp-beat");
  const first = states.policies.strips.filter(([prompt]) => prompt === "1");
  assert.equal(beats.length, first.reduce((sum, [, , rounds]) => sum + rounds.length, 0));
  assert.ok(first.length >= 3);
});

test("the free-lunch curve says how far it is free", () => {
  assert.equal(freeUpTo([[1, 1], [2, 1.05], [3, 1.2], [4, 1]]), 2);
  assert.equal(freeUpTo([[1, 1], [2, 1.05]]), 2);
  const { say } = namesIn("en");
  const some = { passes: [[1, 1], [2, 1.05], [3, 3]], least: [[1, 0.9], [2, 1], [3, 2]] };
  assert.match(lunch.verdict(some, say), /up to 2 tokens.*Over 3 it costs 3\.0×, which is 1\.00× a token/);
  assert.match(lunch.verdict(states.lunch, say), /Already a pass over two tokens costs/, "toys have no free lunch");
  assert.equal(lunch.noise(some, say), null);
  assert.match(lunch.noise({ ...some, least: [[1, 0.5], [2, 0.5], [3, 1.5]] }, say), /2\.0× the fastest.*something else/);
});

test("files carry every row, the commit and the hardware", () => {
  const { fields, rows } = states.drafters;
  const lines = csv(states.drafters).trimEnd().split("\r\n");
  assert.equal(lines.length, rows.length + 1);
  assert.equal(lines[0], [...fields, "measured", "commit", "dtype", "processor", "threads"].join(","));
  for (const line of lines.slice(1)) assert.ok(line.includes(',abc1234,float32,"A processor, ""quoted""",'));
  assert.deepEqual(wrapped("aa bb ccccccc d", 5, (text) => text.length), ["aa bb", "ccccccc", "d"]);
  const saved = record({ ...states.drafters, refused: [{ drafter: "x", problem: { en: "no", zh: "否" } }] });
  assert.deepEqual([saved.about.commit, saved.rows.length, saved.refused[0].problem, saved.progress], ["abc1234", rows.length, "no", undefined]);
});

test("what is asked for is counted as the server counts it", () => {
  const asked = { kind: "gamma", gammas: "1, 2，2 4", temperatures: "0;1", drafters: ["a", "b"], policies: 4, max_new_tokens: 10 };
  assert.deepEqual(size(asked, 3), { lanes: 4, races: 3, runs: 12, tokens: 120 });
  assert.deepEqual(size({ ...asked, kind: "temperature" }, 3), { lanes: 2, races: 6, runs: 12, tokens: 120 });
  assert.equal(size({ ...asked, kind: "drafters" }, 3).lanes, 3);
  assert.equal(size({ ...asked, kind: "policies" }, 3).lanes, 5);
});

test("names that would lie on each other are moved apart", () => {
  const axis = { low: 0, high: 1, ticks: [], name: "" };
  const points = [0, 1, 2].map((i) => ({ kind: "fast", at: [0.3, 0.5 + i / 1000], text: `name ${i}` }));
  const heights = all(chart({ width: 400, x: axis, y: axis, points, described: "" }), "text").filter(({ attributes }) => attributes.class === "sp-dot-name").map(({ attributes }) => attributes.y);
  assert.ok(Math.abs(heights[0] - heights[1]) > 12 && Math.abs(heights[1] - heights[2]) > 12);
  assert.deepEqual(ticks(1.1).map(([, text]) => text), ["0.0", "0.5", "1.0"]);
  assert.deepEqual(ticks(8, "×").map(([, text]) => text), ["0×", "2×", "4×", "6×", "8×"]);
});

test("cells are named by what was swept", () => {
  const named = (kind) => real(states[kind].cells).map((cell) => nameOf(cell, states[kind], namesIn("en")));
  assert.deepEqual(named("gamma"), ["γ = 1", "γ = 4"]);
  assert.deepEqual(named("temperature"), ["T = 0", "T = 1"]);
  assert.equal(named("policies").length, 4);
});
